#include "resolver/solver/worklist.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "resolver/explain/messages.h"
#include "wheel/variant/variant_markers.h"

namespace axle::resolver {
namespace {

constexpr std::size_t max_choices = 10'000;
constexpr unsigned max_relaxed = 3;

std::vector<std::string> wanted_extras(const std::vector<Want>& wants) {
  std::set<std::string> extras;
  for (const Want& want : wants) {
    extras.insert(want.requirement.extras.begin(), want.requirement.extras.end());
  }
  return {extras.begin(), extras.end()};
}

bool holds(const PackageChoice& choice, const std::vector<const Want*>& wants) {
  return direct_urls(wants) == choice.direct_urls &&
         std::ranges::all_of(wants, [&](const Want* want) {
           return want->requirement.specifiers.contains(choice.package.version);
         });
}

/// Somebody asks for the package; constraints alone do not.
bool is_wanted(const std::vector<Want>& wants) {
  return std::ranges::any_of(wants, [](const Want& want) { return !want.constraint; });
}

}  // namespace

bool applies(const wheel::Requirement& requirement, wheel::MarkerEnvironment& environment,
             const std::vector<std::string>& extras) {
  if (!requirement.marker) return true;
  std::string& extra = environment.strings["extra"];
  extra.clear();
  if (requirement.marker->evaluate(environment)) return true;
  return std::ranges::any_of(extras, [&](const std::string& name) {
    extra = name;
    return requirement.marker->evaluate(environment);
  });
}

bool marker_holds(const wheel::Requirement& requirement, wheel::MarkerEnvironment environment) {
  return applies(requirement, environment, {});
}

Worklist::Worklist(const Target& target, const std::vector<plan::InstalledPackage>& installed,
                   const Options& options, const KeptBuilds& kept, Families& families,
                   PackageChooser& chooser, Report& report)
    : target_(target),
      installed_(installed),
      options_(options),
      report_(report),
      families_(families),
      chooser_(chooser),
      rules_(*this, families, chooser, options, kept, report) {}

void Worklist::enqueue(const std::string& name, bool first) {
  Node& node = nodes_[name];
  if (node.queued && !first) return;
  if (node.queued) std::erase(queue_, name);
  node.queued = true;
  if (first) {
    queue_.push_front(name);
  } else {
    queue_.push_back(name);
  }
}

Result<void> Worklist::add_requests(const Requests& requests) {
  hash_rules_ = hash_rules(requests, options_);
  add_overrides(requests.overrides);
  const std::vector<Request> wanted = requested(requests);
  const wheel::MarkerEnvironment markers = wheel::variant_markers(target_.markers, "", {});
  std::vector<const Request*> constraints;
  for (const Request& constraint : requests.constraints) {
    if (!marker_holds(constraint.requirement, markers)) continue;
    constraints.push_back(&constraint);
    add_want(constraint, true);
  }
  std::vector<const Request*> listed;
  for (const Request& request : wanted) {
    listed.push_back(&request);
    add_want(request, false);
  }
  if (auto ok = check_listed(listed, constraints, hash_rules_); !ok) return ok;
  for (const std::string& name : std::vector<std::string>(queue_.begin(), queue_.end())) {
    rules_.switch_installed(name);
  }
  return {};
}

Result<plan::Resolution> Worklist::run(const Requests& requests) {
  if (auto ok = add_requests(requests); !ok) return std::unexpected(ok.error());
  if (auto ok = settle(); !ok) return std::unexpected(ok.error());
  if (auto ok = check_required(); !ok) return std::unexpected(ok.error());
  if (auto ok = check_hashes(); !ok) return std::unexpected(ok.error());
  rules_.remark();
  return outcome();
}

Result<void> Worklist::settle() {
  do {
    while (!queue_.empty()) {
      const std::string name = std::move(queue_.front());
      queue_.pop_front();
      nodes_[name].queued = false;
      if (auto ok = process(name); !ok) return ok;
    }
  } while (drop_unreachable() || recheck_abi() || rules_.recheck() || rules_.share_labels());
  return {};
}

PackageDemand Worklist::demand_for(const std::string& name) {
  Node& node = nodes_[name];
  PackageDemand demand{
      name, binding_wants(name, node.wants), &node.excluded,
      [this, name](const std::string& package) { return version_of(name, package); }};
  rules_.ask(name, demand);
  return demand;
}

Result<void> Worklist::process(const std::string& name) {
  Node& node = nodes_[name];
  if (!is_wanted(node.wants)) {
    drop(name);
    return {};
  }
  if (node.choice && !node.rechoose && holds(*node.choice, binding_wants(name, node.wants))) {
    if (wanted_extras(node.wants) != node.extras) expand(name);
    return {};
  }
  if (rules_.waits(name)) return {};
  node.rechoose = false;
  if (++choices_ > max_choices) {
    return std::unexpected(first_conflict_.value_or(
        Error{ErrorKind::conflict,
              fmt::format("the requirements on {} keep contradicting each other: {}", name,
                          render_wants(binding_wants(name, node.wants))),
              "pin one of the packages to a version"}));
  }
  auto choice = chooser_.choose(demand_for(name));
  if (!choice) return handle(name, std::move(choice).error());
  // The same release chosen again (for another label, say) is no later than it was.
  if (!node.choice || node.choice->release != choice->release) node.serial = choices_;
  node.choice = std::move(*choice);
  expand(name);
  return {};
}

void Worklist::expand(const std::string& name) {
  Node& node = nodes_[name];
  node.extras = wanted_extras(node.wants);
  PackageChoice& choice = *node.choice;
  if (choice.extras) {
    for (const std::string& extra : node.extras) {
      if (std::ranges::find(*choice.extras, extra) != choice.extras->end()) continue;
      report_.warn(fmt::format("{} {} has no extra {}", name,
                               wheel::render_version(choice.package.version), extra));
    }
  }
  set_dependencies(name, options_.dependencies ? dependencies_of(choice, node.extras)
                                               : std::vector<wheel::Requirement>());
}

void Worklist::set_dependencies(const std::string& owner,
                                std::vector<wheel::Requirement> dependencies) {
  PackageChoice& choice = *nodes_[owner].choice;
  std::map<std::string, std::vector<Want>> by_name;
  const std::string version = wheel::render_version(choice.package.version);
  for (const wheel::Requirement& requirement : dependencies) {
    Want want{chooser_.with_assigned_url(requirement), owner, version, false};
    want.by_direct = choice.package.direct || want.requirement.url != requirement.url;
    by_name[wheel::normalize_name(requirement.name)].push_back(std::move(want));
  }
  for (const wheel::Requirement& requirement : choice.goes_with) {
    const bool constraint = !rules_.brings_along(choice, requirement.name);
    by_name[requirement.name].push_back({requirement, owner, version, constraint});
  }
  choice.package.dependencies = std::move(dependencies);
  for (auto& [name, node] : nodes_) {
    const auto is_old = [&](const Want& want) { return want.by == owner; };
    if (std::ranges::any_of(node.wants, is_old)) by_name.try_emplace(name);
  }
  // In the order of the metadata, so that the order of choices does not hang on spelling.
  std::vector<std::string> order;
  for (const wheel::Requirement& requirement : choice.package.dependencies) {
    std::string name = wheel::normalize_name(requirement.name);
    if (std::ranges::find(order, name) == order.end()) order.push_back(std::move(name));
  }
  for (const auto& [name, wants] : by_name) {
    if (std::ranges::find(order, name) == order.end()) order.push_back(name);
  }
  for (const std::string& name : order) {
    Node& node = nodes_[name];
    std::set<std::string> old_texts;
    std::set<std::string> new_texts;
    // What only limited versions may now ask for the package.
    const auto text_of = [](const Want& want) {
      return wheel::render_requirement(want.requirement) + (want.constraint ? " if at all" : "");
    };
    for (const Want& want : node.wants) {
      if (want.by == owner) old_texts.insert(text_of(want));
    }
    for (const Want& want : by_name[name]) new_texts.insert(text_of(want));
    std::erase_if(node.wants, [&](const Want& want) { return want.by == owner; });
    std::ranges::move(by_name[name], std::back_inserter(node.wants));
    if (old_texts == new_texts) continue;
    const bool lost = !std::ranges::includes(new_texts, old_texts);
    if (lost && node.choice && name != owner && node.relaxed < max_relaxed) {
      ++node.relaxed;
      node.rechoose = true;
    }
    enqueue(name);
  }
}

void Worklist::drop(const std::string& name) {
  Node& node = nodes_[name];
  if (!node.choice) return;
  node.choice->goes_with.clear();
  set_dependencies(name, {});
  node.choice.reset();
  node.extras.clear();
}

bool Worklist::drop_unreachable() {
  std::set<std::string> reached;
  std::vector<std::string> open;
  for (const auto& [name, node] : nodes_) {
    const bool requested = std::ranges::any_of(
        node.wants, [](const Want& want) { return want.by.empty() && !want.constraint; });
    if (requested) open.push_back(name);
  }
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!reached.insert(name).second) continue;
    const PackageChoice& choice = *nodes_[name].choice;
    for (const wheel::Requirement& requirement : choice.package.dependencies) {
      open.push_back(wheel::normalize_name(requirement.name));
    }
    for (const wheel::Requirement& requirement : choice.goes_with) {
      if (rules_.brings_along(choice, requirement.name)) open.push_back(requirement.name);
    }
  }
  std::vector<std::string> stray;
  for (const auto& [name, node] : nodes_) {
    if (node.choice && !reached.contains(name)) stray.push_back(name);
  }
  for (const std::string& name : stray) drop(name);
  return !stray.empty();
}

std::optional<wheel::Version> Worklist::settled_version(const std::string& package) const {
  const auto node = nodes_.find(package);
  if (node != nodes_.end() && node->second.choice) return node->second.choice->package.version;
  const plan::InstalledPackage* installed = families_.installed(package);
  if (installed != nullptr) return installed->version;
  return std::nullopt;
}

std::optional<wheel::Version> Worklist::version_of(const std::string& asking,
                                                   const std::string& package) {
  auto settled = settled_version(package);
  if (settled || nodes_[asking].abi_settled) return settled;
  // The package that asks usually brings this one in: what would then be tried first is the best
  // guess, and recheck_abi holds it against the outcome.
  static const wheel::Requirement no_requirement;
  PackageDemand demand = demand_for(package);
  const Want anything{no_requirement, {}, {}, true};
  if (demand.wants.empty()) demand.wants.push_back(&anything);
  return chooser_.newest(demand);
}

bool Worklist::recheck_abi() {
  bool changed = false;
  for (auto& [name, node] : nodes_) {
    if (!node.choice) continue;
    const bool holds = std::ranges::all_of(node.choice->abi, [&](const AbiAssumption& assumed) {
      return assumed.version == settled_version(assumed.package);
    });
    if (holds) continue;
    node.abi_settled = true;
    node.rechoose = true;
    enqueue(name);
    changed = true;
  }
  return changed;
}

}  // namespace axle::resolver
