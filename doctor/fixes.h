#pragma once
// The commands that fix problems of installed packages: complete, quoted for a shell, and with the
// environment that they are for.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/finding.h"
#include "doctor/installed_files.h"
#include "wheel/version.h"

namespace axle::doctor {

using Packages = std::vector<const InstalledPackageFiles*>;

/// Installs the same version and build again, and nothing else. Packages that may not be on the
/// index are installed from their origin, and those that another program manages are left to that
/// program.
[[nodiscard]] Hint reinstall(const Packages& packages, const InstalledFiles& files);

/// Chooses the build again, together with the other members of its family: a single one would not
/// match them. In words if the same build would be chosen again.
[[nodiscard]] Hint another_build(const InstalledPackageFiles& package, const InstalledFiles& files);

/// The same for every member of its family, whatever is known about this one's build.
[[nodiscard]] Hint family_again(const InstalledPackageFiles& package, const InstalledFiles& files);

/// As another_build, for an older CPU: the labels of families are about GPUs, and do not lead to
/// other code.
[[nodiscard]] Hint build_for_older_cpu(const InstalledPackageFiles& package,
                                       const InstalledFiles& files);

/// Of two packages that cannot both be intact, removes the one that no other needs; in words if
/// both are needed. `restore`: install the remaining one again.
[[nodiscard]] Hint remove_one(const InstalledPackageFiles& first,
                              const InstalledPackageFiles& second, bool restore,
                              const InstalledFiles& files);

/// Chooses the builds of those of `packages` again of which others would be chosen, and removes the
/// rest that was only installed for them. Empty if the same would be chosen again.
[[nodiscard]] Hint other_builds(const Packages& packages, const InstalledFiles& files);

/// Whether an installed package other than those in `besides` requires it, if only with an extra:
/// who asked for which is not recorded.
[[nodiscard]] bool is_required(const InstalledPackageFiles& package, const Packages& besides,
                               const InstalledFiles& files);

/// Those of `packages` that were only installed for packages in `going` or `packages`.
[[nodiscard]] Packages left_over(const Packages& packages, const Packages& going,
                                 const InstalledFiles& files);

/// Installs a version from `oldest` on.
[[nodiscard]] std::string upgrade_command(const std::string& name, const wheel::Version& oldest,
                                          const InstalledFiles& files);

/// A shell's command that leaves items out of a variable such as LD_LIBRARY_PATH, or unsets it if
/// none is left.
[[nodiscard]] std::string variable_without(std::string_view variable,
                                           const std::vector<std::string>& items,
                                           const std::function<bool(const std::string&)>& leaves);

/// "variant uninstall a b --python P".
[[nodiscard]] std::string uninstall_command(const Packages& packages, const InstalledFiles& files);

}  // namespace axle::doctor
