// What the user asks for on the way into the worklist: overrides, and hashes where they are
// required.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "resolver/explain/messages.h"
#include "resolver/solver/worklist.h"
#include "wheel/variant/variant_markers.h"

namespace axle::resolver {

void Worklist::add_want(const Request& request, bool constraint) {
  const std::string name = wheel::normalize_name(request.requirement.name);
  Want want{request.requirement, {}, {}, constraint};
  if (!constraint) want.requirement = chooser_.with_assigned_url(request.requirement);
  if (hash_rules_.count) want.hashes = request.hashes;
  want.origin = request.origin;
  nodes_[name].wants.push_back(std::move(want));
  if (!constraint) enqueue(name);
}

void Worklist::add_overrides(const std::vector<Request>& overrides) {
  const wheel::MarkerEnvironment markers = wheel::variant_markers(target_.markers, "", {});
  for (const Request& request : overrides) {
    overrides_[wheel::normalize_name(request.requirement.name)].push_back(request);
    // What it says holds for whoever wants the package, and a URL in it is one that the user names.
    if (marker_holds(request.requirement, markers)) add_want(request, true);
  }
}

std::vector<Request> Worklist::requested(const Requests& requests) {
  const wheel::MarkerEnvironment markers = wheel::variant_markers(target_.markers, "", {});
  std::vector<Request> result;
  for (const Request& request : requests.requirements) {
    const auto replaced = overrides_.find(wheel::normalize_name(request.requirement.name));
    const std::vector<Request> instead =
        replaced == overrides_.end() ? std::vector<Request>{request} : replaced->second;
    for (const Request& one : instead) {
      if (marker_holds(one.requirement, markers)) {
        result.push_back(one);
      } else {
        report_.note(
            fmt::format("{} does not apply here", wheel::render_requirement(one.requirement)));
      }
    }
  }
  return result;
}

std::vector<wheel::Requirement> Worklist::dependencies_of(
    PackageChoice& choice, const std::vector<std::string>& extras) const {
  std::vector<wheel::Requirement> dependencies;
  for (const wheel::Requirement& requirement : choice.requires_dist) {
    const std::string name = wheel::normalize_name(requirement.name);
    const auto replaced = overrides_.find(name);
    // uv's rule: an override takes the place of the marker too, but for the extra it belongs to.
    const bool of_extra = requirement.marker && requirement.marker->mentions("extra");
    if (replaced == overrides_.end() || of_extra) {
      if (!applies(requirement, choice.markers, extras)) continue;
    }
    if (replaced != overrides_.end()) {
      for (const Request& one : replaced->second) {
        if (applies(one.requirement, choice.markers, extras))
          dependencies.push_back(one.requirement);
      }
      continue;
    }
    dependencies.push_back(requirement);
    // What is installed is not fetched again because of where it once came from.
    if (choice.package.already_installed && families_.installed(name) != nullptr)
      dependencies.back().url.clear();
  }
  return dependencies;
}

Result<void> Worklist::check_hashes() {
  if (!hash_rules_.required) return {};
  std::vector<std::string> without;
  std::vector<std::string> lines;
  for (const auto& [name, node] : nodes_) {
    if (!node.choice || node.choice->package.already_installed) continue;
    const plan::ResolvedPackage& package = node.choice->package;
    const bool named = package.direct && !package.hash.empty();
    if (!package.listed_hashes.empty() || named) continue;
    std::vector<const Want*> wants;
    for (const Want& want : node.wants) wants.push_back(&want);
    without.push_back(fmt::format("{} ({})", name, render_wants(wants)));
    const std::string_view digits = package.hash.sha256().empty() ? "…" : package.hash.sha256();
    lines.push_back(fmt::format("{}=={} --hash=sha256:{}", name,
                                wheel::render_version(package.version), digits));
  }
  if (without.empty()) return {};
  return std::unexpected(hashes_missing(without, lines));
}

}  // namespace axle::resolver
