#pragma once
// What is installed in an environment, read from its dist-info folders.

#include <optional>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/environment/environment.h"
#include "wheel/core_metadata.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::installer {

struct InstalledDistribution {
  wheel::CoreMetadata metadata;
  std::string name;       ///< normalised
  std::string dist_info;  ///< absolute path of the *.dist-info (or *.egg-info) folder
  /// Label, from dist-info/variant.json, or of an index family as we noted it at installation.
  std::optional<std::string> variant;
  std::string family;  ///< the index family that `variant` is a label of; the wheel is a plain one
  wheel::VariantProperties variant_properties;  ///< of that label
  std::string installer;                        ///< INSTALLER, may be empty
  bool requested = false;                       ///< REQUESTED exists
  std::string direct_url;                       ///< direct_url.json text, or empty
  bool has_record = false;                      ///< RECORD exists: can be uninstalled
  bool outer = false;  ///< lies in one of Environment::outer_sites: seen, never changed
};

/// Sorted by name; an outer package (Environment::outer_sites) only where the environment has
/// none of its name. Recovers an interrupted transaction first (recovery.h), so that nobody ever
/// sees a torn package; folders that are none of ours and unreadable are reported and left out.
[[nodiscard]] Result<std::vector<InstalledDistribution>> list_installed(
    const Environment& environment, Report& report);

/// What the markers of its requirements see, without extras.
[[nodiscard]] wheel::MarkerEnvironment markers_of(const InstalledDistribution& distribution,
                                                  const Environment& environment);

struct BrokenRequirement {
  std::string package;      ///< "name version"
  std::string requirement;  ///< what it wants
  std::string found;        ///< the version that is there; empty when missing
};

/// As `pip check`: requirements of installed packages that do not hold.
[[nodiscard]] std::vector<BrokenRequirement> check_installed(
    const std::vector<InstalledDistribution>& installed, const Environment& environment);

}  // namespace axle::installer
