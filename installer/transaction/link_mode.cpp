#include "installer/transaction/link_mode.h"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/file_access.h"
#include "installer/transaction/new_package.h"

namespace axle::installer {
namespace {

constexpr std::string_view instead =
    "use --link-mode copy, or a cache on the file system of the environment with --cache-dir; "
    "nothing was changed";

/// Byte code is valid for a module of the store's time.
Result<Placed> with_time_of_store(const NewFile& file, int folder_fd, const std::string& path) {
  constexpr std::int64_t second = 1'000'000'000;
  const timespec times[] = {{0, UTIME_OMIT},
                            {file.stored_modified / second, file.stored_modified % second}};
  if (::utimensat(folder_fd, path.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0)
    return std::unexpected(system_error("install", file.target, errno));
  return Placed::own;
}

Result<Placed> copy(const NewFile& file, const StoreTree& tree, int folder_fd,
                    const std::string& path) {
  if (auto done = copy_file(tree.fd, file.stored, folder_fd, path, file.executable); !done)
    return std::unexpected(std::move(done.error()));
  return with_time_of_store(file, folder_fd, path);
}

Result<Placed> clone(const NewFile& file, const StoreTree& tree, int folder_fd,
                     const std::string& path) {
  const Descriptor source(
      ::openat(tree.fd, file.stored.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!source) return std::unexpected(system_error("open", file.stored, errno));
  const Descriptor target(::openat(folder_fd, path.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                                   file.executable ? 0777 : 0666));
  if (!target) return std::unexpected(system_error("create", path, errno));
  if (::ioctl(target.get(), FICLONE, source.get()) == 0)
    return with_time_of_store(file, folder_fd, path);
  switch (errno) {
    case EXDEV:
    case EOPNOTSUPP:
    case EINVAL:
    case ENOTTY:
    case ENOSYS:
      return fail(ErrorKind::unsupported,
                  fmt::format("{} cannot be a reflink of {}/{}: their file system does not clone "
                              "files, or they are not on the same one",
                              file.target, tree.path, file.stored),
                  std::string(instead));
    default:
      return std::unexpected(system_error("install", file.target, errno));
  }
}

/// NFS may repeat a request whose answer was lost, and then tell that of the repetition.
bool is_linked(const StoreTree& tree, const std::string& stored, int folder_fd,
               const std::string& path) {
  struct stat there = {};
  struct stat here = {};
  return ::fstatat(tree.fd, stored.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstatat(folder_fd, path.c_str(), &here, AT_SYMLINK_NOFOLLOW) == 0 &&
         there.st_ino == here.st_ino && there.st_dev == here.st_dev;
}

Result<Placed> link(const NewFile& file, const StoreTree& tree, int folder_fd,
                    const std::string& path, LinkMode mode) {
  if (::linkat(tree.fd, file.stored.c_str(), folder_fd, path.c_str(), 0) == 0)
    return Placed::shared;
  const int refused = errno;
  switch (refused) {
    case EEXIST:
      if (is_linked(tree, file.stored, folder_fd, path)) return Placed::shared;
      return std::unexpected(system_error("install", file.target, refused));
    case EXDEV:   // another file system
    case EPERM:   // a file system without links, or somebody else's store
    case EMLINK:  // too many environments
    case EOPNOTSUPP: {
      if (mode == LinkMode::best) return copy(file, tree, folder_fd, path);
      const Error why = system_error("link", file.target, refused);
      return fail(ErrorKind::unsupported,
                  fmt::format("{}, to {}/{}", why.message, tree.path, file.stored),
                  std::string(instead));
    }
    default:
      return std::unexpected(system_error("install", file.target, refused));
  }
}

/// Of a new file of its own.
unsigned own_mode(const NewFile& file, unsigned umask) {
  return (file.executable ? 0777U : 0666U) & ~umask;
}

}  // namespace

std::optional<LinkMode> parse_link_mode(std::string_view text) {
  if (text == "hardlink") return LinkMode::hardlink;
  if (text == "reflink" || text == "clone") return LinkMode::reflink;
  if (text == "copy") return LinkMode::copy;
  if (text == "symlink") return LinkMode::symlink;
  return std::nullopt;
}

bool links_to_store(const NewFile& file, LinkMode mode, unsigned umask) {
  return (mode == LinkMode::best || mode == LinkMode::hardlink) &&
         file.stored_mode == own_mode(file, umask);
}

Result<Placed> place_file(const NewFile& file, const StoreTree& tree, int folder_fd,
                          const std::string& path, LinkMode mode, unsigned umask) {
  if (file.stored.empty()) {
    if (auto done = create_file(folder_fd, path, file.content, file.executable); !done)
      return std::unexpected(std::move(done.error()));
    return Placed::own;
  }
  // A link shares the permissions, which depend on the umask when the store was filled.
  const bool same_mode = file.stored_mode == own_mode(file, umask);
  switch (mode) {
    case LinkMode::best:
      return same_mode ? link(file, tree, folder_fd, path, mode)
                       : copy(file, tree, folder_fd, path);
    case LinkMode::reflink:
      return clone(file, tree, folder_fd, path);
    case LinkMode::copy:
      return copy(file, tree, folder_fd, path);
    case LinkMode::hardlink:
    case LinkMode::symlink:
      break;
  }
  if (!same_mode) {
    return fail(
        ErrorKind::unsupported,
        fmt::format("{} cannot be a link: {}/{} has the permissions {:o}, and the umask "
                    "gives a new file {:o}",
                    file.target, tree.path, file.stored, file.stored_mode, own_mode(file, umask)),
        std::string(instead));
  }
  if (mode == LinkMode::hardlink) return link(file, tree, folder_fd, path, mode);
  if (file.byte_code) return copy(file, tree, folder_fd, path);
  const std::string target = fmt::format("{}/{}", tree.path, file.stored);
  if (::symlinkat(target.c_str(), folder_fd, path.c_str()) != 0)
    return std::unexpected(system_error("install", file.target, errno));
  return Placed::own;
}

}  // namespace axle::installer
