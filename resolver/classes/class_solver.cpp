#include "resolver/classes/class_solver.h"

#include <algorithm>
#include <utility>

#include "resolver/classes/box_growth.h"

namespace axle::resolver {

ClassSolver::ClassSolver(const Requests& requests, const Options& options, const Sources& sources,
                         TargetMaker make_target, Report& report, std::size_t most_solves)
    : options_(options),
      derivations_(requests, options, sources, std::move(make_target), report),
      most_solves_(most_solves) {}

ClassSolver::~ClassSolver() = default;

std::expected<ClassAnswer, Unresolved> ClassSolver::solve(const detect::Machine& machine) {
  const providers::GpuPolicy& gpus = options_.providers.gpus;
  if (gpus.rule == providers::GpuRule::named) {
    return std::unexpected(
        Unresolved{{ErrorKind::unsupported,
                    std::string(gpus.set_by) + providers::render_gpu_policy(gpus) +
                        " names GPUs of one machine, and says nothing of others of its class",
                    "use all, any or first"}});
  }
  FactValues facts = facts_of(machine, gpus);
  auto derived = derivations_.derive(machine, facts);
  if (!derived) return std::unexpected(Unresolved{std::move(derived).error()});
  Derivation& own = **derived;
  if (!own.result) return std::unexpected(own.result.error());
  // A predicate that this machine meets is its own, too: it cannot be weaker.
  const auto known = std::ranges::find_if(
      answers_, [&](const ClassAnswer& answer) { return misfits(answer.holds, facts).empty(); });
  if (known != answers_.end()) return *known;
  const Derivation& told = derivations_.told_of(own, machine, facts);
  const std::size_t solved_before = derivations_.solves();
  BoxGrowth growth(derivations_, own, facts, most_solves_);
  const Box& box = growth.grow();
  ClassAnswer answer{.resolution = *told.result,
                     .holds = predicate_of(box, growth.known()),
                     .python_releases = own.python_releases};
  answer.used.assign(own.facts.begin(), own.facts.end());
  std::ranges::sort(answer.used, {}, fact_order);
  answer.bounded = growth.bounded();
  // Another machine would reach the same bound on mixtures, but with what is solved by now it might
  // get further before it runs out of solves.
  const bool ran_out = derivations_.solves() - solved_before >= most_solves_;
  if (!answer.bounded || !ran_out) answers_.push_back(answer);
  return answer;
}

}  // namespace axle::resolver
