#include "plan/lock/lock_checks.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/quote.h"

namespace axle::plan {
namespace {

constexpr std::string_view make_anew = "`variant lock --upgrade` makes it anew";

using ByName = std::multimap<std::string_view, const LockedPackage*, std::less<>>;

/// By the names that packages have or stand for.
ByName index_names(const Lock& lock) {
  ByName packages;
  for (const LockedPackage& package : lock.packages) {
    packages.emplace(package.name, &package);
    for (const std::string& other : package.stands_for) packages.emplace(other, &package);
  }
  return packages;
}

class NeedCheck {
 public:
  explicit NeedCheck(const Lock& lock) : packages_(index_names(lock)) {}

  /// Why `need` is not met in the classes of `owner`; empty: it is. One that a marker or an extra
  /// decides about may concern some of them only.
  [[nodiscard]] std::string why_not(const LockedPackage& owner, const std::string& text,
                                    bool of_extra) const {
    const auto need = wheel::parse_requirement(text);
    if (!need) return {};  // refused where it was read
    const bool in_some = of_extra || need->marker;
    std::string unmet;
    for (const std::string& one : owner.classes) {
      if (is_met(*need, one)) {
        if (in_some) return {};
      } else if (unmet.empty()) {
        unmet = one;
      }
    }
    return unmet.empty() ? unmet : describe(*need, text, unmet);
  }

  [[nodiscard]] bool is_there(const std::string& name, std::string_view class_name) const {
    const auto [begin, end] = packages_.equal_range(name);
    return std::any_of(begin, end,
                       [&](const auto& entry) { return entry.second->is_in(class_name); });
  }

 private:
  [[nodiscard]] bool is_met(const wheel::Requirement& need, std::string_view class_name) const {
    const auto [begin, end] = packages_.equal_range(wheel::normalize_name(need.name));
    return std::any_of(begin, end, [&](const auto& entry) {
      return entry.second->is_in(class_name) && meets(*entry.second, need);
    });
  }

  [[nodiscard]] std::string describe(const wheel::Requirement& need, const std::string& text,
                                     const std::string& class_name) const {
    const auto [begin, end] = packages_.equal_range(wheel::normalize_name(need.name));
    for (auto entry = begin; entry != end; ++entry) {
      if (!entry->second->is_in(class_name)) continue;
      return fmt::format("{} is needed, but class {} has version {}", text::quote(text), class_name,
                         wheel::render_version(entry->second->version));
    }
    return fmt::format("{} is needed, but class {} has no such package", text::quote(text),
                       class_name);
  }

  ByName packages_;
};

void check_requests(const Lock& lock, const NeedCheck& check, LockTables& tables) {
  auto requests = tables.top.table("requests");
  if (!requests) return;
  for (const std::string& text : lock.requests.project) {
    const auto request = wheel::parse_requirement(text);
    if (!request || request->marker) continue;
    for (const LockedClass& one : lock.classes) {
      if (check.is_there(wheel::normalize_name(request->name), one.name)) continue;
      requests->refuse("project",
                       fmt::format("{} is asked for, but class {} has no such package",
                                   text::quote(text), one.name),
                       std::string(make_anew));
      return;
    }
  }
}

}  // namespace

bool meets(const LockedPackage& package, const wheel::Requirement& need) {
  const bool same_name = wheel::normalize_name(need.name) == package.name;
  // A distribution in another's place has versions of its own.
  if (!same_name || !need.url.empty() || need.specifiers.contains(package.version)) return true;
  if (package.family.empty()) return false;
  // A family's label counts as the local version, which its files do not always have.
  return std::ranges::all_of(need.specifiers.specifiers, [&](wheel::Specifier one) {
    one.version.local.clear();
    return one.contains(package.version.public_version());
  });
}

void check_classes(const Lock& lock, LockTables& tables) {
  std::map<std::string, std::string, std::less<>> classes;
  for (std::size_t i = 0; i < lock.classes.size(); ++i) {
    const std::string& name = lock.classes[i].name;
    const auto [known, is_new] = classes.emplace(text::ascii_lower(name), name);
    if (is_new) continue;
    tables.classes[i].refuse(
        "name",
        known->second == name
            ? fmt::format("there are two classes {}", name)
            : fmt::format("there are two classes of one name, {} and {}", known->second, name),
        std::string(make_anew));
  }
}

void check_files(const Lock& lock, LockTables& tables) {
  using NameAndClass = std::pair<std::string_view, std::string_view>;
  std::map<NameAndClass, std::size_t> files;
  for (std::size_t i = 0; i < lock.packages.size(); ++i) {
    const LockedPackage& package = lock.packages[i];
    for (const std::string& one : package.classes) {
      const auto [first, is_new] = files.emplace(NameAndClass(package.name, one), i);
      if (is_new) continue;
      const documents::TomlTable& other = tables.packages[first->second];
      tables.packages[i].refuse(
          "name",
          fmt::format("class {} has two files of {}: the other is at {}", one, package.name,
                      tables.packages[i].reading().place(other.node())),
          std::string(make_anew));
    }
  }
}

void check_needs(const Lock& lock, LockTables& tables) {
  const NeedCheck check(lock);
  check_requests(lock, check, tables);
  for (std::size_t i = 0; i < lock.packages.size(); ++i) {
    const LockedPackage& package = lock.packages[i];
    for (const std::string& text : package.needs.always) {
      if (const std::string why = check.why_not(package, text, false); !why.empty())
        tables.packages[i].refuse("needs", why, std::string(make_anew));
    }
    for (const auto& [extra, texts] : package.needs.extras) {
      for (const std::string& text : texts) {
        if (const std::string why = check.why_not(package, text, true); !why.empty())
          tables.packages[i].refuse("extras", fmt::format("{}: {}", extra, why),
                                    std::string(make_anew));
      }
    }
  }
}

}  // namespace axle::plan
