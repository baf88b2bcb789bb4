#include "installer/tree/listed_folders.h"

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/parallel.h"
#include "installer/file_access.h"
#include "installer/try_each.h"

namespace axle::installer {
namespace {

ListedEntry entry_of(std::string name, const struct stat& status) {
  return {std::move(name),
          S_ISDIR(status.st_mode),
          static_cast<std::uint64_t>(status.st_size),
          nanoseconds_of(status.st_mtim),
          status.st_nlink > 1 ? status.st_ino : 0,
          {}};
}

/// Notes what `files`, of the open folder at `path`, are. One that another program has removed
/// loses its name.
Result<void> look_at_files(int folder, const std::string& path, std::span<ListedEntry> files) {
  for (ListedEntry& file : files) {
    if (file.is_folder) continue;
    struct stat status = {};
    if (::fstatat(folder, file.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
      file = entry_of(std::move(file.name), status);
    } else if (says_absent(errno)) {
      file.name.clear();
    } else {
      return std::unexpected(system_error("look at", path + "/" + file.name, errno));
    }
  }
  return {};
}

/// Files of one folder that one thread looks at.
constexpr std::size_t looks_at_a_time = 512;

/// The files are not looked at if there are more than `looks_at_a_time`.
Result<ListedFolder> read_folder(const std::string& path) {
  ListedFolder folder;
  const OpenFolder opened(::opendir(path.c_str()));
  if (opened == nullptr) {
    const bool denied =
        errno == EACCES && ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0;
    if (denied || says_absent(errno)) return folder;
    return std::unexpected(system_error("read", path, errno));
  }
  struct stat status = {};
  folder.owned = ::fstat(::dirfd(opened.get()), &status) == 0 && status.st_uid == ::geteuid() &&
                 (status.st_mode & S_IRWXU) == S_IRWXU;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(opened.get());
    if (entry == nullptr && errno != 0) return std::unexpected(system_error("read", path, errno));
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    folder.entries.push_back({std::string(name), entry->d_type == DT_DIR, 0, 0, 0, {}});
  }
  std::ranges::sort(folder.entries, {}, &ListedEntry::name);
  folder.complete = true;
  if (folder.entries.size() > looks_at_a_time) return folder;
  if (auto looked = look_at_files(::dirfd(opened.get()), path, folder.entries); !looked)
    return std::unexpected(looked.error());
  return folder;
}

/// Looks at the files that read_folder left out, several at once. `folders`: with their paths.
Result<void> look_at_rest(std::span<const std::pair<const std::string*, ListedFolder*>> folders) {
  struct Batch {
    const std::string* path;
    std::span<ListedEntry> files;
  };
  std::vector<Batch> batches;
  for (const auto& [path, folder] : folders) {
    std::span<ListedEntry> files = folder->entries;
    if (files.size() <= looks_at_a_time) continue;
    for (; !files.empty(); files = files.subspan(std::min(files.size(), looks_at_a_time)))
      batches.push_back({path, files.first(std::min(files.size(), looks_at_a_time))});
  }
  return try_each(batches.size(), [&](std::size_t i) -> Result<void> {
    const auto opened = open_folder(*batches[i].path);
    if (!opened) return std::unexpected(opened.error());
    return look_at_files(opened->get(), *batches[i].path, batches[i].files);
  });
}

/// Forgets those that are gone.
void settle(ListedFolder& folder) {
  std::erase_if(folder.entries, [](const ListedEntry& entry) { return entry.name.empty(); });
}

}  // namespace

ListedEntry* ListedFolder::find(std::string_view name) {
  while (next < entries.size() && entries[next].is_folder) ++next;
  if (next >= entries.size() || entries[next].name != name) {
    const auto found = std::ranges::lower_bound(entries, name, {}, &ListedEntry::name);
    if (found == entries.end() || found->name != name) return nullptr;
    next = static_cast<std::size_t>(found - entries.begin());
  }
  return &entries[next++];
}

bool ListedFolder::lacks(std::string_view name) const {
  return complete && !std::ranges::binary_search(entries, name, {}, &ListedEntry::name);
}

void ListedFolders::foresee(const std::vector<std::string>& paths,
                            const std::function<void()>& meanwhile) {
  std::vector<const std::string*> unknown;
  for (const std::string& path : paths)
    if (!folders_.contains(path)) unknown.push_back(&path);
  std::vector<Result<ListedFolder>> read(unknown.size());
  system::for_each_at_once(unknown.size() + 1, system::usable_processors(), [&](std::size_t i) {
    if (i == 0) {
      meanwhile();
    } else {
      read[i - 1] = read_folder(*unknown[i - 1]);
    }
  });
  std::vector<std::pair<const std::string*, ListedFolder*>> listed;
  for (std::size_t i = 0; i < unknown.size(); ++i)
    if (read[i]) listed.emplace_back(unknown[i], &*read[i]);
  if (auto looked = look_at_rest(listed); !looked) return;
  for (const auto& [path, folder] : listed) {
    settle(*folder);
    folders_.emplace(*path, std::move(*folder));
  }
}

Result<ListedFolder*> ListedFolders::at(const std::string& path) {
  if (const auto known = folders_.find(path); known != folders_.end()) return &known->second;
  auto folder = read_folder(path);
  if (!folder) return std::unexpected(std::move(folder.error()));
  const std::pair<const std::string*, ListedFolder*> one(&path, &*folder);
  if (auto looked = look_at_rest({&one, 1}); !looked) return std::unexpected(looked.error());
  settle(*folder);
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
