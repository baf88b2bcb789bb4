#include "resolver/fleet/download_budget.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/text/byte_size.h"
#include "resolver/fleet/ladder.h"

namespace axle::resolver {

namespace {

/// Solves for one machine, of choices with as many builds for less.
constexpr std::size_t most_steps = 40;

/// What is withheld of each name: so many labels from the top of its ladder.
using Steps = std::vector<std::size_t>;

struct Rungs {
  std::string name;
  std::vector<std::string> labels;  ///< alike, then lesser
  std::size_t alike = 0;
  std::vector<std::string> partial;  ///< labels that are withheld with the first
};

/// How much worse it is: doing without what the machine has counts for more than any other build.
std::pair<std::size_t, std::size_t> loss_of(const Steps& steps, const std::vector<Rungs>& rungs) {
  std::pair<std::size_t, std::size_t> loss;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    loss.first += steps[i] >= rungs[i].alike ? 1 : 0;
    loss.second += steps[i];
  }
  return loss;
}

WithheldBuilds without(const Steps& steps, const std::vector<Rungs>& rungs,
                       WithheldBuilds withheld) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] == 0) continue;
    std::set<std::string, std::less<>>& labels = withheld[rungs[i].name];
    const auto end = rungs[i].labels.begin() + static_cast<std::ptrdiff_t>(steps[i]);
    labels.insert(rungs[i].labels.begin(), end);
    labels.insert(rungs[i].partial.begin(), rungs[i].partial.end());
  }
  return withheld;
}

/// "torch 900 MB, nvidia-cublas 594 MB, triton 155 MB"
std::string largest_of(const plan::Resolution& resolution) {
  constexpr std::size_t named = 3;
  std::vector<const plan::ResolvedPackage*> packages;
  for (const plan::ResolvedPackage& package : resolution.packages) {
    if (package.size) packages.push_back(&package);
  }
  std::ranges::sort(packages, [](const auto* left, const auto* right) {
    return *left->size != *right->size ? *left->size > *right->size : left->name < right->name;
  });
  packages.resize(std::min(packages.size(), named));
  std::vector<std::string> texts;
  for (const plan::ResolvedPackage* package : packages)
    texts.push_back(fmt::format("{} {}", package->name, text::render_bytes(*package->size)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::unexpected<Error> over_budget(const plan::Resolution& smallest, std::uint64_t bytes) {
  return fail(ErrorKind::unsupported,
              fmt::format("the smallest choice that was found downloads {}, and the budget is {}",
                          text::render_bytes(volume_of(smallest).bytes), text::render_bytes(bytes)),
              fmt::format("allow more, or ask for less; the largest are {}", largest_of(smallest)));
}

}  // namespace

Volume volume_of(const plan::Resolution& resolution) {
  Volume volume;
  for (const plan::ResolvedPackage& package : resolution.packages) {
    volume.bytes += package.size.value_or(0);
    if (!package.size) volume.unknown.push_back(package.name);
  }
  return volume;
}

Result<Affordable> within_budget(const plan::Resolution& unlimited, std::uint64_t bytes,
                                 const WithheldBuilds& withheld, const SolveOneWithout& solve) {
  // What is withheld already is no part of what it could get.
  const auto solved = withheld.empty() ? unlimited : solve(withheld);
  if (!solved) {
    const Error& why = solved.error();
    return std::unexpected(why);
  }
  const plan::Resolution& best = *solved;
  if (const Volume volume = volume_of(best); volume.bytes <= bytes)
    return Affordable{.withheld = withheld, .unknown = volume.unknown};
  std::vector<Rungs> rungs;
  const auto ladders = ladders_of(best);
  for (const auto& [name, ladder] : ladders) {
    Rungs of_name{.name = name,
                  .labels = ladder.alike,
                  .alike = ladder.alike.size(),
                  .partial = ladder.partial};
    std::ranges::copy(ladder.lesser, std::back_inserter(of_name.labels));
    if (of_name.labels.size() > 1) rungs.push_back(std::move(of_name));
  }
  // Nearest first: from each choice one step down one ladder.
  using Entry = std::tuple<std::size_t, std::size_t, Steps>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  std::set<Steps> seen;
  const auto add_below = [&](const Steps& steps) {
    const auto add = [&](std::size_t i, std::size_t step) {
      Steps below = steps;
      below[i] = step;
      if (step >= rungs[i].labels.size() || !seen.insert(below).second) return;
      const auto [lesser, down] = loss_of(below, rungs);
      open.emplace(lesser, down, std::move(below));
    };
    for (std::size_t i = 0; i < steps.size(); ++i) {
      add(i, steps[i] + 1);
      // Not behind all combinations of what is alike.
      if (steps[i] < rungs[i].alike) add(i, rungs[i].alike);
    }
  };
  add_below(Steps(rungs.size()));
  plan::Resolution smallest = best;
  std::vector<std::size_t> tried(rungs.size() + 1);
  std::optional<Affordable> found;
  while (!open.empty()) {
    const auto [lesser, down, steps] = open.top();
    open.pop();
    if (found && found->lesser.size() <= lesser) break;
    if (tried[lesser]++ >= most_steps) continue;
    WithheldBuilds more = without(steps, rungs, withheld);
    const auto answer = solve(more);
    if (answer && keeps_versions(best, *answer)) {
      const Volume volume = volume_of(*answer);
      // Other requirements may lead further down than the steps do.
      std::vector<std::string> less = lesser_in(ladders, *answer);
      const bool nearest = !found || less.size() < found->lesser.size();
      if (volume.bytes <= bytes && nearest)
        found = Affordable{std::move(more), std::move(less), volume.unknown};
      if (volume.bytes < volume_of(smallest).bytes) smallest = *answer;
    }
    add_below(steps);
  }
  if (found) return *std::move(found);
  return over_budget(smallest, bytes);
}

}  // namespace axle::resolver
