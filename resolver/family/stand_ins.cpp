#include "resolver/family/stand_ins.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "providers/provider.h"

namespace axle::resolver {
namespace {

bool supports(const wheel::Property& property, const detect::Machine& machine,
              const providers::GpuPolicy& gpus) {
  const providers::Provider* provider = providers::find_provider(property.ns);
  if (provider == nullptr) return false;
  const providers::Features features = provider->supported(machine, gpus);
  return std::ranges::any_of(features, [&](const providers::Feature& feature) {
    return feature.name == property.feature &&
           std::ranges::find(feature.values, property.value) != feature.values.end();
  });
}

}  // namespace

bool suits_machine(const index::AlternativeMember& member, const detect::Machine& machine,
                   const providers::GpuPolicy& gpus) {
  return std::ranges::all_of(member.needs, [&](const wheel::Property& needed) {
    return std::ranges::any_of(member.needs, [&](const wheel::Property& other) {
      return other.ns == needed.ns && other.feature == needed.feature &&
             supports(other, machine, gpus);
    });
  });
}

const index::AlternativeMember* best_alternative(const index::Alternatives& group,
                                                 const Target& target, const Options& options) {
  const auto best = std::ranges::find_if(group.members, [&](const auto& member) {
    return !member.needs.empty() && suits_machine(member, *target.machine, options.providers.gpus);
  });
  return best == group.members.end() ? nullptr : &*best;
}

StandIns::StandIns(const Families& families, const Target& target, const Options& options)
    : families_(families), target_(target), options_(options) {}

void StandIns::name(const std::string& project) {
  if (const index::Alternatives* group = index::alternatives_of(project))
    named_[group].push_back(project);
}

std::optional<wheel::Requirement> StandIns::member(const index::Alternatives& group) const {
  wheel::Requirement member;
  if (const auto named = named_.find(&group); named != named_.end()) {
    member.name = named->second.front();
    return member;
  }
  for (const std::string& project : group.projects()) {
    if (families_.installed(project) == nullptr) continue;
    member.name = project;
    return member;
  }
  const index::AlternativeMember* best =
      options_.alternatives ? best_alternative(group, target_, options_) : nullptr;
  if (best == nullptr) return std::nullopt;
  member.name = best->project;
  member.extras = best->extras;
  return member;
}

wheel::Requirement StandIns::for_request(const wheel::Requirement& requirement) const {
  if (!options_.alternatives || !requirement.url.empty()) return requirement;
  const std::string name = wheel::normalize_name(requirement.name);
  const index::Alternatives* group = index::alternatives_of(name);
  if (group == nullptr) return requirement;
  // Whoever names one that is made for some machine wants that one.
  const auto asked = std::ranges::find_if(group->members, [&](const auto& member) {
    return member.project == name && member.extras == requirement.extras;
  });
  const index::AlternativeMember* best = best_alternative(*group, target_, options_);
  if (best == nullptr || asked == group->members.end() || !asked->needs.empty()) return requirement;
  wheel::Requirement instead = requirement;
  instead.name = best->project;
  instead.extras = best->extras;
  if (!group->same_versions && best->project != name) instead.specifiers = {};
  return instead;
}

std::optional<wheel::Requirement> StandIns::for_requirement(
    const std::string& owner, const wheel::Requirement& requirement) const {
  const std::string name = wheel::normalize_name(requirement.name);
  const index::Alternatives* group =
      requirement.url.empty() ? index::alternatives_of(name) : nullptr;
  if (group == nullptr || options_.same_modules || index::alternatives_of(owner) == group)
    return std::nullopt;
  const auto named = named_.find(group);
  if (named != named_.end() && std::ranges::find(named->second, name) != named->second.end())
    return std::nullopt;
  const auto member = this->member(*group);
  if (!member || (member->name == name && member->extras.empty())) return std::nullopt;
  wheel::Requirement instead = requirement;
  instead.name = member->name;
  std::ranges::copy(member->extras, std::back_inserter(instead.extras));
  if (!group->same_versions && member->name != name) instead.specifiers = {};
  return instead;
}

}  // namespace axle::resolver
