#include "resolver/solver/failure.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "resolver/explain/messages.h"

namespace axle::resolver {
namespace {

using Kind = RequirementProblem::Package::Kind;

/// What the premises say of one project.
struct Demands {
  std::vector<Want> wants;
  IntegerSet left = IntegerSet::all();  ///< what they leave of it
  unsigned of_best = 0;             ///< of the wants: those of the best candidate of their owner
  const Error* unusable = nullptr;  ///< why its best candidate that is left cannot be used
  Candidate unusable_candidate = not_chosen;
};

class ConflictExplainer {
 public:
  ConflictExplainer(RequirementProblem& problem, std::span<const Incompatibility> known)
      : problem_(problem), known_(known) {}

  void add(const Incompatibility& premise);
  [[nodiscard]] Error explain(PackageChooser& chooser);

 private:
  [[nodiscard]] PackageId project_of(PackageId package) const {
    const auto& place = problem_.packages()[package];
    return place.kind == Kind::extra ? place.project : package;
  }
  void add_need(const Incompatibility& premise);
  void add_exclusion(const Incompatibility& premise);
  [[nodiscard]] std::optional<PackageId> central() const;

  RequirementProblem& problem_;
  std::span<const Incompatibility> known_;
  std::map<PackageId, Demands> by_project_;
};

void ConflictExplainer::add_need(const Incompatibility& premise) {
  const Reason& reason = problem_.reason(premise.reason);
  if (problem_.packages()[premise.needed].kind == Kind::backend ||
      reason.kind == Reason::Kind::extra) {
    return;
  }
  Demands& demands = by_project_[project_of(premise.needed)];
  const auto owner = std::ranges::find_if(
      premise.terms, [&](const Term& term) { return term.package != premise.needed; });
  const IntegerSet values = premise.values_of(premise.needed).is_all()
                                ? IntegerSet()
                                : premise.values_of(premise.needed).complement();
  demands.left = demands.left & values & IntegerSet::from(1);
  Want want = reason.want;
  if (owner != premise.terms.end()) {
    const auto& place = problem_.packages()[owner->package];
    if (place.list) {
      const Candidate last = place.list->all().boundaries().back();
      if (const auto best = owner->values.last_below(last)) {
        want.by_version = problem_.render_version(project_of(owner->package), *best);
        if (*best + 1 == last) ++demands.of_best;
      }
    } else {
      ++demands.of_best;
    }
  }
  demands.wants.push_back(std::move(want));
}

void ConflictExplainer::add_exclusion(const Incompatibility& premise) {
  const Term& term = premise.terms.front();
  const Reason& reason = problem_.reason(premise.reason);
  const auto& place = problem_.packages()[term.package];
  if (!place.list) return;
  Demands& demands = by_project_[project_of(term.package)];
  demands.left = demands.left & term.values.complement();
  if (reason.kind == Reason::Kind::constraint) demands.wants.push_back(reason.want);
  if (reason.kind != Reason::Kind::unusable) return;
  const auto best = term.values.last_below(place.list->all().boundaries().back());
  if (!best || *best <= demands.unusable_candidate) return;
  demands.unusable = &*reason.error;
  demands.unusable_candidate = *best;
}

void ConflictExplainer::add(const Incompatibility& premise) {
  if (premise.cause == Cause::need) {
    add_need(premise);
  } else if (premise.cause == Cause::excluded) {
    add_exclusion(premise);
  } else if (premise.cause == Cause::no_candidate) {
    const PackageId project = project_of(premise.terms.front().package);
    if (problem_.packages()[project].list)
      by_project_[project].left =
          by_project_[project].left & premise.terms.front().values.complement();
  }
}

/// The project that the premises leave nothing of: of several the one that the best candidates of
/// other packages ask for.
std::optional<PackageId> ConflictExplainer::central() const {
  std::optional<PackageId> best;
  for (const auto& [project, demands] : by_project_) {
    const CandidateList& list = *problem_.packages()[project].list;
    if (demands.wants.empty() || demands.left.meets(list.all())) continue;
    const auto rank = [&](PackageId id) {
      const Demands& of = by_project_.at(id);
      return std::pair(of.of_best, of.wants.size());
    };
    if (!best || rank(project) > rank(*best)) best = project;
  }
  if (best) return best;
  for (const auto& [project, demands] : by_project_) {
    if (demands.wants.size() > 1 &&
        (!best || demands.wants.size() > by_project_.at(*best).wants.size()))
      best = project;
  }
  if (!best && !by_project_.empty()) best = by_project_.begin()->first;
  return best;
}

Error ConflictExplainer::explain(PackageChooser& chooser) {
  const auto project = central();
  if (!project) {
    return {ErrorKind::conflict, "the requirements contradict each other",
            "loosen one of the requirements"};
  }
  Demands& demands = by_project_[*project];
  const std::string& name = problem_.packages()[*project].name;
  std::ranges::sort(demands.wants, std::ranges::greater{}, &Want::constraint);
  std::vector<const Want*> wants;
  for (const Want& want : demands.wants) wants.push_back(&want);
  std::optional<Error> error;
  const bool any_text =
      std::ranges::any_of(demands.wants, [](const Want& want) { return !want.text.empty(); });
  if (!wants.empty() && !any_text) {
    error = chooser.why_none({name, wants, {}});
  }
  if (!error && demands.unusable != nullptr) {
    error = *demands.unusable;
    std::erase_if(wants, [](const Want* want) { return want->by.empty(); });
    if (!wants.empty()) error->message += "; " + render_wants(wants);
  }
  if (!error) error = no_common_version(name, wants, {});
  for (const auto& [other, of_other] : by_project_) {
    if (other == *project || of_other.unusable == nullptr) continue;
    const auto& place = problem_.packages()[other];
    error->message +=
        fmt::format("; {} {} cannot be used: {}", place.name,
                    wheel::render_version(place.list->version_of(of_other.unusable_candidate)),
                    of_other.unusable->message);
  }
  return std::move(*error);
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

Error explain_conflict(RequirementProblem& problem, PackageChooser& chooser,
                       std::span<const Incompatibility> known,
                       const std::vector<IncompatibilityId>& premises) {
  ConflictExplainer explainer(problem, known);
  for (const IncompatibilityId id : premises) explainer.add(known[id]);
  return explainer.explain(chooser);
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
