#pragma once
// A resolver test as a text file (tests/cases/*.case; the directives are explained in
// tests/cases/README).

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detect/machine.h"
#include "resolver/choice/provider_algorithm.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::testing {

struct CaseFile {
  detect::Machine machine;  ///< a machine of which nothing is known, unless the case names one
  resolver::ProviderPolicy policy;
  wheel::VariantMetadata metadata;
  std::vector<std::string> expected;                          ///< labels, best first
  std::vector<std::pair<std::string, std::string>> rejected;  ///< label, part of the reason
  std::vector<std::pair<std::string, std::string>> origins;   ///< namespace, where its list is from
  std::vector<std::string> remarks;                           ///< parts of what is reported
};

/// Throws std::runtime_error with the line for a case that cannot be read.
[[nodiscard]] CaseFile read_case(const std::string& path);

[[nodiscard]] std::string_view render_origin(plan::ListOrigin origin);

}  // namespace axle::testing
