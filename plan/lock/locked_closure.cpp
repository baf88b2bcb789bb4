#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/nearest.h"
#include "foundation/text/quote.h"
#include "plan/lock/lock.h"
#include "plan/lock/lock_checks.h"
#include "wheel/variant/variant_markers.h"
#include "wheel/wheel_name.h"

namespace axle::plan {
namespace {

using RequirementLists = std::map<std::string, std::vector<std::string>, std::less<>>;

/// A family's build is a plain wheel: its markers see no variant.
wheel::MarkerEnvironment markers_of(const LockedPackage& package,
                                    const wheel::MarkerEnvironment& markers) {
  if (!package.variant || !package.family.empty()) return wheel::variant_markers(markers, "", {});
  return wheel::variant_markers(markers, *package.variant, package.supported);
}

std::vector<std::string> names_of(const RequirementLists& lists) {
  std::vector<std::string> names;
  for (const auto& [name, requirements] : lists) names.push_back(name);
  return names;
}

class Closure {
 public:
  Closure(const Lock& lock, std::string_view class_name, const wheel::MarkerEnvironment& markers)
      : lock_(lock), class_name_(class_name), markers_(markers) {}

  Result<void> request(const std::vector<std::string>& texts, std::string_view extra) {
    const wheel::MarkerEnvironment plain = wheel::variant_markers(markers_, "", {});
    for (const std::string& text : texts) {
      const auto requirement = wheel::parse_requirement(text);
      if (!requirement) return std::unexpected(requirement.error());
      if (requirement->marker && !requirement->marker->evaluate(plain, extra)) continue;
      auto reached = reach(*requirement, "the project");
      if (!reached) return std::unexpected(std::move(reached).error());
      (*reached)->requested = true;
    }
    return {};
  }

  Result<void> request(const RequirementLists& lists, const std::vector<std::string>& names,
                       std::string_view what, bool are_extras) {
    for (const std::string& name : names) {
      const auto found = lists.find(name);
      if (found == lists.end()) {
        return fail(ErrorKind::not_found,
                    fmt::format("the lock has no {} {}", what, text::quote(name)),
                    text::suggest(name, names_of(lists),
                                  "`variant lock` brings it up to date with pyproject.toml"));
      }
      if (auto done = request(found->second, are_extras ? name : std::string()); !done) return done;
    }
    return {};
  }

  Result<std::vector<ReachedPackage>> finish() {
    while (!open_.empty()) {
      const auto [name, extra] = std::move(open_.front());
      open_.pop_front();
      if (auto done = follow(reached_.at(name), extra); !done)
        return std::unexpected(std::move(done).error());
    }
    std::vector<ReachedPackage> packages;
    for (auto& [name, reached] : reached_) {
      std::ranges::sort(reached.extras);
      std::ranges::sort(reached.required_by);
      packages.push_back(std::move(reached));
    }
    return packages;
  }

 private:
  Result<ReachedPackage*> reach(const wheel::Requirement& requirement, std::string_view who) {
    const std::string name = wheel::normalize_name(requirement.name);
    const LockedPackage* package = find_locked(lock_, class_name_, name);
    if (package == nullptr) {
      return fail(ErrorKind::malformed,
                  fmt::format("{} needs {}, and class {} of the lock has no such package", who,
                              text::quote(wheel::render_requirement(requirement)), class_name_),
                  "`variant lock` brings it up to date");
    }
    auto [entry, is_new] = reached_.try_emplace(package->name);
    ReachedPackage& reached = entry->second;
    if (is_new) {
      reached.package = package;
      open_.emplace_back(package->name, "");
    }
    for (const std::string& extra : requirement.extras) {
      if (std::ranges::find(reached.extras, extra) != reached.extras.end()) continue;
      reached.extras.push_back(extra);
      open_.emplace_back(package->name, extra);
    }
    return &reached;
  }

  /// What `owner` needs always, or what its `extra` adds.
  Result<void> follow(ReachedPackage& owner, const std::string& extra) {
    const LockedPackage& package = *owner.package;
    const std::vector<std::string>* texts = &package.needs.always;
    if (!extra.empty()) {
      const auto found = package.needs.extras.find(extra);
      if (found == package.needs.extras.end()) return {};
      texts = &found->second;
    }
    const wheel::MarkerEnvironment markers = markers_of(package, markers_);
    for (const std::string& text : *texts) {
      auto need = wheel::parse_requirement(text);
      if (!need) return std::unexpected(std::move(need).error());
      if (need->marker && !need->marker->evaluate(markers, extra)) continue;
      auto reached = reach(*need, package.name);
      if (!reached) return std::unexpected(std::move(reached).error());
      std::vector<std::string>& by = (*reached)->required_by;
      if ((*reached)->package != &package && std::ranges::find(by, package.name) == by.end())
        by.push_back(package.name);
      owner.dependencies.push_back(std::move(*need));
    }
    return {};
  }

  const Lock& lock_;
  std::string_view class_name_;
  const wheel::MarkerEnvironment& markers_;
  std::map<std::string, ReachedPackage, std::less<>> reached_;
  std::deque<std::pair<std::string, std::string>> open_;  ///< name and extra, not yet followed
};

Result<ResolvedPackage> as_resolved(const ReachedPackage& reached, const std::string& folder) {
  const LockedPackage& locked = *reached.package;
  ResolvedPackage package;
  package.name = locked.name;
  package.version = locked.version;
  package.variant = locked.variant;
  package.family = locked.family;
  package.variant_properties = locked.properties;
  package.supported_properties = locked.supported;
  package.size = locked.size;
  package.source = absolute_place(locked.source, folder);
  package.provenance = locked.provenance;
  package.direct = locked.source.empty();
  package.requested = reached.requested;
  package.dependencies = reached.dependencies;
  package.stands_for = locked.stands_for;
  package.decision.has_variants = locked.variant && locked.family.empty();
  package.decision.chosen_because = locked.because;
  if (locked.built_from) {
    package.built_from = locked.built_from;
    BuiltFrom& from = *package.built_from;
    from.hash_is_given = !from.sha256.empty();
    if (from.kind != BuiltFrom::Kind::repository) from.url = absolute_place(from.url, folder);
    return package;
  }
  auto name = wheel::parse_wheel_name(locked.filename);
  if (!name) return std::unexpected(std::move(name).error());
  package.wheel_name = std::move(*name);
  package.filename = locked.filename;
  package.url = absolute_place(locked.url, folder);
  if (package.direct) package.source = package.url;
  package.hash = wheel::expected_sha256(
      locked.sha256, package.direct ? wheel::HashSource::url : wheel::HashSource::index);
  return package;
}

}  // namespace

const LockedPackage* find_locked(const Lock& lock, std::string_view class_name,
                                 std::string_view name) {
  const auto [begin, end] = std::ranges::equal_range(lock.packages, name, {}, &LockedPackage::name);
  for (auto package = begin; package != end; ++package)
    if (package->is_in(class_name)) return &*package;
  for (const LockedPackage& package : lock.packages) {
    const bool stands = std::ranges::find(package.stands_for, name) != package.stands_for.end();
    if (stands && package.is_in(class_name)) return &package;
  }
  return nullptr;
}

Result<std::vector<ReachedPackage>> locked_closure(const Lock& lock, std::string_view class_name,
                                                   const LockSelection& wanted,
                                                   const wheel::MarkerEnvironment& markers) {
  if (lock.find_class(class_name) == nullptr) {
    std::vector<std::string> names;
    for (const LockedClass& one : lock.classes) names.push_back(one.name);
    return fail(ErrorKind::not_found,
                fmt::format("the lock has no class {}", text::quote(class_name)),
                text::suggest(class_name, names,
                              fmt::format("its classes are {}", text::joined_by_or(names))));
  }
  Closure closure(lock, class_name, markers);
  if (wanted.project) {
    if (auto done = closure.request(lock.requests.project, ""); !done)
      return std::unexpected(std::move(done).error());
  }
  if (auto done = closure.request(lock.requests.extras, wanted.extras, "extra", true); !done)
    return std::unexpected(std::move(done).error());
  if (auto done = closure.request(lock.requests.groups, wanted.groups, "group", false); !done)
    return std::unexpected(std::move(done).error());
  return closure.finish();
}

Result<Resolution> as_resolution(const std::vector<ReachedPackage>& packages,
                                 const std::string& folder) {
  Resolution resolution;
  std::map<std::string_view, std::string> titles;
  for (const ReachedPackage& reached : packages) {
    titles.emplace(reached.package->name,
                   fmt::format("{} {}", reached.package->name,
                               wheel::render_version(reached.package->version)));
  }
  for (const ReachedPackage& reached : packages) {
    auto package = as_resolved(reached, folder);
    if (!package) return std::unexpected(std::move(package).error());
    for (const std::string& name : reached.required_by)
      package->required_by.push_back(titles.at(name));
    resolution.packages.push_back(std::move(*package));
  }
  return resolution;
}

}  // namespace axle::plan
