#include "installer/removal.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <unordered_map>

#include <fmt/format.h>
#include <sys/stat.h>

#include "installer/ownership.h"

namespace axle::installer {
namespace {

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// "module.cpython-311.opt-1.pyc" -> "module"; empty when it is no byte code of the cache.
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
          fmt::format("{} cannot be removed, because which files are its own is not known: {}",
                      distribution.name, record.message),
          is_repairable(distribution)
              ? fmt::format("{} brings its RECORD back, then it can be removed or replaced",
                            repair_command(distribution))
          : distribution.installer.empty()
              ? "delete the package's files and its metadata by hand"
              : fmt::format("remove it with {}, which installed it", distribution.installer)};
}

class RemovalPlanner {
 public:
  RemovalPlanner(const Roots& roots, Report& report)
      : roots_(roots), report_(report), resolver_(roots) {}

  /// `stand_in`: the files that are its own where its RECORD does not say; nullptr: none are known.
  Result<void> add(const InstalledDistribution& distribution,
                   const std::vector<std::string>* stand_in) {
    auto record = read_record(distribution);
    if (record) {
      for (const wheel::RecordEntry& entry : *record) add_entry(distribution, entry);
    } else if (record.error().kind == ErrorKind::io) {
      return std::unexpected(record.error());
    } else if (stand_in == nullptr) {
      return std::unexpected(unrecorded(distribution, record.error()));
    } else {
      report_.warn(fmt::format("{}: {}; {}", distribution.dist_info, record.error().message,
                               stand_in->empty()
                                   ? "nobody knows its files, so only that folder is removed"
                                   : "the files of the wheel that replaces it count as its own"));
      for (const std::string& file : *stand_in) add_file(distribution, file, file);
    }
    auto metadata = resolver_.resolve(distribution.dist_info);
    if (!metadata) {
      return fail(ErrorKind::malformed,
                  fmt::format("{} lies outside the environment", distribution.dist_info));
    }
    metadata_.insert(std::move(*metadata));
    return {};
  }

  void keep_shared(const std::vector<InstalledDistribution>& staying) {
    for (const auto& [path, owner] : find_owners(files_, staying, roots_)) files_.erase(path);
  }

  Removal plan() {
    add_byte_code();
    for (const std::string& folder : metadata_) whole_.emplace(folder, true);
    std::set<std::string> things;
    for (const std::string& file : files_) {
      std::string thing = file;
      for (std::string folder = folder_of(file); is_whole(folder); folder = folder_of(folder))
        thing = folder;
      things.insert(std::move(thing));
    }
    for (const std::string& folder : metadata_) things.erase(folder);
    Removal removal;
    removal.things.assign(metadata_.begin(), metadata_.end());
    removal.things.insert(removal.things.end(), things.begin(), things.end());
    removal.index.insert(removal.things.begin(), removal.things.end());
    return removal;
  }

 private:
  void add_entry(const InstalledDistribution& distribution, const wheel::RecordEntry& entry) {
    auto target = record_target(distribution, entry, resolver_);
    if (!target) {
      report_.warn(
          fmt::format("{} lists '{}', which lies outside the environment; it is left as it is",
                      distribution.name, entry.path));
      return;
    }
    add_file(distribution, *target, entry.path);
  }

  void add_file(const InstalledDistribution& distribution, const std::string& target,
                const std::string& listed) {
    if (roots_.is_reserved(target)) {
      report_.warn(fmt::format("{} lists '{}', which is the environment's own; it is left as it is",
                               distribution.name, listed));
      return;
    }
    struct stat status = {};
    if (::lstat(target.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return;
    files_.insert(target);
  }

  /// Also of modules that stay under their name: byte code is tied to its source by seconds and
  /// size, which two versions may share.
  void add_byte_code() {
    std::unordered_map<std::string, std::set<std::string>> stems;
    for (const std::string& file : files_) {
      if (!file.ends_with(".py")) continue;
      const std::string name = name_of(file);
      stems[folder_of(file)].insert(name.substr(0, name.size() - 3));
    }
    for (const auto& [folder, names] : stems) {
      const std::string cache = folder + "/__pycache__";
      const auto entries = list(cache);
      if (!entries) continue;
      for (const auto& [name, is_folder] : *entries) {
        if (!is_folder && names.contains(byte_code_stem(name))) files_.insert(cache + "/" + name);
      }
    }
  }

  /// Name -> whether it is a folder; nullopt when that cannot be read.
  static std::optional<std::map<std::string, bool>> list(const std::string& folder) {
    std::map<std::string, bool> entries;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code unknown;
      const bool is_folder =
          entry->symlink_status(unknown).type() == std::filesystem::file_type::directory;
      entries.emplace(entry->path().filename().string(), is_folder);
    }
    if (error) return std::nullopt;
    return entries;
  }

  /// Whether a folder holds nothing but what leaves, for certain.
  bool is_whole(const std::string& folder) {
    if (const auto known = whole_.find(folder); known != whole_.end()) return known->second;
    const auto entries = roots_.is_fixed_folder(folder) ? std::nullopt : list(folder);
    bool whole = entries.has_value();
    if (whole) {
      for (const auto& [name, is_folder] : *entries) {
        const std::string path = folder + "/" + name;
        whole = whole && (is_folder ? is_whole(path) : files_.contains(path));
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
  std::set<std::string> metadata_;
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
  if (!leaving.empty()) planner.keep_shared(staying);
  return planner.plan();
}

}  // namespace axle::installer
