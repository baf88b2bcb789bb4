#include "installer/transaction/removal.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "installer/environment/ownership.h"
#include "installer/transaction/listed_folders.h"
#include "installer/tree/byte_code_names.h"

namespace axle::installer {
namespace {

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// Why a package whose RECORD is missing or malformed cannot be removed.
Error unrecorded(const InstalledDistribution& distribution, const Error& record) {
  return {ErrorKind::unsupported,
          fmt::format("{} cannot be removed, because its files are unknown: {}", distribution.name,
                      record.message),
          is_repairable(distribution)
              ? fmt::format("run {} to restore its RECORD, then remove or replace it",
                            repair_command(distribution))
          : distribution.installer.empty()
              ? "delete the package's files and its metadata by hand"
              : fmt::format("remove it with {}, which installed it", distribution.installer)};
}

class RemovalPlanner {
 public:
  RemovalPlanner(const Roots& roots, Report& report)
      : roots_(roots), report_(report), resolver_(roots) {}

  /// `stand_in`: the files of the package if its RECORD does not list them; nullptr: unknown.
  Result<void> add(const InstalledDistribution& distribution,
                   const std::vector<std::string>* stand_in) {
    names_.push_back(distribution.name);
    auto record = read_record(distribution);
    if (record) {
      if (auto added = add_entries(distribution, *record); !added) return added;
    } else if (record.error().kind == ErrorKind::io) {
      return std::unexpected(record.error());
    } else if (stand_in == nullptr) {
      return std::unexpected(unrecorded(distribution, record.error()));
    } else {
      report_.warn(fmt::format("{}: {}; {}", distribution.dist_info, record.error().message,
                               stand_in->empty()
                                   ? "its files are unknown, so only that folder is removed"
                                   : "the files of the wheel that replaces it count as its own"));
      for (const std::string& file : *stand_in) {
        if (auto added = add_file(distribution, file, file); !added) return added;
      }
    }
    auto metadata = resolver_.resolve(distribution.dist_info);
    if (!metadata) return std::unexpected(metadata.error());
    if (!*metadata) {
      return fail(ErrorKind::malformed,
                  fmt::format("{} is outside the environment", distribution.dist_info));
    }
    metadata_.emplace(std::move(**metadata), distribution.name);
    return {};
  }

  Result<void> keep_shared(const std::vector<InstalledDistribution>& staying) {
    if (staying.empty()) return {};
    std::unordered_map<std::string, ListedEntry*> files;
    std::unordered_set<std::string> paths;
    for (auto* known : folders_.known()) {
      for (ListedEntry& entry : known->second.entries) {
        if (entry.leaves_with.empty()) continue;
        std::string path = known->first + "/" + entry.name;
        files.emplace(path, &entry);
        paths.insert(std::move(path));
      }
    }
    const auto owners = find_owners(paths, staying, roots_);
    if (!owners) return std::unexpected(owners.error());
    for (const auto& [path, all] : *owners) files.at(path)->leaves_with.clear();
    return {};
  }

  Result<Removal> plan() {
    if (auto added = add_byte_code(); !added) return std::unexpected(added.error());
    for (const auto& [folder, name] : metadata_) whole_.emplace(folder, true);
    Removal removal;
    std::set<std::string> things;
    for (const auto* known : folders_.known()) {
      if (auto added = add_things(known->first, known->second, things, removal); !added)
        return std::unexpected(added.error());
    }
    for (const auto& [folder, name] : metadata_) {
      things.erase(folder);
      removal.things.push_back(folder);
      removal.packages[folder].insert(name);
    }
    removal.things.insert(removal.things.end(), things.begin(), things.end());
    removal.index.insert(removal.things.begin(), removal.things.end());
    return removal;
  }

 private:
  Result<void> add_entries(const InstalledDistribution& distribution,
                           const std::vector<wheel::RecordEntry>& record) {
    std::vector<std::optional<std::string>> targets;
    targets.reserve(record.size());
    std::set<std::string> folders;
    for (const wheel::RecordEntry& entry : record) {
      auto resolved = record_target(distribution, entry, resolver_);
      if (!resolved) return std::unexpected(resolved.error());
      const std::optional<std::string>& target = targets.emplace_back(std::move(*resolved));
      if (!target) continue;
      const std::string folder = folder_of(*target);
      if (target->ends_with(".py")) folders.insert(fmt::format("{}/{}", folder, byte_code_folder));
      folders.insert(folder);
    }
    folders_.foresee(folders);
    for (std::size_t i = 0; i < record.size(); ++i) {
      if (!targets[i]) {
        report_.warn(fmt::format("{} lists '{}', which is outside the environment; it is kept",
                                 distribution.name, record[i].path));
      } else if (auto added = add_file(distribution, *targets[i], record[i].path); !added) {
        return added;
      }
    }
    return {};
  }

  Result<void> add_file(const InstalledDistribution& distribution, const std::string& target,
                        const std::string& listed) {
    if (roots_.is_reserved(target)) {
      report_.warn(fmt::format("{} lists '{}', which belongs to the environment; it is kept",
                               distribution.name, listed));
      return {};
    }
    const std::size_t slash = target.rfind('/');
    if (last_folder_ == nullptr || std::string_view(target).substr(0, slash) != last_path_) {
      last_path_ = target.substr(0, slash);
      const auto folder = folders_.at(last_path_);
      if (!folder) return std::unexpected(folder.error());
      last_folder_ = *folder;
    }
    const auto file =
        ListedFolders::find_file(*last_folder_, std::string_view(target).substr(slash + 1), target);
    if (!file) return std::unexpected(file.error());
    if (*file != nullptr)
      (*file)->leaves_with.push_back(static_cast<std::uint32_t>(names_.size() - 1));
    return {};
  }

  /// Also of modules that remain under the same name: byte code is validated by the seconds and
  /// size of its source, which two versions may share.
  Result<void> add_byte_code() {
    for (auto* known : folders_.known()) {
      ListedFolder& modules = known->second;
      if (std::ranges::none_of(modules.entries, is_leaving_module)) continue;
      const auto cache = folders_.at(fmt::format("{}/{}", known->first, byte_code_folder));
      if (!cache) return std::unexpected(cache.error());
      for (ListedEntry& code : (*cache)->entries) {
        const std::string stem = byte_code_stem(code.name);
        if (stem.empty() || code.is_folder || !code.leaves_with.empty()) continue;
        if (const ListedEntry* module = modules.find(stem + ".py"))
          code.leaves_with = module->leaves_with;
      }
    }
    return {};
  }

  static bool is_leaving_module(const ListedEntry& entry) {
    return !entry.leaves_with.empty() && entry.name.ends_with(".py");
  }

  /// The topmost folder of which nothing is left, or the single files of `folder`.
  Result<void> add_things(const std::string& path, const ListedFolder& folder,
                          std::set<std::string>& things, Removal& removal) {
    std::string whole;
    std::set<std::uint32_t> owners;
    for (const ListedEntry& entry : folder.entries)
      owners.insert(entry.leaves_with.begin(), entry.leaves_with.end());
    if (owners.empty()) return {};
    for (std::string above = path;; above = folder_of(above)) {
      const auto leaves = is_whole(above);
      if (!leaves) return std::unexpected(leaves.error());
      if (!*leaves) break;
      whole = above;
    }
    if (!whole.empty()) {
      for (const std::uint32_t owner : owners) removal.packages[whole].insert(names_[owner]);
      things.insert(std::move(whole));
      return {};
    }
    for (const ListedEntry& entry : folder.entries) {
      if (entry.leaves_with.empty()) continue;
      std::string file = path + "/" + entry.name;
      for (const std::uint32_t owner : entry.leaves_with)
        removal.packages[file].insert(names_[owner]);
      things.insert(std::move(file));
    }
    return {};
  }

  /// Whether a folder certainly contains only files to be removed.
  Result<bool> is_whole(const std::string& path) {
    if (const auto known = whole_.find(path); known != whole_.end()) return known->second;
    bool whole = !roots_.is_fixed_folder(path);
    if (whole) {
      const auto folder = folders_.at(path);
      if (!folder) return std::unexpected(folder.error());
      whole = (*folder)->complete;
      for (const ListedEntry& entry : (*folder)->entries) {
        if (!whole) break;
        const Result<bool> leaves =
            entry.is_folder ? is_whole(path + "/" + entry.name) : !entry.leaves_with.empty();
        if (!leaves) return leaves;
        whole = *leaves;
      }
    }
    whole_.emplace(path, whole);
    return whole;
  }

  const Roots& roots_;
  Report& report_;
  PathResolver resolver_;
  ListedFolders folders_;
  std::string last_path_;  ///< of the folder of the last file: neighbours follow each other
  ListedFolder* last_folder_ = nullptr;
  std::vector<std::string> names_;               ///< of the packages, by their numbers
  std::map<std::string, std::string> metadata_;  ///< folder -> package
  std::unordered_map<std::string, bool> whole_;
};

}  // namespace

Result<Removal> plan_removal(const std::vector<InstalledDistribution>& leaving,
                             const std::vector<InstalledDistribution>& staying,
                             const StandIns& stand_ins, const Roots& roots, Report& report) {
  RemovalPlanner planner(roots, report);
  for (const InstalledDistribution& distribution : leaving) {
    const auto stand_in = stand_ins.find(distribution.dist_info);
    const auto* files = stand_in == stand_ins.end() ? nullptr : &stand_in->second;
    if (auto added = planner.add(distribution, files); !added)
      return std::unexpected(added.error());
  }
  if (!leaving.empty()) {
    if (auto kept = planner.keep_shared(staying); !kept) return std::unexpected(kept.error());
  }
  return planner.plan();
}

}  // namespace axle::installer
