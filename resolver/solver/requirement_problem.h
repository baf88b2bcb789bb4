#pragma once
// Requirements, releases and builds as the numbers that the conflict solver searches among
// (conflict_solver.h), and back.
//
// Packages of the problem are: the question itself, projects, extras of projects, and the backend
// of an environment: for each family one of which the values are its labels, which every build of
// the family needs to be its own, and one for the GPU libraries that all packages share (CUDA 12).

#include <cstddef>
#include <cstdint>
#include <functional>
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
#include "resolver/solver/installed_needs.h"
#include "resolver/solver/user_requests.h"

namespace axle::resolver {

/// What a need or an exclusion of the problem rests on.
struct Reason {
  enum class Kind : std::uint8_t {
    requirement,  ///< `want`
    constraint,   ///< `want`, of the user's
    extra,        ///< an extra goes with its project
    backend,      ///< `want.text`: the label of a build; builds of one family have one label
    platform,     ///< `want.text`: which GPU libraries a build needs, of which there is one version
    abi,          ///< `want`: what the build was linked with
    unusable,     ///< `error`: a build or a whole release cannot be used here
    not_asked,    ///< a pre-release or a yanked release that nobody asks for
    other_build,  ///< a build that does not fit or is not the one asked for, or no build at all
    kept,         ///< the installed build stays what it is, or has what it needs: `error`
    lead,         ///< it goes with the installed first member of its family, which stays
    alternative,  ///< `error`: another distribution installs the same modules
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
  const KeptBuilds& kept;                ///< builds that stay what they are
  const std::vector<BrokenNeed>& unmet;  ///< by plans before: what installed packages need
  Candidates& candidates;
  Families& families;
  PackageChooser& chooser;
  CandidateLists& lists;
  Report& report;
};

class RequirementProblem final : public Problem {
 public:
  struct Package {
    enum class Kind : std::uint8_t { question, project, extra, backend };
    Kind kind = Kind::question;
    std::string name;                                ///< normalised; of a backend the family's
    std::string extra = {};                          ///< normalised
    const index::Family* family = nullptr;           ///< of a backend, and of a member
    std::shared_ptr<const CandidateList> list = {};  ///< of a project and its extras
    PackageId project = 0;                           ///< of an extra
    bool direct = false;                             ///< a project that comes from URLs
    std::vector<std::string> labels = {};            ///< of a backend, by candidate from 1
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
  [[nodiscard]] std::optional<Objection> objection(const Assignments& solution) override;
  void look_ahead(const std::vector<PackageId>& changed, const Assignments& so_far) override;
  [[nodiscard]] Urgency urgency(PackageId package, const IntegerSet& values) override;

  /// The search ended with an error that is none: `admissions` has grown, and it begins again.
  [[nodiscard]] bool begins_again() const { return begins_again_; }
  [[nodiscard]] Prereleases prereleases() const { return in_.options.prereleases; }
  /// Builds were given up because what they were linked with was not part of a solution.
  [[nodiscard]] bool gave_up_links() const { return gave_up_links_; }
  /// Candidates that were asked what they need, the same one each time.
  [[nodiscard]] std::size_t tried() const { return tried_count_; }

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
  /// Some build among `values` fits the GPU that is here, and is known.
  [[nodiscard]] Result<bool> has_build_for_gpu(PackageId package, const IntegerSet& values);
  /// Only what is installed was looked at.
  [[nodiscard]] bool is_held(PackageId package) const;
  /// What the user says of the package.
  [[nodiscard]] std::vector<const Want*> wants_about(const std::string& name) const;
  /// The GPU platform of a choice: "CUDA 12"; empty: it goes with any.
  [[nodiscard]] std::string platform_of(PackageId package, Candidate candidate,
                                        const PackageChoice& choice) const;
  /// The backend that the candidate of a family needs; empty: none.
  [[nodiscard]] std::string backend_of(const Package& package, Candidate candidate) const;
  /// The GPU platforms of installed packages that stay as they are although nobody in a solution
  /// asks for them, each with one of those. `stays_out`: of a package of the problem.
  using Installed = std::map<std::string, const plan::InstalledPackage*>;
  [[nodiscard]] Installed platforms_beside(const std::function<bool(PackageId)>& stays_out) const;
  /// Some candidate was looked at that needs a backend.
  [[nodiscard]] bool keeps_backends_apart() const;
  /// Some candidate that was looked at pins `release`, or may be found to; with `label`: with that
  /// as its local version.
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
  /// `family` is nullptr: the GPU platform.
  [[nodiscard]] PackageId backend(const index::Family* family);
  [[nodiscard]] Result<std::shared_ptr<const CandidateList>> list_of(const std::string& name);
  [[nodiscard]] std::vector<std::string> urls_of(const std::string& name) const;
  /// What is installed of it and stays, unless that is in the way; nullptr: nothing.
  [[nodiscard]] const plan::InstalledPackage* held_package(const std::string& name);
  [[nodiscard]] const plan::InstalledPackage* installed_candidate(const std::string& name);
  [[nodiscard]] Result<void> add_exclusions(Package& package);
  /// What would break installed packages.
  void exclude_breaking(Package& package);
  /// What does not go with the installed first member of its family, as long as that one stays.
  void exclude_unfollowed(Package& package);
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
  /// The same of a yanked release, or of a build of which not all is known, by its version.
  [[nodiscard]] bool admits_pins(const Package& package, const Want& want,
                                 const IntegerSet& values);
  /// The inner error: whoever has `want` cannot be taken.
  [[nodiscard]] Result<std::optional<Error>> add(std::vector<Need>& needs, Want want,
                                                 Reason::Kind kind);

  [[nodiscard]] Result<const std::vector<BuildOption>*> options_of(const Package& package,
                                                                   Release& release);
  /// What could be built of the release; nullopt: nothing.
  [[nodiscard]] Result<std::optional<Sdist>> sdist_of(const Package& package,
                                                      const Release& release) const;
  /// Has it built, unless that was done before; what went wrong is noted in the release.
  [[nodiscard]] Result<void> build(const Package& package, Release& release);
  [[nodiscard]] Result<std::optional<Candidate>> choose_build(PackageId package,
                                                              const IntegerSet& values,
                                                              const Assignments& so_far);
  /// The best build of a version that the user prefers; nullopt: none of them can be taken.
  [[nodiscard]] Result<std::optional<Candidate>> preferred_build(const Package& package,
                                                                 const IntegerSet& values,
                                                                 const std::string& lead,
                                                                 const Assignments& so_far);
  /// Whether the build may be taken, whatever else is chosen.
  [[nodiscard]] bool is_admissible(const Package& package, const Release& release,
                                   const BuildOption& option) const;
  /// It may be taken where the first member of its family has its label.
  [[nodiscard]] bool may_follow(const Package& package, const BuildOption& option) const;
  /// It does, and nobody asks for its label by name.
  [[nodiscard]] bool follows_only(const Package& package, const BuildOption& option) const;
  [[nodiscard]] bool is_known(const Package& package) const;
  /// None of a release's builds is the one that the user, or what is installed, asks for.
  [[nodiscard]] Error no_build_asked_for(const Package& package, const Release& release,
                                         const std::vector<BuildOption>& options) const;
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
  /// Its label may be the backend of the family, as far as that is settled.
  [[nodiscard]] bool may_be_backend(const Package& package, const std::string& label,
                                    const Assignments& so_far) const;
  void add_backend_need(std::vector<Need>& needs, PackageId package, Candidate candidate);
  /// `unlike`, the candidates of a package that are left, by their labels, none of which can be the
  /// backend: that is known from names alone, before any metadata is read.
  void remember_unlike(PackageId package, const std::map<std::string, IntegerSet>& unlike);
  /// The value of the virtual package `backend` that is called `label`.
  [[nodiscard]] Need need_of_label(PackageId backend, const std::string& label, Reason reason);
  [[nodiscard]] bool is_unlike_installed();
  /// What it needs goes with no other GPU platform.
  void add_platform_need(std::vector<Need>& needs, PackageId package, Candidate candidate,
                         const PackageChoice& choice);
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
  /// Members that are installed are part of what a new build of the family is chosen with.
  [[nodiscard]] Result<void> bring_members(std::vector<Need>& needs, const PackageChoice& choice,
                                           const index::Family& family);
  [[nodiscard]] Result<void> add_family_needs(std::vector<Need>& needs,
                                              const PackageChoice& choice);
  /// A build that the machine does not support needs the first member of its family with its label.
  [[nodiscard]] Result<void> add_lead_need(std::vector<Need>& needs, PackageId package,
                                           Candidate candidate);
  /// No other distribution that installs the same modules.
  void add_alternative_needs(std::vector<Need>& needs, const PackageChoice& choice);
  /// Extras of the package itself, for the GPUs here, unless the user names one.
  [[nodiscard]] Result<void> add_device_packages(std::vector<Need>& needs,
                                                 const PackageChoice& choice);
  [[nodiscard]] Result<void> add_abi_needs(std::vector<Need>& needs, const PackageChoice& choice);
  [[nodiscard]] Result<std::variant<Needs, Exclusion>> find_needs(PackageId package,
                                                                  Candidate candidate);
  /// A chosen build was linked with something that is not there.
  [[nodiscard]] std::optional<Objection> link_without_target(const Assignments& solution);
  /// A build for another GPU platform than that of installed packages which are no part of it.
  [[nodiscard]] std::optional<Objection> for_another_platform(const Assignments& solution);
  /// A build for another torch than the installed one, which is no part of the solution.
  [[nodiscard]] std::optional<Objection> built_for_another(const Assignments& solution);
  /// A yanked release is chosen that nobody in the solution pins.
  [[nodiscard]] std::optional<Objection> yanked_unasked(const Assignments& solution);
  /// Who pins yanked releases. False: a release is pinned whose objection did not know of it.
  [[nodiscard]] bool note_askers(PackageId package, const Needs& needs);
  /// Something is chosen that nothing brings in.
  [[nodiscard]] std::optional<Objection> chosen_by_nobody(const Assignments& solution) const;

  /// Candidates of a package that were built for the same torch, by their local versions.
  struct BuiltAlike {
    BuiltFor built;
    IntegerSet candidates;
  };
  [[nodiscard]] const std::vector<BuiltAlike>& built_alike(PackageId package);
  /// The candidates of torch that a wheel which was built for `built` can be loaded with.
  [[nodiscard]] Result<IntegerSet> suiting(const BuiltFor& built);
  /// Local versions of torch's builds count: torch is in this environment, or may come into it.
  [[nodiscard]] bool torch_matters() const;
  /// `any_of`: what builds of `owner` were built for, of which `version` is the newest.
  [[nodiscard]] std::uint32_t built_for_reason(const std::string& owner,
                                               const wheel::Version& version,
                                               std::vector<const BuiltFor*> any_of);
  [[nodiscard]] Result<void> add_built_for_need(std::vector<Need>& needs,
                                                const PackageChoice& choice);
  /// As choose_build, but of builds of one version for several releases of torch the one that goes
  /// with the torch that is chosen or would be. Where none goes with it, `needs_of` the result says
  /// that at once, without its metadata.
  [[nodiscard]] Result<std::optional<Candidate>> choose_suiting(PackageId package,
                                                                const IntegerSet& values,
                                                                const Assignments& so_far);
  /// Of `values` the newest version's, built for the torch that goes with most.
  [[nodiscard]] Result<IntegerSet> suiting_builds(PackageId package, const IntegerSet& values,
                                                  const Assignments& so_far);

  /// The pages of what these ask for will be needed. Packages that are not looked up are left out.
  void expect(const std::vector<wheel::Requirement>& requirements);
  void note_foreseen(const std::string& name, const wheel::Requirement& requirement);
  void expect_requested();
  /// The same of a build that was taken, and of those that are expected to be.
  void expect_needs(const std::vector<wheel::Requirement>& requirements);
  /// The best builds of `count` releases among `values`, of those below one.
  void expect_builds(const Package& package, const IntegerSet& values, Candidate below,
                     std::size_t count);
  /// False: it has nothing that fits here.
  bool expect_build(const Package& package, Release& release);
  /// What is needed by those of the expected builds whose metadata has come.
  void expect_needs_of_expected();
  /// Follows what has come meanwhile, without waiting for the search to get there: of a page the
  /// build that would be chosen, of its metadata the pages of what it needs, and so on.
  void foresee();
  struct Foreseen;
  /// False: its page has not come.
  [[nodiscard]] bool foresee_build(const std::string& name, Foreseen& seen);
  /// `tried` was chosen: after some releases of a package, the next ones are sent for as well.
  void expect_further(PackageId package, Candidate tried, const IntegerSet& values);

  struct ExpectedBuild {
    std::string name;
    const Release* release = nullptr;
    const CandidateWheel* wheel = nullptr;
  };

  /// What will probably be asked of a package that was not looked up before.
  struct Foreseen {
    std::vector<wheel::SpecifierSet> wanted;
    std::vector<std::string> extras;
    std::shared_ptr<const CandidateList> list;  ///< nullptr: its page has not come
    std::optional<ExpectedBuild> build;         ///< that would be chosen
    bool changed = true;                        ///< since then
  };

  SolverInputs in_;
  const UserRequests& requests_;
  Admissions& admissions_;
  bool begins_again_ = false;
  std::size_t tried_count_ = 0;
  std::vector<Package> packages_;
  std::map<std::tuple<Package::Kind, std::string, std::string>, PackageId> ids_;
  std::vector<Reason> reasons_;
  std::map<std::string, std::uint32_t> known_reasons_;
  std::map<const Release*, std::vector<BuildOption>> options_;
  std::optional<bool> unlike_installed_;  ///< what is installed is for several GPU platforms
  std::map<std::pair<PackageId, Candidate>, PackageChoice> choices_;
  /// What each candidate that was asked for its needs asks for.
  std::map<std::pair<PackageId, Candidate>, std::vector<PackageId>> brought_in_;
  bool gave_up_links_ = false;
  std::set<std::pair<std::string, std::string>> unasked_;  ///< yanked releases objected to
  /// Extras that no candidate is left for that their project could have: the range that says so.
  std::map<PackageId, IntegerSet> extra_ranges_;
  std::map<PackageId, std::vector<BuiltAlike>> built_alike_;
  std::map<std::string, IntegerSet> suiting_;  ///< by local version
  /// Packages of which no candidate goes with the torch that is chosen, or with the backend: what
  /// they need of it.
  std::map<PackageId, Needs> unsuited_;
  /// It does not fit the machine, and there is no first member whose label it could follow.
  bool follows_nobody_ = false;
  std::set<const CandidateWheel*> expected_;
  std::vector<ExpectedBuild> under_way_;  ///< whose metadata has not come
  std::map<std::string, Foreseen, std::less<>> foreseen_;
  std::map<PackageId, std::set<const Release*>> tried_;
};

}  // namespace axle::resolver
