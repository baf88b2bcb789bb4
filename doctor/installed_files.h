#pragma once
// What doctor examines of an environment: its packages, their RECORDs, and their libraries as the
// scanner sees them. Bounded: for an environment of tens of gigabytes only the headers of its
// libraries are read.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "binaries/binary_scan.h"
#include "doctor/finding.h"
#include "doctor/judged_machine.h"
#include "index/family/family.h"
#include "installer/environment/environment.h"
#include "installer/environment/installed.h"
#include "installer/transaction/repair.h"
#include "wheel/record.h"

namespace axle::doctor {

/// From a dist-info folder: which variant is installed, and its requirements.
inline constexpr std::string_view variant_file = "variant.json";

/// A compiled module that is not an ELF file, or a damaged one.
struct DamagedLibrary {
  std::size_t package = 0;
  std::string name;
  std::string why;
};

struct InstalledLibrary {
  std::string path;         ///< absolute
  std::string name;         ///< relative to site-packages, as in RECORD
  std::size_t package = 0;  ///< index in InstalledFiles::packages
  binaries::BinaryFacts facts;
};

/// The result of choosing the build of an installed package again, as far as its metadata or its
/// family show.
enum class NewChoice : std::uint8_t {
  same,           ///< the same build, or unknown
  other_build,    ///< another build of the same release
  other_release,  ///< no build of this release fits
};

struct InstalledPackageFiles {
  installer::InstalledDistribution distribution;
  std::string title;      ///< "torch 2.9.0+cu128"
  std::string site;       ///< the base folder of RECORD's paths
  std::string real_site;  ///< the same with links resolved
  std::vector<wheel::RecordEntry> record;
  std::optional<Error> record_error;      ///< why RECORD cannot be read; `record` is empty then
  const index::Family* family = nullptr;  ///< the family that it is a member of
  NewChoice new_choice = NewChoice::same;
  bool foreign_wheel = false;     ///< of another Python, C library or platform
  bool under_condas_own = false;  ///< conda put its own over it: it is to be removed

  /// `variant install` has several builds to choose from.
  [[nodiscard]] bool has_builds() const { return distribution.variant || family != nullptr; }
};

struct InstalledFiles {
  installer::Environment environment;
  std::vector<InstalledPackageFiles> packages;  ///< without outer ones
  InstalledVersions versions;                   ///< all that its interpreter sees
  std::vector<InstalledLibrary> libraries;
  std::vector<DamagedLibrary> damaged;
  std::vector<installer::DamagedFolder> damaged_folders;
  std::uint64_t bytes_read = 0;  ///< of libraries
  /// They are examined for another machine (--for), for which Axle builds nothing.
  bool elsewhere = false;

  /// In the form of --python.
  [[nodiscard]] const std::string& place() const;
  /// " --python PLACE", quoted for a shell.
  [[nodiscard]] std::string python_option() const;
};

struct FileLimits {
  std::size_t libraries = 20'000;
  std::uint64_t bytes = 2ULL << 30;
};

[[nodiscard]] InstalledFiles read_installed_files(
    installer::Environment environment,
    const std::vector<installer::InstalledDistribution>& distributions, Findings& findings,
    const FileLimits& limits = {});

}  // namespace axle::doctor
