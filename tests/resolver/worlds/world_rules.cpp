#include "tests/resolver/worlds/world_rules.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace axle::testing {
namespace {

constexpr std::size_t most_steps = 200'000;
const std::string unasked = " is not asked for";
const std::string yanked = " is yanked, and nobody asks for it";

/// One build that can be used here, or what is installed.
struct Pick {
  WorldChoice choice;
  wheel::Version version;
  const WorldRelease* release = nullptr;  ///< nullptr: installed
  const WorldBuild* build = nullptr;      ///< nullptr: installed
  const std::vector<WorldNeed>* needs = nullptr;
  bool from_source = false;
};
using Picks = std::map<std::string, const Pick*>;

/// A need that counts, and what it belongs to.
struct Active {
  const WorldNeed* need = nullptr;
  std::string owner;  ///< empty: the user
};

bool contains(const std::string& specifiers, const wheel::Version& version) {
  const auto parsed = wheel::parse_specifiers(specifiers);
  REQUIRE_MESSAGE(parsed.has_value(), specifiers);
  return parsed->contains(version);
}

bool names(const std::string& specifiers, bool (*is_it)(const wheel::Specifier&)) {
  const auto parsed = wheel::parse_specifiers(specifiers);
  return std::ranges::any_of(parsed->specifiers, is_it);
}

/// Clauses that name this one version.
bool pins(const std::string& specifiers, const wheel::Version& version) {
  return contains(specifiers, version) && names(specifiers, [](const wheel::Specifier& one) {
           return one.comparison == wheel::Comparison::equal && !one.wildcard;
         });
}

/// Made of a source distribution.
const WorldBuild from_source;

/// The releases that count where there are two indexes.
PublishedWorld counted(PublishedWorld world) {
  for (WorldPackage& package : world.packages) {
    const std::vector<WorldRelease> all = package.releases;
    std::erase_if(package.releases, [&](const WorldRelease& release) {
      if (!package.assigned.empty()) return std::to_string(release.index) != package.assigned;
      return world.strategy == "first-index" &&
             std::ranges::any_of(
                 all, [&](const WorldRelease& other) { return other.index < release.index; });
    });
  }
  return world;
}

class Rules {
 public:
  Rules(const PublishedWorld& world, Wishes wishes);

  [[nodiscard]] const std::vector<Pick>& all(const std::string& name) const;
  /// Nobody need wish for it, if it is a pre-release.
  void exempt(const Pick* pick) { exempt_.insert(pick); }
  /// What counts with `picks`, as far as they go.
  [[nodiscard]] std::vector<Active> active(const Picks& picks) const;
  /// One that nothing can mend by choosing more; empty: none.
  [[nodiscard]] std::string broken_need(const Picks& picks,
                                        const std::vector<Active>& active) const;
  /// Of picks that nothing is missing from.
  [[nodiscard]] std::string broken_rule(const Picks& picks,
                                        const std::vector<Active>& active) const;

 private:
  void add_replaced(std::vector<Active>& active, const WorldNeed& need,
                    const std::string& owner) const;
  [[nodiscard]] const WorldInstalled* installed(const std::string& name) const;
  /// Empty, or what nobody wishes for.
  [[nodiscard]] std::string unwished(const Pick& pick, const std::vector<Active>& active) const;
  [[nodiscard]] std::string broken_neighbour(const Picks& picks) const;
  /// Backends: one for the members of a family, one of GPU libraries for all packages.
  [[nodiscard]] std::string broken_mixture(const Picks& picks) const;
  /// A build for the CPU on a machine with a GPU, where those whose wishes count allow another.
  /// Of a family the first member that is chosen says it, since the others have its backend.
  [[nodiscard]] bool leaves_gpu_idle(const Picks& picks, const std::vector<Active>& active) const;
  /// Specifiers of all who want the package, or of the user alone.
  [[nodiscard]] std::vector<std::string> wants(const std::string& name,
                                               const std::vector<Active>& active) const;

  PublishedWorld world_;
  Wishes wishes_;
  std::map<std::string, std::vector<Pick>> all_;
  std::set<const Pick*> exempt_;
  std::vector<WorldNeed> along_;  ///< installed members of a family, which others of it bring along
};

Rules::Rules(const PublishedWorld& world, Wishes wishes) : world_(counted(world)), wishes_(wishes) {
  for (const WorldPackage& package : world_.packages) {
    for (const WorldRelease& release : package.releases) {
      for (const WorldBuild& build : release.builds) {
        if (!build.fits || !release.python_fits) continue;
        const std::string at = release.version + (build.backend.empty() ? "" : "+" + build.backend);
        all_[package.name].push_back({{package.name, at, build.label, false, release.index},
                                      version(at),
                                      &release,
                                      &build,
                                      &build.needs});
      }
      const bool consents = std::ranges::find(world_.built, package.name) != world_.built.end();
      const bool fits = std::ranges::any_of(release.builds, &WorldBuild::fits);
      if (!consents || fits || !release.sdist_builds || !release.python_fits) continue;
      all_[package.name].push_back({{package.name, release.version, {}, false, release.index},
                                    version(release.version),
                                    &release,
                                    &from_source,
                                    &release.sdist_needs,
                                    true});
    }
  }
  for (const WorldInstalled& one : world_.installed) {
    if (!one.backend.empty()) along_.push_back({.text = one.name, .name = one.name});
    all_[one.name].push_back(
        {{one.name, one.version, {}, true}, version(one.version), nullptr, nullptr, &one.needs});
  }
}

const std::vector<Pick>& Rules::all(const std::string& name) const {
  static const std::vector<Pick> nothing;
  const auto found = all_.find(name);
  return found == all_.end() ? nothing : found->second;
}

const WorldInstalled* Rules::installed(const std::string& name) const {
  const auto found = std::ranges::find(world_.installed, name, &WorldInstalled::name);
  return found == world_.installed.end() ? nullptr : &*found;
}

void Rules::add_replaced(std::vector<Active>& active, const WorldNeed& need,
                         const std::string& owner) const {
  bool replaced = false;
  for (const WorldNeed& other : world_.overrides) {
    if (other.name != need.name) continue;
    replaced = true;
    if (need.holds || need.extra.empty()) active.push_back({&other, owner});
  }
  if (!replaced && need.holds) active.push_back({&need, owner});
}

std::vector<Active> Rules::active(const Picks& picks) const {
  std::vector<Active> active;
  for (const WorldNeed& need : world_.requests) add_replaced(active, need, {});
  for (const WorldNeed& need : along_) {
    if (picks.contains(need.name)) active.push_back({&need, {}});
  }
  std::set<std::pair<std::string, std::string>>
      asked;  // (package, extra); "" is the package itself
  for (std::size_t i = 0; i < active.size(); ++i) {
    const WorldNeed need = *active[i].need;
    std::vector<std::string> extras = need.extras;
    extras.emplace_back();
    const auto pick = picks.find(need.name);
    if (pick == picks.end()) continue;
    for (const std::string& extra : extras) {
      if (!asked.insert({need.name, extra}).second) continue;
      for (const WorldNeed& own : *pick->second->needs) {
        if (own.extra == extra) add_replaced(active, own, need.name);
      }
    }
  }
  return active;
}

std::string Rules::broken_need(const Picks& picks, const std::vector<Active>& active) const {
  for (const Active& one : active) {
    const auto pick = picks.find(one.need->name);
    if (pick == picks.end() || one.need->name == one.owner) continue;
    if (!contains(one.need->specifiers, pick->second->version))
      return one.owner + " needs " + one.need->text;
  }
  for (const auto* list : {&world_.constraints, &world_.overrides}) {
    for (const WorldNeed& need : *list) {
      const auto pick = picks.find(need.name);
      if (pick != picks.end() && !contains(need.specifiers, pick->second->version))
        return "constraint " + need.text;
    }
  }
  return {};
}

std::string Rules::unwished(const Pick& pick, const std::vector<Active>& active) const {
  const std::string& name = pick.choice.name;
  const bool early = pick.version.is_prerelease() && !exempt_.contains(&pick);
  if (pick.release == nullptr || (!early && !pick.release->yanked)) return {};
  const auto package = std::ranges::find(world_.packages, name, &WorldPackage::name);
  const auto final_in = [&](const std::string& specifiers) {
    return std::ranges::any_of(package->releases, [&](const WorldRelease& other) {
      const wheel::Version at = version(other.version);
      return !at.is_prerelease() && contains(specifiers, at) &&
             (!other.yanked || pins(specifiers, at));
    });
  };
  const bool all_early = std::ranges::none_of(package->releases, [](const WorldRelease& other) {
    return !version(other.version).is_prerelease();
  });
  std::vector<Active> wants = active;
  for (const auto* list : {&world_.constraints, &world_.overrides}) {
    for (const WorldNeed& need : *list) wants.push_back({&need, {}});
  }
  bool early_counts = world_.prereleases || all_early || wishes_ == Wishes::needless;
  bool pinned = false;
  for (const Active& one : wants) {
    const std::string& specifiers = one.need->specifiers;
    if (one.need->name != name || one.owner == name) continue;
    if (wishes_ != Wishes::of_anybody && !one.owner.empty()) continue;
    pinned = pinned || pins(specifiers, pick.version);
    const bool named = one.owner.empty() && names(specifiers, [](const wheel::Specifier& clause) {
                         return clause.version.is_prerelease() &&
                                clause.comparison != wheel::Comparison::not_equal;
                       });
    early_counts = early_counts || named || !final_in(specifiers);
  }
  if (pick.release->yanked && !pinned) return yanked;
  return early && !early_counts ? unasked : std::string();
}

std::string Rules::broken_neighbour(const Picks& picks) const {
  for (const WorldInstalled& neighbour : world_.installed) {
    if (picks.contains(neighbour.name)) continue;
    for (const WorldNeed& need : neighbour.needs) {
      const auto pick = picks.find(need.name);
      const WorldInstalled* old = installed(need.name);
      if (!need.holds || !need.extra.empty() || old == nullptr || pick == picks.end()) continue;
      if (contains(need.specifiers, version(old->version)) &&
          !contains(need.specifiers, pick->second->version))
        return "installed " + neighbour.name + " needs " + need.text;
    }
  }
  return {};
}

std::vector<std::string> Rules::wants(const std::string& name,
                                      const std::vector<Active>& active) const {
  std::vector<std::string> wants;
  for (const auto* list : {&world_.constraints, &world_.overrides}) {
    for (const WorldNeed& need : *list) {
      if (need.name == name) wants.push_back(need.specifiers);
    }
  }
  for (const Active& one : active) {
    const bool counts = wishes_ == Wishes::of_anybody || one.owner.empty();
    if (one.need->name == name && one.owner != name && counts)
      wants.push_back(one.need->specifiers);
  }
  return wants;
}

bool Rules::leaves_gpu_idle(const Picks& picks, const std::vector<Active>& active) const {
  const std::vector<std::string>& members = world_.family.members;
  const auto leads = std::ranges::find_if(
      members, [&](const std::string& member) { return picks.contains(member); });
  if (leads == members.end() || world_.family.cuda.empty()) return false;
  if (picks.at(*leads)->build == nullptr || picks.at(*leads)->build->backend != "cpu") return false;
  const std::vector<std::string> wants = this->wants(*leads, active);
  return std::ranges::any_of(all(*leads), [&](const Pick& other) {
    // Where only such releases have a build for it, the one as well as the other is right.
    if (wishes_ == Wishes::of_anybody && other.build != nullptr &&
        (other.version.is_prerelease() || other.release->yanked))
      return false;
    const auto goes = [&](const WorldNeed& need) {
      const auto with = picks.find(need.name);
      return with == picks.end() || contains(need.specifiers, with->second->version);
    };
    return other.build != nullptr && other.build->backend != "cpu" &&
           std::ranges::all_of(other.release->goes_with, goes) &&
           std::ranges::all_of(wants, [&](const std::string& specifiers) {
             return contains(specifiers, other.version);
           });
  });
}

std::string Rules::broken_mixture(const Picks& picks) const {
  std::set<std::string> labels;
  std::set<std::string> platforms;
  for (const WorldInstalled& one : world_.installed) {
    const auto pick = picks.find(one.name);
    if (!one.backend.empty()) labels.insert(one.backend);
    const bool stays = pick == picks.end() || pick->second->build == nullptr;
    if (stays && !one.platform.empty()) platforms.insert(one.platform);
  }
  for (const auto& [name, pick] : picks) {
    if (pick->build == nullptr) continue;
    if (!pick->build->backend.empty()) labels.insert(pick->build->backend);
    if (!pick->build->platform.empty()) platforms.insert(pick->build->platform);
    for (const WorldNeed& need : pick->release->goes_with) {
      const auto other = picks.find(need.name);
      if (other != picks.end() && !contains(need.specifiers, other->second->version))
        return name + " goes with " + need.text;
    }
  }
  if (labels.size() > 1) return "two backends in one family";
  return platforms.size() > 1 ? "two platforms" : "";
}

std::string Rules::broken_rule(const Picks& picks, const std::vector<Active>& active) const {
  if (std::string need = broken_need(picks, active); !need.empty()) return need;
  std::set<std::string> needed;
  for (const Active& one : active) {
    needed.insert(one.need->name);
    if (!picks.contains(one.need->name)) return one.owner + " misses " + one.need->text;
  }
  for (const auto& [name, pick] : picks) {
    if (!needed.contains(name)) return name + " is not needed";
    if (const std::string what = unwished(*pick, active); !what.empty())
      return name + " " + pick->choice.version + what;
    if (pick->build == nullptr || pick->build->abi_package.empty()) continue;
    const std::string& other = pick->build->abi_package;
    const auto chosen = picks.find(other);
    const WorldInstalled* target = installed(other);
    if (chosen == picks.end() && target == nullptr)
      return name + " was built for an absent " + other;
    const wheel::Version at =
        chosen != picks.end() ? chosen->second->version : version(target->version);
    if (!contains("==" + pick->build->abi_version + ".*", at))
      return name + " was built for " + other + " " + pick->build->abi_version;
  }
  if (leaves_gpu_idle(picks, active)) return "a build for the CPU";
  if (std::string mixture = broken_mixture(picks); !mixture.empty()) return mixture;
  return broken_neighbour(picks);
}

/// Every choice of builds in turn, as far as needs ask for them.
class Enumeration {
 public:
  Enumeration(const Rules& rules, std::function<bool(const Pick&)> accept)
      : rules_(rules), accept_(std::move(accept)) {}

  /// Whether some choice breaks no rule; nullopt: there are too many.
  std::optional<bool> any() {
    const bool found = search();
    if (!found && steps_ >= most_steps) return std::nullopt;
    return found;
  }

 private:
  // NOLINTNEXTLINE(misc-no-recursion): as deep as there are packages
  bool search() {
    if (++steps_ >= most_steps) return false;
    const std::vector<Active> active = rules_.active(picks_);
    if (!rules_.broken_need(picks_, active).empty()) return false;
    const auto open = std::ranges::find_if(
        active, [&](const Active& one) { return !picks_.contains(one.need->name); });
    if (open == active.end()) return rules_.broken_rule(picks_, active).empty();
    const std::string name = open->need->name;
    for (const Pick& pick : rules_.all(name)) {
      if (!accept_(pick)) continue;
      picks_[name] = &pick;
      if (search()) return true;
    }
    picks_.erase(name);
    return false;
  }

  const Rules& rules_;
  std::function<bool(const Pick&)> accept_;
  Picks picks_;
  std::size_t steps_ = 0;
};

const Pick* find(const Rules& rules, const WorldChoice& choice) {
  for (const Pick& pick : rules.all(choice.name)) {
    if (pick.choice.version == choice.version && pick.choice.label == choice.label &&
        pick.choice.installed == choice.installed && pick.choice.index == choice.index) {
      return &pick;
    }
  }
  return nullptr;
}

/// Newer, or of the same version with a higher level or a better backend; builds that were linked
/// with something are not compared.
bool is_better(const Pick& one, const Pick& other, bool indexes_first) {
  if (one.from_source != other.from_source) return other.from_source;
  if (indexes_first && one.release->index != other.release->index)
    return one.release->index < other.release->index;
  if (one.release->version != other.release->version)
    return version(one.release->version) > version(other.release->version);
  if (one.release != other.release) return one.release->index < other.release->index;
  if (!one.build->backend.empty()) {
    const auto place = [](const WorldBuild& build) {
      return build.backend == "cu130" ? 2 : build.backend == "cu126" ? 1 : 0;
    };
    return place(*one.build) > place(*other.build);
  }
  if (!one.build->abi_package.empty() || !other.build->abi_package.empty()) return false;
  const auto place = [](const WorldBuild& build) {
    if (build.label.empty()) return 0;
    return build.level.empty() ? 1 : 1 + build.level.back() - '0';
  };
  return place(*one.build) > place(*other.build);
}

}  // namespace

std::string broken_rule(const PublishedWorld& world, const WorldAnswer& answer) {
  const Rules rules(world, Wishes::of_anybody);
  Picks picks;
  for (const WorldChoice& choice : answer.chosen) {
    const Pick* pick = find(rules, choice);
    if (pick == nullptr) return choice.name + " " + choice.version + " cannot be used here";
    picks[choice.name] = pick;
  }
  const std::string broken = rules.broken_rule(picks, rules.active(picks));
  const bool is_wish = broken.ends_with(unasked);
  return is_wish && !has_solution(world, Wishes::of_user).value_or(true) ? "" : broken;
}

std::optional<bool> has_solution(const PublishedWorld& world, Wishes wishes) {
  const Rules rules(world, wishes);
  return Enumeration(rules, [](const Pick&) { return true; }).any();
}

std::optional<std::string> could_be_better(const PublishedWorld& world, const WorldAnswer& answer) {
  Rules rules(world, Wishes::of_user);
  std::map<std::string, const Pick*> chosen;
  for (const WorldChoice& choice : answer.chosen) {
    chosen[choice.name] = find(rules, choice);
    rules.exempt(chosen[choice.name]);
  }
  const bool indexes_first = world.strategy == "unsafe-first-match";
  for (const auto& [name, pick] : chosen) {
    const auto better = Enumeration(rules, [&](const Pick& other) {
                          const auto is = chosen.find(other.choice.name);
                          if (is != chosen.end() && other.choice.name != name)
                            return is->second == &other;
                          // What a build was linked with is not brought in for it, and it may have
                          // been given up.
                          if (other.release->yanked || !other.build->abi_package.empty())
                            return false;
                          if (other.from_source) return false;
                          return is == chosen.end() || is_better(other, *pick, indexes_first);
                        }).any();
    if (!better) return std::nullopt;
    if (*better) return name;
  }
  return std::string();
}

}  // namespace axle::testing
