#include "session/sole_owner.h"

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

#include "detect/drivers/library_trust.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// Whether it is the primary group of another user; getgrgid(3) only lists further members.
bool is_first_group_of_another(gid_t number, uid_t user) {
  bool found = false;
  ::setpwent();
  for (const passwd* row = ::getpwent(); row != nullptr && !found; row = ::getpwent())
    found = row->pw_gid == number && row->pw_uid != user;
  ::endpwent();
  return found;
}

/// The group of the same name that many systems create for each user, which makes group-writable
/// files common. Root's group has members on several systems.
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

/// With an access control list the group bits are the maximum for all entries in the list (acl(5)),
/// not the group's permissions. If it cannot be determined, the answer is yes.
bool has_access_list(const std::string& path) {
  const ssize_t size = ::getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0);
  return size >= 0 || (errno != ENODATA && errno != EOPNOTSUPP);
}

Result<struct stat> look(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) return status;
  return fail(ErrorKind::io, fmt::format("{}: {}", path, std::strerror(errno)));
}

Result<void> check_user(const struct stat& status, const std::string& path, std::string_view what) {
  if (status.st_uid == ::geteuid() || detect::may_be_root(status.st_uid)) return {};
  return fail(ErrorKind::unsupported, fmt::format("{}: {} belongs to another user", path, what),
              "its owner could decide what runs here: change its owner to yourself");
}

/// `sticky_will_do`: accept a sticky folder whose content is checked separately: only the owner of
/// a file can replace it there, although others can create new ones.
Result<void> check(const std::string& path, std::string_view what, bool sticky_will_do) {
  const auto status = look(path);
  if (!status) return std::unexpected(status.error());
  if (auto sound = check_user(*status, path, what); !sound) return sound;
  const bool by_group =
      (status->st_mode & S_IWGRP) != 0 && (has_access_list(path) || !is_own_group(status->st_gid));
  const bool by_all = (status->st_mode & S_IWOTH) != 0;
  const bool sticky = sticky_will_do && (status->st_mode & S_ISVTX) != 0;
  if ((by_group || by_all) && !sticky) {
    return fail(ErrorKind::unsupported, fmt::format("{}: others may write {}", path, what),
                fmt::format("chmod go-w '{}'", path));
  }
  return {};
}

/// In a folder that nobody else can enter any mode is accepted, such as those of a umask of 0.
Result<void> check_folders_in(const std::string& folder) {
  const auto above = look(folder);
  if (!above) return std::unexpected(above.error());
  const bool closed = (above->st_mode & (S_IXGRP | S_IXOTH)) == 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    if (!entry->is_directory(unknown)) continue;
    const std::string path = entry->path().string();
    const auto status = look(path);
    if (!status) return std::unexpected(status.error());
    const auto sound =
        closed ? check_user(*status, path, "this folder") : check(path, "this folder", false);
    if (!sound) return sound;
  }
  if (error) return fail(ErrorKind::io, fmt::format("{}: {}", folder, error.message()));
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

Result<std::string> check_own_folder(const std::string& name) {
  std::error_code error;
  std::string folder = fs::canonical(name, error).string();
  if (error) return fail(ErrorKind::io, fmt::format("{}: {}", name, error.message()));
  if (auto sound = check_owner(folder, "this folder"); !sound)
    return std::unexpected(sound.error());
  if (auto sound = check_folders_above(folder); !sound) return std::unexpected(sound.error());
  if (auto sound = check_folders_in(folder); !sound) return std::unexpected(sound.error());
  return folder;
}

Result<std::string> own_folder(const std::string& name) {
  std::error_code error;
  fs::create_directories(fs::path(name).parent_path(), error);
  if (!error && ::mkdir(name.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    error.assign(errno, std::generic_category());
  if (error) return fail(ErrorKind::io, fmt::format("{}: {}", name, error.message()));
  auto folder = check_own_folder(name);
  if (!folder || ::access(folder->c_str(), W_OK) == 0) return folder;
  return fail(ErrorKind::io, fmt::format("{} cannot be written: {}", *folder, std::strerror(errno)),
              "run as its owner, where it is not read-only");
}

Result<OpenFile> open_own_file(const std::string& name) {
  const auto missing = [&](int error) {
    return error == EACCES ? fail(ErrorKind::io, fmt::format("{}: cannot be read", name),
                                  "check that it belongs to you")
                           : fail(ErrorKind::not_found, fmt::format("{}: no such file", name));
  };
  std::error_code error;
  const std::string path = fs::canonical(name, error).string();
  if (error) return missing(error.value());
  // From here on nobody else can change what the path refers to.
  if (auto sound = check_folders_above(path); !sound) return std::unexpected(sound.error());
  if (auto sound = check_owner(path, "the file"); !sound) return std::unexpected(sound.error());
  // Opening a pipe without a writer must not block.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  OpenFile file(descriptor < 0 ? nullptr : ::fdopen(descriptor, "rb"), std::fclose);
  if (file == nullptr) return missing(errno);
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    return fail(ErrorKind::malformed, fmt::format("{}: not a file", name));
  return file;
}

}  // namespace axle::session
