#include "doctor/features/feature_advice.h"

#include <algorithm>
#include <ranges>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "foundation/text/nearest.h"

namespace axle::doctor {

namespace {

using index::Family;
using index::FamilyFeature;
using index::FamilyRelease;
using Entries = std::span<const FamilyFeature>;

/// More changes of one machine than that are another machine.
constexpr unsigned most_changes = 3;
/// So many of the machines of a way are asked what they lack besides.
constexpr std::size_t most_followed = 3;

/// What is nearest is advised: another release or driver before other hardware, that before another
/// system; what is certain before what nobody has confirmed. An order, not a measure.
constexpr unsigned cost_of_software = 2;
constexpr unsigned cost_of_hardware = 4;
constexpr unsigned cost_of_platform = 6;
constexpr unsigned cost_of_doubt = 3;
constexpr unsigned cost_of_others = 4;  ///< what the entry that counts does not speak of
constexpr unsigned any_cost = 100;

constexpr unsigned cost_of(Change::Of of) {
  if (is_software(of)) return cost_of_software;
  return of == Change::Of::platform ? cost_of_platform : cost_of_hardware;
}

using Ways = std::vector<const Change::Way*>;

/// "gfx90a or gfx942", "compute capability 9.0 or 10.0"
std::string join_details(std::vector<std::string> details) {
  constexpr std::string_view capability = "compute capability ";
  for (std::string& one : details | std::views::drop(1)) {
    if (one.starts_with(capability)) one.erase(0, capability.size());
  }
  return text::joined_by_or(details);
}

/// The text for the ways that help.
std::string fill(const std::string& text, const Ways& ways) {
  const auto at = text.find("{}");
  if (at == std::string::npos) return text;
  std::vector<std::string> names;
  for (const Change::Way* way : ways) {
    if (std::ranges::find(names, way->name) == names.end()) names.push_back(way->name);
  }
  for (std::string& name : names) {
    std::vector<std::string> details;
    for (const Change::Way* way : ways) {
      if (way->name == name && !way->with.empty()) details.push_back(way->with);
    }
    // gfx90a before gfx1100
    std::ranges::sort(details, {}, [](const auto& one) { return std::pair(one.size(), one); });
    if (!details.empty()) name += " with " + join_details(std::move(details));
  }
  const bool detailed =
      std::ranges::any_of(names, [](const std::string& name) { return name.contains(" with "); });
  const std::string joined =
      detailed ? fmt::format("{}", fmt::join(names, ", or ")) : text::joined_by_or(names);
  return text.substr(0, at) + joined + text.substr(at + 2);
}

/// "a linux_x86_64 machine with an AMD GPU, and NVIDIA driver 580 or newer"
std::string join(const std::vector<std::pair<Change::Of, std::string>>& parts) {
  using enum Change::Of;
  constexpr std::string_view machine = "a machine with ";
  std::string text;
  bool of_platform = false;
  for (const Change::Of of : {repair, platform, gpu, cpu, driver, system}) {
    for (const auto& [one, said] : parts) {
      if (one != of) continue;
      const bool continued = of_platform && (of == gpu || of == cpu);
      std::string_view part = said;
      if (continued && part.starts_with(machine)) part.remove_prefix(machine.size());
      if (!text.empty()) text += continued ? " with " : ", and ";
      text += part;
      of_platform = of == platform;
    }
  }
  return text;
}

}  // namespace

FeatureAdvice::FeatureAdvice(const Family& family, const FamilyRelease& own,
                             const JudgedMachine& judged, const wheel::MarkerEnvironment& markers)
    : family_(family), judged_(judged), markers_(markers) {
  for (const FamilyRelease& release : family.releases) {
    if (release.prefix.empty()) continue;
    if (&release == &own) own_ = releases_.size();
    releases_.push_back(&release);
  }
  auto here = std::make_unique<Asked>(Asked{{}, judged.machine});
  here->judged =
      std::make_unique<JudgedMachine>(JudgedMachine{here->machine, judged.gpus, judged.providers});
  here_ = asked_.emplace(std::string(), std::move(here)).first->second.get();
}

std::string FeatureAdvice::title(std::size_t release) const {
  return fmt::format("{} {}", family_.anchor(), releases_[release]->version);
}

const FeatureJudge& FeatureAdvice::judge_of(std::size_t release, Asked& machine) {
  auto& judge = machine.judges[release];
  if (!judge)
    judge =
        std::make_unique<FeatureJudge>(family_, *releases_[release], *machine.judged, markers_, "");
  return *judge;
}

JudgedFeature FeatureAdvice::ask(const Question& question) {
  return judge_entries(family_, *releases_[question.release],
                       judge_of(question.release, *question.machine), question.entries);
}

bool FeatureAdvice::knows(const Question& question) {
  const FeatureJudge& judge = judge_of(question.release, *question.machine);
  return std::ranges::any_of(question.entries,
                             [&](const FamilyFeature& feature) { return judge.knows(feature); });
}

/// The policy for GPUs is about those of this machine, and does not go with others.
FeatureAdvice::Asked* FeatureAdvice::with(const Asked& from, ChangedMachine changed) {
  std::string changes = from.changes + ';' + changed.change;
  auto& asked = asked_[changes];
  if (!asked) {
    asked = std::make_unique<Asked>(Asked{changes, std::move(changed.machine)});
    asked->judged =
        std::make_unique<JudgedMachine>(JudgedMachine{asked->machine, {}, judged_.providers});
  }
  return asked.get();
}

/// The change alone, with those of its ways that come out as usable, else with those that may be.
FeatureAdvice::Advice FeatureAdvice::try_ways(const Question& question, const Change& change) {
  Advice advice;
  Ways helping;
  for (const Change::Way& way : change.ways) {
    Usable best = Usable::no;
    Asked* with_it = nullptr;
    for (ChangedMachine& changed : way.machines(question.machine->machine)) {
      Asked* const machine = with(*question.machine, std::move(changed));
      const Usable usable = ask({question.release, machine, question.entries}).answer.usable;
      if (usable >= best) continue;
      best = usable;
      with_it = machine;
      if (best == Usable::yes) break;
    }
    if (best == Usable::no || best > advice.usable) continue;
    if (best < advice.usable) {
      helping.clear();
      advice.usable = best;
      advice.machine = with_it;
    }
    helping.push_back(&way);
  }
  if (advice.usable == Usable::no) return advice;
  advice.parts = {{change.of, fill(change.text, helping)}};
  advice.cost = cost_of(change.of) + (advice.usable == Usable::unknown ? cost_of_doubt : 0);
  return advice;
}

/// The nearest of the changes that help, alone or with others, `most` in all: one that costs less
/// than `limit`. Hardware is changed once in each respect.
FeatureAdvice::Advice FeatureAdvice::find_change(const Question& question, Whose whose,
                                                 unsigned limit, unsigned most,
                                                 const std::set<Change::Of>& done) {
  const JudgedFeature judged = ask(question);
  Advice best;
  best.cost = limit;
  if (judged.answer.usable != Usable::no) return best;
  std::vector<Change> changes = whose == Whose::entry ? judged.changes : judged.others;
  std::erase_if(changes, [&](const Change& change) { return done.contains(change.of); });
  for (const Change& change : changes) {
    if (cost_of(change.of) >= best.cost) continue;
    Advice alone = try_ways(question, change);
    if (alone.usable != Usable::no && alone.cost < best.cost) best = std::move(alone);
  }
  if (most < 2) return best;
  for (const Change& change : changes) {
    std::set<Change::Of> now = done;
    if (!is_software(change.of)) now.insert(change.of);
    for (const Change::Way& way : change.ways) {
      const unsigned own = cost_of(change.of);
      if (own + cost_of_software >= best.cost) break;
      for (ChangedMachine& changed :
           way.machines(question.machine->machine) | std::views::take(most_followed)) {
        const Question next{question.release, with(*question.machine, std::move(changed)),
                            question.entries};
        // On the changed machine it is the entry that counts there.
        Advice rest = find_change(next, Whose::entry, best.cost - own, most - 1, now);
        if (rest.usable == Usable::no) continue;
        // One driver is enough, and other hardware comes with its own.
        const bool told = std::ranges::any_of(rest.parts, [&](const auto& part) {
          return part.first == change.of ||
                 (change.of == Change::Of::driver && part.first == Change::Of::gpu);
        });
        if (!told) {
          rest.parts.insert(rest.parts.begin(), {change.of, fill(change.text, {&way})});
          rest.cost += own;
        }
        best = std::move(rest);
      }
    }
  }
  return best;
}

/// The release and those after it that are at least as `usable` on the same machine: "torch 2.10 or
/// newer", "torch 2.8 to 2.10", "torch 2.8".
std::string FeatureAdvice::render_releases(const Question& question, Usable usable) {
  std::size_t last = question.release;
  while (last > 0 && last <= own_) {
    const Question newer{last - 1, question.machine, question.entries};
    if (!knows(newer) || ask(newer).answer.usable > usable) break;
    --last;
  }
  std::string text = title(question.release);
  if (last == 0) return text + " or newer";
  return last == question.release ? text : text + " to " + releases_[last]->version;
}

/// The nearest that has the feature on this machine, a newer one before older ones; empty: none
/// does.
std::string FeatureAdvice::find_release(Entries entries) {
  const auto has = [&](std::size_t at) {
    return ask({at, here_, entries}).answer.usable == Usable::yes;
  };
  for (std::size_t at = own_; at-- > 0;) {
    if (has(at)) return render_releases({at, here_, entries}, Usable::yes);
  }
  for (std::size_t at = own_ + 1; at < releases_.size(); ++at) {
    if (has(at)) return title(at);
  }
  return {};
}

/// The nearest release that has the feature on a changed machine, the own one first.
FeatureAdvice::Advice FeatureAdvice::find_with_release(Entries entries, Whose whose,
                                                       unsigned limit) {
  const unsigned foreign = whose == Whose::others ? cost_of_others : 0;
  if (limit <= foreign) return {};
  Advice best =
      find_change({own_, here_, entries}, whose, limit - foreign, most_changes, /*done=*/{});
  const auto try_release = [&](std::size_t at) {
    const Question question{at, here_, entries};
    if (best.cost <= cost_of_software || !knows(question)) return;
    Advice advice =
        find_change(question, whose, best.cost - cost_of_software, most_changes - 1, /*done=*/{});
    if (advice.usable == Usable::no) return;
    advice.cost += cost_of_software;
    advice.release = render_releases({at, advice.machine, entries}, advice.usable);
    best = std::move(advice);
  };
  for (std::size_t at = own_; at-- > 0;) try_release(at);
  for (std::size_t at = own_ + 1; at < releases_.size(); ++at) try_release(at);
  best.cost += foreign;
  return best;
}

/// The nearest with entries for this machine that leave open whether it has the feature, "torch
/// 2.14"; empty: there is none.
std::string FeatureAdvice::find_unknown_release(Entries entries) {
  std::string newer;
  for (std::size_t at = 0; at < releases_.size(); ++at) {
    if (at == own_ || ask({at, here_, entries}).answer.usable != Usable::unknown) continue;
    const FeatureJudge& other = judge_of(at, *here_);
    const bool speaks = std::ranges::any_of(entries, [&](const FamilyFeature& feature) {
      return other.knows(feature) && other.is_in_time(feature) && other.has_gpu_for(feature);
    });
    if (!speaks) continue;
    if (at > own_) return newer.empty() ? title(at) : newer;
    newer = title(at);
  }
  return newer;
}

std::string FeatureAdvice::advise(Entries entries) {
  // Of a build that was chosen, although another one has it.
  if (const FeatureAnswer here = ask({own_, here_, entries}).answer; here.usable == Usable::yes)
    return fmt::format("the build {}, which fits", here.label);
  const std::string release = find_release(entries);
  if (!release.empty()) {
    const Advice own = find_change({own_, here_, entries}, Whose::entry, cost_of_software + 1,
                                   most_changes, /*done=*/{});
    return own.usable == Usable::yes ? fmt::format("{}, or {}", join(own.parts), release) : release;
  }
  const std::string open = find_unknown_release(entries);
  Advice best = find_with_release(entries, Whose::entry,
                                  open.empty() ? any_cost : cost_of_software + cost_of_doubt);
  if (Advice other = find_with_release(entries, Whose::others, best.cost);
      other.usable != Usable::no)
    best = std::move(other);
  if (best.usable == Usable::no)
    return open.empty() ? std::string("nothing that is known") : "perhaps " + open;
  const bool repair = best.parts.front().first == Change::Of::repair;
  return (best.usable == Usable::yes || repair ? "" : "perhaps ") + join(best.parts) +
         (best.release.empty() ? "" : ", and " + best.release);
}

void FeatureAdvice::add_release_to(FeatureAnswer& answer, Entries entries) {
  answer.change = find_release(entries);
}

void FeatureAdvice::add_to(JudgedFeature& judged, Entries entries) {
  FeatureAnswer& answer = judged.answer;
  if (!answer.change.empty()) return;
  answer.change = advise(entries);
  const auto since = wheel::parse_version(answer.since);
  if (!judged.of_release || !since || !(version_of(*releases_[own_]) < *since)) return;
  for (std::size_t at = own_; at-- > 0;) {
    if (version_of(*releases_[at]) < *since) continue;
    const FeatureAnswer first = ask({at, here_, entries}).answer;
    if (first.usable == Usable::no)
      answer.reason += fmt::format("; with {}: {}", title(at), first.reason);
    return;
  }
}

}  // namespace axle::doctor
