#include "session/fleet_wishes.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/text/byte_size.h"
#include "foundation/text/quote.h"
#include "resolver/fleet/download_budget.h"
#include "resolver/fleet/fewest_builds.h"

namespace axle::session {

Outcome<FleetWishes> read_fleet_wishes(const Arguments& arguments, FleetWishes stated) {
  FleetWishes wishes = stated;
  if (arguments.has(Opt::minimize)) {
    if (const std::string what = arguments.value(Opt::minimize); what != "builds")
      return misused(fmt::format("--minimize {}: it is not known", text::quote(what)),
                     "--minimize builds");
    if (arguments.has(Opt::best))
      return misused("--minimize and --best contradict each other", "leave one of them out");
    wishes.fewest_builds = true;
  }
  if (arguments.has(Opt::best)) wishes.fewest_builds = false;
  if (arguments.has(Opt::budget)) {
    const std::string size = arguments.value(Opt::budget);
    wishes.budget = text::parse_bytes(size);
    wishes.budget_given = true;
    if (!wishes.budget || *wishes.budget == 0)
      return misused(fmt::format("--budget {}: it is not a size", text::quote(size)),
                     "for example 3GB, 1.5GiB or 800MB");
  }
  return wishes;
}

namespace {

/// The builds that one machine does without so that it keeps within `budget`.
Outcome<resolver::WithheldBuilds> within_budget_of(const FleetMachine& machine,
                                                   const plan::Resolution& best,
                                                   std::uint64_t budget,
                                                   const resolver::WithheldBuilds& shared,
                                                   const resolver::SolveOneWithout& solve,
                                                   Report& report) {
  auto affordable = resolver::within_budget(best, budget, shared, solve);
  // What is shared may be the larger one: no machine gets less for it than its budget allows.
  if (!shared.empty() && (!affordable || !affordable->lesser.empty())) {
    auto alone = resolver::within_budget(best, budget, {}, solve);
    if (alone && (!affordable || alone->lesser.size() < affordable->lesser.size()))
      affordable = std::move(alone);
  }
  if (!affordable) return failed_to_choose(std::move(affordable).error());
  if (!affordable->lesser.empty())
    report.warn(
        fmt::format("{}: within {} there is no build of {} for all that the machine has",
                    machine.name, text::render_bytes(budget), fmt::join(affordable->lesser, ", ")),
        "a larger budget allows one");
  if (!affordable->unknown.empty())
    report.warn(fmt::format("{}: the index does not say how large {} {}: counted as nothing",
                            machine.name, fmt::join(affordable->unknown, ", "),
                            affordable->unknown.size() == 1 ? "is" : "are"));
  return std::move(affordable->withheld);
}

}  // namespace

std::vector<Outcome<resolver::WithheldBuilds>> withheld_builds(
    const std::vector<FleetMachine>& machines, const FleetWishes& wishes,
    const resolver::SolveWithout& solve_one, Report& report) {
  std::size_t tried = 0;
  const resolver::SolveWithout solve = [&](std::size_t machine,
                                           const resolver::WithheldBuilds& withheld) {
    report.progress({fmt::format("choosing builds: {} choices tried", tried++), 0, 0});
    return solve_one(machine, withheld);
  };
  std::vector<plan::Resolution> best;
  std::vector<std::size_t> served;  // the others are refused when they are solved for good
  for (std::size_t machine = 0; machine < machines.size(); ++machine) {
    auto answer = solve(machine, {});
    if (!answer) continue;
    best.push_back(*std::move(answer));
    served.push_back(machine);
  }
  resolver::WithheldBuilds shared;
  if (wishes.fewest_builds) {
    shared = resolver::fewest_builds(
        best, [&](std::size_t index, const resolver::WithheldBuilds& withheld) {
          return solve(served[index], withheld);
        });
  }
  std::vector<Outcome<resolver::WithheldBuilds>> withheld(machines.size(), shared);
  for (std::size_t index = 0; index < served.size(); ++index) {
    const std::size_t place = served[index];
    const FleetMachine& machine = machines[place];
    const auto budget = machine.budget && !wishes.budget_given ? machine.budget : wishes.budget;
    if (!budget) continue;
    withheld[place] = within_budget_of(
        machine, best[index], *budget, shared,
        [&](const resolver::WithheldBuilds& without) { return solve(place, without); }, report);
  }
  return withheld;
}

}  // namespace axle::session
