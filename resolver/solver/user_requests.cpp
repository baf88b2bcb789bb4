#include "resolver/solver/user_requests.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "wheel/variant/variant_markers.h"

namespace axle::resolver {

bool applies(const wheel::Requirement& requirement, const wheel::MarkerEnvironment& environment,
             const std::vector<std::string>& extras) {
  if (!requirement.marker || requirement.marker->evaluate(environment, "")) return true;
  return std::ranges::any_of(extras, [&](const std::string& extra) {
    return requirement.marker->evaluate(environment, extra);
  });
}

UserRequests::UserRequests(const Requests& requests, const Target& target, const Options& options,
                           Families& families, const PackageChooser& chooser, Report& report)
    : options_(options),
      families_(families),
      chooser_(chooser),
      stand_ins_(families, target, options),
      hash_rules_(resolver::hash_rules(requests, options)) {
  const wheel::MarkerEnvironment markers = wheel::variant_markers(target.markers, "", {});
  const auto holds = [&](const Request& request) {
    return applies(request.requirement, markers, {});
  };
  for (const Request& request : requests.overrides) {
    overrides_[wheel::normalize_name(request.requirement.name)].push_back(request);
    // What it says holds for whoever wants the package, and a URL in it is one that the user names.
    if (holds(request)) add(request, true, true);
  }
  for (const Request& constraint : requests.constraints) {
    if (!holds(constraint)) continue;
    constraints_.push_back(constraint);
    add(constraint, true);
  }
  for (const Request& request : requests.requirements) {
    const auto replaced = overrides_.find(wheel::normalize_name(request.requirement.name));
    const std::vector<Request> instead =
        replaced == overrides_.end() ? std::vector<Request>{request} : replaced->second;
    for (Request one : instead) {
      if (holds(one)) {
        one.requirement = stand_ins_.for_request(one.requirement);
        stand_ins_.name(wheel::normalize_name(one.requirement.name));
        if (one.requirement.name != request.requirement.name && replaced == overrides_.end()) {
          report.note(fmt::format("{} is taken for {}: it fits this machine", one.requirement.name,
                                  request.requirement.name));
        }
        listed_.push_back(one);
        add(one, false);
      } else {
        report.note(
            fmt::format("{} does not apply here", wheel::render_requirement(one.requirement)));
      }
    }
  }
  for (std::size_t i = 0, end = requested_.size(); i < end; ++i)
    switch_installed(wheel::normalize_name(requested_[i].requirement.name));
}

Result<void> UserRequests::check() const {
  std::vector<const Request*> listed;
  std::vector<const Request*> constraints;
  for (const Request& request : listed_) listed.push_back(&request);
  for (const Request& constraint : constraints_) constraints.push_back(&constraint);
  return check_listed(listed, constraints, hash_rules_);
}

void UserRequests::add(const Request& request, bool constraint, bool overrides) {
  Want want{request.requirement, {}, {}, constraint};
  want.overrides = overrides;
  if (!constraint) want.requirement = chooser_.with_assigned_url(request.requirement);
  if (hash_rules_.count) want.hashes = request.hashes;
  want.origin = request.origin;
  if (!constraint) requested_.push_back(want);
  about_[wheel::normalize_name(request.requirement.name)].push_back(std::move(want));
}

void UserRequests::switch_installed(const std::string& name) {
  if (options_.forced_labels.empty()) return;
  const index::Family* family = families_.of(name);
  if (family == nullptr || name == family->anchor()) return;
  const auto forced = options_.forced_labels.find(family->name);
  const plan::InstalledPackage* first = families_.installed(family->anchor());
  if (forced == options_.forced_labels.end() || first == nullptr) return;
  if (families_.installed_label(*first) == forced->second) return;
  wheel::Requirement requirement;
  requirement.name = family->anchor();
  add({std::move(requirement)}, false);
}

const std::vector<Want>& UserRequests::about(std::string_view name) const {
  static const std::vector<Want> nothing;
  const auto found = about_.find(name);
  return found == about_.end() ? nothing : found->second;
}

bool UserRequests::asks_for(std::string_view name) const {
  return std::ranges::any_of(about(name), &Want::is_request);
}

void UserRequests::count(const PackageChoice& choice, const wheel::Requirement& requirement,
                         const std::vector<std::string>& extras, const TakeDependency& take) const {
  const wheel::MarkerEnvironment& markers = *choice.markers;
  if (overrides_.empty() && !applies(requirement, markers, extras)) return;
  const std::string name = wheel::normalize_name(requirement.name);
  const auto replaced = overrides_.find(name);
  // uv's rule: an override takes the place of the marker too, but for the extra it belongs to.
  const bool of_extra = requirement.marker && requirement.marker->mentions("extra");
  if (!overrides_.empty() && (replaced == overrides_.end() || of_extra) &&
      !applies(requirement, markers, extras)) {
    return;
  }
  if (replaced != overrides_.end()) {
    for (const Request& one : replaced->second) {
      if (applies(one.requirement, markers, extras)) take(requirement, one.requirement);
    }
    return;
  }
  if (auto instead = stand_ins_.for_requirement(choice.package.name, requirement)) {
    take(requirement, std::move(*instead));
    return;
  }
  wheel::Requirement counted = requirement;
  // What is installed is not fetched again because of where it once came from.
  if (choice.package.already_installed && families_.installed(name) != nullptr) counted.url.clear();
  take(requirement, std::move(counted));
}

void UserRequests::each_dependency(const PackageChoice& choice,
                                   const std::vector<std::string>& extras,
                                   const TakeDependency& take) const {
  for (const wheel::Requirement& requirement : *choice.requires_dist)
    count(choice, requirement, extras, take);
}

std::vector<wheel::Requirement> UserRequests::dependencies_of(
    const PackageChoice& choice, const std::vector<std::string>& extras) const {
  std::vector<wheel::Requirement> dependencies;
  each_dependency(choice, extras, [&](const wheel::Requirement&, wheel::Requirement counted) {
    dependencies.push_back(std::move(counted));
  });
  return dependencies;
}

std::vector<wheel::Requirement> UserRequests::dependencies_of_extra(
    const PackageChoice& choice, const std::string& extra) const {
  const wheel::MarkerEnvironment& markers = *choice.markers;
  std::vector<wheel::Requirement> dependencies;
  for (const wheel::Requirement& requirement : *choice.requires_dist) {
    const bool only_with = requirement.marker && requirement.marker->mentions("extra") &&
                           applies(requirement, markers, {extra}) &&
                           !applies(requirement, markers, {});
    if (!only_with) continue;
    count(choice, requirement, {extra}, [&](const wheel::Requirement&, wheel::Requirement counted) {
      dependencies.push_back(std::move(counted));
    });
  }
  return dependencies;
}

std::vector<std::pair<wheel::Requirement, std::string>> UserRequests::stood_in_for(
    const PackageChoice& choice, const std::vector<std::string>& extras) const {
  std::vector<std::pair<wheel::Requirement, std::string>> others;
  const auto look_at = [&](const wheel::Requirement& own, const wheel::Requirement& counted) {
    const std::string name = wheel::normalize_name(counted.name);
    const bool is_other =
        name != wheel::normalize_name(own.name) && index::alternatives_of(name) != nullptr;
    if (is_other) others.emplace_back(own, name);
  };
  const bool none = overrides_.empty() &&
                    std::ranges::none_of(*choice.requires_dist, [](const auto& requirement) {
                      return index::alternatives_of(wheel::normalize_name(requirement.name));
                    });
  if (!none) each_dependency(choice, extras, look_at);
  return others;
}

}  // namespace axle::resolver
