#pragma once
// What doctor examines of an environment: its packages, their RECORDs, and their libraries as the
// scanner sees them. Bounded: an environment of tens of gigabytes costs the headers of its
// libraries.

#include <cstdint>
#include <string>
#include <vector>

#include "builder/binary_scan.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/judged_machine.h"
#include "index/family.h"
#include "installer/environment.h"
#include "installer/installed.h"
#include "wheel/record.h"

namespace axle::cli {

struct InstalledLibrary {
  std::string path;         ///< absolute
  std::string name;         ///< relative to site-packages, as RECORD has it
  std::size_t package = 0;  ///< index in InstalledFiles::packages
  builder::BinaryFacts facts;
};

struct InstalledPackageFiles {
  installer::InstalledDistribution distribution;
  std::string title;      ///< "torch 2.9.0+cu128"
  std::string site;       ///< the folder that RECORD's paths start from
  std::string real_site;  ///< the same without links
  std::vector<wheel::RecordEntry> record;
  const index::Family* family = nullptr;  ///< that it is a member of

  /// `variant install` has builds of it to choose from.
  [[nodiscard]] bool has_builds() const { return distribution.variant || family != nullptr; }
};

/// " --python PATH", quoted for a shell.
[[nodiscard]] std::string python_option(const installer::Environment& environment);

struct InstalledFiles {
  installer::Environment environment;
  std::vector<InstalledPackageFiles> packages;  ///< without outer ones
  InstalledVersions versions;                   ///< of all that its interpreter sees
  std::vector<InstalledLibrary> libraries;
  std::uint64_t bytes_read = 0;  ///< of libraries

  [[nodiscard]] std::string python_option() const { return cli::python_option(environment); }
};

/// The command that installs the same version again.
[[nodiscard]] std::string reinstall_same(const InstalledPackageFiles& package,
                                         const InstalledFiles& files);

/// The command that has the build of the same release chosen anew, with the other members of its
/// family: for one alone they would not belong together. Without builds to choose from: in words.
[[nodiscard]] std::string another_build(const InstalledPackageFiles& package,
                                        const InstalledFiles& files);

/// The same for an older CPU: the labels of families are about GPUs, and bring no other code.
[[nodiscard]] std::string build_for_older_cpu(const InstalledPackageFiles& package,
                                              const InstalledFiles& files);

struct FileLimits {
  std::size_t libraries = 20'000;
  std::uint64_t bytes = 2ULL << 30;
};

/// Packages whose records cannot be read become findings.
[[nodiscard]] InstalledFiles read_installed_files(
    installer::Environment environment,
    const std::vector<installer::InstalledDistribution>& distributions, Findings& findings,
    const FileLimits& limits = {});

}  // namespace axle::cli
