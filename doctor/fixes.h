#pragma once
// The commands that fix what is wrong with installed packages: complete, quoted for a shell, and
// with the environment that they are for.

#include <string>
#include <vector>

#include "doctor/finding.h"
#include "doctor/installed_files.h"

namespace axle::doctor {

using Packages = std::vector<const InstalledPackageFiles*>;

/// Installs the same version and build again, and nothing else. What the index may not have is
/// installed from where it came, and what another program answers for is left to that program.
[[nodiscard]] Hint reinstall(const Packages& packages, const InstalledFiles& files);

/// Has the build chosen again, with the other members of its family: for one alone they would not
/// belong together. In words where the same build would be chosen again.
[[nodiscard]] Hint another_build(const InstalledPackageFiles& package, const InstalledFiles& files);

/// The same of every member of its family, whatever is known of this one's build.
[[nodiscard]] Hint family_again(const InstalledPackageFiles& package, const InstalledFiles& files);

/// As another_build, for an older CPU: the labels of families are about GPUs, and bring no other
/// code.
[[nodiscard]] Hint build_for_older_cpu(const InstalledPackageFiles& package,
                                       const InstalledFiles& files);

/// Of two packages that cannot both be whole the one that no other needs; in words where both are
/// needed. `restore`: install the one that stays again.
[[nodiscard]] Hint remove_one(const InstalledPackageFiles& first,
                              const InstalledPackageFiles& second, bool restore,
                              const InstalledFiles& files);

/// Those of `packages` that were installed for packages among `going` or `packages` alone.
[[nodiscard]] Packages left_over(const Packages& packages, const Packages& going,
                                 const InstalledFiles& files);

/// "variant uninstall a b --python P".
[[nodiscard]] std::string uninstall_command(const Packages& packages, const InstalledFiles& files);

}  // namespace axle::doctor
