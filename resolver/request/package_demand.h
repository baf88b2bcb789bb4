#pragma once
// What is asked of one package: who wants what of it, and which label is preferred.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "resolver/request/want.h"
#include "wheel/version.h"

namespace axle::resolver {

/// The version of a package in the solution so far, or installed and kept; nullopt when there is
/// none. What `abi_dependency` asks.
using VersionOf = std::function<std::optional<wheel::Version>(const std::string& package)>;

/// What `WheelPolicy::label` means.
enum class LabelRule : std::uint8_t {
  best,    ///< nothing: the ranking decides
  pinned,  ///< exactly this label, if it fits
  forced,  ///< exactly this label, whether it fits or not
  kept,    ///< as forced: the backend of what is installed
  shared,  ///< exactly this label (empty: the plain wheel), if it fits: better ones do not go with
           ///< the rest
  follow,  ///< as forced where the release has it, else the ranking decides
};

/// A version of another package that a choice rests on (`abi_dependency`).
struct AbiAssumption {
  std::string ns;       ///< of the properties that ask for it
  std::string package;  ///< normalised
  std::optional<wheel::Version> version;
};

struct PackageDemand {
  std::string name;                ///< normalised
  std::vector<const Want*> wants;  ///< constraints included; never empty
  VersionOf version_of;
  LabelRule rule = LabelRule::best;  ///< `kept`, `shared` or `follow`: with `label`
  std::string label = {};
  /// Some package pins this very release, so that its yanked files and builds of which not all is
  /// known may be taken.
  bool pinned = false;
};

}  // namespace axle::resolver
