#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "cli/doctor/environment_checks.h"
#include "cli/doctor/fixes.h"
#include "cli/shell_command.h"

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

/// What lies where an installation must put something else: a folder in the place of a file, or a
/// file in the place of a folder; empty: nothing does.
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

/// Nobody knows what is in it: it is kept.
std::string set_aside(const std::string& path) {
  return shell_command(std::vector<std::string>{"mv", path, path + ".set-aside"});
}

void check_files_of(const InstalledPackageFiles& package, const InstalledFiles& files,
                    std::size_t& left, Findings& findings) {
  std::vector<Evidence> examples;
  std::set<std::string> obstacles;  // commands
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
    if (const std::string obstacle = obstacle_at(package.site, path); !obstacle.empty())
      obstacles.insert(set_aside(obstacle));
    if (examples.size() < most_examples) examples.push_back({entry.path, "", std::move(fact)});
  }
  if (wrong == 0) return;
  Finding& finding = findings.add("files-missing", package.title,
                                  fmt::format("{} of its {} files {} gone or damaged", wrong,
                                              package.record.size(), wrong == 1 ? "is" : "are"));
  finding.evidence = std::move(examples);
  finding.mend = reinstall({&package}, files);
  for (auto command = obstacles.rbegin(); command != obstacles.rend(); ++command)
    finding.mend.commands.insert(finding.mend.commands.begin(), *command);
}

void check_records(const InstalledFiles& files, Findings& findings) {
  for (const InstalledPackageFiles& package : files.packages) {
    if (!package.record_error) continue;
    Finding& finding =
        findings.add("dist-info-broken", package.title,
                     "its RECORD cannot be read: nobody knows which files are its own");
    finding.evidence.push_back(
        {package.distribution.dist_info + "/RECORD", "", package.record_error->message});
    finding.mend = reinstall({&package}, files);
  }
  for (const DamagedLibrary& damaged : files.damaged) {
    const InstalledPackageFiles& owner = files.packages[damaged.package];
    Finding& finding =
        findings.add("library-damaged", owner.title, "a compiled module cannot be loaded");
    finding.evidence.push_back({damaged.name, "ELF header", damaged.why});
    finding.mend = reinstall({&owner}, files);
  }
}

Mend fix_of(const installer::DamagedFolder& damaged, const InstalledFiles& files) {
  using Kind = installer::DamagedFolder::Kind;
  const auto line = [](std::initializer_list<std::string> words) {
    return shell_command(std::vector<std::string>(words));
  };
  if (damaged.kind == Kind::denied) return {"let this user read the folder"};
  const auto counts = std::ranges::find_if(files.packages, [&](const auto& package) {
    return package.distribution.name == damaged.name;
  });
  if (counts != files.packages.end()) return reinstall({&*counts}, files);
  if (damaged.name.empty()) return {"", {line({"rm", "-r", damaged.folder})}};
  return {"",
          {line({"variant", "install", "--reinstall", "--no-deps",
                 fmt::format("{}=={}", damaged.name, damaged.version)}) +
           files.options()}};
}

/// What is wrong with dist-info folders that no package is listed from.
void check_folders(const InstalledFiles& files, Findings& findings) {
  for (const installer::DamagedFolder& damaged : files.damaged_folders) {
    Finding& finding = findings.add(
        "dist-info-broken",
        damaged.name.empty() ? files.environment.prefix
                             : fmt::format("{} {}", damaged.name, damaged.version),
        damaged.kind == installer::DamagedFolder::Kind::older_double
            ? fmt::format("{} is installed twice, and this older one is passed over", damaged.name)
            : "a folder that records a package cannot be read");
    finding.evidence.push_back({damaged.folder, "", damaged.why});
    finding.mend = fix_of(damaged, files);
  }
}

}  // namespace

void check_packages(const InstalledFiles& files,
                    const std::vector<installer::InstalledDistribution>& distributions,
                    Findings& findings) {
  check_folders(files, findings);
  check_records(files, findings);
  std::size_t left = most_stats;
  for (const InstalledPackageFiles& package : files.packages)
    check_files_of(package, files, left, findings);
  if (left == 0)
    findings.not_looked_at(fmt::format("whether files beyond the first {} are there", most_stats));
  check_owners(files, findings);
  check_requirements(files, distributions, findings);
}

}  // namespace axle::cli
