#include <cerrno>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "cli/doctor/environment_checks.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::cli {

namespace {

constexpr std::size_t most_stats = 500'000;
constexpr std::size_t most_examples = 5;

/// Why the file is not what RECORD says; empty: it may be.
std::string fault_of_file(const std::string& path, const wheel::RecordEntry& entry) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return errno == EACCES ? "" : "is gone";
  if (S_ISLNK(status.st_mode) && ::stat(path.c_str(), &status) != 0)
    return errno == EACCES ? "" : "is a link that leads nowhere";
  if (!S_ISREG(status.st_mode)) return "is no file";
  if (!entry.size || static_cast<std::uint64_t>(status.st_size) >= *entry.size) return {};
  return fmt::format("has {} bytes, RECORD says {}", status.st_size, *entry.size);
}

void check_files_of(const InstalledPackageFiles& package, const InstalledFiles& files,
                    std::size_t& left, Findings& findings) {
  std::vector<Evidence> examples;
  std::size_t wrong = 0;
  for (const wheel::RecordEntry& entry : package.record) {
    // Byte code comes and goes.
    if (left == 0 || entry.path.contains("__pycache__/") || entry.path.ends_with(".pyc")) continue;
    --left;
    const std::string path =
        entry.path.starts_with('/') ? entry.path : package.site + "/" + entry.path;
    std::string fact = fault_of_file(path, entry);
    if (fact.empty()) continue;
    ++wrong;
    if (examples.size() < most_examples) examples.push_back({entry.path, "", std::move(fact)});
  }
  if (wrong == 0) return;
  Finding& finding = findings.add("files-missing", package.title,
                                  fmt::format("{} of its {} files {} gone or damaged", wrong,
                                              package.record.size(), wrong == 1 ? "is" : "are"));
  finding.evidence = std::move(examples);
  finding.mend = reinstall_same(package, files);
}

}  // namespace

void check_packages(const InstalledFiles& files,
                    const std::vector<installer::InstalledDistribution>& distributions,
                    Findings& findings) {
  std::size_t left = most_stats;
  for (const InstalledPackageFiles& package : files.packages)
    check_files_of(package, files, left, findings);
  if (left == 0)
    findings.not_looked_at(fmt::format("whether files beyond the first {} are there", most_stats));
  check_owners(files, findings);
  for (const installer::BrokenRequirement& broken :
       installer::check_installed(distributions, files.environment)) {
    const auto requirement = wheel::parse_requirement(broken.requirement);
    const std::string wanted = requirement ? requirement->name : broken.requirement;
    Finding& finding =
        findings.add("requirement-broken", broken.package,
                     broken.found.empty()
                         ? fmt::format("it requires {}, which is not installed", broken.requirement)
                         : fmt::format("it requires {}, and {} {} is installed", broken.requirement,
                                       wanted, broken.found));
    finding.evidence.push_back(
        {"", "METADATA", fmt::format("Requires-Dist: {}", broken.requirement)});
    const std::string bare =
        requirement ? broken.requirement.substr(0, broken.requirement.find(';')) : wanted;
    std::string quoted = bare;
    while (quoted.ends_with(' ')) quoted.pop_back();
    finding.mend = fmt::format("variant install {}{}", shell_word(quoted), files.python_option());
  }
}

}  // namespace axle::cli
