#include "installer/transaction/staged_things.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "foundation/system/parallel.h"
#include "foundation/system/until_exit.h"
#include "installer/file_access.h"
#include "installer/store/spare_tree.h"
#include "installer/tree/byte_code_names.h"
#include "installer/try_each.h"

namespace axle::installer {
namespace {

std::string path_below(std::string_view folder, std::string_view name) {
  std::string path;
  path.reserve(folder.size() + 1 + name.size());
  return path.append(folder).append("/").append(name);
}

/// A file to be created.
struct NewPath {
  const NewFile* file;
  const NewPackage* package;
  const std::string* folder;  ///< below the folder of staging; nullptr: it is the thing itself
  StoreTree tree;             ///< that has it, if any
  bool byte_code;
  bool is_there;  ///< a spare link
};

/// What a thing consists of. It may have ten thousands of files, which therefore share the paths of
/// their folders.
struct NewThing {
  std::string name;  ///< in the folder of staging: a number
  std::list<std::string> folders;
  std::vector<NewPath> files;  ///< in the order of Leaves
};

/// The children of a folder in the order of Leaves.
std::vector<std::pair<LeafName, const StagedPath*>> in_order(const StagedPath& folder) {
  std::vector<std::pair<LeafName, const StagedPath*>> children;
  children.reserve(folder.children.size());
  for (const auto& [name, child] : folder.children)
    children.push_back({{name, child.file == nullptr}, &child});
  // Most are by name already.
  constexpr auto name = &std::pair<LeafName, const StagedPath*>::first;
  if (!std::ranges::is_sorted(children, comes_before, name))
    std::ranges::sort(children, comes_before, name);
  return children;
}

/// Who may do what in a folder.
struct Access {
  dev_t device = 0;
  uid_t user = 0;
  gid_t group = 0;
  mode_t mode = 0;
  std::string lists = {};  ///< access control lists, labels: names and values of attributes
  friend bool operator==(const Access&, const Access&) = default;
};

/// Nullopt: it cannot be determined.
std::optional<Access> access_of(int folder) {
  struct stat status = {};
  std::array<char, 1024> names = {};
  if (::fstat(folder, &status) != 0) return std::nullopt;
  Access access{status.st_dev, status.st_uid, status.st_gid, status.st_mode};
  const ssize_t length = ::flistxattr(folder, names.data(), names.size());
  if (length < 0) return errno == ENOTSUP ? std::optional(access) : std::nullopt;
  access.lists.assign(names.data(), static_cast<std::size_t>(length));
  const char* const end = names.data() + length;
  for (const char* name = names.data(); name < end; name += std::string_view(name).size() + 1) {
    std::array<char, 4096> value = {};
    const ssize_t bytes = ::fgetxattr(folder, name, value.data(), value.size());
    if (bytes < 0) return std::nullopt;
    access.lists.append(value.data(), static_cast<std::size_t>(bytes));
  }
  return access;
}

class Creation {
 public:
  /// `fd`: of the folder of staging.
  Creation(int fd, const std::string& store, LinkMode mode)
      : fd_(fd), store_(store), mode_(mode), access_(access_of(fd)) {}

  /// With its folders; its files are created later.
  Result<NewThing> begin(std::size_t number, const StagedThing& staged) {
    NewThing thing{fmt::format("{}", number), {}, {}};
    const StagedPath& node = *staged.node;
    Result<void> begun;
    if (node.file != nullptr) {
      begun = add_file(node, nullptr, false, false, thing);
    } else if (auto used = use_spare(staged, thing); !used || *used) {
      if (!used) begun = std::unexpected(std::move(used.error()));
    } else {
      begun = make_folders(node, thing.name, false, thing);
    }
    if (!begun) return std::unexpected(std::move(begun.error()));
    return thing;
  }

  /// Creates `path`, and records it in `leaf`.
  Result<void> make_file(const NewThing& thing, const NewPath& file, Leaf& leaf) const {
    const std::string_view target = file.file->target;
    const std::string path = file.folder == nullptr
                                 ? thing.name
                                 : path_below(*file.folder, target.substr(target.rfind('/') + 1));
    const auto made = file.is_there ? Placed::shared
                                    : place_file(*file.file, file.tree, fd_, path, mode_, umask_);
    if (!made) return std::unexpected(made.error());
    std::string below = file.folder == nullptr ? std::string() : path.substr(thing.name.size() + 1);
    if (*made == Placed::shared) {
      leaf = {std::move(below), file.file->size, file.file->stored_modified};
      return {};
    }
    struct stat status = {};
    if (::fstatat(fd_, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return std::unexpected(system_error("read", path, errno));
    leaf = leaf_of(std::move(below), status);
    return {};
  }

 private:
  /// That has the file of `node`, which comes after `files`. By several threads.
  Result<StoreTree> store_tree_of(const StagedPath& node, const std::vector<NewPath>& files) {
    // Of the file before, as a rule.
    if (!files.empty() && files.back().package == node.package &&
        files.back().file->byte_code == node.file->byte_code && !files.back().file->stored.empty())
      return files.back().tree;
    const std::string& tree =
        node.file->byte_code ? node.package->byte_code_tree : node.package->tree;
    const std::lock_guard lock(trees_mutex_);
    auto known = trees_.find(tree);
    if (known == trees_.end()) {
      auto opened = open_folder(tree);
      if (!opened) return std::unexpected(opened.error());
      known = trees_.emplace(tree, std::move(*opened)).first;
    }
    return StoreTree{known->second.get(), known->first};
  }

  /// Appends the file of `node`, which is in `folder`.
  Result<void> add_file(const StagedPath& node, const std::string* folder, bool byte_code,
                        bool is_there, NewThing& thing) {
    StoreTree store{-1, {}};
    if (!node.file->stored.empty()) {
      auto tree = store_tree_of(node, thing.files);
      if (!tree) return std::unexpected(std::move(tree.error()));
      store = *tree;
    }
    thing.files.push_back(
        {node.file, node.package, folder, store, byte_code || node.file->byte_code, is_there});
    return {};
  }

  /// Creates `node`, which is at `path`, and the folders below.
  Result<void> make_folders(const StagedPath& node, std::string path, bool byte_code,
                            NewThing& thing) {
    const std::string& folder = thing.folders.emplace_back(std::move(path));
    if (::mkdirat(fd_, folder.c_str(), 0777) != 0)
      return std::unexpected(system_error("create", folder, errno));
    for (const auto& [entry, child] : in_order(node)) {
      const bool in_byte_code = byte_code || is_byte_code_folder(entry.name);
      auto made = entry.is_folder
                      ? make_folders(*child, path_below(folder, entry.name), in_byte_code, thing)
                      : add_file(*child, &folder, in_byte_code, false, thing);
      if (!made) return made;
    }
    return {};
  }

  /// Whether the file of `node` is to be a link to the file of `package` in the store.
  [[nodiscard]] bool is_to_be_link(const StagedPath& node, const NewPackage& package) const {
    return node.package == &package && !node.file->stored.empty() && !node.file->byte_code &&
           links_to_store(*node.file, mode_, umask_);
  }

  /// nullptr: `node` has byte code alone.
  static const StagedPath* first_file(const StagedPath& node) {
    if (node.file != nullptr) return &node;
    for (const auto& [name, child] : node.children) {
      if (is_byte_code_folder(name)) continue;
      if (const StagedPath* file = first_file(child)) return file;
    }
    return nullptr;
  }

  /// Moves the spare links of a folder to where it is staged; false: there are none that fit.
  Result<bool> use_spare(const StagedThing& staged, NewThing& thing) {
    const std::string name = staged.path.substr(staged.path.rfind('/') + 1);
    const StagedPath* first = first_file(*staged.node);
    if (!access_ || first == nullptr) return false;
    const NewPackage& package = *first->package;
    // Most that would not fit stays for others.
    if (!is_to_be_link(*first, package) || first->file->stored_inode == 0 ||
        !first->file->stored.starts_with(name + "/") || !contains_path(store_, package.tree))
      return false;
    const auto fits = [&](int spare) {
      const auto tree = look_at(package.tree);
      return access_of(spare) == access_ && tree && *tree && (*tree)->st_dev == access_->device;
    };
    if (!take_spare(package.tree, name, fits, fd_, thing.name)) return false;
    if (has_all_links_of(*staged.node, package, thing.name)) {
      auto added = add_linked(*staged.node, package, thing.name, thing);
      return added ? Result<bool>(true) : std::unexpected(std::move(added.error()));
    }
    const std::string unfit = fmt::format("../unfit-{}", thing.name);
    if (::renameat(fd_, thing.name.c_str(), fd_, unfit.c_str()) != 0)
      return std::unexpected(system_error("move away", thing.name, errno));
    return false;
  }

  /// Whether the folder at `path` is as make_folders would create it, and has the links that are to
  /// be in it, and nothing else. Several threads look at the folders in it.
  [[nodiscard]] bool has_all_links_of(const StagedPath& node, const NewPackage& package,
                                      const std::string& path) const {
    std::vector<SpareFolder> folders;
    list_folders(node, path, folders);
    std::atomic<bool> fits = true;
    system::for_each_at_once(folders.size(), system::usable_processors(), [&](std::size_t i) {
      if (fits && !has_links_of(*folders[i].node, package, folders[i].path)) fits = false;
    });
    return fits;
  }

  struct SpareFolder {
    const StagedPath* node;
    std::string path;
  };
  /// `node`, which is at `path`, and those below that are not of byte code.
  static void list_folders(const StagedPath& node, std::string path,
                           std::vector<SpareFolder>& folders) {
    for (const auto& [name, child] : node.children) {
      if (child.file == nullptr && !is_byte_code_folder(name))
        list_folders(child, path_below(path, name), folders);
    }
    folders.push_back({&node, std::move(path)});
  }

  /// Adds the files of `node`, which is at `path` with its links; what is not to be a link will be
  /// created.
  Result<void> add_linked(const StagedPath& node, const NewPackage& package, std::string path,
                          NewThing& thing) {
    const std::string& folder = thing.folders.emplace_back(std::move(path));
    for (const auto& [entry, child] : in_order(node)) {
      const bool byte_code = is_byte_code_folder(entry.name);
      Result<void> added;
      if (!entry.is_folder) {
        const bool is_there = is_to_be_link(*child, package);
        added = add_file(*child, &folder, byte_code, is_there, thing);
      } else if (byte_code) {
        added = make_folders(*child, path_below(folder, entry.name), true, thing);
      } else {
        added = add_linked(*child, package, path_below(folder, entry.name), thing);
      }
      if (!added) return added;
    }
    return {};
  }

  /// Whether the folder is the same without looking at the folders in it.
  bool has_links_of(const StagedPath& node, const NewPackage& package,
                    const std::string& path) const {
    const OpenFolder folder = list(path);
    if (folder == nullptr || access_of(::dirfd(folder.get())) != access_) return false;
    std::size_t missing = 0;
    for (const auto& [name, child] : node.children)
      missing += is_to_be_there(name, child, package) ? 1 : 0;
    while (true) {
      errno = 0;
      const dirent* entry = ::readdir(folder.get());
      if (entry == nullptr) return errno == 0 && missing == 0;
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      const auto child = node.children.find(name);
      if (child == node.children.end() || !is_to_be_there(name, child->second, package))
        return false;
      const NewFile* file = child->second.file;
      if (file != nullptr && !is_same(*entry, ::dirfd(folder.get()), *file)) return false;
      --missing;
    }
  }

  [[nodiscard]] bool is_to_be_there(std::string_view name, const StagedPath& child,
                                    const NewPackage& package) const {
    return child.file == nullptr ? !is_byte_code_folder(name) : is_to_be_link(child, package);
  }

  /// File systems in layers may number files in another way where they list them.
  [[nodiscard]] bool is_same(const dirent& entry, int folder, const NewFile& file) const {
    if (entry.d_ino == file.stored_inode) return true;
    struct stat status = {};
    return ::fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           status.st_ino == file.stored_inode && status.st_dev == access_->device;
  }

  /// nullptr: it is no folder, or cannot be read.
  [[nodiscard]] OpenFolder list(const std::string& path) const {
    Descriptor folder(::openat(fd_, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    OpenFolder opened(folder ? ::fdopendir(folder.get()) : nullptr);
    if (opened != nullptr) (void)folder.release();  // `opened` closes it
    return opened;
  }

  int fd_;
  const std::string& store_;
  LinkMode mode_;
  unsigned umask_ = process_umask();
  std::optional<Access> access_;  ///< of every new folder
  std::mutex trees_mutex_;
  std::map<std::string_view, Descriptor> trees_;  ///< the store's, by their paths
};

/// Several threads create the files.
Result<std::vector<Leaves>> make_files(const std::vector<NewThing>& things,
                                       const Creation& creation) {
  constexpr std::size_t at_a_time = 128;
  struct Batch {
    std::size_t thing;
    std::size_t first;
  };
  std::vector<Batch> batches;
  std::vector<Leaves> leaves(things.size());
  for (std::size_t thing = 0; thing < things.size(); ++thing) {
    leaves[thing].resize(things[thing].files.size());
    for (std::size_t first = 0; first < things[thing].files.size(); first += at_a_time)
      batches.push_back({thing, first});
  }
  const auto made = try_each(batches.size(), [&](std::size_t batch) -> Result<void> {
    const auto& [number, first] = batches[batch];
    const NewThing& thing = things[number];
    const std::size_t end = std::min(thing.files.size(), first + at_a_time);
    for (std::size_t i = first; i < end; ++i) {
      if (auto file = creation.make_file(thing, thing.files[i], leaves[number][i]); !file)
        return file;
    }
    return {};
  });
  if (!made) return std::unexpected(made.error());
  return leaves;
}

void leave_out_byte_code(const NewThing& thing, Leaves& leaves) {
  std::size_t known = 0;
  for (std::size_t file = 0; file < leaves.size(); ++file) {
    if (thing.files[file].byte_code) continue;
    if (known != file) leaves[known] = std::move(leaves[file]);
    ++known;
  }
  leaves.resize(known);
}

}  // namespace

Result<std::vector<Leaves>> create_things(const std::vector<StagedThing>& things,
                                          const std::string& folder, const std::string& store,
                                          LinkMode mode) {
  const auto opened = open_folder(folder);
  if (!opened) return std::unexpected(opened.error());
  Creation creation(opened->get(), store, mode);
  std::vector<NewThing> begun(things.size());
  const auto made = try_each(things.size(), [&](std::size_t i) -> Result<void> {
    auto thing = creation.begin(i, things[i]);
    if (!thing) return std::unexpected(std::move(thing.error()));
    begun[i] = std::move(*thing);
    return {};
  });
  if (!made) return std::unexpected(made.error());
  auto leaves = make_files(begun, creation);
  if (!leaves) return leaves;
  system::for_each_at_once(things.size(), system::usable_processors(),
                           [&](std::size_t i) { leave_out_byte_code(begun[i], (*leaves)[i]); });
  system::keep_until_exit(std::move(begun));
  return leaves;
}

}  // namespace axle::installer
