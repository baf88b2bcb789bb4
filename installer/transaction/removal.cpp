#include "installer/transaction/removal.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "foundation/system/until_exit.h"
#include "installer/environment/ownership.h"
#include "installer/environment/record_places.h"
#include "installer/tree/byte_code_names.h"
#include "installer/tree/listed_folders.h"

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
    const auto places = read_places(distribution);
    if (places) {
      if (auto added = add_places(distribution, *places); !added) return added;
    } else if (places.error().kind == ErrorKind::io) {
      return std::unexpected(places.error());
    } else if (stand_in == nullptr) {
      return std::unexpected(unrecorded(distribution, places.error()));
    } else {
      report_.warn(fmt::format("{}: {}; {}", distribution.dist_info, places.error().message,
                               stand_in->empty()
                                   ? "its files are unknown, so only that folder is removed"
                                   : "the files of the wheel that replaces it count as its own"));
      for (const std::string& file : *stand_in) {
        if (auto added = add_stand_in(distribution, file); !added) return added;
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
    for (const std::string& thing : things) {
      if (!is_whole_folder(thing) || is_byte_code_folder(folder_of(thing))) continue;
      WholeFolder whole;
      if (!is_byte_code_folder(thing)) {
        if (auto added = add_leaves(thing, {}, whole); !added)
          return std::unexpected(added.error());
      }
      removal.leaves.emplace(thing, std::move(whole.leaves));
      if (whole.is_linked && whole.linked.inode != 0)
        removal.linked.emplace(thing, std::move(whole.linked));
    }
    removal.things.insert(removal.things.end(), things.begin(), things.end());
    removal.index.insert(removal.things.begin(), removal.things.end());
    return removal;
  }

 private:
  Result<RecordPlaces> read_places(const InstalledDistribution& distribution) {
    const auto record = read_record_text(distribution);
    if (!record) return std::unexpected(record.error());
    Result<RecordPlaces> places;
    folders_.foresee(guess_folders(distribution, *record),
                     [&] { places = find_places(distribution, *record, roots_, resolver_); });
    return places;
  }

  Result<void> add_places(const InstalledDistribution& distribution, const RecordPlaces& places) {
    for (const auto& [listed, outside] : places.kept) {
      report_.warn(
          fmt::format("{} lists '{}', which {}; it is kept", distribution.name, listed,
                      outside ? "is outside the environment" : "belongs to the environment"));
    }
    folders_.foresee(places.folders);
    std::vector<ListedFolder*> folders;
    for (const std::string& path : places.folders) {
      const auto folder = folders_.at(path);
      if (!folder) return std::unexpected(folder.error());
      folders.push_back(*folder);
    }
    for (const auto& [folder, name] : places.files) {
      if (auto added = add_file(*folders[folder], places.folders[folder], name); !added)
        return added;
    }
    return {};
  }

  Result<void> add_stand_in(const InstalledDistribution& distribution, const std::string& target) {
    if (roots_.is_reserved(target)) {
      report_.warn(fmt::format("{} lists '{}', which belongs to the environment; it is kept",
                               distribution.name, target));
      return {};
    }
    const std::string path = folder_of(target);
    const auto folder = folders_.at(path);
    if (!folder) return std::unexpected(folder.error());
    return add_file(**folder, path, std::string_view(target).substr(path.size() + 1));
  }

  /// `path`: of `folder`.
  Result<void> add_file(ListedFolder& folder, const std::string& path, std::string_view name) {
    const auto file = ListedFolders::find_file(folder, name, path);
    if (!file) return std::unexpected(file.error());
    if (*file != nullptr)
      (*file)->leaves_with.push_back(static_cast<std::uint32_t>(names_.size() - 1));
    return {};
  }

  /// Also of modules that remain under the same name: byte code is validated by the seconds and
  /// size of its source, which two versions may share.
  Result<void> add_byte_code() {
    std::vector<std::pair<ListedFolder*, std::string>> caches;  // of the modules in the folder
    std::vector<std::string> paths;
    for (auto* known : folders_.known()) {
      ListedFolder& modules = known->second;
      if (modules.lacks(byte_code_folder) ||
          std::ranges::none_of(modules.entries, is_leaving_module))
        continue;
      paths.push_back(fmt::format("{}/{}", known->first, byte_code_folder));
      caches.emplace_back(&modules, paths.back());
    }
    folders_.foresee(paths);
    for (const auto& [modules, path] : caches) {
      const auto cache = folders_.at(path);
      if (!cache) return std::unexpected(cache.error());
      for (ListedEntry& code : (*cache)->entries) {
        const std::string stem = byte_code_stem(code.name);
        if (stem.empty() || code.is_folder || !code.leaves_with.empty()) continue;
        if (const ListedEntry* module = modules->find(stem + ".py"))
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

  [[nodiscard]] bool is_whole_folder(const std::string& path) const {
    const auto known = whole_.find(path);
    return known != whole_.end() && known->second;
  }

  struct WholeFolder {
    Leaves leaves;  ///< as list_leaves: sorted, without byte code
    bool is_linked = true;
    LinkedFolder linked;
    std::uint64_t largest = 0;  ///< bytes
  };
  /// `below`: the path of `folder`, of which all is known, below the thing `whole`.
  Result<void> add_leaves(const std::string& folder, const std::string& below, WholeFolder& whole) {
    if (is_byte_code_folder(folder)) {
      whole.linked.with_byte_code.push_back(
          below.substr(0, below.size() - byte_code_folder.size() - 1));
      return {};
    }
    const auto listed = folders_.at(folder);
    if (!listed) return std::unexpected(listed.error());
    whole.is_linked = whole.is_linked && (*listed)->owned;
    std::vector<const ListedEntry*> entries;
    for (const ListedEntry& entry : (*listed)->entries) entries.push_back(&entry);
    const auto has_folder = [](const ListedEntry* entry) { return entry->is_folder; };
    if (std::ranges::any_of(entries, has_folder)) {
      std::ranges::sort(entries, comes_before, [](const ListedEntry* entry) {
        return LeafName{entry->name, entry->is_folder};
      });
    }
    for (const ListedEntry* entry : entries) {
      if (!entry->is_folder) {
        whole.leaves.push_back({below + entry->name, entry->size, entry->modified});
        whole.is_linked = whole.is_linked && entry->inode != 0;
        if (whole.linked.inode == 0 || entry->size > whole.largest) {
          whole.linked.largest = whole.leaves.back().path;
          whole.linked.inode = entry->inode;
          whole.largest = entry->size;
        }
      } else if (auto added =
                     add_leaves(folder + "/" + entry->name, below + entry->name + "/", whole);
                 !added) {
        return added;
      }
    }
    return {};
  }

  const Roots& roots_;
  Report& report_;
  PathResolver resolver_;
  ListedFolders folders_;
  std::vector<std::string> names_;               ///< of the packages, by their numbers
  std::map<std::string, std::string> metadata_;  ///< folder -> package
  std::unordered_map<std::string, bool> whole_;
};

}  // namespace

Result<Removal> plan_removal(const std::vector<InstalledDistribution>& leaving,
                             const std::vector<InstalledDistribution>& staying,
                             const StandIns& stand_ins, const Roots& roots, Report& report) {
  auto planner = std::make_unique<RemovalPlanner>(roots, report);
  for (const InstalledDistribution& distribution : leaving) {
    const auto stand_in = stand_ins.find(distribution.dist_info);
    const auto* files = stand_in == stand_ins.end() ? nullptr : &stand_in->second;
    if (auto added = planner->add(distribution, files); !added)
      return std::unexpected(added.error());
  }
  if (!leaving.empty()) {
    if (auto kept = planner->keep_shared(staying); !kept) return std::unexpected(kept.error());
  }
  auto removal = planner->plan();
  system::keep_until_exit(std::move(planner));
  return removal;
}

}  // namespace axle::installer
