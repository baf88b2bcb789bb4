#include "installer/tree/remove_tree.h"

#include <cerrno>
#include <memory>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "installer/file_access.h"
#include "installer/tree/tree_listing.h"

namespace axle::installer {
namespace {

int remove_at(int parent, const char* name);

/// Takes ownership of `fd`.
int empty_folder(int fd) {
  const OpenFolder folder(::fdopendir(fd));
  if (folder == nullptr) {
    const int code = errno;
    ::close(fd);
    return code;
  }
  int first = 0;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) return first != 0 ? first : errno;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    const int code = remove_at(fd, entry->d_name);
    if (first == 0) first = code;
  }
}

int remove_at(int parent, const char* name) {
  if (::unlinkat(parent, name, 0) == 0 || errno == ENOENT) return 0;
  const int refused = errno;
  const int fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) return refused;
  const int first = fd < 0 ? errno : empty_folder(fd);
  // A folder that cannot be read may still be empty.
  if (::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return 0;
  return first != 0 ? first : errno;
}

}  // namespace

int remove_tree(const std::string& path) {
  if (const auto listing = TreeListing::read(path, {})) listing->remove_files_and_folders();
  // What that left; whatever is wrong is found here.
  return remove_at(AT_FDCWD, path.c_str());
}

}  // namespace axle::installer
