#pragma once
// One search: requests in, a resolution out. It begins again whenever it finds that more must be
// admitted than it began with (admissions.h).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "foundation/report/error.h"
#include "plan/resolution.h"
#include "resolver/choice/settled_package.h"
#include "resolver/family/backend_change.h"
#include "resolver/request/requests.h"
#include "resolver/solver/admissions.h"
#include "resolver/solver/failure.h"
#include "resolver/solver/installed_needs.h"
#include "resolver/solver/requirement_problem.h"
#include "resolver/solver/user_requests.h"

namespace axle::resolver {

/// A need that counts in a solution: its owner was chosen with it.
struct ActiveNeed {
  PackageId owner = 0;
  PackageId needed = 0;
  std::uint32_t reason = 0;
  IntegerSet values;
  bool if_at_all = false;  ///< it asks for nothing
};

class ResolutionSearch {
 public:
  ResolutionSearch(const SolverInputs& inputs, const Requests& requests);

  [[nodiscard]] Result<plan::Resolution> run();
  /// After `run`: installed packages that get another backend although nobody asked for one.
  [[nodiscard]] std::vector<BackendChange> changed_backends(
      const plan::Resolution& resolution) const;
  /// Candidates that were tried for it, in all attempts.
  [[nodiscard]] std::size_t tried() const { return tried_; }
  /// After `run` has failed: how its error comes about.
  [[nodiscard]] plan::Conflict take_conflict() { return std::move(conflict_); }
  /// After `run`: what installed packages outside of the resolution need and do not get.
  [[nodiscard]] std::vector<BrokenNeed> broken_needs(const plan::Resolution& resolution) const;

 private:
  /// Whether what is installed is all that is asked for, and stays: then `settled_` is what an
  /// attempt would settle. Packages that more than their versions decide about are left to that.
  [[nodiscard]] bool is_satisfied();
  /// As it is installed, without those who want it; nullptr: an attempt has to decide.
  [[nodiscard]] SettledPackage* settle_installed(const std::string& name);
  /// nullopt: it begins again.
  [[nodiscard]] Result<std::optional<plan::Resolution>> attempt();
  [[nodiscard]] Result<std::optional<plan::Resolution>> fail_for(RequirementProblem& problem,
                                                                 const Solution& solution);
  /// A failure rests on releases that could be built: from now on such releases count.
  [[nodiscard]] bool admits_builds(const RequirementProblem& problem,
                                   const std::vector<Incompatibility>& known,
                                   const std::vector<IncompatibilityId>& from);
  /// A failure rests on releases that are yanked: whoever pins them may not have been found yet.
  [[nodiscard]] bool admits_yanked(const RequirementProblem& problem,
                                   const std::vector<Incompatibility>& known,
                                   const std::vector<IncompatibilityId>& from);
  /// A failure rests on final releases alone: pre-releases of those packages count from now on.
  [[nodiscard]] bool admits_prereleases(const RequirementProblem& problem,
                                        const std::vector<Incompatibility>& known,
                                        const std::vector<IncompatibilityId>& from);
  void warn_of_last_resort();
  void index_knowledge(const RequirementProblem& problem, const Solution& solution);
  /// What is chosen, and by whom it is wanted.
  void settle(const RequirementProblem& problem, const Solution& solution);
  /// Pre-releases are chosen that nobody in the solution asks for: they are refused now.
  [[nodiscard]] bool takes_unasked(const RequirementProblem& problem, const Solution& solution);
  /// Members were chosen before the first one of their family, and by another label.
  [[nodiscard]] bool follows_late();
  /// Builds of unlike backends are kept apart. True: the search begins again, to see whether the
  /// user asks for the mixture that would be better.
  [[nodiscard]] Result<bool> weighs_mixture(const RequirementProblem& problem,
                                            const Solution& solution);
  /// It is the first member of a family that is chosen: the others have its label.
  [[nodiscard]] bool leads(const index::Family& family, const std::string& name) const;
  /// What keeping them apart costs: packages that get their family's fallback although a GPU is
  /// here. Of a family the one that leads.
  [[nodiscard]] std::vector<std::string> idle_fallbacks() const;
  /// A fallback is chosen although whoever wants the package allows a build for the GPU: it counts
  /// no longer.
  [[nodiscard]] Result<bool> gives_up_gpu(RequirementProblem& problem);
  [[nodiscard]] bool replaces_installed() const;
  /// Builds of unlike backends in a solution.
  struct Mixture {
    std::optional<Error> error;  ///< what is to be said of it; nullopt: there are none
    bool asked = true;           ///< the user asks for each of them
  };
  [[nodiscard]] Mixture mixture_of_platforms(const RequirementProblem& problem,
                                             const Solution& solution) const;
  [[nodiscard]] Mixture mixture_of_labels(const RequirementProblem& problem,
                                          const Solution& solution,
                                          const index::Family& family) const;
  [[nodiscard]] std::vector<Mixture> mixtures(const RequirementProblem& problem,
                                              const Solution& solution) const;
  /// The packages by their GPU platform.
  using Platforms = std::map<std::string, std::vector<const SettledPackage*>>;
  [[nodiscard]] Platforms platforms(const RequirementProblem& problem,
                                    const Solution& solution) const;
  /// Chooses each build once more, now that all versions are known, for what is said of it.
  [[nodiscard]] Result<void> describe(RequirementProblem& problem, const Solution& solution);
  [[nodiscard]] Result<void> describe(RequirementProblem& problem, const Solution& solution,
                                      PackageId package, SettledPackage& settled);
  /// What is asked of the chosen build, so that the decision says why it is the one.
  [[nodiscard]] PackageDemand described_demand(const RequirementProblem& problem, PackageId package,
                                               const Release& release, const BuildOption& build,
                                               const SettledPackage& settled) const;
  /// A newer release is wanted as well: what speaks against it.
  void remark_on_conflict(RequirementProblem& problem, const Solution& solution, PackageId package,
                          SettledPackage& settled) const;
  /// What is chosen of `package`, and who wants what of it; `of` is not asked.
  /// Every other package that `known` speaks of is needed by others than `package`.
  [[nodiscard]] bool is_needed_by_others(const Incompatibility& known, PackageId package) const;
  /// `why`, which keeps candidates of `package` out, and what keeps out whatever that needs.
  [[nodiscard]] std::vector<IncompatibilityId> what_rules_out(const Solution& solution,
                                                              PackageId package,
                                                              IncompatibilityId why) const;
  [[nodiscard]] InTheWay in_the_way(const RequirementProblem& problem, const Solution& solution,
                                    PackageId package, PackageId of) const;
  /// The candidates that everybody who wants the package allows.
  [[nodiscard]] IntegerSet wanted_of(const RequirementProblem& problem, PackageId package) const;
  /// The label that members of `family` go by; empty: none is known.
  [[nodiscard]] std::string lead_label(const index::Family& family) const;
  [[nodiscard]] std::optional<wheel::Version> version_of(const std::string& name) const;
  [[nodiscard]] plan::Resolution outcome();
  /// What stands for distributions that install the same modules, and what it replaces.
  void settle_alternatives(plan::Resolution& resolution);
  /// Another distribution of the group is made for this machine.
  void remark_on_alternative(const index::Alternatives& group, const SettledPackage& settled);
  /// --require: something here must be built for each of the namespaces.
  [[nodiscard]] Result<void> check_required() const;
  [[nodiscard]] bool is_installed_for(const std::string& name, const std::string& ns) const;
  /// Every package that is to be installed has a listed hash, where that is required.
  [[nodiscard]] Result<void> check_hashes() const;

  SolverInputs in_;
  UserRequests requests_;
  Admissions admissions_;
  std::size_t tried_ = 0;
  /// Whether a solution without `Admissions::mixed` was found before.
  enum class Apart : std::uint8_t { not_tried, found, refused, final };
  Apart apart_ = Apart::not_tried;
  std::optional<Failure>
      refusal_;  ///< why there was no solution before more was admitted that is not likely to help
  std::set<std::string, std::less<>> last_resort_;  ///< packages whose pre-releases count for that
  // Of the search that `settled_` is the outcome of:
  std::vector<ActiveNeed> needs_;
  std::vector<std::vector<std::size_t>> needed_;             ///< by needed project, extras with it
  std::vector<std::vector<IncompatibilityId>> known_about_;  ///< by package
  SettledPackages settled_;
  plan::Conflict conflict_;
};

}  // namespace axle::resolver
