// Two packages that own one path or one import name.
#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>

#include <fmt/core.h>

#include "doctor/environment_checks.h"
#include "doctor/fixes.h"
#include "doctor/import_names.h"

namespace axle::doctor {

namespace {

bool is_own_record(std::string_view path) {
  return path.contains(".dist-info/") || path.contains("__pycache__/");
}

bool is_compiled(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.ends_with(".so") || name.contains(".so.") || name.ends_with(".a");
}

struct Claim {
  std::size_t package;
  const wheel::RecordEntry* entry;
};

struct Overlap {
  std::vector<const wheel::RecordEntry*> entries;
  bool compiled = false;
};

/// lib64 is a link to lib in most environments: one folder with two names.
std::string place_of(const InstalledPackageFiles& package, const wheel::RecordEntry& entry) {
  return std::filesystem::path(package.real_site + "/" + entry.path).lexically_normal().string();
}

/// Two packages with one path of unlike content. The same content twice (the empty __init__.py of a
/// namespace) does no harm while both are there.
void check_paths(const InstalledFiles& files, Findings& findings) {
  std::unordered_map<std::string, Claim> owners;
  std::map<std::pair<std::size_t, std::size_t>, Overlap> overlaps;
  for (std::size_t i = 0; i < files.packages.size(); ++i) {
    for (const wheel::RecordEntry& entry : files.packages[i].record) {
      if (is_own_record(entry.path)) continue;
      const auto [at, fresh] =
          owners.try_emplace(place_of(files.packages[i], entry), Claim{i, &entry});
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
    if (are_backends_of_one(first, second)) continue;
    Finding& finding =
        findings.add("path-owned-twice", fmt::format("{}, {}", first.title, second.title),
                     fmt::format("both own {} files with different content: the last one installed "
                                 "is intact, and the other package is damaged",
                                 overlap.entries.size()));
    if (!overlap.compiled) finding.level = FindingLevel::warning;
    for (const wheel::RecordEntry* entry : overlap.entries) {
      if (finding.evidence.size() == most_examples) break;
      finding.evidence.push_back({entry->path, "RECORD", "is in both"});
    }
    finding.hint = remove_one(first, second, /*restore=*/true, files);
  }
}

struct ImportClaim {
  std::size_t package;
  ImportName name;
};

/// Which of the two Python imports, if that is certain.
std::string first_of(const ImportClaim& left, const ImportClaim& right,
                     const InstalledFiles& files) {
  const auto& [winner, loser] =
      left.name.rank < right.name.rank ? std::tie(left, right) : std::tie(right, left);
  if (left.name.rank == right.name.rank) return "which one depends on the order of sys.path";
  return fmt::format("{} is imported, but {} of {} never", winner.name.path, loser.name.path,
                     files.packages[loser.package].title);
}

/// foo.py of one package next to foo/ of another, or a package installed as editable next to an
/// installed one of the same name.
void check_import_names(const InstalledFiles& files, Findings& findings) {
  std::unordered_map<std::string, ImportClaim> owners;
  std::map<std::pair<std::size_t, std::size_t>, Finding*> told;
  for (std::size_t i = 0; i < files.packages.size(); ++i) {
    for (ImportName& name : import_names(files.packages[i])) {
      const auto [at, fresh] = owners.try_emplace(name.name, ImportClaim{i, name});
      const ImportClaim& other = at->second;
      if (fresh || other.package == i || other.name.path == name.path) continue;
      // Source trees side by side: nearly each has tests/, which nobody imports from outside.
      if (other.name.by == ImportName::By::pth_folder && name.by == other.name.by) continue;
      if (!told.try_emplace({other.package, i}, nullptr).second) continue;
      const InstalledPackageFiles& first = files.packages[other.package];
      const InstalledPackageFiles& second = files.packages[i];
      if (are_backends_of_one(first, second)) continue;
      Finding& finding =
          findings.add("import-hidden", fmt::format("{}, {}", first.title, second.title),
                       fmt::format("both provide the import name `{}`: {}", name.name,
                                   first_of(other, {i, name}, files)));
      finding.evidence.push_back({other.name.path, "RECORD", first.title});
      finding.evidence.push_back({name.path, "RECORD", second.title});
      finding.hint = remove_one(first, second, /*restore=*/false, files);
    }
  }
}

}  // namespace

void check_owners(const InstalledFiles& files, Findings& findings) {
  check_paths(files, findings);
  check_import_names(files, findings);
}

}  // namespace axle::doctor
