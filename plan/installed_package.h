#pragma once
// What an environment holds already, as far as a plan must know it.

#include <optional>
#include <string>
#include <vector>

#include "wheel/requirement.h"
#include "wheel/variant/abi_dependency.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/version.h"

namespace axle::plan {

struct InstalledPackage {
  std::string name;  ///< normalised
  wheel::Version version;
  std::optional<std::string> variant;
  std::vector<wheel::Requirement> dependencies;
  wheel::VariantProperties variant_properties = {};  ///< what its variant markers see
  std::string family = {};  ///< the index family that `variant` is a label of; empty: none
  std::vector<wheel::AbiNeed> abi_needs = {};  ///< of its variant
};

}  // namespace axle::plan
