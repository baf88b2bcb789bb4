#include "doctor/installed_files.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "foundation/system/shell_command.h"
#include "installer/environment/ownership.h"
#include "wheel/version.h"

namespace axle::doctor {

namespace {

bool is_library(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.ends_with(".so") || name.contains(".so.");
}

/// The path of a RECORD entry; empty if outside of the environment. MKL and Intel's SYCL runtime
/// are in the prefix's own lib.
std::string place_of(const wheel::RecordEntry& entry, const InstalledPackageFiles& package,
                     const installer::Environment& environment) {
  const std::string path =
      std::filesystem::path(package.site + "/" + entry.path).lexically_normal().string();
  const bool inside = path.starts_with(package.site + "/") ||
                      (!environment.prefix.empty() && path.starts_with(environment.prefix + "/"));
  return inside && !entry.path.starts_with('/') ? path : std::string();
}

/// Loaded by Python only: not a linker script or a library of another system.
bool is_python_module(std::string_view path) {
  return path.ends_with(".abi3.so") ||
         (path.ends_with("-linux-gnu.so") && path.contains(".cpython-"));
}

void read_libraries(InstalledFiles& files, std::size_t package, Findings& findings,
                    const FileLimits& limits, std::size_t& passed_over) {
  const InstalledPackageFiles& owner = files.packages[package];
  for (const wheel::RecordEntry& entry : owner.record) {
    if (!is_library(entry.path)) continue;
    InstalledLibrary library;
    library.path = place_of(entry, owner, files.environment);
    if (library.path.empty()) continue;
    if (files.libraries.size() >= limits.libraries || files.bytes_read >= limits.bytes) {
      ++passed_over;
      continue;
    }
    library.name = entry.path;
    library.package = package;
    auto facts = binaries::scan_binary_file(library.path);
    if (!facts) {
      // A missing one is reported by the check of files.
      if (facts.error().kind == ErrorKind::io)
        findings.not_looked_at(fmt::format("{}: {}", entry.path, facts.error().message));
      if (facts.error().kind == ErrorKind::malformed && is_python_module(entry.path))
        files.damaged.push_back({package, entry.path, facts.error().message});
      continue;
    }
    library.facts = std::move(*facts);
    files.bytes_read += library.facts.bytes_read;
    files.libraries.push_back(std::move(library));
  }
}

}  // namespace

const std::string& InstalledFiles::place() const {
  return environment.prefix.empty() ? environment.python : environment.prefix;
}

std::string InstalledFiles::python_option() const { return " --python " + shell_word(place()); }

InstalledFiles read_installed_files(
    installer::Environment environment,
    const std::vector<installer::InstalledDistribution>& distributions, Findings& findings,
    const FileLimits& limits) {
  InstalledFiles files;
  files.environment = std::move(environment);
  std::size_t outer = 0;
  for (const installer::InstalledDistribution& distribution : distributions) {
    files.versions.emplace(distribution.name, distribution.metadata.version);
    if (distribution.outer) {
      ++outer;
      continue;
    }
    InstalledPackageFiles package;
    package.distribution = distribution;
    package.title = fmt::format("{} {}", distribution.name,
                                wheel::render_version(distribution.metadata.version));
    package.site = distribution.dist_info.substr(0, distribution.dist_info.rfind('/'));
    std::error_code unreal;
    const auto real = std::filesystem::canonical(package.site, unreal);
    package.real_site = unreal ? package.site : real.string();
    if (distribution.dist_info.ends_with(".dist-info")) {
      auto record = installer::read_record(distribution);
      if (record) {
        package.record = std::move(*record);
      } else {
        package.record_error = record.error();
      }
    }
    files.packages.push_back(std::move(package));
  }
  if (outer > 0)
    findings.not_looked_at(
        fmt::format("{} package{} outside the environment that its interpreter also sees", outer,
                    outer == 1 ? "" : "s"));
  std::size_t passed_over = 0;
  for (std::size_t i = 0; i < files.packages.size(); ++i)
    read_libraries(files, i, findings, limits, passed_over);
  if (passed_over > 0)
    findings.not_looked_at(
        fmt::format("{} libraries beyond the first {}", passed_over, files.libraries.size()));
  return files;
}

}  // namespace axle::doctor
