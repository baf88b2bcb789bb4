#pragma once
// The dependency solver's loop: packages whose requirements changed are chosen again within all
// requirements known so far, until nothing changes. A conflict excludes the version that brought
// one of its sides, the latest choice first. Deterministic and bounded; not a complete search.

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "resolver/catalogue/listed_files.h"
#include "resolver/choice/package_choice.h"
#include "resolver/family/backend_change.h"
#include "resolver/request/options.h"
#include "resolver/request/requests.h"
#include "resolver/request/target.h"
#include "resolver/solver/installed_needs.h"

namespace axle::resolver {

/// Whether its marker holds, with any of `extras` as the extra or with none. `environment` comes
/// back with another extra.
[[nodiscard]] bool applies(const wheel::Requirement& requirement,
                           wheel::MarkerEnvironment& environment,
                           const std::vector<std::string>& extras);
/// The same without extras.
[[nodiscard]] bool marker_holds(const wheel::Requirement& requirement,
                                wheel::MarkerEnvironment environment);

class Worklist {
 public:
  /// All must outlive the worklist. `kept`: builds that stay what they are.
  Worklist(const Target& target, const std::vector<plan::InstalledPackage>& installed,
           const Options& options, const KeptBuilds& kept, PackageChooser& chooser, Report& report);

  [[nodiscard]] Result<plan::Resolution> run(const Requests& requests);
  /// After `run`: installed packages that get another backend although nobody asked for one.
  [[nodiscard]] std::vector<BackendChange> backend_changes(const plan::Resolution& resolution);
  /// After `run`: what installed packages outside of the resolution need and do not get.
  [[nodiscard]] std::vector<BrokenNeed> broken_needs(const plan::Resolution& resolution);

 private:
  struct Node {
    std::vector<Want> wants;  ///< constraints first, then in order of arrival
    /// What goes with the installed first member of its family, or with the build that stays.
    std::vector<Want> installed_wants;
    std::optional<PackageChoice> choice;
    std::vector<std::string> extras;                 ///< that the choice was expanded for
    std::map<wheel::Version, std::string> excluded;  ///< with the conflict that excluded it
    std::set<std::string> rivals;  ///< owners of the other sides of those conflicts
    std::size_t serial = 0;        ///< when it was chosen
    unsigned relaxed = 0;          ///< how often it was chosen again because a requirement went
    bool queued = false;
    bool rechoose = false;
    bool abi_settled = false;  ///< only what the solution has counts, no guess at what it will have
  };
  using Nodes = std::map<std::string, Node, std::less<>>;
  struct SharedLabel {
    wheel::Version release;
    std::set<std::string> members;  ///< that were chosen then
    std::string best;               ///< what the first member has without the others
    std::string label;              ///< that it takes in its place; empty: none
    std::string remark;
  };

  [[nodiscard]] Result<void> add_requests(const Requests& requests);
  /// Notes the overrides whose markers hold, and the hashes and URLs that they name.
  void add_overrides(const std::vector<Request>& overrides);
  void add_want(const Request& request, bool constraint);
  /// The requirements of the user's that hold here, overridden ones replaced.
  [[nodiscard]] std::vector<Request> requested(const Requests& requests);
  /// Those of `choice` that hold here for its wanted extras, overridden ones replaced.
  [[nodiscard]] std::vector<wheel::Requirement> dependencies_of(
      PackageChoice& choice, const std::vector<std::string>& extras) const;
  /// Every package that is to be installed has a listed hash, where that is required.
  [[nodiscard]] Result<void> check_hashes();
  [[nodiscard]] Result<void> settle();
  [[nodiscard]] Result<void> process(const std::string& name);
  void enqueue(const std::string& name, bool first = false);
  void expand(const std::string& name);
  void set_dependencies(const std::string& owner, std::vector<wheel::Requirement> dependencies);
  void drop(const std::string& name);
  [[nodiscard]] bool drop_unreachable();
  [[nodiscard]] bool recheck_abi();
  [[nodiscard]] bool recheck_families();
  /// Whether the first member of its family must be chosen before `name`; it is put first then.
  [[nodiscard]] bool waits_for_family(const std::string& name);
  /// Whose label and version `name` goes by: the first member's choice, or what is installed of it
  /// and stays.
  struct Lead {
    std::string label;                                  ///< empty: not known
    bool stays = false;                                 ///< it is installed, and no other is chosen
    const plan::InstalledPackage* installed = nullptr;  ///< set where the choice is still open
  };
  [[nodiscard]] Lead lead_of(const index::Family& family, const std::string& name);
  void ask_within_family(const std::string& name, Question& question);
  /// The build of `name` is one of `kept_`: its label, and its version where that is settled.
  bool ask_for_kept(const std::string& name, Question& question);
  /// The label that the user gives another member of `family`: the first one takes it too.
  [[nodiscard]] std::string label_of_members(const index::Family& family);
  /// The user says which build of the family, or of the package that is of none, may come.
  [[nodiscard]] bool is_build_given(const index::Family* family, const std::string& name);
  /// A family settled on unlike labels: the first one takes the best that all members have.
  [[nodiscard]] bool share_labels();
  [[nodiscard]] bool share_label(const index::Family& family);
  /// The chosen members of `family`, the first one left out, that cannot be had with `label`.
  [[nodiscard]] std::vector<std::string> members_without(const index::Family& family,
                                                         const std::string& label);
  /// --torch-backend: an installed first member with another label is asked for as well.
  void switch_installed(const index::Family& family);
  /// The first member is chosen anew: the others, which followed it, must not hold it where it was.
  void release_followers(const std::string& name);
  /// Installed members change together with the first one.
  [[nodiscard]] bool brings_along(const PackageChoice& lead, const std::string& member) const;
  void remark_on_families();
  /// --require: something here must be built for each of the namespaces.
  [[nodiscard]] Result<void> check_required();
  [[nodiscard]] bool is_installed_for(const std::string& name, const std::string& ns);
  [[nodiscard]] std::optional<wheel::Version> version_of(const std::string& asking,
                                                         const std::string& package);
  [[nodiscard]] std::optional<wheel::Version> settled_version(const std::string& package) const;
  [[nodiscard]] Question question_about(const std::string& name);
  [[nodiscard]] Result<void> handle(const std::string& name, ChoiceFailure failure);
  [[nodiscard]] Result<void> exclude(const std::string& owner, const std::string& name,
                                     const std::string& why);
  [[nodiscard]] std::optional<std::string> latest_choice(const std::set<std::string>& names) const;
  [[nodiscard]] plan::Resolution outcome();

  const Target& target_;
  const std::vector<plan::InstalledPackage>& installed_;
  const Options& options_;
  Report& report_;
  const KeptBuilds& kept_;
  PackageChooser& chooser_;
  Nodes nodes_;
  /// Family -> the release of its first member for which a label was looked for, and that label.
  std::map<const index::Family*, SharedLabel> shared_;
  std::deque<std::string> queue_;
  std::size_t choices_ = 0;
  std::size_t exclusions_ = 0;
  std::optional<Error> first_conflict_;
  HashRules hash_rules_;
  /// By normalised name; all of them, also those whose markers do not hold.
  std::map<std::string, std::vector<Request>, std::less<>> overrides_;
};

}  // namespace axle::resolver
