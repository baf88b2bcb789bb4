#include "session/inventory.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "installer/environment/ownership.h"
#include "session/workspace.h"
#include "wheel/record.h"

namespace axle::session {

using installer::InstalledDistribution;

namespace {

/// Where the package was installed from, as `pip freeze` writes it; empty if from an index.
std::string direct_url(const InstalledDistribution& distribution) {
  if (distribution.direct_url.empty()) return {};
  const nlohmann::json document = nlohmann::json::parse(distribution.direct_url, nullptr, false);
  if (!document.is_object() || !document.contains("url") || !document["url"].is_string()) return {};
  std::string url = document["url"].get<std::string>();
  const nlohmann::json hashes = document.value(nlohmann::json::json_pointer("/archive_info/hashes"),
                                               nlohmann::json::object());
  if (hashes.is_object() && hashes.contains("sha256") && hashes["sha256"].is_string())
    url += "#sha256=" + hashes["sha256"].get<std::string>();
  return url;
}

}  // namespace

Outcome<Inventory> take_inventory(Session& session) {
  auto environment = open_environment(session, false);
  if (!environment) return std::unexpected(environment.error());
  auto distributions = installer::list_installed(*environment, session.report());
  if (!distributions) return failed(distributions.error());
  return Inventory{std::move(*environment), std::move(*distributions)};
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

Result<std::vector<std::string>> recorded_files(const InstalledDistribution& distribution) {
  const auto record = installer::read_record(distribution);
  if (!record) return std::unexpected(record.error());
  std::vector<std::string> files;
  for (const wheel::RecordEntry& entry : *record) files.push_back(entry.path);
  return files;
}

std::string pinned_requirement(const InstalledDistribution& distribution) {
  const std::string url = direct_url(distribution);
  return url.empty() ? distribution.metadata.name + "==" + version_of(distribution)
                     : distribution.metadata.name + " @ " + url;
}

bool is_packaging_tool(const std::string& name, const installer::Environment& environment) {
  if (name == "pip") return true;
  const wheel::ReleaseNumbers& release = environment.python_version.release;
  const bool before_312 =
      release.size() < 2 || release[0] < 3 || (release[0] == 3 && release[1] < 12);
  return before_312 && (name == "setuptools" || name == "wheel" || name == "distribute");
}

}  // namespace axle::session
