#include "cli/sole_owner.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace axle::cli {

namespace {

namespace fs = std::filesystem;

/// The group that many systems make for each user, of the same name: with it, they have files that
/// the group may write.
bool is_own_group(gid_t number) {
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
  return true;
}

}  // namespace

Result<void> check_owner(const struct stat& status, const std::string& path,
                         std::string_view what) {
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return fail(ErrorKind::unsupported, fmt::format("{}: {} belongs to another user", path, what),
                "whoever owns it decides what runs here: make it your own");
  }
  const bool by_group = (status.st_mode & S_IWGRP) != 0 && !is_own_group(status.st_gid);
  const bool by_all = (status.st_mode & S_IWOTH) != 0;
  // In a sticky folder only the owner exchanges a file.
  const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if ((by_group || by_all) && !sticky) {
    return fail(ErrorKind::unsupported, fmt::format("{}: others may write {}", path, what),
                fmt::format("chmod go-w '{}'", path));
  }
  return {};
}

Result<void> check_owner(const std::string& path, std::string_view what) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    return fail(ErrorKind::io, fmt::format("{}: {}", path, std::strerror(errno)));
  return check_owner(status, path, what);
}

Result<void> check_folders_above(const std::string& path) {
  fs::path folder = fs::path(path).parent_path();
  while (true) {
    if (const auto sound = check_owner(folder.string(), "this folder"); !sound) return sound;
    if (!folder.has_relative_path()) return {};
    folder = folder.parent_path();
  }
}

}  // namespace axle::cli
