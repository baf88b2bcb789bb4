#include "installer/transaction/listed_folders.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/parallel.h"
#include "installer/file_access.h"

namespace axle::installer {
namespace {

ListedEntry entry_of(std::string name, const struct stat& status) {
  return {std::move(name),
          S_ISDIR(status.st_mode),
          static_cast<std::uint64_t>(status.st_size),
          nanoseconds_of(status.st_mtim),
          {}};
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
    if (entry->d_type == DT_DIR) {
      folder.entries.push_back({std::string(name), true, 0, 0, {}});
      continue;
    }
    struct stat status = {};
    if (::fstatat(::dirfd(opened.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
      folder.entries.push_back(entry_of(std::string(name), status));
    } else if (!says_absent(errno)) {  // another program removed it
      return std::unexpected(system_error("look at", path + "/" + entry->d_name, errno));
    }
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

bool ListedFolder::lacks(std::string_view name) const {
  return complete && !std::ranges::binary_search(entries, name, {}, &ListedEntry::name);
}

void ListedFolders::foresee(const std::vector<std::string>& paths) {
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
  const auto there = look_at(fmt::format("{}/{}", path, name));
  if (!there) return std::unexpected(there.error());
  if (!*there || S_ISDIR((*there)->st_mode)) return nullptr;
  const auto place = std::ranges::lower_bound(folder.entries, name, {}, &ListedEntry::name);
  return &*folder.entries.insert(place, entry_of(std::string(name), **there));
}

std::vector<std::pair<const std::string, ListedFolder>*> ListedFolders::known() {
  std::vector<std::pair<const std::string, ListedFolder>*> all;
  all.reserve(folders_.size());
  for (auto& folder : folders_) all.push_back(&folder);
  return all;
}

}  // namespace axle::installer
