#pragma once
// What is worth saying of families in a finished solution, and which installed builds it changes.

#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "plan/resolution.h"
#include "resolver/choice/settled_package.h"
#include "resolver/family/backend_change.h"
#include "resolver/family/families.h"
#include "resolver/request/options.h"

namespace axle::resolver {

/// Members without their first member's label, ended ones, replaced ones of an unknown label.
void remark_on_families(const SettledPackages& packages, Families& families, Report& report);

/// The user says which build of that package may come.
[[nodiscard]] bool names_build(const index::Family* family, const std::string& name,
                               const SettledPackages& packages, const Families& families,
                               const Options& options);
/// The same of any member of the family, or of the package that is of none.
[[nodiscard]] bool is_build_given(const index::Family* family, const std::string& name,
                                  const SettledPackages& packages, Families& families,
                                  const Options& options);

/// Installed packages that get another backend although nobody asked for one.
[[nodiscard]] std::vector<BackendChange> backend_changes(const plan::Resolution& resolution,
                                                         const SettledPackages& packages,
                                                         Families& families,
                                                         const Options& options);

}  // namespace axle::resolver
