#include "resolver/solver/failure.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "resolver/catalogue/version_filter.h"
#include "resolver/conflict/conflict_story.h"
#include "resolver/conflict/derivation.h"
#include "resolver/conflict/version_text.h"
#include "resolver/explain/alternative_messages.h"
#include "resolver/explain/messages.h"

namespace axle::resolver {
namespace {

using Kind = RequirementProblem::Package::Kind;

/// What is wanted of the package that a story comes down to, by the best of those who want it; the
/// user's wants first.
std::vector<const StatedCase*> wanted(const Story& story) {
  std::vector<const StatedCase*> of_user;
  std::vector<const StatedCase*> of_others;
  for (const std::size_t place : story.wants) {
    for (const StatedCase* one : cases_of_best(story.grounds[place]))
      (one->want.by.empty() ? of_user : of_others).push_back(one);
  }
  of_user.insert(of_user.end(), of_others.begin(), of_others.end());
  return of_user;
}

class Headline {
 public:
  Headline(RequirementProblem& problem, PackageChooser& chooser, const Story& story);

  [[nodiscard]] Error make();

 private:
  /// The candidates that all want; constraints narrow them where they are known as sets.
  [[nodiscard]] IntegerSet common() const;
  [[nodiscard]] bool each_has_some() const;
  [[nodiscard]] std::vector<Want> relaxable() const;
  [[nodiscard]] std::string hint(const std::string& available) const;
  [[nodiscard]] Error contradiction();
  /// The best of the project's own candidates cannot be used.
  [[nodiscard]] const Grounds* unusable() const;
  /// Two distributions that install the same modules are wanted; nullopt: none are.
  [[nodiscard]] std::optional<Error> same_modules() const;
  /// Builds for several GPU platforms are wanted, or of several labels of one family.
  [[nodiscard]] std::optional<Error> several_platforms() const;
  [[nodiscard]] std::optional<Error> several_labels() const;

  RequirementProblem& problem_;
  PackageChooser& chooser_;
  const Story& story_;
  const RequirementProblem::Package& place_;
  std::vector<const StatedCase*> cases_;
  std::vector<const Want*> wants_;
};

Headline::Headline(RequirementProblem& problem, PackageChooser& chooser, const Story& story)
    : problem_(problem),
      chooser_(chooser),
      story_(story),
      place_(problem.packages()[story.project]),
      cases_(wanted(story)) {
  for (const StatedCase* one : cases_) wants_.push_back(&one->want);
}

IntegerSet Headline::common() const {
  IntegerSet left = place_.list->all();
  for (const std::size_t place : story_.wants) {
    const Grounds& grounds = story_.grounds[place];
    if (grounds.cause != Cause::need) {
      left = left & grounds.candidates.complement();
      continue;
    }
    for (const StatedCase* one : cases_of_best(grounds)) left = left & one->values;
  }
  return left;
}

bool Headline::each_has_some() const {
  return std::ranges::all_of(cases_, [&](const StatedCase* one) {
    return one->want.constraint || one->values.meets(place_.list->all());
  });
}

std::vector<Want> Headline::relaxable() const {
  std::vector<Want> found;
  for (const Grounds& grounds : story_.grounds) {
    for (const StatedCase& one : grounds.cases) {
      const bool limits = !one.want.requirement.specifiers.empty() || one.want.constraint;
      if (one.want.by.empty() && limits && !one.want.requirement.name.empty())
        found.push_back(one.want);
    }
  }
  return found;
}

std::string Headline::hint(const std::string& available) const {
  IntegerSet not_asked;
  for (const Exclusion& exclusion : place_.exclusions) {
    if (problem_.reason(exclusion.reason).kind == Reason::Kind::not_asked)
      not_asked = not_asked | exclusion.alike;
  }
  const IntegerSet left = common() & not_asked;
  if (!left.empty()) {
    const Candidate best = *left.last_below(place_.list->all().boundaries().back());
    if (const NumberedRelease* const numbered = place_.list->release_of(best)) {
      const bool early = numbered->release->version.is_prerelease();
      if (early && !count_if_named(problem_.prereleases())) {
        return fmt::format(
            "{} {} satisfies all of them, but it is a pre-release, which the setting "
            "prerelease leaves out: use --prerelease=explicit, or --pre",
            place_.name, wheel::render_version(numbered->release->version));
      }
      return fmt::format("{0} {1} satisfies all of them, but it is {2}: request it as {0}=={1}{3}",
                         place_.name, wheel::render_version(numbered->release->version),
                         early ? "a pre-release" : "yanked", early ? ", or use --pre" : "");
    }
  }
  std::vector<std::string> texts;
  for (const Want& want : relaxable()) {
    const std::string text = wheel::render_requirement(want.requirement);
    const bool known = std::ranges::find(texts, text) != texts.end();
    if (!known)
      texts.push_back((want.overrides    ? "the override "
                       : want.constraint ? "the constraint "
                                         : "") +
                      text);
  }
  if (!texts.empty()) return fmt::format("loosen {}{}", fmt::join(texts, " or "), available);
  std::vector<std::string> names;
  for (const Grounds& grounds : story_.grounds) {
    if (grounds.structural || grounds.package != RequirementProblem::question) continue;
    const auto& asked = problem_.packages()[grounds.needed];
    const std::string name =
        asked.kind == Kind::extra ? fmt::format("{}[{}]", asked.name, asked.extra) : asked.name;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  const bool builds = place_.family != nullptr && std::ranges::all_of(wants_, [](const Want* want) {
                        return !version_filter({want}).pinned_local().empty();
                      });
  if (builds && names.size() > 1) {
    return fmt::format(
        "an environment has one build of {}: leave one of {} out, or install it in another one{}",
        place_.name, fmt::join(names, " and "), available);
  }
  if (names.size() > 1) {
    return fmt::format(
        "no versions of {} go together: leave one of them out, or install it in "
        "another environment{}",
        fmt::join(names, " and "), available);
  }
  const std::string& first = wants_.front()->by;
  const bool alone =
      std::ranges::all_of(wants_, [&](const Want* want) { return want->by == first; });
  if (alone && !first.empty()) {
    return fmt::format(
        "no version of {} can be installed as it is; an override says what else {} "
        "may be (--override FILE){}",
        first, place_.name, available);
  }
  return "relax one of the requirements" + available;
}

Error Headline::contradiction() {
  const std::string before = "relax one of the requirements";
  Error error = chooser_.no_version_for_all({place_.name, wants_, {}});
  const auto at = error.hint.find(before);
  if (at != std::string::npos) {
    const std::string available = error.hint.substr(at + before.size());
    error.hint = error.hint.substr(0, at) + hint(available);
  }
  return error;
}

const Grounds* Headline::unusable() const {
  const Grounds* found = nullptr;
  for (const Grounds& grounds : story_.grounds) {
    const bool says_why =
        grounds.cause != Cause::need && grounds.error != nullptr &&
        (grounds.kind == Reason::Kind::unusable || grounds.kind == Reason::Kind::platform);
    if (grounds.package == story_.project && says_why) found = &grounds;
  }
  return found;
}

std::optional<Error> Headline::same_modules() const {
  const auto alternative =
      std::ranges::find(story_.grounds, Reason::Kind::alternative, &Grounds::kind);
  if (alternative == story_.grounds.end() || alternative->error == nullptr) return std::nullopt;
  std::vector<const Want*> wants;
  for (const Grounds& grounds : story_.grounds) {
    const bool about =
        grounds.needed == alternative->package || grounds.needed == alternative->needed;
    if (!about || grounds.kind != Reason::Kind::requirement) continue;
    for (const StatedCase* one : cases_of_best(grounds)) {
      if (!one->want.constraint) wants.push_back(&one->want);
    }
  }
  return same_modules_wanted(*alternative->error, wants);
}

std::optional<Error> Headline::several_platforms() const {
  std::map<std::string, std::string> builds;  // of a platform, one
  for (const Grounds& grounds : story_.grounds) {
    if (grounds.kind != Reason::Kind::platform) continue;
    for (const StatedCase& one : grounds.cases)
      builds.emplace(one.text, one.want.by + " " + one.want.by_version);
  }
  if (builds.empty() || (builds.size() == 1 && wants_.size() > 1)) return std::nullopt;
  std::vector<BuildFor> pairs;
  for (const auto& [platform, build] : builds) pairs.push_back({build, platform});
  return unlike_platforms(pairs);
}

std::optional<Error> Headline::several_labels() const {
  std::vector<BuildFor> builds;
  for (const Grounds& grounds : story_.grounds) {
    const bool of_label = grounds.kind == Reason::Kind::backend && !grounds.cases.empty() &&
                          problem_.packages()[grounds.needed].kind == Kind::backend;
    if (!of_label) continue;
    std::vector<std::string> labels;
    for (const StatedCase& one : grounds.cases) {
      if (std::ranges::find(labels, one.text) == labels.end()) labels.push_back(one.text);
    }
    const Want& best = grounds.cases.front().want;
    builds.push_back(
        {best.by + " " + best.by_version, fmt::format("{}", fmt::join(labels, " or "))});
  }
  return builds.size() < 2 ? std::nullopt : std::optional(unlike_labels(builds));
}

Error Headline::make() {
  if (auto error = several_platforms()) return std::move(*error);
  if (auto error = several_labels()) return std::move(*error);
  if (auto error = same_modules()) return std::move(*error);
  if (wants_.empty()) {
    return {ErrorKind::conflict, "the requirements contradict each other",
            "loosen one of the requirements"};
  }
  const Grounds* const broken = unusable();
  const bool only_wants = wants_.size() > 1 && each_has_some() && !place_.direct;
  if (broken == nullptr && only_wants) return contradiction();
  const bool plain =
      std::ranges::all_of(wants_, [](const Want* want) { return want->text.empty(); });
  std::optional<Error> error;
  if (plain) error = chooser_.why_none({place_.name, wants_, {}});
  if (error) return std::move(*error);
  if (broken == nullptr) return contradiction();
  error = *broken->error;
  const std::string versions = version_text(problem_, broken->package, broken->candidates).text;
  if (!error->message.starts_with(versions))
    error->message = fmt::format("{} cannot be used: {}", versions, error->message);
  return std::move(*error);
}

/// What the headline says already need not be said below it.
void mark_told(const RequirementProblem& problem, const Story& story, const Error& error,
               plan::Conflict& conflict) {
  std::size_t next = 0;
  for (const Grounds& grounds : story.grounds) {
    if (grounds.structural) continue;
    plan::Statement& statement = conflict.statements[next++];
    if (grounds.error != nullptr &&
        (grounds.package == story.project || grounds.kind == Reason::Kind::alternative)) {
      statement.told = statement.told || error.message.contains(grounds.error->message);
      continue;
    }
    const bool in_headline = std::ranges::any_of(
        story.wants, [&](std::size_t place) { return &story.grounds[place] == &grounds; });
    if (!in_headline) continue;
    // Of one want alone the message is an answer to it.
    const bool only_request =
        story.wants.size() == 1 && grounds.package == RequirementProblem::question;
    statement.told = statement.told || only_request;
    const bool whole =
        grounds.cases.size() == cases_of_best(grounds).size() &&
        (grounds.package == RequirementProblem::question || grounds.cause != Cause::need ||
         version_text(problem, grounds.package, grounds.candidates).versions.size() <= 1);
    const bool named = std::ranges::all_of(grounds.cases, [&](const StatedCase& one) {
      return error.message.contains(render_want(one.want));
    });
    statement.told = statement.told || (whole && named);
  }
}

/// The question asks for `values` of `package`, for a reason that is told.
Premise asked(const Reason& reason, PackageId package, IntegerSet values) {
  Premise premise;
  premise.reason = reason;
  premise.package = RequirementProblem::question;
  premise.candidates = IntegerSet::one(1);
  premise.needed = package;
  premise.values = std::move(values);
  return premise;
}

/// The same, taken for granted.
Premise granted(PackageId package, Candidate candidate) {
  Premise premise = asked({Reason::Kind::requirement}, package, IntegerSet::one(candidate));
  premise.structural = true;
  return premise;
}

Failure explain_core(RequirementProblem& problem, PackageChooser& chooser,
                     const ConflictCore& core) {
  const Story story = tell(problem, core);
  Failure failure{Headline(problem, chooser, story).make(),
                  derivation_of(problem, chooser, story, core)};
  mark_told(problem, story, failure.error, failure.conflict);
  return failure;
}

}  // namespace

std::vector<IncompatibilityId> premises(std::span<const Incompatibility> known,
                                        IncompatibilityId from) {
  std::set<IncompatibilityId> seen;
  std::vector<IncompatibilityId> open{from};
  std::vector<IncompatibilityId> found;
  while (!open.empty()) {
    const IncompatibilityId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    if (known[id].cause == Cause::derived) {
      open.push_back(known[id].left);
      open.push_back(known[id].right);
    } else {
      found.push_back(id);
    }
  }
  std::ranges::sort(found);
  return found;
}

Failure explain_conflict(RequirementProblem& problem, PackageChooser& chooser,
                         std::span<const Incompatibility> known,
                         const std::vector<IncompatibilityId>& premises) {
  const auto core = smallest_core(problem, premises_of(problem, known, premises));
  if (!core) {
    return {{ErrorKind::conflict, "the requirements contradict each other",
             "loosen one of the requirements"},
            {}};
  }
  return explain_core(problem, chooser, *core);
}

std::string why_not_chosen(RequirementProblem& problem, PackageChooser& chooser,
                           std::span<const Incompatibility> known,
                           const std::vector<IncompatibilityId>& from, PackageId package,
                           Candidate candidate, const std::vector<InTheWay>& others) {
  std::set<IncompatibilityId> first;
  for (const IncompatibilityId id : from) {
    const auto of_one = premises(known, id);
    first.insert(of_one.begin(), of_one.end());
  }
  std::vector<Premise> by_wants = premises_of(problem, known, {first.begin(), first.end()});
  by_wants.push_back(granted(package, candidate));
  std::vector<Premise> by_choice = by_wants;
  std::vector<std::string> names;
  for (const InTheWay& other : others) {
    const Premise chosen = granted(other.package, other.chosen);
    by_choice.push_back(chosen);
    for (std::size_t i = 0; i < other.reasons.size(); ++i)
      by_wants.push_back(asked(other.reasons[i], other.package, other.allowed[i]));
    if (other.reasons.empty()) by_wants.push_back(chosen);
    if (problem.packages()[other.package].list)
      names.push_back(version_text(problem, other.package, IntegerSet::one(other.chosen)).text);
  }
  if (const auto core = smallest_core(problem, std::move(by_wants))) {
    const Story story = tell(problem, *core);
    const bool of_platforms = std::ranges::find(story.grounds, Reason::Kind::platform,
                                                &Grounds::kind) != story.grounds.end();
    if (of_platforms || !story.wants.empty())
      return Headline(problem, chooser, story).make().message;
  }
  // What is wanted of the others leaves another choice, which something else speaks against.
  if (const auto core = smallest_core(problem, std::move(by_choice))) {
    const Story story = tell(problem, *core);
    std::vector<const Want*> wants;
    for (const StatedCase* one : wanted(story)) wants.push_back(&one->want);
    if (story.project == package && !wants.empty()) return render_wants(wants);
  }
  if (names.empty()) return "it does not go with the other requirements";
  return fmt::format("it does not go with {}", fmt::join(names, " and "));
}

std::vector<std::string> held_packages(const RequirementProblem& problem,
                                       std::span<const Incompatibility> known,
                                       const std::vector<IncompatibilityId>& premises) {
  std::set<std::string> held;
  const auto look_at = [&](PackageId package) {
    const auto& place = problem.packages()[package];
    const PackageId project = place.kind == Kind::extra ? place.project : package;
    if (problem.is_held(project)) held.insert(problem.packages()[project].name);
  };
  for (const IncompatibilityId id : premises) {
    for (const Term& term : known[id].terms) look_at(term.package);
    if (known[id].cause == Cause::need) look_at(known[id].needed);
    if (known[id].cause != Cause::excluded) continue;
    const Reason& reason = problem.reason(known[id].reason);
    if (reason.kind == Reason::Kind::lead) held.insert(reason.want.by);
  }
  return {held.begin(), held.end()};
}

}  // namespace axle::resolver
