#include "resolver/conflict/version_text.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace axle::resolver {
namespace {

/// What is told of at most so many stretches of versions.
constexpr std::size_t most_runs = 3;

/// What is told of versions that are listed one by one.
constexpr std::size_t most_listed = 6;

/// The version of a release with its build, where only some of its builds are meant.
std::string render_build(const RequirementProblem& problem, PackageId project,
                         const IntegerSet& candidates, const std::string& version) {
  const auto& place = problem.packages()[project];
  const Candidate best = *candidates.last_below(place.list->all().boundaries().back());
  const NumberedRelease* const numbered = place.list->release_of(best);
  const BuildOption* const build = problem.option(place, best);
  if (numbered == nullptr || build == nullptr || build->label.empty()) return version;
  for (Candidate other = numbered->first; other < numbered->last; ++other) {
    if (candidates.contains(other) || problem.option(place, other) == nullptr) continue;
    return numbered->release->family != nullptr ? problem.render_version(project, best)
                                                : fmt::format("{} ({})", version, build->label);
  }
  return version;
}

IntegerSet counted_of(const RequirementProblem& problem, PackageId project) {
  const auto& place = problem.packages()[project];
  IntegerSet counted = place.list->all();
  for (const Exclusion& exclusion : place.exclusions) {
    if (problem.reason(exclusion.reason).kind == Reason::Kind::not_asked)
      counted = counted & exclusion.alike.complement();
  }
  return counted;
}

/// The versions of all releases that `among` meets, oldest first, with what is installed.
std::vector<std::string> versions_in(const RequirementProblem& problem, PackageId project,
                                     const IntegerSet& among) {
  const CandidateList& list = *problem.packages()[project].list;
  std::vector<std::string> versions;
  bool installed_done = list.installed() == not_chosen || !among.contains(list.installed());
  const auto add_installed = [&] {
    installed_done = true;
    std::string text = problem.render_version(project, list.installed());
    if (versions.empty() || versions.back() != text) versions.push_back(std::move(text));
  };
  for (const NumberedRelease& numbered : list.releases()) {
    if (!installed_done && list.installed() < numbered.first) add_installed();
    if (among.meets(numbered.numbers()))
      versions.push_back(wheel::render_version(numbered.release->version));
  }
  if (!installed_done) add_installed();
  return versions;
}

std::string render_count(const std::vector<std::string>& versions) {
  if (versions.size() <= most_listed) return fmt::format("{}", fmt::join(versions, ", "));
  return fmt::format("({} versions from {} to {})", versions.size(), versions.front(),
                     versions.back());
}

struct Run {
  std::size_t first = 0;
  std::size_t last = 0;
};

}  // namespace

std::string render_runs(const std::vector<std::string>& versions,
                        const std::vector<std::string>& all) {
  std::vector<Run> runs;
  std::size_t at = 0;
  for (const std::string& version : versions) {
    const auto found = std::find(all.begin() + static_cast<std::ptrdiff_t>(at), all.end(), version);
    if (found == all.end()) return render_count(versions);
    const auto place = static_cast<std::size_t>(found - all.begin());
    if (!runs.empty() && runs.back().last + 1 == place) {
      runs.back().last = place;
    } else {
      runs.push_back({place, place});
    }
    at = place;
  }
  if (runs.size() > most_runs) {
    return render_count(versions);
  }
  std::vector<std::string> texts;
  for (const Run& run : runs) {
    const std::size_t count = run.last - run.first + 1;
    if (count == 1) {
      texts.push_back(all[run.first]);
    } else if (count == 2) {
      texts.push_back(fmt::format("{} and {}", all[run.first], all[run.last]));
    } else if (run.last + 1 == all.size()) {
      texts.push_back(all[run.first] + " and newer");
    } else if (run.first == 0) {
      texts.push_back(all[run.last] + " and older");
    } else {
      texts.push_back(fmt::format("{} to {}", all[run.first], all[run.last]));
    }
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

VersionText version_text(const RequirementProblem& problem, PackageId package,
                         const IntegerSet& candidates) {
  const auto& place = problem.packages()[package];
  const bool of_extra = place.kind == RequirementProblem::Package::Kind::extra;
  const PackageId project = of_extra ? place.project : package;
  const std::string name = of_extra ? fmt::format("{}[{}]", place.name, place.extra) : place.name;
  if (!place.list) return {name, true, {}};
  const IntegerSet counted = counted_of(problem, project);
  const IntegerSet some = candidates & counted;
  const bool only_uncounted = some.empty();
  const IntegerSet& meant = only_uncounted ? candidates : some;
  VersionText made;
  made.versions = versions_in(problem, project, meant);
  const std::vector<std::string> all =
      versions_in(problem, project, only_uncounted ? place.list->all() : counted);
  made.one = made.versions.size() == 1;
  if (made.versions.empty()) return {name, true, {}};
  if (made.one) {
    made.text =
        fmt::format("{} {}", name, render_build(problem, project, meant, made.versions.front()));
    return made;
  }
  if (made.versions == all) {
    made.one = true;
    made.text = "every version of " + name;
  } else {
    made.text = fmt::format("{} {}", name, render_runs(made.versions, all));
  }
  return made;
}

}  // namespace axle::resolver
