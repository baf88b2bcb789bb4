#pragma once
// A package whose libraries --check-abi reads: a wheel, by ranges, or what is installed.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "binaries/abi_match.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "installer/environment/installed.h"
#include "plan/resolution.h"
#include "wheel/zip/zip_reader.h"

namespace axle::cli {

/// How much was read, of all packages.
struct AbiReadings {
  std::uint64_t bytes = 0;  ///< of wheels
  std::size_t libraries = 0;
};

class OpenedPackage {
 public:
  /// A package that is not there has no libraries.
  OpenedPackage() = default;
  /// `readings` must outlive it. Errors: as of index::open_remote.
  [[nodiscard]] static Result<OpenedPackage> open_wheel(const plan::ResolvedPackage& package,
                                                        index::Transport& transport, Report& report,
                                                        AbiReadings& readings);
  [[nodiscard]] static OpenedPackage open_installed(
      const installer::InstalledDistribution& package);

  [[nodiscard]] const binaries::PackageLibraries& libraries() const { return libraries_; }
  [[nodiscard]] bool has_any() const { return !members_.empty(); }
  /// Bytes of all libraries in the wheel.
  [[nodiscard]] std::uint64_t packed() const { return packed_; }

  /// Of what is installed: whether a library of it needs one with one of these stems. What cannot
  /// be read needs nothing.
  [[nodiscard]] bool needs_any(const std::set<std::string, std::less<>>& stems) const;

  /// Reads all its libraries, and the programs that the wheel installs.
  [[nodiscard]] Result<void> read_all(Report& report, AbiReadings& readings);
  /// Reads those with one of these names.
  [[nodiscard]] Result<void> read_named(const std::set<std::string>& names, Report& report,
                                        AbiReadings& readings);

 private:
  struct Member {
    std::string name;   ///< of the file
    std::string place;  ///< member of the wheel, or path of what is installed
    bool program = false;
    bool read = false;
  };
  void add(std::string place, bool program);
  [[nodiscard]] Result<void> read(Member& member, Report& report, AbiReadings& readings);

  std::unique_ptr<wheel::ZipReader> zip_;  ///< of what is to be installed
  std::vector<Member> members_;
  std::uint64_t packed_ = 0;
  binaries::PackageLibraries libraries_;
};

}  // namespace axle::cli
