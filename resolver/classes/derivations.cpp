#include "resolver/classes/derivations.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "providers/provider.h"
#include "resolver/classes/used_properties.h"
#include "resolver/solver/solver.h"

namespace axle::resolver {

/// What is said while a class's own machine is solved counts; of others nothing does.
class Derivations::SwitchedReport final : public Report {
 public:
  explicit SwitchedReport(Report& inner) : inner_(inner) {}
  void add(Remark remark) override {
    if (on_) inner_.add(std::move(remark));
  }
  void progress(const Work& work) override { inner_.progress(work); }
  void turn(bool on) { on_ = on; }

 private:
  Report& inner_;
  bool on_ = false;
};

struct Derivations::Platform {
  detect::Machine machine;  ///< of the target
  std::optional<Target> target;
  std::unique_ptr<IndexCandidates> candidates;  ///< nullptr: nothing was solved for it
  std::map<std::string, std::size_t, std::less<>> tag_index;
};

namespace {

std::string values_of(const FactGroup& group, const FactValues& point) {
  std::string values;
  for (const std::string& fact : group) {
    values += value_of(point, fact);
    values += '\n';
  }
  return values;
}

std::string marker_of(const Target& target, std::string_view name) {
  const auto found = target.markers.strings.find(name);
  return found == target.markers.strings.end() ? std::string() : found->second;
}

bool asks_for_kernel(const UsedInputs& used) {
  return used.markers.contains("platform_release") || used.markers.contains("platform_version");
}

std::set<std::string, std::less<>> namespaces_of(const UsedInputs& used) {
  std::set<std::string, std::less<>> namespaces;
  for (const wheel::Property& one : used.properties) namespaces.insert(one.ns);
  for (const std::vector<wheel::Property>& run : used.runs) namespaces.insert(run.front().ns);
  return namespaces;
}

/// As UsedInputs::runs says it of a machine and its views, of which the machine is the first.
bool lacks_all(const std::vector<SupportedProperties>& machines,
               const std::vector<wheel::Property>& run) {
  const std::size_t first = machines.size() > 1 ? 1 : 0;
  for (std::size_t i = first; i < machines.size(); ++i) {
    const auto features = machines[i].find(run.front().ns);
    if (features == machines[i].end()) return true;
    const auto feature =
        std::ranges::find(features->second, run.front().feature, &providers::Feature::name);
    const bool has_some =
        feature != features->second.end() &&
        std::ranges::any_of(run, [&](const wheel::Property& property) {
          return std::ranges::find(feature->values, property.value) != feature->values.end();
        });
    if (!has_some) return true;
  }
  return false;
}

}  // namespace

std::string answer_of(const plan::Resolution& resolution) {
  std::string answer = "packages\n";
  for (const plan::ResolvedPackage& package : resolution.packages) {
    answer += fmt::format("{} {} {} {}\n", package.name, wheel::render_version(package.version),
                          package.recorded_url(), package.hash.digits);
    if (package.built_from)
      answer += fmt::format("  {} {} {}\n", package.built_from->url, package.built_from->sha256,
                            package.built_from->commit);
  }
  return answer;
}

Derivations::Derivations(const Requests& requests, const Options& options, const Sources& sources,
                         TargetMaker make_target, Report& report)
    : requests_(requests),
      options_(options),
      sources_(sources),
      make_target_(std::move(make_target)),
      report_(std::make_unique<SwitchedReport>(report)) {
  say_remarks(false);
  if (options_.providers.plugins == nullptr) return;
  plugins_.emplace(*options_.providers.plugins);
  options_.providers.plugins = &*plugins_;
}

Derivations::~Derivations() = default;

void Derivations::say_remarks(bool on) {
  report_->turn(on);
  options_.remarks = on;
}

Derivations::Platform* Derivations::platform_of(const FactValues& point) {
  FactGroup facts(std::begin(platform_facts), std::end(platform_facts));
  if (!kernel_matters_) std::erase(facts, "kernel");
  std::unique_ptr<Platform>& platform = platforms_[values_of(facts, point)];
  if (platform == nullptr) {
    platform = std::make_unique<Platform>();
    FactValues of_platform;
    for (const std::string& fact : facts) {
      if (const std::string_view value = value_of(point, fact); !value.empty())
        of_platform.emplace(fact, value);
    }
    platform->machine = machine_with(of_platform);
    platform->target = make_target_(platform->machine);
  }
  return platform->target ? platform.get() : nullptr;
}

std::size_t Derivations::tag_index(Platform& platform, const std::string& tags) {
  const auto [known, is_new] = platform.tag_index.try_emplace(tags);
  if (!is_new) return known->second;
  const auto [parsed, first_time] = parsed_tags_.try_emplace(tags);
  if (first_time) {
    if (auto each = wheel::parse_tags(tags)) parsed->second = std::move(*each);
  }
  return known->second = platform.target->tags.best_index(parsed->second);
}

std::string Derivations::platform_signature(const Derivation& derivation, const FactValues& point) {
  Platform* platform = platform_of(point);
  if (platform == nullptr) return "none";
  std::string signature = "platform\n";
  for (const std::string& name : derivation.used.markers)
    signature += marker_of(*platform->target, name) + "\n";
  // Which wheels fit, and which of two fits better.
  std::vector<std::pair<std::size_t, std::string_view>> fitting;
  for (const std::string& tags : derivation.used.tags) {
    const std::size_t index = tag_index(*platform, tags);
    if (index != wheel::SupportedTags::npos) fitting.emplace_back(index, tags);
  }
  std::ranges::sort(fitting);
  for (std::size_t i = 0; i < fitting.size(); ++i) {
    const bool alike = i > 0 && fitting[i - 1].first == fitting[i].first;
    signature += fmt::format("{}{}\n", alike ? "= " : "", fitting[i].second);
  }
  return signature;
}

const std::vector<SupportedProperties>& Derivations::lists_at(
    const FactValues& point, const FactGroup& group,
    const std::set<std::string, std::less<>>& namespaces) {
  std::string key;
  FactValues facts;
  const auto take = [&](const std::string& fact) {
    const std::string_view value = value_of(point, fact);
    if (value.empty()) return;
    key += fmt::format("{}={}\n", fact, value);
    facts.emplace(fact, value);
  };
  for (const std::string& fact : group) {
    take(fact);
    if (const std::string_view arch = architecture_of_fact(fact);
        !arch.empty() && value_of(point, "arch") == arch) {
      facts.insert_or_assign("arch", std::string(arch));
    }
  }
  // Providers tell nothing of a machine without a system.
  facts.insert_or_assign("system", "linux");
  key += value_of(facts, "arch");
  const auto [known, is_new] = lists_.try_emplace(std::move(key));
  auto& [views, lists] = known->second;
  if (is_new) {
    detect::Machine whole = machine_with(facts);
    views = providers::device_views(whole, options_.providers.gpus);
    views.insert(views.begin(), std::move(whole));
    lists.resize(views.size());
  }
  for (const std::string& ns : namespaces) {
    const providers::Provider* provider = providers::find_provider(ns);
    if (provider == nullptr || provider->every_value_fits || lists.front().contains(ns)) continue;
    for (std::size_t i = 0; i < views.size(); ++i)
      lists[i].emplace(ns, provider->supported(views[i], options_.providers.gpus));
  }
  return lists;
}

std::string Derivations::property_signature(const Derivation& derivation, const FactGroup& group,
                                            const FactValues& point) {
  std::string signature;
  const auto namespaces = namespaces_of(derivation.used);
  for (const SupportedProperties& lists : lists_at(point, group, namespaces)) {
    signature += "machine\n";
    for (const auto& [ns, features] : lists) {
      if (!namespaces.contains(ns)) continue;
      for (const providers::Feature& feature : features) {
        wheel::Property property{ns, feature.name, {}};
        const auto first = derivation.used.properties.lower_bound(property);
        const bool used = first != derivation.used.properties.end() && first->ns == ns &&
                          first->feature == feature.name;
        if (!used) continue;
        for (const std::string& value : feature.values) {
          property.value = value;
          if (!derivation.used.properties.contains(property)) continue;
          signature += fmt::format("{} {} {}\n", ns, feature.name, value);
        }
      }
    }
  }
  for (const std::vector<wheel::Property>& run : derivation.used.runs) {
    const std::vector<std::string> behind = facts_behind(run.front());
    const bool inside = std::ranges::any_of(behind, [&](const std::string& fact) {
      return std::ranges::find(group, fact) != group.end();
    });
    if (inside && !lacks_all(lists_at(point, group, namespaces), run))
      signature += fmt::format("has {}\n", wheel::render_property(run.front()));
  }
  for (const std::string& fact : group) {
    if (fact.starts_with(property_fact))
      signature += fmt::format("{} {}\n", fact, value_of(point, fact));
  }
  return signature;
}

const std::string& Derivations::signature(Derivation& derivation, std::size_t group,
                                          const FactValues& point) {
  const FactGroup& facts = derivation.groups[group];
  // What lists_at takes of an architecture that is not of the group.
  const std::string key = values_of(facts, point) + std::string(value_of(point, "arch"));
  const auto [known, is_new] = shapes_[derivation.shape].known[group].try_emplace(key);
  if (is_new) {
    known->second = is_platform_fact(facts.front()) ? platform_signature(derivation, point)
                                                    : property_signature(derivation, facts, point);
  }
  return known->second;
}

Derivation* Derivations::find(const FactValues& point) {
  for (Shape& shape : shapes_) {
    std::string signatures;
    for (std::size_t i = 0; i < shape.first->groups.size(); ++i)
      signatures += signature(*shape.first, i, point) + '\0';
    const auto found = shape.by_signatures.find(signatures);
    if (found != shape.by_signatures.end()) return found->second;
  }
  return nullptr;
}

const std::vector<FactGroup>& Derivations::group(const std::set<std::string, std::less<>>& facts) {
  const auto [known, is_new] = grouped_.try_emplace(facts);
  if (is_new) {
    std::vector<const UsedInputs*> all;
    for (const Shape& shape : shapes_) all.push_back(&shape.first->used);
    known->second = grouped(facts, all);
  }
  return known->second;
}

void Derivations::note(Derivation& derivation) {
  const auto alike = std::ranges::find_if(
      shapes_, [&](const Shape& shape) { return shape.first->used == derivation.used; });
  derivation.shape = static_cast<std::size_t>(alike - shapes_.begin());
  if (alike == shapes_.end()) {
    Shape& shape = shapes_.emplace_back();
    shape.first = &derivation;
    shape.known.resize(derivation.groups.size());
    grouped_.clear();
  }
  std::string signatures;
  for (std::size_t i = 0; i < derivation.groups.size(); ++i) {
    derivation.signatures.push_back(signature(derivation, i, derivation.point));
    signatures += derivation.signatures.back() + '\0';
  }
  shapes_[derivation.shape].by_signatures.try_emplace(std::move(signatures), &derivation);
}

void Derivations::forget_last() {
  const Derivation& last = all_.back();
  std::erase_if(shapes_[last.shape].by_signatures,
                [&](const auto& row) { return row.second == &last; });
  if (shapes_[last.shape].first == &last) {
    shapes_.pop_back();  // a derivation that is the first of its kind made the last one
    grouped_.clear();
  }
  all_.pop_back();
}

void Derivations::find_groups(Derivation& derivation) const {
  derivation.facts = {"arch", "libc", "macos", "system"};
  if (asks_for_kernel(derivation.used)) derivation.facts.insert("kernel");
  for (const wheel::Property& property : derivation.used.properties) {
    for (std::string& fact : facts_behind_used(property, derivation.used))
      derivation.facts.insert(std::move(fact));
  }
  for (const std::vector<wheel::Property>& run : derivation.used.runs) {
    for (const wheel::Property& property : run) {
      for (std::string& fact : facts_behind(property)) derivation.facts.insert(std::move(fact));
    }
  }
  derivation.groups = grouped(derivation.facts, {&derivation.used});
}

Derivation* Derivations::add(FactValues point, const Target& target, IndexCandidates& candidates) {
  ++solves_;
  WatchedCandidates watched(candidates, options_, target.python_version);
  for (const std::vector<Request>* list :
       {&requests_.requirements, &requests_.constraints, &requests_.overrides}) {
    for (const Request& request : *list) watched.note_requirement(request.requirement);
  }
  for (const auto& [name, rows] : sources_.sources().assigned) {
    for (const AssignedSource& row : rows) {
      wheel::Requirement condition;
      condition.name = name;
      condition.marker = row.marker;
      watched.note_requirement(condition);
    }
  }
  auto result = resolve(requests_, target, {}, watched, options_, *report_);
  const PythonBounds bounds = watched.python_bounds();
  UsedInputs used = watched.take_used();
  if (plugins_) used.foreign = plugins_->take_asked();
  add_used_properties(watched.looked_at(result.has_value()), target, options_, used);
  Derivation derivation{.point = std::move(point),
                        .used = std::move(used),
                        .facts = {},
                        .groups = {},
                        .signatures = {},
                        .answer = result ? answer_of(*result) : std::string(),
                        .result = std::move(result),
                        .python_releases = bounds.releases_around(target.python_version)};
  if (plugins_) {
    if (target.machine == here_) plugins_->add_facts(derivation.point);
  }
  find_groups(derivation);
  Derivation& kept = all_.emplace_back(std::move(derivation));
  note(kept);
  return &kept;
}

Derivation* Derivations::solve_on(const detect::Machine& machine, const FactValues& point) {
  Platform* platform = platform_of(point);
  if (platform == nullptr) return nullptr;
  if (platform->candidates == nullptr) {
    platform->candidates = std::make_unique<IndexCandidates>(sources_.sources(), options_,
                                                             *platform->target, *report_);
    for (const auto& [key, other] : platforms_) {
      if (other->candidates != nullptr && other.get() != platform)
        platform->candidates->know_metadata_of(*other->candidates);
    }
  }
  Target target = *platform->target;
  target.machine = &machine;
  Derivation* derivation = add(point, target, *platform->candidates);
  if (kernel_matters_ || !asks_for_kernel(derivation->used)) return derivation;
  // Nobody asked before: the target was one of any kernel.
  kernel_matters_ = true;
  forget_last();
  return solve_on(machine, point);
}

Derivation* Derivations::solve(const FactValues& point) {
  const detect::Machine machine = machine_with(point);
  if (plugins_) plugins_->assume(&point);
  return solve_on(machine, point);
}

Derivation* Derivations::solve_here(const detect::Machine& machine, const FactValues& facts) {
  here_ = &machine;
  if (plugins_) plugins_->assume(nullptr);
  say_remarks(true);
  Derivation* derived = solve_on(machine, facts);
  say_remarks(false);
  here_ = nullptr;
  return derived;
}

const Derivation& Derivations::told_of(Derivation& derived, const detect::Machine& machine,
                                       const FactValues& facts) {
  const bool is_own = std::ranges::all_of(derived.facts, [&](const std::string& fact) {
    return value_of(derived.point, fact) == value_of(facts, fact);
  });
  if (is_own) return derived;
  const Derivation* own = solve_here(machine, facts);
  return own != nullptr && own->result ? *own : derived;
}

Result<Derivation*> Derivations::derive(const detect::Machine& machine, FactValues& facts) {
  if (platform_of(facts) == nullptr)
    return fail(ErrorKind::unsupported, "there is no interpreter for such a machine");
  Derivation* derived = find(facts);
  if (derived == nullptr) {
    derived = solve_here(machine, facts);
    if (plugins_) plugins_->add_facts(facts);
  }
  // The facts must say all that the machine itself would say.
  const detect::Machine stated = machine_with(facts);
  std::set<wheel::Property> asked = derived->used.properties;
  for (const auto& run : derived->used.runs) asked.insert(run.begin(), run.end());
  for (const providers::Provider& provider : providers::builtin_providers()) {
    const auto used_of = [&](const detect::Machine& of) {
      std::string used;
      for (const providers::Feature& feature : provider.supported(of, options_.providers.gpus)) {
        for (const std::string& value : feature.values) {
          if (asked.contains({std::string(provider.ns), feature.name, value}))
            used += fmt::format("{} {}\n", feature.name, value);
        }
      }
      return used;
    };
    if (used_of(machine) == used_of(stated)) continue;
    return fail(ErrorKind::unsupported,
                fmt::format("what the provider of {} says of this machine cannot be stated as "
                            "facts of a machine",
                            provider.ns));
  }
  return derived;
}

bool Derivations::leads_family(const plan::ResolvedPackage& package) const {
  if (sources_.sources().families == nullptr) return false;
  const auto family = sources_.sources().families->named(package.family);
  return family && (*family)->anchor() == package.name;
}

bool Derivations::excludes(const FactValues& point, const Derivation& answer) {
  Platform* platform = platform_of(point);
  if (platform == nullptr || !answer.result) return true;
  const detect::Machine machine = machine_with(point);
  const auto supports = [&](const wheel::Property& property) {
    const providers::Provider* provider = providers::find_provider(property.ns);
    if (provider == nullptr || provider->every_value_fits) return true;
    // On unlike GPUs one list is less than all that may be chosen.
    if (!providers::device_views(machine, options_.providers.gpus).empty()) return true;
    const providers::Features features = provider->supported(machine, options_.providers.gpus);
    return std::ranges::any_of(features, [&](const providers::Feature& feature) {
      return feature.name == property.feature &&
             std::ranges::find(feature.values, property.value) != feature.values.end();
    });
  };
  return std::ranges::any_of(answer.result->packages, [&](const plan::ResolvedPackage& package) {
    if (package.built_from) return false;
    if (tag_index(*platform, package.wheel_name.tags_text) == wheel::SupportedTags::npos)
      return true;
    const bool for_any = !options_.forced_labels.empty() ||
                         options_.pinned_variants.contains(package.name) ||
                         answer.used.pinned_builds.contains(package.name) ||
                         (!package.family.empty() && !leads_family(package));
    if (for_any) return false;
    // One supported value of each feature will do.
    return std::ranges::any_of(package.supported_properties, [&](const wheel::Property& property) {
      return std::ranges::none_of(package.variant_properties, [&](const wheel::Property& other) {
        return other.ns == property.ns && other.feature == property.feature && supports(other);
      });
    });
  });
}

}  // namespace axle::resolver
