#pragma once
// What is installed in an environment, read from its dist-info folders.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/environment/environment.h"
#include "wheel/core_metadata.h"
#include "wheel/variant/abi_dependency.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::installer {

struct InstalledDistribution {
  wheel::CoreMetadata metadata;
  std::string name;       ///< normalised
  std::string dist_info;  ///< absolute path of the *.dist-info (or *.egg-info) folder
  /// Label, from dist-info/variant.json, or of an index family as stored at installation.
  std::optional<std::string> variant;
  std::string family;  ///< the index family that `variant` is a label of; the wheel is a plain one
  wheel::VariantProperties variant_properties;  ///< of that label
  std::vector<wheel::AbiNeed> abi_needs;        ///< of that label
  std::string installer;                        ///< INSTALLER, may be empty
  bool requested = false;                       ///< REQUESTED exists
  std::string direct_url;                       ///< direct_url.json text, or empty
  bool has_record = false;                      ///< RECORD exists: can be uninstalled
  bool outer = false;  ///< in one of Environment::outer_sites: listed, never changed
};

/// Whether `metadata.requires_dist` and `provides_extra` are wanted: they are most of what there is
/// to parse. Without them they are empty, where they could be left out.
enum class Requirements : std::uint8_t { read, left_out };

/// Sorted by name; an outer package (Environment::outer_sites) only if the environment has none of
/// its name. Recovers an interrupted transaction first (recovery.h), so that incomplete packages
/// are never visible; folders that are not distributions or cannot be read are reported and
/// skipped. With `cache_folder` what did not change is taken from there (site_snapshot.h), and the
/// metadata has no `fields` and no description.
[[nodiscard]] Result<std::vector<InstalledDistribution>> list_installed(
    const Environment& environment, Report& report, const std::string& cache_folder = {},
    Requirements requirements = Requirements::read);

/// What list_installed looks at to find `installed`, and the record of changes: as long as the
/// states of these paths are the same (path_states.h), in one run of the kernel, it finds the same.
/// Error: io.
[[nodiscard]] Result<std::vector<std::string>> installed_paths(
    const Environment& environment, const std::vector<InstalledDistribution>& installed);

/// The values for markers in its requirements, without extras.
[[nodiscard]] wheel::MarkerEnvironment markers_of(const InstalledDistribution& distribution,
                                                  const Environment& environment);

struct BrokenRequirement {
  std::string package;      ///< "name version"
  std::string requirement;  ///< its requirement
  std::string found;        ///< the installed version; empty if missing
};

/// As `pip check`: requirements of installed packages that are not met.
[[nodiscard]] std::vector<BrokenRequirement> check_installed(
    const std::vector<InstalledDistribution>& installed, const Environment& environment);

}  // namespace axle::installer
