#include "resolver/conflict/conflict_story.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "index/http/redaction.h"
#include "resolver/explain/messages.h"

namespace axle::resolver {
namespace {

using Kind = RequirementProblem::Package::Kind;

std::optional<Candidate> best_of(const IntegerSet& candidates) {
  const auto& ends = candidates.boundaries();
  return ends.empty() ? std::nullopt : candidates.last_below(ends.back());
}

class StoryTeller {
 public:
  StoryTeller(const RequirementProblem& problem, const ConflictCore& core)
      : problem_(problem), core_(core) {}

  [[nodiscard]] Story tell();

 private:
  [[nodiscard]] PackageId project_of(PackageId package) const {
    const auto& place = problem_.packages()[package];
    return place.kind == Kind::extra ? place.project : package;
  }
  [[nodiscard]] bool is_project(PackageId package) const {
    return problem_.packages()[project_of(package)].kind == Kind::project;
  }
  /// Says something of `package` by itself, or of what others want of it.
  [[nodiscard]] static PackageId about(const Grounds& grounds) {
    return grounds.cause == Cause::need ? grounds.needed : grounds.package;
  }
  [[nodiscard]] std::string text_of(const Premise& premise, const Want& want) const;
  /// An override stands in for what packages say: then it is the user who says it.
  [[nodiscard]] Want said_by_user(Want want) const;
  void gather();
  void add_case(Grounds& grounds, const Premise& premise) const;
  /// Orders the grounds from the question on, and marks those that the best candidates have.
  void follow();
  /// Something other than the package itself is needed by it, so that it is not where it ends.
  [[nodiscard]] bool leads_on(PackageId project) const;
  [[nodiscard]] bool best_is_unusable(PackageId project) const;
  void find_project();

  const RequirementProblem& problem_;
  const ConflictCore& core_;
  Story story_;
  std::map<PackageId, Candidate> best_;  ///< that anything is said of, by project
};

Want StoryTeller::said_by_user(Want want) const {
  if (want.by.empty() || want.constraint) return want;
  const std::string text = wheel::render_specifiers(want.requirement.specifiers);
  for (const Want* own : problem_.wants_about(wheel::normalize_name(want.requirement.name))) {
    if (own->overrides && wheel::render_specifiers(own->requirement.specifiers) == text)
      return *own;
  }
  return want;
}

std::string StoryTeller::text_of(const Premise& premise, const Want& want) const {
  const Reason& reason = premise.reason;
  const auto& needed = problem_.packages()[premise.needed];
  if (reason.kind == Reason::Kind::backend && needed.kind != Kind::backend)
    return needed.name + " with the same build";
  if (!want.text.empty()) return want.text;
  return index::redact_url(wheel::render_requirement(want.requirement));
}

void StoryTeller::add_case(Grounds& grounds, const Premise& premise) const {
  Want want = premise.reason.want;
  const auto& owner = problem_.packages()[premise.package];
  if (owner.kind == Kind::extra) want.by = fmt::format("{}[{}]", owner.name, owner.extra);
  // It holds, or nothing would be needed.
  if (!want.by.empty()) want.requirement.marker.reset();
  std::string text = text_of(premise, want);
  const auto known = std::ranges::find(grounds.cases, text, &StatedCase::text);
  if (known != grounds.cases.end()) {
    known->candidates = known->candidates | premise.candidates;
    return;
  }
  grounds.cases.push_back(
      {said_by_user(std::move(want)), std::move(text), premise.candidates, premise.values});
}

void StoryTeller::gather() {
  std::map<std::size_t, std::size_t> places;
  const auto place_of = [&](const Premise& premise) {
    // Structural ones have no group of their own.
    if (premise.structural) return story_.grounds.size();
    return places.try_emplace(premise.group, story_.grounds.size()).first->second;
  };
  for (std::size_t i = 0; i < core_.premises.size(); ++i) {
    const Premise& premise = core_.premises[i];
    const std::size_t place = place_of(premise);
    if (place == story_.grounds.size()) {
      Grounds& made = story_.grounds.emplace_back();
      made.cause = premise.cause;
      made.kind = premise.reason.kind;
      made.package = premise.package;
      made.needed = premise.needed;
      made.structural = premise.structural;
    }
    Grounds& grounds = story_.grounds[place];
    grounds.premises.push_back(i);
    const auto before = best_of(grounds.candidates);
    const auto best = best_of(premise.candidates);
    if (premise.reason.error && best && (!before || *best > *before))
      grounds.error = &*premise.reason.error;
    grounds.candidates = grounds.candidates | premise.candidates;
    const bool wanted =
        (premise.cause == Cause::need && premise.reason.kind != Reason::Kind::alternative) ||
        premise.reason.kind == Reason::Kind::constraint ||
        premise.reason.kind == Reason::Kind::lead;
    if (wanted) add_case(grounds, premise);
    if (!best || premise.structural) continue;
    const bool says = premise.cause == Cause::need || premise.reason.error.has_value();
    Candidate& known = best_[project_of(premise.package)];
    if (says) known = std::max(known, *best);
  }
  for (Grounds& grounds : story_.grounds) {
    std::ranges::sort(grounds.cases, [](const StatedCase& left, const StatedCase& right) {
      return std::pair(best_of(right.candidates), std::string_view(left.text)) <
             std::pair(best_of(left.candidates), std::string_view(right.text));
    });
    for (StatedCase& one : grounds.cases) {
      const auto best = best_of(one.candidates);
      const PackageId owner = project_of(grounds.package);
      if (grounds.cause == Cause::need && best && is_project(owner) && !one.want.by.empty())
        one.want.by_version = problem_.render_version(owner, *best);
    }
  }
}

void StoryTeller::follow() {
  std::vector<Grounds> ordered;
  std::vector<bool> done(story_.grounds.size(), false);
  std::map<PackageId, bool> reached{{RequirementProblem::question, true}};
  std::vector<PackageId> open{RequirementProblem::question};
  for (std::size_t next = 0; next < open.size(); ++next) {
    const PackageId package = open[next];
    for (std::size_t i = 0; i < story_.grounds.size(); ++i) {
      Grounds& grounds = story_.grounds[i];
      if (done[i] || project_of(grounds.package) != package) continue;
      done[i] = true;
      const auto best = best_.find(package);
      grounds.of_best =
          reached[package] &&
          (package == RequirementProblem::question || grounds.kind == Reason::Kind::constraint ||
           (best != best_.end() && grounds.candidates.contains(best->second)));
      if (grounds.cause == Cause::need) {
        const PackageId needed = project_of(grounds.needed);
        if (reached.emplace(needed, grounds.of_best).second) {
          open.push_back(needed);
        } else {
          reached[needed] = reached[needed] || grounds.of_best;
        }
      }
      ordered.push_back(std::move(grounds));
    }
  }
  for (std::size_t i = 0; i < story_.grounds.size(); ++i) {
    if (!done[i]) ordered.push_back(std::move(story_.grounds[i]));
  }
  story_.grounds = std::move(ordered);
}

bool StoryTeller::leads_on(PackageId project) const {
  return std::ranges::any_of(story_.grounds, [&](const Grounds& grounds) {
    return grounds.cause == Cause::need && !grounds.structural && !grounds.cases.empty() &&
           project_of(grounds.package) == project && project_of(grounds.needed) != project;
  });
}

bool StoryTeller::best_is_unusable(PackageId project) const {
  const auto best = best_.find(project);
  return best != best_.end() && std::ranges::any_of(story_.grounds, [&](const Grounds& grounds) {
           return grounds.kind == Reason::Kind::unusable && grounds.package == project &&
                  grounds.candidates.contains(best->second);
         });
}

void StoryTeller::find_project() {
  struct Site {
    bool inner = false;  ///< it only leads on to others
    std::size_t others = 0;
    std::vector<std::size_t> wants;
  };
  std::map<PackageId, Site> sites;
  for (std::size_t i = 0; i < story_.grounds.size(); ++i) {
    const Grounds& grounds = story_.grounds[i];
    if (grounds.structural || !is_project(about(grounds)) || grounds.cases.empty()) continue;
    Site& site = sites[project_of(about(grounds))];
    site.wants.push_back(i);
    if (!grounds.of_best) ++site.others;
  }
  const auto rank = [](const Site& site) {
    return std::tuple(site.inner, site.others, -static_cast<std::ptrdiff_t>(site.wants.size()));
  };
  const Site* best = nullptr;
  for (auto& [project, site] : sites) {
    site.inner = leads_on(project) && !best_is_unusable(project);
    if (best != nullptr && rank(site) >= rank(*best)) continue;
    best = &site;
    story_.project = project;
  }
  if (best != nullptr) story_.wants = best->wants;
}

Story StoryTeller::tell() {
  gather();
  follow();
  find_project();
  return std::move(story_);
}

}  // namespace

std::vector<const StatedCase*> cases_of_best(const Grounds& grounds) {
  std::vector<const StatedCase*> cases;
  const auto best = best_of(grounds.candidates);
  for (const StatedCase& one : grounds.cases) {
    if (grounds.cause != Cause::need || (best && one.candidates.contains(*best)))
      cases.push_back(&one);
  }
  return cases;
}

Story tell(const RequirementProblem& problem, const ConflictCore& core) {
  return StoryTeller(problem, core).tell();
}

}  // namespace axle::resolver
