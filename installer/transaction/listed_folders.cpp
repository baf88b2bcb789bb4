#include "installer/transaction/listed_folders.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/parallel.h"
#include "installer/file_access.h"

namespace axle::installer {
namespace {

/// Whether `entry` of the folder `fd` is a folder. nullopt: errno says why that is unknown.
std::optional<bool> is_folder(int fd, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat status = {};
  if (::fstatat(fd, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return S_ISDIR(status.st_mode);
}

Result<ListedFolder> read_folder(const std::string& path) {
  ListedFolder folder;
  const OpenFolder opened(::opendir(path.c_str()));
  if (opened == nullptr) {
    const bool denied =
        errno == EACCES && ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0;
    if (denied || says_absent(errno)) return folder;
    return std::unexpected(system_error("read", path, errno));
  }
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(opened.get());
    if (entry == nullptr && errno != 0) return std::unexpected(system_error("read", path, errno));
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    const auto folder_there = is_folder(::dirfd(opened.get()), *entry);
    if (!folder_there)
      return std::unexpected(system_error("look at", path + "/" + entry->d_name, errno));
    folder.entries.push_back({std::string(name), *folder_there, {}});
  }
  std::ranges::sort(folder.entries, {}, &ListedEntry::name);
  folder.complete = true;
  return folder;
}

}  // namespace

ListedEntry* ListedFolder::find(std::string_view name) {
  const auto found = std::ranges::lower_bound(entries, name, {}, &ListedEntry::name);
  return found == entries.end() || found->name != name ? nullptr : &*found;
}

void ListedFolders::foresee(const std::set<std::string>& paths) {
  std::vector<const std::string*> unknown;
  for (const std::string& path : paths)
    if (!folders_.contains(path)) unknown.push_back(&path);
  std::vector<Result<ListedFolder>> read(unknown.size());
  system::for_each_at_once(unknown.size(), system::usable_processors(),
                           [&](std::size_t i) { read[i] = read_folder(*unknown[i]); });
  for (std::size_t i = 0; i < unknown.size(); ++i)
    if (read[i]) folders_.emplace(*unknown[i], std::move(*read[i]));
}

Result<ListedFolder*> ListedFolders::at(const std::string& path) {
  if (const auto known = folders_.find(path); known != folders_.end()) return &known->second;
  auto folder = read_folder(path);
  if (!folder) return std::unexpected(std::move(folder.error()));
  return &folders_.emplace(path, std::move(*folder)).first->second;
}

Result<ListedEntry*> ListedFolders::find_file(ListedFolder& folder, std::string_view name,
                                              const std::string& path) {
  if (ListedEntry* found = folder.find(name)) return found->is_folder ? nullptr : found;
  const auto there = look_at(path);
  if (!there) return std::unexpected(there.error());
  if (!*there || S_ISDIR((*there)->st_mode)) return nullptr;
  const auto place = std::ranges::lower_bound(folder.entries, name, {}, &ListedEntry::name);
  return &*folder.entries.insert(place, {std::string(name), false, {}});
}

std::vector<std::pair<const std::string, ListedFolder>*> ListedFolders::known() {
  std::vector<std::pair<const std::string, ListedFolder>*> all;
  all.reserve(folders_.size());
  for (auto& folder : folders_) all.push_back(&folder);
  return all;
}

}  // namespace axle::installer
