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

#include "report/error.h"
#include "report/report.h"
#include "resolver/package_choice.h"
#include "resolver/solver.h"

namespace axle::resolver {

class Worklist {
 public:
  /// All must outlive the worklist.
  Worklist(const Target& target, const std::vector<InstalledPackage>& installed,
           const Sources& sources, const Options& options, Report& report);

  [[nodiscard]] Result<Resolution> run(const Requests& requests);

 private:
  struct Node {
    std::vector<Want> wants;            ///< constraints first, then in order of arrival
    std::vector<Want> installed_wants;  ///< what goes with the installed first member of its family
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

  [[nodiscard]] Result<void> add_requests(const Requests& requests);
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
    std::string label;                            ///< empty: not known
    bool stays = false;                           ///< it is installed, and no other is chosen
    const InstalledPackage* installed = nullptr;  ///< set where the choice is still open
  };
  [[nodiscard]] Lead lead_of(const index::Family& family, const std::string& name);
  void ask_within_family(const std::string& name, Question& question);
  /// The label that the user gives another member of `family`: the first one takes it too.
  [[nodiscard]] std::string label_of_members(const index::Family& family);
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
  [[nodiscard]] Resolution outcome();
  void warn_about_installed();

  const Target& target_;
  const std::vector<InstalledPackage>& installed_;
  const Options& options_;
  Report& report_;
  PackageChooser chooser_;
  Nodes nodes_;
  std::deque<std::string> queue_;
  std::size_t choices_ = 0;
  std::size_t exclusions_ = 0;
  std::optional<Error> first_conflict_;
};

}  // namespace axle::resolver
