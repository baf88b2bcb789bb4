#include "installer/tree/move_thing.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/newer_calls.h"
#include "installer/file_access.h"

namespace axle::installer {
namespace {

/// 0: something is there; ENOENT: nothing; any other errno: it cannot be determined.
int look(const std::string& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) == 0) return 0;
  return says_absent(errno) ? ENOENT : errno;
}

int rename_once(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // A file system without the flag; under the lock the check is sufficient.
  if (const int code = look(to); code != ENOENT) return code == 0 ? EEXIST : code;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

int move_thing(const std::string& from, const std::string& to) {
  const int code = rename_once(from, to);
  if (code != ENOENT) return code;
  if (const int there = look(from); there != 0) return there;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(to).parent_path(), error);
  return error ? error.value() : rename_once(from, to);
}

int move_entries(const std::string& from, const std::string& to, std::vector<std::string>& taken) {
  struct stat status = {};
  if (::lstat(from.c_str(), &status) != 0) return says_absent(errno) ? 0 : errno;
  int code = 0;
  if (S_ISDIR(status.st_mode)) {
    if (::mkdir(to.c_str(), status.st_mode & 07777U) != 0) code = errno;
    struct stat place = {};
    if (code == EEXIST && ::lstat(to.c_str(), &place) != 0) return errno;
    if (code == EEXIST && S_ISDIR(place.st_mode)) code = 0;
  } else {
    code = move_thing(from, to);
  }
  if (code == EEXIST) taken.push_back(to);
  if (code != 0 || !S_ISDIR(status.st_mode)) return code == EEXIST ? 0 : code;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(from, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    code = move_entries(from + "/" + name, to + "/" + name, taken);
    if (code != 0) return code;
  }
  if (error) return error.value();
  return ::rmdir(from.c_str()) == 0 || errno == ENOTEMPTY || errno == EEXIST ? 0 : errno;
}

}  // namespace axle::installer
