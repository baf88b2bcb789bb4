#include <algorithm>
#include <map>
#include <unordered_map>

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

bool is_own_record(std::string_view path) {
  return path.contains(".dist-info/") || path.contains("__pycache__/");
}

bool is_compiled(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.ends_with(".so") || name.contains(".so.") || name.ends_with(".a");
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
    struct stat status{};
    std::string fact;
    if (::lstat(path.c_str(), &status) != 0) {
      fact = "is gone";
    } else if (entry.size && S_ISREG(status.st_mode) &&
               static_cast<std::uint64_t>(status.st_size) < *entry.size) {
      fact = fmt::format("has {} bytes, RECORD says {}", status.st_size, *entry.size);
    }
    if (fact.empty()) continue;
    ++wrong;
    if (examples.size() < most_examples) examples.push_back({entry.path, "", std::move(fact)});
  }
  if (wrong == 0) return;
  Finding& finding = findings.add("files-missing", package.title,
                                  fmt::format("{} of its {} files {} gone or cut off", wrong,
                                              package.record.size(), wrong == 1 ? "is" : "are"));
  finding.evidence = std::move(examples);
  finding.mend = reinstall_same(package, files);
}

struct Claim {
  std::size_t package;
  const wheel::RecordEntry* entry;
};

struct Overlap {
  std::vector<const wheel::RecordEntry*> entries;
  bool compiled = false;
};

/// Two packages with one path of unlike content. The same content twice (the empty __init__.py of a
/// namespace) does no harm while both are there.
void check_owners(const InstalledFiles& files, Findings& findings) {
  std::unordered_map<std::string, Claim> owners;
  std::map<std::pair<std::size_t, std::size_t>, Overlap> overlaps;
  for (std::size_t i = 0; i < files.packages.size(); ++i) {
    for (const wheel::RecordEntry& entry : files.packages[i].record) {
      if (is_own_record(entry.path)) continue;
      const auto [at, fresh] =
          owners.try_emplace(files.packages[i].site + "/" + entry.path, Claim{i, &entry});
      if (fresh || at->second.package == i) continue;
      const wheel::RecordEntry& other = *at->second.entry;
      const bool known = !entry.sha256.empty() && !other.sha256.empty();
      if (known && entry.sha256 == other.sha256) continue;
      if (!known && entry.size == other.size) continue;
      Overlap& overlap = overlaps[{at->second.package, i}];
      overlap.entries.push_back(&entry);
      overlap.compiled = overlap.compiled || is_compiled(entry.path);
    }
  }
  for (const auto& [pair, overlap] : overlaps) {
    const InstalledPackageFiles& first = files.packages[pair.first];
    const InstalledPackageFiles& second = files.packages[pair.second];
    Finding& finding = findings.add(
        "path-owned-twice", fmt::format("{}, {}", first.title, second.title),
        fmt::format("both own {} files with unlike content: what was installed last is there, and "
                    "the other package is damaged",
                    overlap.entries.size()));
    if (!overlap.compiled) finding.level = FindingLevel::warning;
    for (const wheel::RecordEntry* entry : overlap.entries) {
      if (finding.evidence.size() == most_examples) break;
      finding.evidence.push_back({entry->path, "RECORD", "is in both"});
    }
    finding.mend =
        fmt::format("variant uninstall {0}{2} && variant install --reinstall {1}{2}",
                    second.distribution.name, first.distribution.name, files.python_option());
  }
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
