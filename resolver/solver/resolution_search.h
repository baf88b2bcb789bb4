#pragma once
// One search: requests in, a resolution out. It begins again whenever it finds that more must be
// admitted than it began with (admissions.h).

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "plan/resolution.h"
#include "resolver/choice/settled_package.h"
#include "resolver/family/backend_change.h"
#include "resolver/request/requests.h"
#include "resolver/solver/admissions.h"
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
  /// After `run`: what installed packages outside of the resolution need and do not get.
  [[nodiscard]] std::vector<BrokenNeed> broken_needs(const plan::Resolution& resolution) const;

 private:
  /// nullopt: it begins again.
  [[nodiscard]] Result<std::optional<plan::Resolution>> attempt();
  [[nodiscard]] Result<std::optional<plan::Resolution>> fail_for(RequirementProblem& problem,
                                                                 const Solution& solution);
  /// What is chosen, by whom it is wanted, and what is brought in. False: builds need packages that
  /// nothing else brings in, which is admitted now.
  [[nodiscard]] bool settle(const RequirementProblem& problem, const Solution& solution);
  /// Pre-releases or yanked releases are chosen that nobody in the solution asks for: they are
  /// refused now.
  [[nodiscard]] bool takes_unasked(const RequirementProblem& problem, const Solution& solution);
  /// Members were chosen before the first one of their family, and by another label.
  [[nodiscard]] bool follows_late();
  /// A family settled on unlike labels: one label for all is looked for, which is admitted now.
  [[nodiscard]] bool looks_for_one_label(RequirementProblem& problem, const Solution& solution);
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
  /// The candidates that everybody who wants the package allows.
  [[nodiscard]] IntegerSet wanted_of(const RequirementProblem& problem, PackageId package) const;
  /// The label that members of `family` go by; empty: none is known.
  [[nodiscard]] std::string lead_label(const index::Family& family) const;
  [[nodiscard]] std::optional<wheel::Version> version_of(const std::string& name) const;
  [[nodiscard]] plan::Resolution outcome();
  /// --require: something here must be built for each of the namespaces.
  [[nodiscard]] Result<void> check_required() const;
  [[nodiscard]] bool is_installed_for(const std::string& name, const std::string& ns) const;
  /// Every package that is to be installed has a listed hash, where that is required.
  [[nodiscard]] Result<void> check_hashes() const;

  SolverInputs in_;
  UserRequests requests_;
  Admissions admissions_;
  std::vector<ActiveNeed> needs_;  ///< of the search that `settled_` is the outcome of
  SettledPackages settled_;
};

}  // namespace axle::resolver
