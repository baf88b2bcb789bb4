#include "tests/resolver/worlds/world_complications.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace axle::testing {
namespace {

struct Backend {
  const char* label;
  const char* platform;  ///< of its GPU libraries
  const char* facts;     ///< for the file
  const char* code;      ///< what its builds have code for
};

/// The best first.
constexpr std::array backends = {
    Backend{"cu130", "CUDA 13",
            "vendor = \"nvidia\"\ntoolkit = \"13.0\"\ncuda = \"13.0\"\ndriver = \"580\"\n",
            "code = [\"9.0\"], "},
    Backend{"cu126", "CUDA 12",
            "vendor = \"nvidia\"\ntoolkit = \"12.6\"\ncuda = \"12.0\"\ndriver = \"525.60.13\"\n",
            "code = [\"9.0\"], "},
    Backend{"rocm6.4", "ROCm 6", "vendor = \"amd\"\ntoolkit = \"6.4\"\n", "code = [\"gfx942\"], "},
    Backend{"cpu", "", "", ""},
};

/// The file's row for a release is that of its first two numbers.
std::string row_of(const WorldRelease& release) { return release.version.substr(0, 3); }

class Complications {
 public:
  explicit Complications(PublishedWorld& world)
      : engine_(world.seed ^ 0x9e3779b9U), world_(world) {}

  void add();

 private:
  std::size_t below(std::size_t bound) { return engine_() % bound; }
  bool in_hundred(std::size_t chances) { return below(100) < chances; }

  void add_family();
  void add_variant_markers();
  [[nodiscard]] std::pair<std::string, bool> variant_marker(const WorldBuild& build);
  void add_source_distributions();
  void add_index();
  [[nodiscard]] bool runs(const Backend& backend) const;
  void make_member(WorldPackage& package);
  void add_platform_packages();
  void install_member();

  std::mt19937 engine_;
  PublishedWorld& world_;
};

void Complications::add() {
  if (in_hundred(25) && world_.installed.empty()) add_family();
  // The metadata of what is installed is that of the same version elsewhere.
  if (in_hundred(15) && world_.installed.empty()) add_variant_markers();
  if (in_hundred(15) && world_.installed.empty()) add_source_distributions();
  if (in_hundred(15)) add_index();
}

/// What it says, and whether it holds for `build`.
std::pair<std::string, bool> Complications::variant_marker(const WorldBuild& build) {
  const std::string level = "v" + std::to_string(1 + below(4));
  const std::string package = world_.packages[below(world_.packages.size())].name;
  const std::array<std::pair<std::string, bool>, 6> markers = {{
      // v4 is no property that counts here, also where a build names it.
      {"'cpu :: level :: " + level + "' in variant_properties",
       build.level == level && level != "v4"},
      {"'cpu :: level' in variant_features", !build.level.empty() && build.level != "v4"},
      {"'cpu' in variant_namespaces", !build.level.empty() && build.level != "v4"},
      {"'abi_dependency :: " + package + "' in variant_features", build.abi_package == package},
      {"'abi_dependency' in variant_namespaces", !build.abi_package.empty()},
      {"variant_label == 'null'", build.label == "null"},
  }};
  auto [text, holds] = markers.at(below(markers.size()));
  if (!in_hundred(30)) return {text, holds};
  for (const auto& [is, is_not] : {std::pair(" in ", " not in "), std::pair(" == ", " != ")}) {
    if (const std::size_t at = text.find(is); at != std::string::npos)
      text.replace(at, std::string(is).size(), is_not);
  }
  return {text, !holds};
}

void Complications::add_variant_markers() {
  for (WorldPackage& package : world_.packages) {
    for (WorldRelease& release : package.releases) {
      for (WorldBuild& build : release.builds) {
        if (!build.backend.empty()) continue;
        build.also_v4 = !build.level.empty() && build.fits && in_hundred(20);
        for (WorldNeed& need : build.needs) {
          if (!in_hundred(25)) continue;
          const auto [marker, holds] = variant_marker(build);
          need.text += (need.text.contains(';') ? " and " : "; ") + marker;
          need.holds = need.holds && holds;
        }
      }
    }
  }
}

void Complications::add_source_distributions() {
  std::vector<WorldNeed> some;  // of plain wheels
  for (const WorldPackage& package : world_.packages) {
    for (const WorldRelease& release : package.releases) {
      for (const WorldBuild& build : release.builds) {
        if (!build.label.empty()) continue;
        std::ranges::copy_if(build.needs, std::back_inserter(some),
                             [](const WorldNeed& need) { return !need.text.contains("variant_"); });
      }
    }
  }
  const bool all = in_hundred(50);
  for (WorldPackage& package : world_.packages) {
    const bool member =
        std::ranges::find(world_.family.members, package.name) != world_.family.members.end();
    if (member || package.name.starts_with("blas")) continue;
    if (all || in_hundred(60)) world_.built.push_back(package.name);
    for (WorldRelease& release : package.releases) {
      if (!release.builds.empty() && !in_hundred(40)) continue;
      release.sdist = true;
      release.sdist_builds = in_hundred(85);
      if (!release.builds.empty() && in_hundred(50)) release.builds.clear();
      for (std::size_t needs = some.empty() ? 0 : below(3); needs > 0; --needs) {
        WorldNeed need = some[below(some.size())];
        if (need.name != package.name) release.sdist_needs.push_back(std::move(need));
      }
    }
  }
}

void Complications::add_index() {
  constexpr std::array strategies = {"first-index", "first-index", "unsafe-first-match",
                                     "unsafe-best-match"};
  world_.strategy = strategies.at(below(strategies.size()));
  for (WorldPackage& package : world_.packages) {
    if (std::ranges::find(world_.family.members, package.name) != world_.family.members.end()) {
      for (WorldRelease& release : package.releases) release.index = 1;
      continue;
    }
    const std::size_t where = below(4);
    std::vector<WorldRelease> twice;
    for (WorldRelease& release : package.releases) {
      release.index = static_cast<std::uint32_t>(where < 2 ? where : below(2));
      if (where < 2 || !in_hundred(30)) continue;
      twice.push_back(release);
      twice.back().index = 1 - release.index;
      for (WorldBuild& build : twice.back().builds) {
        if (in_hundred(50)) build.needs.clear();
      }
    }
    std::ranges::move(twice, std::back_inserter(package.releases));
    if (in_hundred(15)) package.assigned = std::to_string(below(2));
  }
}

bool Complications::runs(const Backend& backend) const {
  const std::string label = backend.label;
  if (label == "cpu") return true;
  return label == "cu130" ? world_.family.cuda == "13.0"
                          : label == "cu126" && !world_.family.cuda.empty();
}

/// Each of its releases gets builds for some backends instead of those that it has.
void Complications::make_member(WorldPackage& package) {
  world_.family.members.push_back(package.name);
  for (WorldRelease& release : package.releases) {
    if (release.builds.empty()) release.builds.emplace_back();
    const WorldBuild of_before = std::move(release.builds.front());
    release.builds.clear();
    release.yanked = false;  // no page of a family's index says so
    for (const Backend& backend : backends) {
      // An index without the project is none of the family's.
      const bool last = &release == &package.releases.back() && &backend == &backends.back();
      if (!in_hundred(60) && !last) continue;
      WorldBuild build;
      build.label = build.backend = backend.label;
      build.platform = backend.platform;
      build.tags = in_hundred(95) ? "py3-none-any" : "cp311-cp311-win_amd64";
      build.fits = runs(backend) && build.tags == "py3-none-any";
      for (const WorldNeed& need : of_before.needs) {
        if (need.text.contains("variant_") || in_hundred(20)) continue;
        build.needs.push_back(need);
      }
      release.builds.push_back(std::move(build));
    }
  }
  std::erase_if(package.releases,
                [](const WorldRelease& release) { return release.builds.empty(); });
}

/// Packages whose name says a GPU platform, and which others need.
void Complications::add_platform_packages() {
  std::vector<WorldPackage> made;
  for (const auto& [name, platform] :
       {std::pair("blas-cu13", "CUDA 13"), std::pair("blas-cu12", "CUDA 12")}) {
    WorldPackage package{name, {}};
    for (const char* version : {"1.0", "2.0"}) {
      if (!in_hundred(70)) continue;
      WorldBuild build;
      build.platform = platform;
      package.releases.push_back({.version = version, .builds = {std::move(build)}});
    }
    made.push_back(std::move(package));
  }
  for (WorldPackage& package : world_.packages) {
    for (WorldRelease& release : package.releases) {
      for (WorldBuild& build : release.builds) {
        if (!in_hundred(12)) continue;
        WorldNeed need;
        need.name = made[below(made.size())].name;
        if (in_hundred(20)) need.specifiers = "<2.0";
        need.text = need.name + need.specifiers;
        build.needs.push_back(std::move(need));
      }
    }
  }
  std::ranges::move(made, std::back_inserter(world_.packages));
}

void Complications::add_family() {
  const std::size_t driver = below(5);
  world_.family.cuda = driver == 0 ? "" : driver == 1 ? "12.4" : "13.0";
  const std::size_t members = std::min<std::size_t>(1 + below(3), world_.packages.size());
  for (std::size_t i = 0; i < members; ++i) make_member(world_.packages[i]);
  if (members > 1 && in_hundred(50)) {
    std::map<std::string, std::vector<WorldNeed>> rows;
    for (WorldRelease& release : world_.packages[0].releases) {
      const auto [row, is_new] = rows.try_emplace(row_of(release));
      if (is_new && in_hundred(40)) {
        WorldNeed need;
        need.name = world_.family.members[1 + below(members - 1)];
        need.specifiers = "==" + std::to_string(1 + below(4)) + ".*";
        need.text = need.name + need.specifiers;
        row->second.push_back(std::move(need));
      }
      release.goes_with = row->second;
    }
  }
  if (in_hundred(50)) add_platform_packages();
  if (in_hundred(30)) install_member();
}

/// Its backend stays, whether the machine runs it or not, and the other members get it.
void Complications::install_member() {
  const Backend& backend = backends.at(below(backends.size()));
  for (WorldPackage& package : world_.packages) {
    const auto& members = world_.family.members;
    if (std::ranges::find(members, package.name) == members.end()) continue;
    for (WorldRelease& release : package.releases) {
      release.goes_with.clear();
      for (WorldBuild& build : release.builds)
        build.fits = build.backend == backend.label && build.tags == "py3-none-any";
    }
    if (!world_.installed.empty() && in_hundred(50)) continue;
    const WorldRelease& release = package.releases[below(package.releases.size())];
    const auto same = std::ranges::find(release.builds, backend.label, &WorldBuild::backend);
    world_.installed.push_back(
        {package.name, release.version + "+" + backend.label, backend.label, backend.platform,
         same == release.builds.end() ? std::vector<WorldNeed>() : same->needs});
  }
}

}  // namespace

void complicate(PublishedWorld& world) { Complications(world).add(); }

std::string family_text(const PublishedWorld& world) {
  const auto listed = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "\"" : ", \"") + name + "\"";
    return "[" + text + "]";
  };
  std::string text = "schema = 1\nname = \"made\"\nurl = \"" + std::string(family_url) +
                     "\"\nlabel-in = \"version\"\nmembers = " + listed(world.family.members) +
                     "\nfallback = [\"cpu\"]\ndate = \"2026-11-20\"\n\n[sources]\nCI = \"dice\"\n";
  std::string builds;
  for (const Backend& backend : backends) {
    text += "\n[[labels]]\nname = \"" + std::string(backend.label) + "\"\n" + backend.facts +
            "source = [\"CI\"]\n";
    builds += "  { label = \"" + std::string(backend.label) + "\", platform = \"linux_x86_64\", " +
              backend.code + "source = [\"CI\"], confidence = \"high\" },\n";
  }
  const auto add_release = [&](const std::string& version, const std::string& more) {
    text += "\n[[releases]]\nversion = \"" + version +
            "\"\ndate = \"2026-10\"\nsource = [\"CI\"]\n" + more + "builds = [\n" + builds + "]\n";
  };
  const auto first =
      std::ranges::find(world.packages, world.family.members.front(), &WorldPackage::name);
  std::map<std::string, std::string, std::greater<>> rows;
  for (const WorldRelease& release : first->releases) {
    for (const WorldNeed& need : release.goes_with)
      rows[row_of(release)] = "goes-with = { " + need.name + " = \"" + need.specifiers + "\" }\n";
  }
  for (const auto& [version, together] : rows) add_release(version, together);
  add_release("*", "");
  return text;
}

}  // namespace axle::testing
