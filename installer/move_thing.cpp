#include "installer/move_thing.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace axle::installer {
namespace {

int rename_once(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // A file system without the flag; under the lock the check is as good as it gets.
  if (exists(to)) return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

bool exists(const std::string& path) {
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0;
}

int move_thing(const std::string& from, const std::string& to) {
  const int code = rename_once(from, to);
  if (code != ENOENT || !exists(from)) return code;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(to).parent_path(), error);
  return error ? error.value() : rename_once(from, to);
}

int move_entries(const std::string& from, const std::string& to) {
  struct stat status = {};
  if (::lstat(from.c_str(), &status) != 0) return errno == ENOENT ? 0 : errno;
  if (!S_ISDIR(status.st_mode)) return move_thing(from, to);
  if (::mkdir(to.c_str(), status.st_mode & 07777U) != 0 && errno != EEXIST) return errno;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(from, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (const int code = move_entries(from + "/" + name, to + "/" + name); code != 0) return code;
  }
  if (error) return error.value();
  return ::rmdir(from.c_str()) == 0 ? 0 : errno;
}

}  // namespace axle::installer
