#include "installer/tree/leaves.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/file_access.h"
#include "installer/tree/byte_code_names.h"
#include "installer/tree/move_thing.h"
#include "installer/tree/tree_listing.h"

namespace axle::installer {
namespace {

/// The folders below `folder` and itself, deepest first, and the byte code folders among them.
Result<void> list_folders(const std::string& folder, std::vector<std::string>& folders,
                          std::vector<std::string>& byte_code) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string path = entry->path().string();
    auto status = look_at(path);
    if (!status) return std::unexpected(status.error());
    if (!*status || !S_ISDIR((*status)->st_mode)) continue;
    if (is_byte_code_folder(path)) {
      byte_code.push_back(std::move(path));
    } else if (auto listed = list_folders(path, folders, byte_code); !listed) {
      return listed;
    }
  }
  if (error) return std::unexpected(system_error("read", folder, error.value()));
  folders.push_back(folder);
  return {};
}

}  // namespace

bool comes_before(const LeafName& left, const LeafName& right) {
  const std::size_t common = std::min(left.name.size(), right.name.size());
  const int order = left.name.substr(0, common).compare(right.name.substr(0, common));
  if (order != 0) return order < 0;
  const auto next = [common](const LeafName& one) -> int {
    if (one.name.size() > common) return static_cast<unsigned char>(one.name[common]);
    return one.is_folder ? '/' : -1;
  };
  return next(left) < next(right);
}

Leaf leaf_of(std::string path, const struct stat& status) {
  return {std::move(path), static_cast<std::uint64_t>(status.st_size),
          nanoseconds_of(status.st_mtim)};
}

Result<Leaves> list_leaves(const std::string& thing) {
  Leaves leaves;
  const bool byte_code = is_byte_code_folder(thing) ||
                         is_byte_code_folder(std::string_view(thing).substr(0, thing.rfind('/')));
  if (byte_code) return leaves;
  auto status = look_at(thing);
  if (!status) return std::unexpected(status.error());
  if (!*status) return leaves;
  if (!S_ISDIR((*status)->st_mode)) {
    leaves.push_back(leaf_of({}, **status));
    return leaves;
  }
  const auto listing = TreeListing::read(thing, byte_code_folder);
  if (!listing) return std::unexpected(listing.error());
  leaves.resize(listing->size());
  const auto looked = listing->for_each_file([&](const TreeListing::File& file) -> Result<void> {
    std::string path = file.folder.below + file.name;
    struct stat status = {};
    if (::fstatat(file.fd, file.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return std::unexpected(system_error("read", thing + "/" + path, errno));
    leaves[file.number] = leaf_of(std::move(path), status);
    return {};
  });
  if (!looked) return std::unexpected(looked.error());
  std::ranges::sort(leaves);
  return leaves;
}

bool has_only(const Leaves& present, const Leaves& known) {
  return std::ranges::includes(known, present);
}

Result<void> move_known(const std::string& from, const std::string& to, const Leaves& known) {
  const auto present = list_leaves(from);
  if (!present) return std::unexpected(present.error());
  Leaves ours;
  std::ranges::set_intersection(*present, known, std::back_inserter(ours));
  for (const Leaf& leaf : ours) {
    const std::string below = leaf.path.empty() ? std::string() : "/" + leaf.path;
    const int code = move_thing(from + below, to + below);
    if (code != 0 && code != ENOENT)
      return std::unexpected(system_error("move", from + below, code));
  }
  const auto status = look_at(from);
  if (!status) return std::unexpected(status.error());
  if (!*status || !S_ISDIR((*status)->st_mode)) return {};
  std::vector<std::string> folders;
  std::vector<std::string> byte_code;
  if (auto listed = list_folders(from, folders, byte_code); !listed) return listed;
  for (const std::string& folder : byte_code) {
    const int code = move_thing(folder, to + folder.substr(from.size()));
    if (code != 0 && code != ENOENT) return std::unexpected(system_error("move", folder, code));
  }
  for (const std::string& folder : folders) (void)::rmdir(folder.c_str());
  return {};
}

}  // namespace axle::installer
