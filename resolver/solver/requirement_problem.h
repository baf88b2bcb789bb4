#pragma once
// Requirements, releases and builds as the numbers that the conflict solver searches among
// (conflict_solver.h), and back.
//
// Packages of the problem are: the question itself, projects, extras of projects, and for each
// index family its backend, of which each value is a label. A build of a family needs its label to
// be the backend, so that labels are never mixed.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "foundation/report/report.h"
#include "resolver/catalogue/candidates.h"
#include "resolver/choice/package_choice.h"
#include "resolver/family/backend_change.h"
#include "resolver/family/families.h"
#include "resolver/request/options.h"
#include "resolver/request/target.h"
#include "resolver/solver/admissions.h"
#include "resolver/solver/candidate_list.h"
#include "resolver/solver/conflict_solver.h"
#include "resolver/solver/user_requests.h"

namespace axle::resolver {

/// What a need or an exclusion of the problem rests on.
struct Reason {
  enum class Kind : std::uint8_t {
    requirement,  ///< `want`
    constraint,   ///< `want`, of the user's
    extra,        ///< an extra goes with its project
    backend,      ///< builds of one family have one label
    abi,          ///< `want`: what the build was linked with
    unusable,     ///< `error`: a build or a whole release cannot be used here
    not_asked,    ///< a pre-release or a yanked release that nobody asks for
    kept,         ///< the installed build stays what it is
    lead,         ///< it goes with the installed first member of its family, which stays
  };
  Kind kind = Kind::requirement;
  Want want = {};
  std::optional<Error> error = {};
};

/// What all parts of one resolution share; all must outlive it.
struct SolverInputs {
  const Target& target;
  const std::vector<plan::InstalledPackage>& installed;
  const Options& options;
  const KeptBuilds& kept;  ///< builds that stay what they are
  Candidates& candidates;
  Families& families;
  PackageChooser& chooser;
  Report& report;
};

class RequirementProblem final : public Problem {
 public:
  struct Package {
    enum class Kind : std::uint8_t { question, project, extra, backend };
    Kind kind = Kind::question;
    std::string name;                          ///< normalised; of a backend the family's
    std::string extra = {};                    ///< normalised
    const index::Family* family = nullptr;     ///< of a backend, and of a member
    std::shared_ptr<CandidateList> list = {};  ///< of a project and its extras
    PackageId project = 0;                     ///< of an extra
    bool direct = false;                       ///< a project that comes from URLs
    std::vector<std::string> labels = {};      ///< of a backend, by candidate from 1
    std::vector<Exclusion> exclusions = {};
  };
  static constexpr PackageId question = 0;

  /// All must outlive it. `admissions` grows while the search runs.
  RequirementProblem(const SolverInputs& inputs, const UserRequests& requests,
                     Admissions& admissions);

  [[nodiscard]] std::vector<Exclusion> exclusions(PackageId package) override;
  [[nodiscard]] Result<std::optional<Candidate>> choose(PackageId package,
                                                        const Assignments& so_far) override;
  [[nodiscard]] Result<std::variant<Needs, Exclusion>> needs_of(PackageId package,
                                                                Candidate candidate) override;
  [[nodiscard]] Urgency urgency(PackageId package, const IntegerSet& values) override;

  /// The search ended with an error that is none: `admissions` has grown, and it begins again.
  [[nodiscard]] bool begins_again() const { return begins_again_; }

  [[nodiscard]] const std::vector<Package>& packages() const { return packages_; }
  [[nodiscard]] std::optional<PackageId> find_project(std::string_view name) const;
  [[nodiscard]] const Reason& reason(std::uint32_t id) const { return reasons_[id]; }
  /// Of a candidate whose needs were asked for.
  [[nodiscard]] const PackageChoice& choice(PackageId package, Candidate candidate) const;
  /// The build that a candidate is; nullptr: what is installed, no build at all, or of a release
  /// that nobody looked at.
  [[nodiscard]] const BuildOption* option(const Package& package, Candidate candidate) const;
  /// Its version, with the label that a family has there.
  [[nodiscard]] std::string render_version(PackageId package, Candidate candidate) const;
  /// Only what is installed was looked at.
  [[nodiscard]] bool is_held(PackageId package) const;
  /// What the user says of the package.
  [[nodiscard]] std::vector<const Want*> wants_about(const std::string& name) const;
  /// Some candidate that was looked at pins `release`; with `label`: with that as its local
  /// version.
  [[nodiscard]] bool is_pinned(const std::string& name, const Release& release,
                               const std::string& label) const;
  /// The label that the user gives any member of the family; empty: none.
  [[nodiscard]] std::string given_label(const index::Family& family) const;
  /// What is asked of one build of a release, or of the release as such (`option` is nullptr).
  /// A lower one is tried before a higher one, in older releases too.
  [[nodiscard]] unsigned tier(const Package& package, const Release& release,
                              const BuildOption& option) const;
  [[nodiscard]] PackageDemand demand_for(const Package& package, const Release& release,
                                         const BuildOption* option) const;

 private:
  /// Ends the search: it begins again with more admitted.
  [[nodiscard]] std::unexpected<Error> begin_again();

  [[nodiscard]] Result<PackageId> project(const std::string& name);
  [[nodiscard]] Result<PackageId> extra(const std::string& name, const std::string& extra);
  [[nodiscard]] PackageId backend(const index::Family& family);
  [[nodiscard]] Result<std::shared_ptr<CandidateList>> list_of(const std::string& name);
  [[nodiscard]] std::vector<std::string> urls_of(const std::string& name) const;
  [[nodiscard]] Result<void> add_exclusions(Package& package);
  /// What does not go with the installed first member of its family, as long as that one stays.
  void exclude_unfollowed(Package& package);
  /// Where one label for a family is looked for: only builds of one release of its first member.
  [[nodiscard]] Result<void> exclude_unshared(Package& package);
  [[nodiscard]] std::uint32_t remember(Reason reason);

  /// The candidates of `package` that `want` allows. `may_move`: an installed package that it does
  /// not allow gives way at once, and not only where nothing else is left.
  [[nodiscard]] Result<IntegerSet> allowed(const Package& package, const Want& want,
                                           bool may_move = true);
  [[nodiscard]] Result<IntegerSet> narrowed_to_builds(const Package& package, const Want& want,
                                                      const IntegerSet& values);
  /// Whether `want` asks for something by name that did not count so far.
  [[nodiscard]] bool admits_more(const Package& package, const Want& want,
                                 const IntegerSet& values);
  /// The inner error: whoever has `want` cannot be taken.
  [[nodiscard]] Result<std::optional<Error>> add(std::vector<Need>& needs, Want want,
                                                 Reason::Kind kind);

  [[nodiscard]] Result<const std::vector<BuildOption>*> options_of(const Package& package,
                                                                   Release& release);
  [[nodiscard]] Result<std::optional<Candidate>> choose_build(PackageId package,
                                                              const IntegerSet& values,
                                                              const Assignments& so_far);
  /// Whether the build may be taken, whatever else is chosen.
  [[nodiscard]] bool is_admissible(const Package& package, const Release& release,
                                   const BuildOption& option) const;
  /// It may be taken where the first member of its family has its label.
  [[nodiscard]] bool may_follow(const Package& package, const BuildOption& option) const;
  /// It does, and nobody asks for its label by name.
  [[nodiscard]] bool follows_only(const Package& package, const BuildOption& option) const;
  [[nodiscard]] bool is_known(const Package& package) const;
  /// Which backend a build is; empty: it goes with any.
  [[nodiscard]] std::string backend_label(const Package& package, const Release& release,
                                          const BuildOption& option) const;
  /// The label of the first member of its family, which the package goes by.
  struct Lead {
    std::string label;   ///< empty: not known yet
    bool stays = false;  ///< it is installed, and no other is chosen
  };
  [[nodiscard]] Lead lead_of(const Package& package, const Assignments& so_far) const;
  /// Which backend a candidate is whose release was looked at; empty: it goes with any.
  [[nodiscard]] std::string label_of(const Package& package, Candidate candidate) const;
  [[nodiscard]] Need backend_need(const index::Family& family, const std::string& label);
  [[nodiscard]] Result<std::variant<Needs, Exclusion>> needs_of_question();
  [[nodiscard]] Result<std::variant<Needs, Exclusion>> needs_of_extra(PackageId package,
                                                                      Candidate candidate);
  [[nodiscard]] Result<std::variant<Needs, Exclusion>> needs_of_project(PackageId package,
                                                                        Candidate candidate);
  [[nodiscard]] Result<std::optional<Error>> add_dependency(std::vector<Need>& needs,
                                                            const PackageChoice& choice,
                                                            const wheel::Requirement& requirement);
  [[nodiscard]] Result<std::variant<const PackageChoice*, Exclusion>> take(PackageId package,
                                                                           Candidate candidate);
  [[nodiscard]] Result<void> add_family_needs(std::vector<Need>& needs,
                                              const PackageChoice& choice);
  /// A build that the machine does not support needs the first member of its family with its label.
  [[nodiscard]] Result<void> add_lead_need(std::vector<Need>& needs, PackageId package,
                                           Candidate candidate);
  [[nodiscard]] Result<std::optional<Error>> add_abi_needs(std::vector<Need>& needs,
                                                           const PackageChoice& choice);

  SolverInputs in_;
  const UserRequests& requests_;
  Admissions& admissions_;
  bool begins_again_ = false;
  std::vector<Package> packages_;
  std::map<std::tuple<Package::Kind, std::string, std::string>, PackageId> ids_;
  std::vector<Reason> reasons_;
  std::map<std::string, std::uint32_t> known_reasons_;
  std::map<const Release*, std::vector<BuildOption>> options_;
  std::map<std::pair<PackageId, Candidate>, PackageChoice> choices_;
  /// Extras that no candidate is left for that their project could have: the range that says so.
  std::map<PackageId, IntegerSet> extra_ranges_;
  /// It does not fit the machine, and there is no first member whose label it could follow.
  bool follows_nobody_ = false;
};

}  // namespace axle::resolver
