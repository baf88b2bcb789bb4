#include "installer/store/spare_tree.h"

#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>

#include "installer/file_access.h"

namespace axle::installer {
namespace {

constexpr int unfollowed_folder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// Invalid: there is none.
Descriptor open_spares(const std::string& entry) {
  return Descriptor(::open(spare_folder(entry).c_str(), unfollowed_folder));
}

}  // namespace

std::string spare_folder(const std::string& entry) { return entry + "/spare"; }

void keep_spare(const std::string& entry, const std::string& folder, const std::string& name) {
  if (::mkdir(spare_folder(entry).c_str(), 0777) != 0 && errno != EEXIST) return;
  const Descriptor spares = open_spares(entry);
  if (!spares || ::renameat(AT_FDCWD, folder.c_str(), spares.get(), name.c_str()) == 0) return;
  if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)
    (void)::renameat2(AT_FDCWD, folder.c_str(), spares.get(), name.c_str(), RENAME_EXCHANGE);
}

bool take_spare(std::string_view tree, const std::string& name,
                const std::function<bool(int spare)>& fits, int folder_fd,
                const std::string& path) {
  const Descriptor spares = open_spares(std::string(tree.substr(0, tree.rfind('/'))));
  if (!spares) return false;
  const Descriptor spare(::openat(spares.get(), name.c_str(), unfollowed_folder));
  return spare && fits(spare.get()) &&
         ::renameat(spares.get(), name.c_str(), folder_fd, path.c_str()) == 0;
}

}  // namespace axle::installer
