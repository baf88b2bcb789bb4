// Files that do not match RECORD.
#include <algorithm>
#include <initializer_list>
#include <set>

#include <fmt/core.h>
#include <sys/stat.h>

#include "doctor/environment_checks.h"
#include "doctor/fixes.h"
#include "foundation/system/shell_command.h"
#include "installer/environment/roots.h"

namespace axle::doctor {

namespace {

using installer::FaultyFile;
using installer::RecordFault;

constexpr std::size_t most_files_checked = 500'000;

/// What is in the way of an installation: a folder instead of a file, or a file instead of a
/// folder; empty: nothing.
std::string obstacle_at(const std::string& site, const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0) return S_ISDIR(status.st_mode) ? path : std::string();
  if (!path.starts_with(site + "/")) return {};
  for (std::size_t slash = path.find('/', site.size() + 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (::stat(folder.c_str(), &status) == 0 ? !S_ISDIR(status.st_mode)
                                             : ::lstat(folder.c_str(), &status) == 0)
      return folder;
  }
  return {};
}

/// Its content is unknown: it is kept.
std::string set_aside(const std::string& path) {
  return shell_command(std::vector<std::string>{"mv", path, path + ".set-aside"});
}

/// Commands that make room for what is missing.
std::vector<std::string> clear_the_way(const InstalledPackageFiles& package,
                                       const std::vector<FaultyFile>& missing) {
  std::set<std::string> commands;
  for (const FaultyFile& fault : missing) {
    const std::string path =
        fault.path.starts_with('/') ? fault.path : package.site + "/" + fault.path;
    if (const std::string obstacle = obstacle_at(package.site, path); !obstacle.empty())
      commands.insert(set_aside(obstacle));
  }
  return {commands.begin(), commands.end()};
}

/// A path of two packages is reported by check_owners.
bool is_owned_twice(const std::string& path, const InstalledPackageFiles& package,
                    const InstalledFiles& files) {
  return std::ranges::any_of(files.packages, [&](const InstalledPackageFiles& other) {
    return &other != &package && other.site == package.site &&
           std::ranges::any_of(other.record,
                               [&](const wheel::RecordEntry& entry) { return entry.path == path; });
  });
}

void add_finding(std::string_view code, std::string message, const InstalledPackageFiles& package,
                 const std::vector<FaultyFile>& faults, const InstalledFiles& files,
                 Findings& findings) {
  Finding& finding = findings.add(code, package.title, std::move(message));
  for (const FaultyFile& fault : faults) {
    if (finding.evidence.size() == most_examples) break;
    finding.evidence.push_back({fault.path, "", fault.fact});
  }
  finding.hint = reinstall({&package}, files);
  std::vector<std::string> first = clear_the_way(package, faults);
  finding.hint.commands.insert(finding.hint.commands.begin(), first.begin(), first.end());
}

std::string count(std::size_t some, std::size_t all, std::string_view one,
                  std::string_view several) {
  return fmt::format("{} of its {} files {}", some, all, some == 1 ? one : several);
}

/// The number of files whose content cannot be checked.
std::size_t check_package(const InstalledPackageFiles& package, const InstalledFiles& files,
                          std::vector<FaultyFile> faults, Findings& findings) {
  const auto take = [&faults](std::initializer_list<RecordFault> kinds) {
    std::vector<FaultyFile> taken;
    for (FaultyFile& fault : faults) {
      if (std::ranges::find(kinds, fault.fault) != kinds.end()) taken.push_back(std::move(fault));
    }
    return taken;
  };
  const std::size_t all = package.record.size();
  if (const auto gone = take({RecordFault::missing, RecordFault::cut_off}); !gone.empty()) {
    add_finding("files-missing",
                count(gone.size(), all, "is missing or damaged", "are missing or damaged"), package,
                gone, files, findings);
  }
  auto changed = take({RecordFault::changed});
  std::erase_if(
      changed, [&](const FaultyFile& fault) { return is_owned_twice(fault.path, package, files); });
  if (!changed.empty()) {
    add_finding("files-changed",
                count(changed.size(), all, "has changed since its installation",
                      "have changed since their installation"),
                package, changed, files, findings);
  }
  if (const auto outside = take({RecordFault::outside}); !outside.empty()) {
    add_finding("files-outside", "its RECORD lists files outside the environment", package, outside,
                files, findings);
  }
  if (const auto metadata = take({RecordFault::metadata}); !metadata.empty()) {
    add_finding("metadata-markers", "its METADATA does not match its variant", package, metadata,
                files, findings);
  }
  return take({RecordFault::no_hash}).size();
}

}  // namespace

void check_content(const InstalledFiles& files, installer::ContentCheck content,
                   Findings& findings) {
  const auto roots = installer::find_roots(files.environment);
  if (!roots) return findings.not_looked_at("the files of packages: " + roots.error().message);
  installer::PathResolver resolver(*roots);
  std::size_t left = most_files_checked;
  std::size_t unhashed = 0;
  for (const InstalledPackageFiles& package : files.packages) {
    if (!package.distribution.dist_info.ends_with(".dist-info") || package.under_condas_own)
      continue;
    left -= std::min(left, package.record.size());
    if (left == 0) break;
    unhashed += check_package(
        package, files,
        installer::compare_with_record(package.distribution, package.record, resolver, content),
        findings);
  }
  if (left == 0)
    findings.not_looked_at(
        fmt::format("whether files beyond the first {} exist", most_files_checked));
  if (unhashed > 0)
    findings.not_looked_at(
        fmt::format("whether {} files without a hash in RECORD have changed", unhashed));
  if (content == installer::ContentCheck::size_and_time && !files.packages.empty())
    findings.not_looked_at("the content of files whose size and time are right (--deep checks it)");
}

}  // namespace axle::doctor
