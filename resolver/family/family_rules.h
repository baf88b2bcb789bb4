#pragma once
// Members of one family in one solution (torch, torchvision, torchaudio): the first member leads,
// the others follow its version and its label, and what is installed keeps its backend.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "plan/resolution.h"
#include "resolver/family/backend_change.h"
#include "resolver/family/families.h"
#include "resolver/request/options.h"
#include "resolver/solver/solution.h"

namespace axle::resolver {

class FamilyRules {
 public:
  /// All must outlive it. `kept`: builds that stay what they are.
  FamilyRules(Solution& solution, Families& families, PackageChooser& chooser,
              const Options& options, const KeptBuilds& kept, Report& report)
      : solution_(solution),
        families_(families),
        chooser_(chooser),
        options_(options),
        kept_(kept),
        report_(report) {}

  /// A member is asked for: with --torch-backend an installed first member that has another label
  /// is asked for as well.
  void switch_installed(const std::string& name);
  /// Whether the first member of its family must be chosen before `name`; it is put first then.
  [[nodiscard]] bool waits(const std::string& name);
  /// Adds which label, and which versions, go with the rest of its family.
  void ask(const std::string& name, PackageDemand& demand);
  /// Installed members change together with the first one.
  [[nodiscard]] bool brings_along(const PackageChoice& lead, const std::string& member) const;
  /// The first member is chosen anew: the others, which followed it, must not hold it where it was.
  void release_followers(const std::string& name);

  /// When nothing is left to choose: members that no longer have the label of their first one are
  /// to be chosen again. False: there are none.
  [[nodiscard]] bool recheck();
  /// The same: a family settled on unlike labels, so its first member takes the best that all have.
  [[nodiscard]] bool share_labels();

  /// Of the finished solution.
  void remark();
  /// Installed packages that get another backend although nobody asked for one.
  [[nodiscard]] std::vector<BackendChange> backend_changes(const plan::Resolution& resolution);

 private:
  /// Whose label and version a member goes by: the first member's choice, or what is installed of
  /// it and stays.
  struct Lead {
    std::string label;                                  ///< empty: not known
    bool stays = false;                                 ///< it is installed, and no other is chosen
    const plan::InstalledPackage* installed = nullptr;  ///< set where the choice is still open
  };
  struct SharedLabel {
    wheel::Version release;
    std::set<std::string> members;  ///< that were chosen then
    std::string best;               ///< what the first member has without the others
    std::string label;              ///< that it takes in its place; empty: none
    std::string remark;
  };

  [[nodiscard]] Nodes& nodes() const { return solution_.nodes(); }
  [[nodiscard]] Lead lead_of(const index::Family& family, const std::string& name);
  /// The build of `name` is one of `kept_`: its label, and its version where that is settled.
  bool ask_for_kept(const std::string& name, PackageDemand& demand);
  /// The label that the user gives another member of `family`: the first one takes it too.
  [[nodiscard]] std::string label_of_members(const index::Family& family);
  /// The user says which build of the family, or of the package that is of none, may come.
  [[nodiscard]] bool is_build_given(const index::Family* family, const std::string& name);
  [[nodiscard]] bool share_label(const index::Family& family);
  /// The chosen members of `family`, the first one left out, that cannot be had with `label`.
  [[nodiscard]] std::vector<std::string> members_without(const index::Family& family,
                                                         const std::string& label);

  Solution& solution_;
  Families& families_;
  PackageChooser& chooser_;
  const Options& options_;
  const KeptBuilds& kept_;
  Report& report_;
  /// Family -> the release of its first member for which a label was looked for, and that label.
  std::map<const index::Family*, SharedLabel> shared_;
};

}  // namespace axle::resolver
