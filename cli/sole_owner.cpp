#include "cli/sole_owner.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "detect/library_trust.h"

namespace axle::cli {

namespace {

namespace fs = std::filesystem;

/// Those whose first group it is; getgrgid(3) lists only who joined it later.
bool is_first_group_of_another(gid_t number, uid_t user) {
  bool found = false;
  ::setpwent();
  for (const passwd* row = ::getpwent(); row != nullptr && !found; row = ::getpwent())
    found = row->pw_gid == number && row->pw_uid != user;
  ::endpwent();
  return found;
}

/// The group that many systems make for each user, of the same name: with it, they have files that
/// the group may write. Root's has members on several systems.
bool is_own_group(gid_t number) {
  if (number == 0) return false;
  std::array<char, 8192> users_text;
  std::array<char, 65536> groups_text;
  passwd user_row{};
  group group_row{};
  passwd* user = nullptr;
  group* found = nullptr;
  ::getpwuid_r(::geteuid(), &user_row, users_text.data(), users_text.size(), &user);
  ::getgrgid_r(number, &group_row, groups_text.data(), groups_text.size(), &found);
  if (user == nullptr || found == nullptr || std::strcmp(user->pw_name, found->gr_name) != 0)
    return false;
  for (char** member = found->gr_mem; *member != nullptr; ++member) {
    if (std::strcmp(*member, user->pw_name) != 0) return false;
  }
  return !is_first_group_of_another(number, user->pw_uid);
}

/// With an access control list the group's bits are not the group's: they are the most that anyone
/// on the list may have (acl(5)). What cannot be told counts as one.
bool has_access_list(const std::string& path) {
  const ssize_t size = ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0);
  return size >= 0 || (errno != ENODATA && errno != EOPNOTSUPP);
}

/// `sticky_will_do`: of a folder that what lies in it, which is looked at by itself, may stay
/// there: in a sticky one only its owner exchanges a file. Others may put new ones there.
Result<void> check(const std::string& path, std::string_view what, bool sticky_will_do) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    return fail(ErrorKind::io, fmt::format("{}: {}", path, std::strerror(errno)));
  if (status.st_uid != ::geteuid() && !detect::may_be_root(status.st_uid)) {
    return fail(ErrorKind::unsupported, fmt::format("{}: {} belongs to another user", path, what),
                "whoever owns it decides what runs here: make it your own");
  }
  const bool by_group =
      (status.st_mode & S_IWGRP) != 0 && (has_access_list(path) || !is_own_group(status.st_gid));
  const bool by_all = (status.st_mode & S_IWOTH) != 0;
  const bool sticky = sticky_will_do && (status.st_mode & S_ISVTX) != 0;
  if ((by_group || by_all) && !sticky) {
    return fail(ErrorKind::unsupported, fmt::format("{}: others may write {}", path, what),
                fmt::format("chmod go-w '{}'", path));
  }
  return {};
}

}  // namespace

Result<void> check_owner(const std::string& path, std::string_view what) {
  return check(path, what, false);
}

Result<void> check_folders_above(const std::string& path) {
  fs::path folder = fs::path(path).parent_path();
  while (true) {
    if (const auto sound = check(folder.string(), "this folder", true); !sound) return sound;
    if (!folder.has_relative_path()) return {};
    folder = folder.parent_path();
  }
}

Result<OpenFile> open_own_file(const std::string& name) {
  const auto missing = [&](int error) {
    return error == EACCES
               ? fail(ErrorKind::io, fmt::format("{}: cannot be read", name), "is it your own?")
               : fail(ErrorKind::not_found, fmt::format("{}: there is no such file", name));
  };
  std::error_code error;
  const std::string path = fs::canonical(name, error).string();
  if (error) return missing(error.value());
  // From here on nobody else can exchange what the path means.
  if (auto sound = check_folders_above(path); !sound) return std::unexpected(sound.error());
  if (auto sound = check_owner(path, "the file"); !sound) return std::unexpected(sound.error());
  // A pipe without a writer is opened at once.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  OpenFile file(descriptor < 0 ? nullptr : ::fdopen(descriptor, "rb"), std::fclose);
  if (file == nullptr) return missing(errno);
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    return fail(ErrorKind::malformed, fmt::format("{}: it is no file", name));
  return file;
}

}  // namespace axle::cli
