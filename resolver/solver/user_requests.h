#pragma once
// What the user asks for, as the solver takes it: markers evaluated, overrides applied, and what it
// says of a package whoever else wants it.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "resolver/catalogue/listed_files.h"
#include "resolver/choice/package_choice.h"
#include "resolver/family/families.h"
#include "resolver/family/stand_ins.h"
#include "resolver/request/options.h"
#include "resolver/request/requests.h"
#include "resolver/request/target.h"
#include "resolver/request/want.h"

namespace axle::resolver {

class UserRequests {
 public:
  /// All but `requests` must outlive it. What does not apply here is reported.
  UserRequests(const Requests& requests, const Target& target, const Options& options,
               Families& families, const PackageChooser& chooser, Report& report);

  /// Errors: conflict, where hashes or pins are required and missing.
  [[nodiscard]] Result<void> check() const;
  [[nodiscard]] const HashRules& hash_rules() const { return hash_rules_; }

  /// What is asked for, in order; constraints are not.
  [[nodiscard]] const std::vector<Want>& requested() const { return requested_; }
  /// What the user says of a package: constraints and overrides first, then what is asked for.
  [[nodiscard]] const std::vector<Want>& about(std::string_view name) const;
  [[nodiscard]] bool asks_for(std::string_view name) const;

  /// What `choice` requires here with any of `extras` as the extra, or with none; overridden
  /// requirements replaced.
  [[nodiscard]] std::vector<wheel::Requirement> dependencies_of(
      const PackageChoice& choice, const std::vector<std::string>& extras) const;
  /// Those that `extra` adds to what it requires without any.
  [[nodiscard]] std::vector<wheel::Requirement> dependencies_of_extra(
      const PackageChoice& choice, const std::string& extra) const;
  /// Those of them in whose place another distribution is taken, as `choice` has them, with its
  /// name.
  [[nodiscard]] std::vector<std::pair<wheel::Requirement, std::string>> stood_in_for(
      const PackageChoice& choice, const std::vector<std::string>& extras) const;

 private:
  /// A dependency as the package has it, and as it counts.
  using TakeDependency =
      std::function<void(const wheel::Requirement& own, wheel::Requirement counted)>;
  void each_dependency(const PackageChoice& choice, const std::vector<std::string>& extras,
                       const TakeDependency& take) const;
  /// What `requirement` of `choice` counts as here, if it does.
  void count(const PackageChoice& choice, const wheel::Requirement& requirement,
             const std::vector<std::string>& extras, const TakeDependency& take) const;
  void add(const Request& request, bool constraint, bool overrides = false);
  /// With --torch-backend an installed first member that has another label is asked for as well.
  void switch_installed(const std::string& name);

  const Options& options_;
  Families& families_;
  const PackageChooser& chooser_;
  StandIns stand_ins_;
  HashRules hash_rules_;
  std::vector<Request> listed_;
  std::vector<Request> constraints_;
  std::vector<Want> requested_;
  std::map<std::string, std::vector<Want>, std::less<>> about_;
  /// By normalised name; all of them, also those whose markers do not hold.
  std::map<std::string, std::vector<Request>, std::less<>> overrides_;
};

/// Whether its marker holds, with any of `extras` as the extra or with none.
[[nodiscard]] bool applies(const wheel::Requirement& requirement,
                           const wheel::MarkerEnvironment& environment,
                           const std::vector<std::string>& extras);

}  // namespace axle::resolver
