#include "session/inventory.h"

#include <algorithm>
#include <map>
#include <utility>

#include "foundation/system/large_pages.h"
#include "index/http/url.h"
#include "installer/environment/ownership.h"
#include "session/direct_url.h"
#include "session/workspace.h"
#include "wheel/record.h"

namespace axle::session {

using installer::InstalledDistribution;

namespace {

/// Where the package was installed from, as `pip freeze` writes it; empty if from an index.
std::string place_of(const InstalledDistribution& distribution) {
  const DirectUrl direct = read_direct_url(distribution.direct_url);
  if (direct.url.empty()) return {};
  std::string place = direct.url;
  if (!direct.vcs.empty() && !direct.commit.empty())
    place = direct.vcs + "+" + direct.url + "@" + direct.commit;
  const auto sha256 = direct.hashes.find("sha256");
  if (sha256 != direct.hashes.end()) place += "#sha256=" + sha256->second;
  if (!direct.subdirectory.empty())
    place += (sha256 == direct.hashes.end() ? "#" : "&") + ("subdirectory=" + direct.subdirectory);
  return place;
}

}  // namespace

Outcome<Inventory> take_inventory(Session& session, MetadataDepth depth) {
  system::prefer_large_pages();
  auto environment = open_environment(session, false);
  if (!environment) return std::unexpected(environment.error());
  auto distributions = installer::list_installed(
      *environment, session.report(),
      depth == MetadataDepth::essential ? session.cache_folder() : std::string());
  if (!distributions) return failed(distributions.error());
  return Inventory{std::move(*environment), std::move(*distributions)};
}

void select(Inventory& inventory, const Arguments& arguments) {
  auto& distributions = inventory.distributions;
  if (arguments.has(Opt::user) && !arguments.has(Opt::no_user)) {
    std::erase_if(distributions, [&](const InstalledDistribution& one) {
      const std::string site = one.dist_info.substr(0, one.dist_info.rfind('/'));
      return site != inventory.environment.purelib && site != inventory.environment.platlib;
    });
  }
  const bool only = arguments.has(Opt::editable_only);
  if (only || arguments.has(Opt::exclude_editable)) {
    std::erase_if(distributions, [&](const InstalledDistribution& one) {
      return editable_place(one).has_value() != only;
    });
  }
  if (arguments.has(Opt::not_required)) {
    std::set<std::string> required;
    for (const InstalledDistribution& one : distributions) {
      for (const std::string& name : needs_of(inventory, one))
        required.insert(wheel::normalize_name(name));
    }
    std::erase_if(distributions,
                  [&](const InstalledDistribution& one) { return required.contains(one.name); });
  }
  for (const std::string& name : arguments.values(Opt::exclude)) {
    std::erase_if(distributions, [&](const InstalledDistribution& one) {
      return one.name == wheel::normalize_name(name);
    });
  }
}

std::string version_of(const installer::InstalledDistribution& distribution) {
  return wheel::render_version(distribution.metadata.version);
}

std::vector<std::string> needs_of(const Inventory& inventory,
                                  const InstalledDistribution& distribution) {
  std::vector<std::string> names;
  const wheel::MarkerEnvironment markers =
      installer::markers_of(distribution, inventory.environment);
  for (const wheel::Requirement& requirement : distribution.metadata.requires_dist) {
    if (requirement.marker && !requirement.marker->evaluate(markers)) continue;
    if (std::ranges::find(names, requirement.name) == names.end())
      names.push_back(requirement.name);
  }
  std::ranges::sort(names, {}, wheel::normalize_name);
  return names;
}

std::vector<std::string> required_by(const Inventory& inventory, const std::string& name) {
  std::vector<std::string> names;
  for (const InstalledDistribution& other : inventory.distributions) {
    const wheel::MarkerEnvironment markers = installer::markers_of(other, inventory.environment);
    for (const wheel::Requirement& requirement : other.metadata.requires_dist) {
      if (wheel::normalize_name(requirement.name) != name) continue;
      if (requirement.marker && !requirement.marker->evaluate(markers)) continue;
      names.push_back(other.metadata.name);
      break;
    }
  }
  return names;
}

std::vector<std::set<std::size_t>> needs_within(const Inventory& inventory) {
  const auto& distributions = inventory.distributions;
  std::map<std::string_view, std::size_t> places;
  std::vector<wheel::MarkerEnvironment> markers;
  std::vector<std::pair<std::size_t, std::string>> asked;  // a package and an extra of it, or ""
  for (std::size_t i = 0; i < distributions.size(); ++i) {
    places.emplace(distributions[i].name, i);
    markers.push_back(installer::markers_of(distributions[i], inventory.environment));
    asked.emplace_back(i, "");
  }
  std::vector<std::set<std::size_t>> needs(distributions.size());
  std::set<std::pair<std::size_t, std::string>> known(asked.begin(), asked.end());
  while (!asked.empty()) {
    const auto [i, extra] = std::move(asked.back());
    asked.pop_back();
    for (const wheel::Requirement& requirement : distributions[i].metadata.requires_dist) {
      if (requirement.marker && !requirement.marker->evaluate(markers[i], extra)) continue;
      const auto found = places.find(wheel::normalize_name(requirement.name));
      if (found == places.end()) continue;
      // An extra that consists of others: "demo[a]" in demo's own METADATA.
      if (found->second != i) needs[i].insert(found->second);
      for (const std::string& wanted : requirement.extras) {
        if (known.emplace(found->second, wanted).second) asked.emplace_back(found->second, wanted);
      }
    }
  }
  return needs;
}

Result<std::vector<std::string>> recorded_files(const InstalledDistribution& distribution) {
  const auto record = installer::read_record(distribution);
  if (!record) return std::unexpected(record.error());
  std::vector<std::string> files;
  for (const wheel::RecordEntry& entry : *record) files.push_back(entry.path);
  return files;
}

std::string pinned_requirement(const InstalledDistribution& distribution) {
  if (auto folder = editable_place(distribution)) return "-e " + *folder;
  const std::string url = place_of(distribution);
  return url.empty() ? distribution.metadata.name + "==" + version_of(distribution)
                     : distribution.metadata.name + " @ " + url;
}

std::optional<std::string> editable_place(const InstalledDistribution& distribution) {
  const DirectUrl direct = read_direct_url(distribution.direct_url);
  if (!direct.editable || direct.url.empty()) return std::nullopt;
  const auto path = index::file_path(direct.url);
  return path ? *path : direct.url;
}

bool is_packaging_tool(const std::string& name, const installer::Environment& environment) {
  if (name == "pip") return true;
  const wheel::ReleaseNumbers& release = environment.python_version.release;
  const bool before_312 =
      release.size() < 2 || release[0] < 3 || (release[0] == 3 && release[1] < 12);
  return before_312 && (name == "setuptools" || name == "wheel" || name == "distribute");
}

}  // namespace axle::session
