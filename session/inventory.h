#pragma once
// The contents of the environment that a command works on.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "installer/environment/environment.h"
#include "installer/environment/installed.h"
#include "session/command_failure.h"
#include "session/session.h"

namespace axle::session {

struct Inventory {
  installer::Environment environment;
  std::vector<installer::InstalledDistribution> distributions;
};

enum class MetadataDepth : std::uint8_t {
  essential,  ///< what resolving needs: no `fields`, no description
  whole,
};
[[nodiscard]] Outcome<Inventory> take_inventory(Session& session, MetadataDepth depth);

/// Leaves what --user, --editable, --exclude-editable, --not-required and --exclude ask for, in
/// this order, as pip does: what an excluded package requires is required.
void select(Inventory& inventory, const Arguments& arguments);

[[nodiscard]] std::string version_of(const installer::InstalledDistribution& distribution);

/// The names of its dependencies that are installed, without duplicates, sorted as in `pip show`.
[[nodiscard]] std::vector<std::string> needs_of(
    const Inventory& inventory, const installer::InstalledDistribution& distribution);
/// The installed packages that need `name`.
[[nodiscard]] std::vector<std::string> required_by(const Inventory& inventory,
                                                   const std::string& name);
/// By their places in `distributions`: the installed packages that each one needs, also for the
/// extras that other installed ones ask of it.
[[nodiscard]] std::vector<std::set<std::size_t>> needs_within(const Inventory& inventory);

/// The paths in RECORD. Errors: those of installer::read_record.
[[nodiscard]] Result<std::vector<std::string>> recorded_files(
    const installer::InstalledDistribution& distribution);

/// "demo==1.0", or "demo @ URL" if it was not installed from an index: the form of `pip freeze`.
[[nodiscard]] std::string pinned_requirement(const installer::InstalledDistribution& distribution);
/// The folder of the sources of an editable installation; nullopt: it is none.
[[nodiscard]] std::optional<std::string> editable_place(
    const installer::InstalledDistribution& distribution);
/// Packages that `pip freeze` omits: the tools that new environments contain.
[[nodiscard]] bool is_packaging_tool(const std::string& name,
                                     const installer::Environment& environment);

}  // namespace axle::session
