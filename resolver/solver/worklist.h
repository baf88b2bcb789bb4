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
#include "resolver/family/families.h"
#include "resolver/family/family_rules.h"
#include "resolver/request/options.h"
#include "resolver/request/requests.h"
#include "resolver/request/target.h"
#include "resolver/solver/installed_needs.h"
#include "resolver/solver/solution.h"

namespace axle::resolver {

/// Whether its marker holds, with any of `extras` as the extra or with none. `environment` comes
/// back with another extra.
[[nodiscard]] bool applies(const wheel::Requirement& requirement,
                           wheel::MarkerEnvironment& environment,
                           const std::vector<std::string>& extras);
/// The same without extras.
[[nodiscard]] bool marker_holds(const wheel::Requirement& requirement,
                                wheel::MarkerEnvironment environment);

class Worklist final : private Solution {
 public:
  /// All must outlive the worklist. `kept`: builds that stay what they are.
  Worklist(const Target& target, const std::vector<plan::InstalledPackage>& installed,
           const Options& options, const KeptBuilds& kept, Families& families,
           PackageChooser& chooser, Report& report);

  [[nodiscard]] Result<plan::Resolution> run(const Requests& requests);
  /// After `run`: installed packages that get another backend although nobody asked for one.
  [[nodiscard]] std::vector<BackendChange> backend_changes(const plan::Resolution& resolution) {
    return rules_.backend_changes(resolution);
  }
  /// After `run`: what installed packages outside of the resolution need and do not get.
  [[nodiscard]] std::vector<BrokenNeed> broken_needs(const plan::Resolution& resolution);

 private:
  [[nodiscard]] Nodes& nodes() override { return nodes_; }
  void enqueue(const std::string& name, bool first = false) override;
  void drop(const std::string& name) override;
  [[nodiscard]] std::optional<wheel::Version> version_of(const std::string& asking,
                                                         const std::string& package) override;
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
  void expand(const std::string& name);
  void set_dependencies(const std::string& owner, std::vector<wheel::Requirement> dependencies);
  [[nodiscard]] bool drop_unreachable();
  [[nodiscard]] bool recheck_abi();
  /// --require: something here must be built for each of the namespaces.
  [[nodiscard]] Result<void> check_required();
  [[nodiscard]] bool is_installed_for(const std::string& name, const std::string& ns);
  [[nodiscard]] std::optional<wheel::Version> settled_version(const std::string& package) const;
  [[nodiscard]] PackageDemand demand_for(const std::string& name);
  [[nodiscard]] Result<void> handle(const std::string& name, ChoiceFailure failure);
  [[nodiscard]] Result<void> exclude(const std::string& owner, const std::string& name,
                                     const std::string& why);
  [[nodiscard]] std::optional<std::string> latest_choice(const std::set<std::string>& names) const;
  [[nodiscard]] plan::Resolution outcome();

  const Target& target_;
  const std::vector<plan::InstalledPackage>& installed_;
  const Options& options_;
  Report& report_;
  Families& families_;
  PackageChooser& chooser_;
  FamilyRules rules_;
  Nodes nodes_;
  std::deque<std::string> queue_;
  std::size_t choices_ = 0;
  std::size_t exclusions_ = 0;
  std::optional<Error> first_conflict_;
  HashRules hash_rules_;
  /// By normalised name; all of them, also those whose markers do not hold.
  std::map<std::string, std::vector<Request>, std::less<>> overrides_;
};

}  // namespace axle::resolver
