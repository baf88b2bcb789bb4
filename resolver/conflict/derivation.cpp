#include "resolver/conflict/derivation.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "resolver/conflict/version_text.h"
#include "resolver/explain/messages.h"
#include "resolver/explain/unusable_wheels.h"
#include "resolver/solver/failure.h"

namespace axle::resolver {
namespace {

using Kind = RequirementProblem::Package::Kind;
using plan::Statement;
using plan::StatementKind;

constexpr std::size_t most_named = 2;  ///< needs that one sentence names

StatementKind kind_of(const Grounds& grounds) {
  if (grounds.cause == Cause::no_candidate) return StatementKind::unusable;
  switch (grounds.kind) {
    case Reason::Kind::requirement:
      if (grounds.package == RequirementProblem::question) return StatementKind::request;
      return !grounds.cases.empty() && grounds.cases.front().want.constraint
                 ? StatementKind::family
                 : StatementKind::requirement;
    case Reason::Kind::constraint:
      return StatementKind::constraint;
    case Reason::Kind::abi:
      return StatementKind::abi;
    case Reason::Kind::backend:
    case Reason::Kind::platform:
    case Reason::Kind::extra:
      return StatementKind::backend;
    case Reason::Kind::lead:
      return StatementKind::family;
    case Reason::Kind::alternative:
      return StatementKind::same_modules;
    case Reason::Kind::unusable:
    case Reason::Kind::other_build:
      return StatementKind::unusable;
    case Reason::Kind::not_asked:
      return StatementKind::not_asked;
    case Reason::Kind::kept:
      return StatementKind::kept;
  }
  return StatementKind::requirement;
}

std::string verb_of(const Grounds& grounds, StatementKind kind, const RequirementProblem& problem,
                    bool one) {
  switch (kind) {
    case StatementKind::abi:
      return one ? "was built for" : "were built for";
    case StatementKind::family:
      return one ? "goes with" : "go with";
    case StatementKind::backend:
      if (problem.packages()[grounds.needed].kind == Kind::backend)
        return one ? "is for" : "are for";
      return one ? "needs" : "need";
    default:
      return one ? "requires" : "require";
  }
}

/// ", which was not found": nothing can meet that need.
std::string none_of(const RequirementProblem& problem, PackageId needed, const IntegerSet& values) {
  const auto& place = problem.packages()[needed];
  if (!place.list || values.meets(place.list->all()) || values.contains(not_chosen)) return {};
  return place.list->all().empty() ? ", which was not found" : ", which no version is";
}

class Derivation {
 public:
  Derivation(RequirementProblem& problem, PackageChooser& chooser, const Story& story,
             const ConflictCore& core)
      : problem_(problem), chooser_(chooser), story_(story), core_(core) {}

  [[nodiscard]] plan::Conflict make();

 private:
  using Places = std::vector<std::size_t>;

  void add_premise(const Grounds& grounds);
  [[nodiscard]] std::string text_of_needs(const Grounds& grounds, StatementKind kind) const;
  [[nodiscard]] std::string text_of_exclusion(const Grounds& grounds,
                                              const VersionText& versions) const;
  void add_facts(const Grounds& grounds, Statement& statement);
  /// What follows from the same statements.
  struct Concluded {
    Incompatibility what;
    Places from;
  };

  void add_conclusions();
  /// The place of the statement that says it, among others of the same kind perhaps.
  [[nodiscard]] std::size_t conclude(std::vector<Concluded>& concluded, const Incompatibility& what,
                                     Places from) const;
  /// What follows from both, where that is as short: of versions of one package that follows from
  /// the same statements is said once.
  [[nodiscard]] static bool merge(Incompatibility& into, const Incompatibility& other);
  [[nodiscard]] std::string render(const Incompatibility& known) const;
  [[nodiscard]] bool is_question(const Incompatibility& known) const;

  RequirementProblem& problem_;
  PackageChooser& chooser_;
  const Story& story_;
  const ConflictCore& core_;
  plan::Conflict conflict_;
  std::map<std::size_t, std::size_t> statement_of_;  ///< premise -> statement
};

std::string Derivation::text_of_needs(const Grounds& grounds, StatementKind kind) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < grounds.cases.size() && i < most_named; ++i) {
    const StatedCase& one = grounds.cases[i];
    const VersionText versions = version_text(problem_, grounds.package, one.candidates);
    parts.push_back(fmt::format("{} {} {}{}", versions.text,
                                verb_of(grounds, kind, problem_, versions.one), one.text,
                                none_of(problem_, grounds.needed, one.values)));
    // Of many that differ the newest is enough to see what it is about.
    if (grounds.cases.size() > most_named) break;
  }
  if (grounds.cases.size() > most_named) {
    IntegerSet others = grounds.candidates;
    for (const StatedCase* best : cases_of_best(grounds))
      others = others & best->candidates.complement();
    const VersionText versions = version_text(problem_, grounds.package, others);
    parts.push_back(fmt::format("{} other version{} {} other versions of it",
                                versions.versions.size(), versions.one ? "" : "s",
                                verb_of(grounds, kind, problem_, versions.one)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string Derivation::text_of_exclusion(const Grounds& grounds,
                                          const VersionText& versions) const {
  const auto& place = problem_.packages()[grounds.package];
  switch (grounds.kind) {
    case Reason::Kind::unusable:
    case Reason::Kind::platform:
      return fmt::format("{} cannot be used: {}", versions.text,
                         grounds.error == nullptr ? "" : grounds.error->message);
    case Reason::Kind::kept:
      return grounds.error == nullptr
                 ? fmt::format("{} stays as it is installed", place.name)
                 : fmt::format("{} cannot be used: {}", versions.text, grounds.error->message);
    case Reason::Kind::other_build:
      return fmt::format("{} of {}: not for this machine, or not what is asked for",
                         fmt::join(labels_of(problem_, grounds.package, grounds.candidates), ", "),
                         versions.text);
    case Reason::Kind::not_asked: {
      const auto best = grounds.candidates.last_below(place.list->all().boundaries().back());
      const NumberedRelease* const numbered = best ? place.list->release_of(*best) : nullptr;
      const bool early = numbered != nullptr && numbered->release->version.is_prerelease();
      const bool left_out = early && !count_if_named(problem_.prereleases());
      return fmt::format(
          "{} {} {}, which {}", versions.text, versions.one ? "is" : "are",
          !early         ? "yanked"
          : versions.one ? "a pre-release"
                         : "pre-releases",
          left_out ? "the setting prerelease leaves out" : "nobody asks for by name");
    }
    default:
      return fmt::format("{} cannot be taken", versions.text);
  }
}

void Derivation::add_facts(const Grounds& grounds, Statement& statement) {
  const auto& place = problem_.packages()[grounds.package];
  const bool unusable =
      grounds.kind == Reason::Kind::unusable || grounds.kind == Reason::Kind::other_build;
  if (!unusable || !place.list) return;
  const auto best = grounds.candidates.last_below(place.list->all().boundaries().back());
  const NumberedRelease* const numbered = best ? place.list->release_of(*best) : nullptr;
  if (numbered == nullptr) return;
  Release& release = *numbered->release;
  statement.facts = chooser_.platform_facts(release);
  if (!statement.facts.empty()) return;
  auto decision = chooser_.decision(problem_.demand_for(place, release, nullptr), release);
  if (decision) statement.rejected = std::move(decision->rejected);
  if (grounds.kind != Reason::Kind::other_build) return;
  const auto labels = labels_of(problem_, grounds.package, grounds.candidates);
  std::erase_if(statement.rejected, [&](const plan::Verdict& verdict) {
    return std::ranges::find(labels, verdict.label) == labels.end();
  });
  if (statement.rejected.size() != labels.size()) return;
  std::vector<std::string> reasons;
  for (const plan::Verdict& verdict : statement.rejected)
    reasons.push_back(render_verdict(verdict));
  statement.text = fmt::format("builds of {} {} that do not fit this machine: {}", place.name,
                               wheel::render_version(release.version), fmt::join(reasons, "; "));
}

void Derivation::add_premise(const Grounds& grounds) {
  if (grounds.structural) return;
  Statement statement;
  statement.kind = kind_of(grounds);
  const bool of_user = statement.kind == StatementKind::request;
  const VersionText versions =
      of_user ? VersionText{} : version_text(problem_, grounds.package, grounds.candidates);
  if (!of_user) statement.package = problem_.packages()[grounds.package].name;
  statement.versions = versions.versions;
  if (grounds.cause == Cause::need) statement.needed = problem_.packages()[grounds.needed].name;
  for (const StatedCase& one : grounds.cases) {
    plan::StatedNeed stated{{}, one.text};
    if (!of_user && grounds.cause == Cause::need)
      stated.versions = version_text(problem_, grounds.package, one.candidates).versions;
    statement.needs.push_back(std::move(stated));
  }
  if (of_user || grounds.kind == Reason::Kind::constraint || grounds.kind == Reason::Kind::lead) {
    statement.text = render_want(grounds.cases.front().want);
    const auto& specifiers = grounds.cases.front().want.requirement.specifiers;
    statement.told = of_user && specifiers.empty();
  } else if (grounds.kind == Reason::Kind::alternative) {
    statement.text = grounds.error == nullptr ? std::string() : grounds.error->message;
  } else if (grounds.cause == Cause::need) {
    statement.text = text_of_needs(grounds, statement.kind);
  } else {
    statement.text = text_of_exclusion(grounds, versions);
    add_facts(grounds, statement);
  }
  for (const std::size_t premise : grounds.premises)
    statement_of_.emplace(premise, conflict_.statements.size());
  conflict_.statements.push_back(std::move(statement));
}

bool Derivation::is_question(const Incompatibility& known) const {
  return known.terms.empty() ||
         (known.terms.size() == 1 && known.terms.front().package == RequirementProblem::question);
}

std::string Derivation::render(const Incompatibility& known) const {
  if (is_question(known)) return "so the requests cannot all be met";
  std::vector<std::string> taken;
  std::vector<std::string> needed;
  for (const Term& term : known.terms) {
    const auto& place = problem_.packages()[term.package];
    if (place.kind == Kind::question) continue;
    const bool is_needed = term.values.contains(not_chosen);
    const IntegerSet values = is_needed ? term.values.complement() : term.values;
    if (place.kind == Kind::backend) {
      (is_needed ? needed : taken)
          .push_back(place.name.empty() ? std::string("one GPU platform")
                                        : "a backend of " + place.name);
      continue;
    }
    (is_needed ? needed : taken).push_back(version_text(problem_, term.package, values).text);
  }
  if (needed.empty()) {
    return taken.size() == 1
               ? fmt::format("so {} cannot be taken", taken.front())
               : fmt::format("so {} cannot be taken together", fmt::join(taken, " and "));
  }
  const std::string wanted = fmt::format("{}", fmt::join(needed, " or "));
  return taken.empty()
             ? fmt::format("so {} is needed", wanted)
             : fmt::format("so {} can only be taken with {}", fmt::join(taken, " and "), wanted);
}

void Derivation::add_conclusions() {
  const auto& known = core_.derivation.known;
  const IncompatibilityId proof = *core_.derivation.proof;
  std::set<IncompatibilityId> reached{proof};
  for (auto next = reached.rbegin(); next != reached.rend(); ++next) {
    const Incompatibility& one = known[*next];
    if (one.cause != Cause::derived) continue;
    // Both come before it, so that the walk from the last to the first meets them.
    reached.insert(one.left);
    reached.insert(one.right);
  }
  std::map<IncompatibilityId, Places> rests_on;
  std::vector<Concluded> concluded;
  for (const IncompatibilityId id : reached) {
    const Incompatibility& one = known[id];
    Places& places = rests_on[id];
    if (one.cause != Cause::derived) {
      const bool is_premise = one.cause != Cause::root && one.cause != Cause::no_candidate;
      const auto statement = is_premise ? statement_of_.find(one.reason) : statement_of_.end();
      if (statement != statement_of_.end()) places.push_back(statement->second);
      continue;
    }
    for (const IncompatibilityId parent : {one.left, one.right}) {
      const Places& of_parent = rests_on[parent];
      places.insert(places.end(), of_parent.begin(), of_parent.end());
    }
    std::ranges::sort(places);
    const auto same = std::ranges::unique(places);
    places.erase(same.begin(), same.end());
    if (id == proof || (one.terms.size() <= 2 && places.size() >= 2))
      places = {conclude(concluded, one, std::move(places))};
  }
  for (Concluded& one : concluded) {
    conflict_.statements.push_back({.text = render(one.what), .from = std::move(one.from)});
  }
}

std::size_t Derivation::conclude(std::vector<Concluded>& concluded, const Incompatibility& what,
                                 Places from) const {
  const std::size_t first = conflict_.statements.size();
  for (std::size_t i = 0; i < concluded.size(); ++i) {
    Concluded& before = concluded[i];
    if (before.from != from || !merge(before.what, what)) continue;
    return first + i;
  }
  concluded.push_back({what, std::move(from)});
  return first + concluded.size() - 1;
}

bool Derivation::merge(Incompatibility& into, const Incompatibility& other) {
  const auto asks = [](const Term& term) { return term.values.contains(not_chosen); };
  if (!std::ranges::equal(into.terms, other.terms, [&](const Term& left, const Term& right) {
        return left.package == right.package && asks(left) == asks(right);
      })) {
    return false;
  }
  const auto of_whom = [&](const Term& term) { return !asks(term); };
  if (std::ranges::count_if(into.terms, of_whom) > 1) return false;
  for (std::size_t i = 0; i < into.terms.size(); ++i) {
    IntegerSet& values = into.terms[i].values;
    values = asks(into.terms[i]) ? values & other.terms[i].values : values | other.terms[i].values;
  }
  return true;
}

plan::Conflict Derivation::make() {
  conflict_.package = problem_.packages()[story_.project].name;
  for (const Grounds& grounds : story_.grounds) add_premise(grounds);
  add_conclusions();
  return std::move(conflict_);
}

}  // namespace

plan::Conflict derivation_of(RequirementProblem& problem, PackageChooser& chooser,
                             const Story& story, const ConflictCore& core) {
  return Derivation(problem, chooser, story, core).make();
}

}  // namespace axle::resolver
