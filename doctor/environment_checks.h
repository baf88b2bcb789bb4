#pragma once
// Checks of what is installed in an environment, independent of each other.

#include <string>
#include <vector>

#include "detect/host.h"
#include "doctor/finding.h"
#include "doctor/installed_files.h"
#include "doctor/judged_machine.h"
#include "doctor/start/start_trial.h"
#include "foundation/report/report.h"
#include "index/family/family_book.h"
#include "installer/environment/record_check.h"

namespace axle::doctor {

/// Paths and import names with two owners (ownership_checks.cpp).
void check_owners(const InstalledFiles& files, Findings& findings);

/// Requirements that are not met (requirement_checks.cpp).
void check_requirements(const InstalledFiles& files,
                        const std::vector<installer::InstalledDistribution>& distributions,
                        Findings& findings);

/// Messages from listing the packages, except those that check_packages and check_variants cover
/// (package_checks.cpp).
void check_listing(const std::vector<Remark>& remarks, const InstalledFiles& files,
                   Findings& findings);

/// Records, files, requirements, and paths with two owners (package_checks.cpp).
void check_packages(const InstalledFiles& files,
                    const std::vector<installer::InstalledDistribution>& distributions,
                    installer::ContentCheck content, Findings& findings);

/// Files that do not match RECORD (content_checks.cpp).
void check_content(const InstalledFiles& files, installer::ContentCheck content,
                   Findings& findings);

/// Compares the labels and properties by which the installed variants were chosen with the current
/// machine, and the members of families with each other (variant_checks.cpp). Errors: what is wrong
/// with a user's family file. Records in `files` what choosing builds again would result in: to be
/// called before the other checks.
[[nodiscard]] Result<void> check_variants(InstalledFiles& files, const JudgedMachine& judged,
                                          index::FamilyBook& families, Findings& findings);

/// As a clause: the CPU does not have it, for programs.
[[nodiscard]] constexpr bool lacks(detect::Presence presence) {
  return presence == detect::Presence::absent || presence == detect::Presence::blocked;
}
[[nodiscard]] constexpr bool is_unknown(detect::Presence presence) {
  return presence == detect::Presence::unknown;
}

/// Whether the library is for another CPU architecture than the machine's.
[[nodiscard]] bool is_foreign(const InstalledLibrary& library, const detect::Machine& machine);

/// Code for GPUs (gpu_code_checks.cpp).
void check_gpu_code(const InstalledFiles& files, const JudgedMachine& judged, Findings& findings);

/// Architecture, CPU levels, the runtime's minimum driver, and code for GPUs (code_checks.cpp).
void check_code(const InstalledFiles& files, const JudgedMachine& judged, Findings& findings);

/// Instructions that the CPU lacks, by disassembly: slow (instruction_checks.cpp).
void check_instructions(const InstalledFiles& files, const JudgedMachine& judged,
                        Findings& findings);

/// Where this machine's loader searches in addition to a library's own path.
struct LoaderPath {
  std::vector<std::string> folders;         ///< of LD_LIBRARY_PATH
  std::vector<std::string> preload;         ///< files of LD_PRELOAD
  std::vector<std::string> system_preload;  ///< files of /etc/ld.so.preload
  std::vector<std::string> cached = {};     ///< library paths in /etc/ld.so.cache
};

/// CUDA libraries of one name in two packages, to each of which something is linked: the second
/// user gets the first one's library (shadow_checks.cpp).
void check_twice(const InstalledFiles& files, Findings& findings);

/// Modules of packages and of Python that others come before on sys.path, as a user starts the
/// interpreter here; `started`: what it had on the path then (hidden_module_checks.cpp).
void check_hidden_modules(const InstalledFiles& files, const StartedSearch& started,
                          Findings& findings);

/// Wheels and compiled modules for another Python or C library. Marks their packages in `files`: to
/// be called before the checks whose fix installs them again (wheel_fit_checks.cpp).
void check_wheel_fit(InstalledFiles& files, Findings& findings);

/// Libraries that need symbols, or libraries, which the installed packages have in another version
/// (link_checks.cpp). `host`: reads the files of this machine; nullptr: it is another one.
void check_links(const InstalledFiles& files, const JudgedMachine& judged, detect::Host* host,
                 Findings& findings);

/// Packages for unlike GPU backends, other than those that check_links reported
/// (backend_checks.cpp).
void check_backends(const InstalledFiles& files, const JudgedMachine& judged, Findings& findings);

/// The libraries of one backend in wheels of their own that no other package needs, beside another
/// backend: check_backends reports them.
[[nodiscard]] std::vector<const InstalledPackageFiles*> left_behind(const InstalledFiles& files,
                                                                    const JudgedMachine& judged);

/// Whether check_backends reports the two: they are one project, for two backends.
[[nodiscard]] bool are_backends_of_one(const InstalledPackageFiles& first,
                                       const InstalledPackageFiles& second);

/// Packages that conda installed and another tool replaced, or the other way round. Marks in
/// `files` what its fix removes: to be called before the checks that would install it again
/// (conda_checks.cpp).
void check_conda(InstalledFiles& files, Findings& findings);

/// Libraries on the loader's path with the names of libraries in the wheels (shadow_checks.cpp).
void check_shadows(const InstalledFiles& files, const LoaderPath& path, Findings& findings);

}  // namespace axle::doctor
