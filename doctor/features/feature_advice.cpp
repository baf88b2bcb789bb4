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
    if (!details.empty()) name += " with " + join_details(std::move(details));
  }
  const bool detailed =
      std::ranges::any_of(names, [](const std::string& name) { return name.contains(" with "); });
  const std::string joined =
      detailed ? fmt::format("{}", fmt::join(names, ", or ")) : text::joined_by_or(names);
  return text.substr(0, at) + joined + text.substr(at + 2);
}

/// "a machine with an AMD GPU, and one that builds for linux_x86_64 run on"
std::string join(const std::vector<std::pair<Change::Of, std::string>>& parts) {
  constexpr std::string_view machine = "a machine ";
  std::string text;
  for (const auto& [of, part] : parts) {
    if (text.empty())
      text = part;
    else if (text.contains(machine) && part.starts_with(machine))
      text += ", and one " + part.substr(machine.size());
    else
      text += ", and " + part;
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
  if (advice.usable != Usable::no) advice.parts = {{change.of, fill(change.text, helping)}};
  return advice;
}

/// The first change that helps, alone or with others, `most` in all; none of the respects in `done`
/// again.
FeatureAdvice::Advice FeatureAdvice::find_change(const Question& question, Whose whose,
                                                 unsigned most, const std::set<Change::Of>& done) {
  const JudgedFeature judged = ask(question);
  Advice best;
  if (judged.answer.usable != Usable::no) return best;
  std::vector<Change> changes = whose == Whose::entry ? judged.changes : judged.others;
  std::erase_if(changes, [&](const Change& change) { return done.contains(change.of); });
  for (const Change& change : changes) {
    Advice alone = try_ways(question, change);
    if (alone.usable == Usable::yes) return alone;
    if (alone.usable < best.usable) best = std::move(alone);
  }
  if (most < 2) return best;
  for (const Change& change : changes) {
    std::set<Change::Of> now = done;
    now.insert(change.of);
    for (const Change::Way& way : change.ways) {
      for (ChangedMachine& changed :
           way.machines(question.machine->machine) | std::views::take(most_followed)) {
        const Question next{question.release, with(*question.machine, std::move(changed)),
                            question.entries};
        // On the changed machine it is the entry that counts there.
        Advice rest = find_change(next, Whose::entry, most - 1, now);
        if (rest.usable >= best.usable) continue;
        rest.parts.insert(rest.parts.begin(), {change.of, fill(change.text, {&way})});
        best = std::move(rest);
        if (best.usable == Usable::yes) return best;
      }
    }
  }
  return best;
}

/// All that are newer are at least as `usable` on the same machine. One that no entry knows is
/// newer than the facts: it contradicts nothing.
bool FeatureAdvice::later_have_it(const Question& question, Usable usable) {
  for (std::size_t newer = 0; newer < question.release; ++newer) {
    const Question one{newer, question.machine, question.entries};
    if (knows(one) && ask(one).answer.usable > usable) return false;
  }
  return true;
}

/// The nearest that has the feature on this machine, a newer one before older ones: "torch 2.10 or
/// newer", "torch 2.8"; empty: none does.
std::string FeatureAdvice::find_release(Entries entries) {
  const auto has = [&](std::size_t at) {
    return ask({at, here_, entries}).answer.usable == Usable::yes;
  };
  for (std::size_t at = own_; at-- > 0;) {
    if (has(at))
      return title(at) + (later_have_it({at, here_, entries}, Usable::yes) ? " or newer" : "");
  }
  for (std::size_t at = own_ + 1; at < releases_.size(); ++at) {
    if (has(at)) return title(at);
  }
  return {};
}

/// The nearest release that has the feature on a changed machine, the own one first.
FeatureAdvice::Advice FeatureAdvice::find_with_release(Entries entries, Whose whose) {
  Advice best = find_change({own_, here_, entries}, whose, most_changes);
  const auto try_release = [&](std::size_t at) {
    const Question question{at, here_, entries};
    if (!knows(question)) return;
    Advice advice = find_change(question, whose, most_changes - 1);
    if (advice.usable >= best.usable) return;
    advice.release = title(at);
    if (at < own_ && later_have_it({at, advice.machine, entries}, advice.usable))
      advice.release += " or newer";
    best = std::move(advice);
  };
  for (std::size_t at = own_; at-- > 0 && best.usable != Usable::yes;) try_release(at);
  for (std::size_t at = own_ + 1; at < releases_.size() && best.usable != Usable::yes; ++at)
    try_release(at);
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

/// First what this machine can have without other hardware, then what the entry that counts needs,
/// and only then what others do.
std::string FeatureAdvice::advise(Entries entries) {
  // Of a build that was chosen, although another one has it.
  if (const FeatureAnswer here = ask({own_, here_, entries}).answer; here.usable == Usable::yes)
    return fmt::format("the build {}, which fits", here.label);
  const std::string release = find_release(entries);
  if (!release.empty()) {
    const Advice own = find_change({own_, here_, entries}, Whose::entry, most_changes);
    const bool software =
        own.usable == Usable::yes && std::ranges::all_of(own.parts, [](const auto& part) {
          return part.first < Change::Of::gpu;
        });
    return software ? fmt::format("{}, or {}", join(own.parts), release) : release;
  }
  const auto render = [](const Advice& advice) {
    return join(advice.parts) + (advice.release.empty() ? "" : ", and " + advice.release);
  };
  const Advice own = find_with_release(entries, Whose::entry);
  if (own.usable == Usable::yes) return render(own);
  const Advice other = find_with_release(entries, Whose::others);
  if (other.usable == Usable::yes) return render(other);
  if (own.usable == Usable::unknown && own.parts.front().first == Change::Of::repair)
    return render(own);
  if (std::string open = find_unknown_release(entries); !open.empty()) return "perhaps " + open;
  if (own.usable == Usable::unknown) return "perhaps " + render(own);
  if (other.usable == Usable::unknown) return "perhaps " + render(other);
  return "nothing that is known";
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
