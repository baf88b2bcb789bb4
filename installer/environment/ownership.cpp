#include "installer/environment/ownership.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "installer/file_access.h"
#include "installer/try_each.h"

namespace axle::installer {
namespace {

constexpr std::uint64_t record_limit = 256U << 20;

/// The last part of a normal path. It is in every RECORD line for the path: links are followed in
/// the folders above it only.
std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view folder_of_packages(const InstalledDistribution& distribution) {
  return std::string_view(distribution.dist_info).substr(0, distribution.dist_info.rfind('/'));
}

/// The lines of `record` whose paths may have one of `names`; all of it where a field has quotes,
/// which may have lines of its own, or where lines may end otherwise.
std::string lines_with(const std::unordered_set<std::string_view>& names, std::string_view record) {
  if (record.contains('"') || record.contains('\r')) return std::string(record);
  std::string lines;
  while (!record.empty()) {
    const std::size_t end = std::min(record.find('\n'), record.size() - 1) + 1;
    std::string_view path = record.substr(0, end);
    path = path.substr(0, std::min(path.find(','), path.find('\n')));
    const std::string_view name = name_of(path);
    // "a.py/." is "a.py", too.
    if (name.empty() || name == "." || name == ".." || names.contains(name))
      lines += record.substr(0, end);
    record.remove_prefix(end);
  }
  return lines;
}

/// A folder of packages.
struct Site {
  explicit Site(std::string_view of)
      : path(of), folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
  std::string path;
  Descriptor folder;  ///< shorter paths are found sooner
};

/// The folders that some paths lie in.
class FoldersOfPaths {
 public:
  explicit FoldersOfPaths(const std::unordered_set<std::string>& paths) {
    for (const std::string& path : paths) names_.insert(path.substr(0, path.rfind('/')));
    for (const std::string& folder : names_) {
      struct stat status = {};
      if (::stat(folder.c_str(), &status) == 0) identities_.emplace(status.st_dev, status.st_ino);
    }
  }

  /// Whether `folder`, which is in `site`, certainly leads to none of them, also through links: one
  /// question to the system, where resolving it asks for each folder above it, too.
  [[nodiscard]] bool lack(const Site& site, const std::string& folder) const {
    struct stat status = {};
    return !names_.contains(fmt::format("{}/{}", site.path, folder)) && site.folder &&
           ::fstatat(site.folder.get(), folder.c_str(), &status, 0) == 0 &&
           !identities_.contains({status.st_dev, status.st_ino});
  }

 private:
  std::unordered_set<std::string> names_;
  std::set<std::pair<dev_t, ino_t>> identities_;  ///< of those that exist
};

/// Whether the text of `path` says which folders lead to it, links apart.
bool is_plain(std::string_view path) {
  const std::string_view name = name_of(path);
  return !path.starts_with('/') && !path.contains("//") && !path.contains("./") &&
         !path.contains('\0') && !name.empty() && name != "." && name != "..";
}

/// Tells the rows of one RECORD apart, of which neighbours lie in one folder.
class Candidates {
 public:
  Candidates(const Site& site, const FoldersOfPaths& folders) : site_(site), folders_(folders) {}

  /// Whether what is listed as `listed` may lie in one of the folders.
  bool may_have(std::string_view listed) {
    const std::size_t slash = listed.rfind('/');
    if (slash == std::string_view::npos || !is_plain(listed)) return true;
    if (const std::string_view folder = listed.substr(0, slash); folder != last_) {
      last_ = folder;
      lacks_ = folders_.lack(site_, last_);
    }
    return !lacks_;
  }

 private:
  const Site& site_;
  const FoldersOfPaths& folders_;
  std::string last_;  ///< the folder that was asked for last
  bool lacks_ = false;
};

}  // namespace

Result<std::string> read_record_text(const InstalledDistribution& distribution) {
  return read_file(distribution.dist_info + "/RECORD", record_limit);
}

Result<void> for_each_record_row(const InstalledDistribution& distribution, std::string_view record,
                                 const std::function<void(const wheel::RecordRow&)>& take) {
  const std::string path = distribution.dist_info + "/RECORD";
  bool lists_any = false;
  auto read = wheel::for_each_record_row(record, path, [&](const wheel::RecordRow& row) {
    lists_any = true;
    take(row);
  });
  // It lists at least itself: an empty one was emptied, and would pass every check as owner of
  // nothing.
  if (read && !lists_any)
    return fail(ErrorKind::malformed, fmt::format("{}: it lists no file", path));
  return read;
}

Result<std::vector<wheel::RecordEntry>> read_record(const InstalledDistribution& distribution) {
  const auto text = read_record_text(distribution);
  if (!text) return std::unexpected(text.error());
  std::vector<wheel::RecordEntry> entries;
  auto read = for_each_record_row(distribution, *text, [&](const wheel::RecordRow& row) {
    entries.push_back(wheel::entry_of(row));
  });
  if (!read) return std::unexpected(std::move(read.error()));
  return entries;
}

Result<std::optional<std::string>> record_target(const InstalledDistribution& distribution,
                                                 std::string_view listed, PathResolver& resolver) {
  if (listed.starts_with('/')) return resolver.resolve(listed);
  const std::string_view site = folder_of_packages(distribution);
  std::string path;
  path.reserve(site.size() + 1 + listed.size());
  return resolver.resolve(path.append(site).append("/").append(listed));
}

std::string Owner::title() const {
  return fmt::format("{} {}", distribution->name,
                     wheel::render_version(distribution->metadata.version));
}

Result<std::unordered_map<std::string, std::vector<Owner>>> find_owners(
    const std::unordered_set<std::string>& paths,
    const std::vector<InstalledDistribution>& distributions, const Roots& roots) {
  std::unordered_set<std::string_view> names;
  for (const std::string& path : paths) names.insert(name_of(path));
  const FoldersOfPaths folders(paths);
  std::map<std::string_view, Site> sites;
  for (const InstalledDistribution& distribution : distributions)
    sites.try_emplace(folder_of_packages(distribution), folder_of_packages(distribution));
  std::vector<std::vector<std::pair<std::string, Owner>>> owned(distributions.size());
  const auto look_into = [&](std::size_t i) -> Result<void> {
    const InstalledDistribution& distribution = distributions[i];
    const auto text = read_record_text(distribution);
    if (!text && text.error().kind == ErrorKind::io) return std::unexpected(text.error());
    if (!text) return {};
    PathResolver resolver(roots);
    Candidates candidates(sites.at(folder_of_packages(distribution)), folders);
    for (const wheel::RecordEntry& entry : wheel::salvage_record(lines_with(names, *text))) {
      if (!candidates.may_have(entry.path)) continue;
      auto target = record_target(distribution, entry.path, resolver);
      if (!target) return std::unexpected(target.error());
      if (*target && paths.contains(**target))
        owned[i].emplace_back(std::move(**target), Owner{&distribution, entry.sha256, entry.size});
    }
    return {};
  };
  if (auto done = try_each(distributions.size(), look_into); !done)
    return std::unexpected(std::move(done.error()));
  std::unordered_map<std::string, std::vector<Owner>> owners;
  for (auto& of_one : owned) {
    for (auto& [path, owner] : of_one) owners[std::move(path)].push_back(std::move(owner));
  }
  return owners;
}

}  // namespace axle::installer
