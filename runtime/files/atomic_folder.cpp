#include "runtime/files/atomic_folder.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/file.h>
#include <sys/stat.h>  // mkdir
#include <unistd.h>

namespace axle::runtime {
namespace {

constexpr std::string_view marker = ".partial-";

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> open(opendir(folder.c_str()));
  if (!open) return names;
  while (const dirent* const entry = readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  return names;
}

// stat and its kin have other symbol versions since glibc 2.33, and a wheel runs on older ones.

bool is_there(const std::string& path) {
  char target[2];
  return access(path.c_str(), F_OK) == 0 || readlink(path.c_str(), target, sizeof target) >= 0;
}

int remove_one(const char* path, const struct stat*, int, FTW*) { return std::remove(path); }

/// Never through a symbolic link, and without anything that throws.
void remove_all(const std::string& path) {
  constexpr int open_folders = 8;
  nftw(path.c_str(), remove_one, open_folders, FTW_DEPTH | FTW_PHYS);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Locked as long as it is filled; -1 where that cannot be.
int lock_folder(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW);
  if (folder < 0 || flock(folder, LOCK_EX | LOCK_NB) == 0) return folder;
  close(folder);
  return -1;
}

/// In a container the next process often has the same number: what is under the own one is either
/// filled by another thread, or left.
bool is_left_over(const std::string& path, pid_t process) {
  if (process != getpid()) return kill(process, 0) != 0 && errno == ESRCH;
  const int folder = lock_folder(path);
  if (folder >= 0) close(folder);
  return folder >= 0;
}

/// What processes that are no more left of the same folder.
void remove_left_over(const std::string& path) {
  const std::string parent = parent_of(path);
  const std::string start =
      path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1) +
      std::string(marker);
  for (const std::string& name : names_in(parent)) {
    if (!name.starts_with(start)) continue;
    pid_t process = 0;
    const char* const last = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + start.size(), last, process);
    const std::string left = parent + "/" + name;
    if (parsed.ec == std::errc() && parsed.ptr == last && process > 0 &&
        is_left_over(left, process))
      remove_all(left);
  }
}

std::unexpected<Failure> something_there(const std::string& path) {
  return failure(AXLE_BAD_ARGUMENT, "%s: there is something already; name another folder",
                 path.c_str());
}

}  // namespace

Result<AtomicFolder> AtomicFolder::create(const std::string& path) {
  std::string name = path;
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  if (is_there(name)) return something_there(name);
  remove_left_over(name);
  std::string partial = name + std::string(marker) + std::to_string(getpid());
  if (mkdir(partial.c_str(), 0777) != 0)
    return failure(AXLE_IO, "%s: cannot be made: %s", partial.c_str(), std::strerror(errno));
  const int lock = lock_folder(partial);
  return AtomicFolder(std::move(name), std::move(partial), lock);
}

AtomicFolder::AtomicFolder(AtomicFolder&& other) noexcept
    : path_(std::move(other.path_)),
      partial_(std::exchange(other.partial_, std::string())),
      lock_(std::exchange(other.lock_, -1)) {}

AtomicFolder::~AtomicFolder() {
  if (!partial_.empty()) remove_all(partial_);
  if (lock_ >= 0) close(lock_);
}

Result<void> AtomicFolder::publish() {
  // An empty folder at that place would be replaced by rename().
  if (is_there(path_)) return something_there(path_);
  if (rename(partial_.c_str(), path_.c_str()) != 0)
    return failure(AXLE_IO, "%s: cannot be renamed to %s: %s", partial_.c_str(), path_.c_str(),
                   std::strerror(errno));
  partial_.clear();
  const int parent = open(parent_of(path_).c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (parent >= 0) {
    fsync(parent);
    close(parent);
  }
  return {};
}

}  // namespace axle::runtime
