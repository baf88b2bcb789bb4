#pragma once
// Small worlds made by chance: what is published, what is installed, what is asked for. Beside what
// is published stands what it means on the machine of the world, so that an oracle reads no
// markers, tags, properties or labels itself.

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/resolver/solver_world.h"

namespace axle::testing {

struct WorldNeed {
  std::string text = {};  ///< as published
  std::string name = {};
  std::string specifiers = {};           ///< empty: any version
  std::vector<std::string> extras = {};  ///< asked for
  std::string extra = {};                ///< it belongs to; empty: it always counts
  bool holds = true;                     ///< the rest of its marker
};

/// One wheel.
struct WorldBuild {
  std::string label = {};        ///< empty: a plain wheel
  std::string level = {};        ///< x86-64 level that it needs; empty: none
  bool also_v4 = false;          ///< v4 is named beside the level, and any of the two will do
  std::string abi_package = {};  ///< what it was linked with; empty: nothing
  std::string abi_version = {};  ///< "1" or "1.0": a prefix
  std::string tags = "py3-none-any";
  std::string backend = {};   ///< label of a family's build, its local version; empty: none
  std::string platform = {};  ///< whose GPU libraries it needs: "CUDA 12"; empty: nobody's
  bool fits = true;           ///< tags, level and backend
  std::vector<WorldNeed> needs = {};
};

struct WorldRelease {
  std::string version = {};
  bool yanked = false;
  std::string requires_python = {};
  bool python_fits = true;
  std::vector<WorldBuild> builds = {};  ///< none: a source distribution alone
  bool sdist = false;                   ///< one that has `sdist_needs`, if it can be built
  bool sdist_builds = false;
  std::vector<WorldNeed> sdist_needs = {};
  std::uint32_t index = 0;  ///< which of the world's two has it; a family's own builds: none
  std::vector<WorldNeed> goes_with = {};  ///< of a family's first member: what others must be
};

struct WorldPackage {
  std::string name = {};
  std::string assigned = {};  ///< "0" or "1": comes from that index alone
  std::vector<WorldRelease> releases = {};
};

struct WorldInstalled {
  std::string name = {};
  std::string version = {};
  std::string backend = {};   ///< of a family's member; builds of others do not count then
  std::string platform = {};  ///< as of builds
  std::vector<WorldNeed> needs = {};
};

/// A family, whose builds are on an index of its own. On a machine with a GPU "cpu" counts only
/// where no release that the user allows has another build that fits.
struct WorldFamily {
  std::vector<std::string> members = {};  ///< none: there is no family
  std::string cuda = {};                  ///< that the driver of the one GPU runs; empty: no GPU
};

struct PublishedWorld {
  std::uint32_t seed = 0;
  std::uint32_t python_minor = 11;
  std::string python = "3.11.7";
  bool prereleases = false;
  std::vector<WorldPackage> packages = {};
  std::vector<WorldNeed> requests = {};
  std::vector<WorldNeed> constraints = {};
  std::vector<WorldNeed> overrides = {};
  std::vector<WorldInstalled> installed = {};
  WorldFamily family = {};
  std::string strategy = {};            ///< uv's name; empty: there is one index
  std::vector<std::string> built = {};  ///< packages that may be built from source
};

struct WorldShape {
  std::uint32_t packages = 9;
  std::uint32_t releases = 6;
  std::uint32_t variants = 3;
};

[[nodiscard]] PublishedWorld random_world(std::uint32_t seed, const WorldShape& shape);

/// What was chosen, or why nothing was.
struct WorldChoice {
  std::string name = {};
  std::string version = {};
  std::string label = {};  ///< empty: a plain wheel, or what is installed
  bool installed = false;
  std::uint32_t index = 0;  ///< of the world's two
};

struct WorldAnswer {
  bool solved = false;
  std::vector<WorldChoice> chosen = {};
  std::string error = {};
  bool breaks_installed = false;  ///< refused, since it would break what is installed
  bool changes_backend = false;   ///< refused, since an installed build would become another
};

[[nodiscard]] WorldAnswer answer(const PublishedWorld& world);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(WorldNeed, text, name, specifiers, extras, extra,
                                                holds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(WorldBuild, label, level, also_v4, abi_package,
                                                abi_version, tags, backend, platform, fits, needs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(WorldRelease, version, yanked, requires_python,
                                                python_fits, builds, goes_with, sdist, sdist_builds,
                                                sdist_needs, index)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(WorldPackage, name, assigned, releases)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(WorldInstalled, name, version, backend, platform,
                                                needs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(WorldFamily, members, cuda)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PublishedWorld, seed, python_minor, python,
                                                prereleases, packages, requests, constraints,
                                                overrides, installed, family, strategy, built)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(WorldChoice, name, version, label, installed, index)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(WorldAnswer, solved, chosen, error,
                                                breaks_installed, changes_backend)

}  // namespace axle::testing
