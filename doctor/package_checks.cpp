#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <system_error>

#include <fmt/core.h>

#include "doctor/environment_checks.h"
#include "doctor/fixes.h"
#include "foundation/system/shell_command.h"

namespace axle::doctor {

namespace {

void check_records(const InstalledFiles& files, Findings& findings) {
  for (const InstalledPackageFiles& package : files.packages) {
    if (!package.record_error) continue;
    Finding& finding = findings.add("dist-info-broken", package.title,
                                    "its RECORD cannot be read, so its files are unknown");
    finding.evidence.push_back(
        {package.distribution.dist_info + "/RECORD", "", package.record_error->message});
    finding.hint = reinstall({&package}, files);
  }
  for (const DamagedLibrary& damaged : files.damaged) {
    const InstalledPackageFiles& owner = files.packages[damaged.package];
    Finding& finding =
        findings.add("library-damaged", owner.title, "a compiled module cannot be loaded");
    finding.evidence.push_back({damaged.name, "ELF header", damaged.why});
    finding.hint = reinstall({&owner}, files);
  }
}

/// An empty folder, or a file with such a name, is not a package.
bool holds_nothing(const std::string& folder) {
  std::error_code error;
  return !std::filesystem::is_directory(folder, error) || std::filesystem::is_empty(folder, error);
}

Hint fix_of(const installer::DamagedFolder& damaged, const InstalledFiles& files) {
  using Kind = installer::DamagedFolder::Kind;
  const auto line = [](std::initializer_list<std::string> words) {
    return shell_command(std::vector<std::string>(words));
  };
  if (damaged.kind == Kind::denied) return {"let this user read the folder"};
  const auto counts = std::ranges::find_if(files.packages, [&](const auto& package) {
    return package.distribution.name == damaged.name;
  });
  if (counts != files.packages.end()) return reinstall({&*counts}, files);
  if (damaged.name.empty() || holds_nothing(damaged.folder))
    return {"", {line({"rm", "-r", damaged.folder})}};
  return {"",
          {line({"variant", "install", "--reinstall", "--no-deps",
                 fmt::format("{}=={}", damaged.name, damaged.version)}) +
           files.python_option()}};
}

/// Problems of dist-info folders that do not belong to a listed package.
void check_folders(const InstalledFiles& files, Findings& findings) {
  for (const installer::DamagedFolder& damaged : files.damaged_folders) {
    Finding& finding = findings.add(
        "dist-info-broken",
        damaged.name.empty() ? files.environment.prefix
                             : fmt::format("{} {}", damaged.name, damaged.version),
        damaged.kind == installer::DamagedFolder::Kind::older_double
            ? fmt::format("{} is installed twice, and this older one is ignored", damaged.name)
            : "a .dist-info folder cannot be read");
    finding.evidence.push_back({damaged.folder, "", damaged.why});
    finding.hint = fix_of(damaged, files);
  }
}

/// A variant.json that does not say which variant is installed is reported by check_variants.
bool is_told_elsewhere(const Remark& remark, const InstalledFiles& files) {
  return std::filesystem::path(remark.path).filename() == variant_file ||
         std::ranges::find(files.damaged_folders, remark.path, &installer::DamagedFolder::folder) !=
             files.damaged_folders.end();
}

}  // namespace

void check_listing(const std::vector<Remark>& remarks, const InstalledFiles& files,
                   Findings& findings) {
  for (const Remark& remark : remarks) {
    if (remark.severity != Severity::warning || is_told_elsewhere(remark, files)) continue;
    Finding& finding = findings.add("dist-info-broken", files.environment.prefix,
                                    "not all installed packages can be read");
    finding.evidence.push_back({"", "", remark.message});
    finding.hint = remark.hint.empty() ? "fix what the evidence lists" : remark.hint;
  }
}

void check_packages(const InstalledFiles& files,
                    const std::vector<installer::InstalledDistribution>& distributions,
                    installer::ContentCheck content, Findings& findings) {
  check_folders(files, findings);
  check_records(files, findings);
  check_content(files, content, findings);
  check_owners(files, findings);
  check_requirements(files, distributions, findings);
}

}  // namespace axle::doctor
