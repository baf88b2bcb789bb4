#include "cli/doctor/installed_files.h"

#include <algorithm>

#include <fmt/core.h>

#include "installer/ownership.h"
#include "wheel/version.h"

namespace axle::cli {

namespace {

bool is_library(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.ends_with(".so") || name.contains(".so.");
}

/// Paths of RECORD that lead out of site-packages (scripts, headers) are not libraries.
bool lies_inside(std::string_view path) {
  return !path.starts_with('/') && !path.starts_with("../") && !path.contains("/../");
}

void read_libraries(InstalledFiles& files, std::size_t package, Findings& findings,
                    const FileLimits& limits, std::size_t& passed_over) {
  const InstalledPackageFiles& owner = files.packages[package];
  for (const wheel::RecordEntry& entry : owner.record) {
    if (!is_library(entry.path) || !lies_inside(entry.path)) continue;
    if (files.libraries.size() >= limits.libraries || files.bytes_read >= limits.bytes) {
      ++passed_over;
      continue;
    }
    InstalledLibrary library;
    library.path = owner.site + "/" + entry.path;
    library.name = entry.path;
    library.package = package;
    auto facts = builder::scan_binary_file(library.path);
    if (!facts) {
      // A missing one is told by the check of files; linker scripts and stubs are no libraries.
      if (facts.error().kind == ErrorKind::io)
        findings.not_looked_at(fmt::format("{}: {}", entry.path, facts.error().message));
      continue;
    }
    library.facts = std::move(*facts);
    files.bytes_read += library.facts.bytes_read;
    files.libraries.push_back(std::move(library));
  }
}

}  // namespace

std::string python_option(const installer::Environment& environment) {
  return " --python " +
         shell_word(environment.prefix.empty() ? environment.python : environment.prefix);
}

std::string reinstall_same(const InstalledPackageFiles& package, const InstalledFiles& files) {
  return fmt::format("variant install --reinstall {}=={}{}", package.distribution.name,
                     wheel::render_version(package.distribution.metadata.version),
                     files.python_option());
}

InstalledFiles read_installed_files(
    installer::Environment environment,
    const std::vector<installer::InstalledDistribution>& distributions, Findings& findings,
    const FileLimits& limits) {
  InstalledFiles files;
  files.environment = std::move(environment);
  std::size_t outer = 0;
  for (const installer::InstalledDistribution& distribution : distributions) {
    if (distribution.outer) {
      ++outer;
      continue;
    }
    InstalledPackageFiles package;
    package.distribution = distribution;
    package.title = fmt::format("{} {}", distribution.name,
                                wheel::render_version(distribution.metadata.version));
    package.site = distribution.dist_info.substr(0, distribution.dist_info.rfind('/'));
    if (distribution.dist_info.ends_with(".dist-info")) {
      auto record = installer::read_record(distribution);
      if (record) {
        package.record = std::move(*record);
      } else {
        Finding& finding =
            findings.add("dist-info-broken", package.title,
                         "its RECORD cannot be read: nobody knows which files are its own");
        finding.evidence.push_back(
            {distribution.dist_info + "/RECORD", "", record.error().message});
        finding.mend = reinstall_same(package, files);
      }
    }
    files.packages.push_back(std::move(package));
  }
  if (outer > 0)
    findings.not_looked_at(fmt::format(
        "{} packages outside of the environment that its interpreter also sees", outer));
  std::size_t passed_over = 0;
  for (std::size_t i = 0; i < files.packages.size(); ++i)
    read_libraries(files, i, findings, limits, passed_over);
  if (passed_over > 0)
    findings.not_looked_at(
        fmt::format("{} libraries beyond the first {}", passed_over, files.libraries.size()));
  return files;
}

}  // namespace axle::cli
