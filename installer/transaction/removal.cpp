#include "installer/transaction/removal.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <unordered_map>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/environment/ownership.h"
#include "installer/file_access.h"

namespace axle::installer {
namespace {

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// "module.cpython-311.opt-1.pyc" -> "module"; empty if it is not byte code of the cache.
std::string byte_code_stem(std::string_view name) {
  if (!name.ends_with(".pyc")) return {};
  name.remove_suffix(4);
  const std::size_t level = name.rfind(".opt-");
  if (level != std::string_view::npos) name = name.substr(0, level);
  const std::size_t tag = name.rfind('.');
  return tag == std::string_view::npos ? std::string() : std::string(name.substr(0, tag));
}

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
    auto record = read_record(distribution);
    if (record) {
      for (const wheel::RecordEntry& entry : *record) {
        if (auto added = add_entry(distribution, entry); !added) return added;
      }
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
    const auto owners = find_owners(files_, staying, roots_);
    if (!owners) return std::unexpected(owners.error());
    for (const auto& [path, owner] : *owners) files_.erase(path);
    return {};
  }

  Result<Removal> plan() {
    if (auto added = add_byte_code(); !added) return std::unexpected(added.error());
    for (const auto& [folder, name] : metadata_) whole_.emplace(folder, true);
    Removal removal;
    std::set<std::string> things;
    for (const std::string& file : files_) {
      std::string thing = file;
      for (std::string folder = folder_of(file);; folder = folder_of(folder)) {
        const auto whole = is_whole(folder);
        if (!whole) return std::unexpected(whole.error());
        if (!*whole) break;
        thing = folder;
      }
      removal.packages[thing].insert(owners_.at(file).begin(), owners_.at(file).end());
      things.insert(std::move(thing));
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
  Result<void> add_entry(const InstalledDistribution& distribution,
                         const wheel::RecordEntry& entry) {
    auto resolved = record_target(distribution, entry, resolver_);
    if (!resolved) return std::unexpected(resolved.error());
    std::optional<std::string>& target = *resolved;
    if (!target) {
      report_.warn(fmt::format("{} lists '{}', which is outside the environment; it is kept",
                               distribution.name, entry.path));
      return {};
    }
    return add_file(distribution, *target, entry.path);
  }

  Result<void> add_file(const InstalledDistribution& distribution, const std::string& target,
                        const std::string& listed) {
    if (roots_.is_reserved(target)) {
      report_.warn(fmt::format("{} lists '{}', which belongs to the environment; it is kept",
                               distribution.name, listed));
      return {};
    }
    auto there = look_at(target);
    if (!there) return std::unexpected(there.error());
    if (!*there || S_ISDIR((*there)->st_mode)) return {};
    owners_[target].push_back(distribution.name);
    files_.insert(target);
    return {};
  }

  /// Also of modules that remain under the same name: byte code is validated by the seconds and
  /// size of its source, which two versions may share.
  Result<void> add_byte_code() {
    std::unordered_map<std::string, std::set<std::string>> stems;
    for (const std::string& file : files_) {
      if (!file.ends_with(".py")) continue;
      const std::string name = name_of(file);
      stems[folder_of(file)].insert(name.substr(0, name.size() - 3));
    }
    for (const auto& [folder, names] : stems) {
      const std::string cache = folder + "/__pycache__";
      const auto entries = list(cache);
      if (!entries) return std::unexpected(entries.error());
      if (!*entries) continue;
      for (const auto& [name, is_folder] : **entries) {
        const std::string stem = byte_code_stem(name);
        if (is_folder || !names.contains(stem)) continue;
        const std::string code = cache + "/" + name;
        owners_.emplace(code, owners_.at(fmt::format("{}/{}.py", folder, stem)));
        files_.insert(code);
      }
    }
    return {};
  }

  /// Name -> whether it is a folder; nullopt if it does not exist or this user may not read it.
  /// Error: io.
  static Result<std::optional<std::map<std::string, bool>>> list(const std::string& folder) {
    std::map<std::string, bool> entries;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code unknown;
      const bool is_folder =
          entry->symlink_status(unknown).type() == std::filesystem::file_type::directory;
      if (unknown)
        return std::unexpected(system_error("look at", entry->path().string(), unknown.value()));
      entries.emplace(entry->path().filename().string(), is_folder);
    }
    if (!error) return entries;
    const bool denied = error == std::errc::permission_denied &&
                        ::faccessat(AT_FDCWD, folder.c_str(), R_OK, AT_EACCESS) != 0;
    if (denied || says_absent(error.value())) return std::nullopt;
    return std::unexpected(system_error("read", folder, error.value()));
  }

  /// Whether a folder certainly contains only files to be removed.
  Result<bool> is_whole(const std::string& folder) {
    if (const auto known = whole_.find(folder); known != whole_.end()) return known->second;
    bool whole = !roots_.is_fixed_folder(folder);
    if (whole) {
      const auto entries = list(folder);
      if (!entries) return std::unexpected(entries.error());
      whole = entries->has_value();
      for (const auto& [name, is_folder] : entries->value_or(std::map<std::string, bool>())) {
        const std::string path = folder + "/" + name;
        const Result<bool> leaves = is_folder ? is_whole(path) : files_.contains(path);
        if (!leaves) return leaves;
        whole = *leaves;
        if (!whole) break;
      }
    }
    whole_.emplace(folder, whole);
    return whole;
  }

  const Roots& roots_;
  Report& report_;
  PathResolver resolver_;
  std::unordered_set<std::string> files_;
  std::unordered_map<std::string, std::vector<std::string>> owners_;  ///< file -> packages
  std::map<std::string, std::string> metadata_;                       ///< folder -> package
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
