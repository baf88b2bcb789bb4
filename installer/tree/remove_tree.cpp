#include "installer/tree/remove_tree.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/parallel.h"
#include "installer/file_access.h"

namespace axle::installer {
namespace {

constexpr int unfollowed_folder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// A folder whose files are to be removed; it goes itself when nothing refers to it any more, after
/// the folders in it.
class LeavingFolder {
 public:
  LeavingFolder(std::shared_ptr<LeavingFolder> above, std::string name)
      : above_(std::move(above)), name_(std::move(name)) {}
  LeavingFolder(const LeavingFolder&) = delete;
  LeavingFolder& operator=(const LeavingFolder&) = delete;
  ~LeavingFolder() {
    opened_.reset();
    (void)::unlinkat(parent(), name_.c_str(), AT_REMOVEDIR);
  }

  struct Names {
    std::vector<std::string> files;
    std::vector<std::string> folders;
  };
  /// What is in it, before the first `remove`; nothing if it cannot be read.
  [[nodiscard]] Names list() {
    Names names;
    Descriptor folder(::openat(parent(), name_.c_str(), unfollowed_folder));
    if (folder) opened_.reset(::fdopendir(folder.get()));
    if (opened_ == nullptr) return names;
    (void)folder.release();  // `opened_` closes it
    while (const dirent* entry = ::readdir(opened_.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      (is_folder(*entry) ? names.folders : names.files).emplace_back(name);
    }
    return names;
  }

  /// What cannot be removed stays.
  void remove(std::span<const std::string> files) const {
    for (const std::string& name : files) (void)::unlinkat(fd(), name.c_str(), 0);
  }

 private:
  [[nodiscard]] int parent() const { return above_ == nullptr ? AT_FDCWD : above_->fd(); }
  [[nodiscard]] int fd() const { return ::dirfd(opened_.get()); }
  [[nodiscard]] bool is_folder(const dirent& entry) const {
    if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
    struct stat status = {};
    return ::fstatat(fd(), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode);
  }

  std::shared_ptr<LeavingFolder> above_;
  std::string name_;
  OpenFolder opened_;  ///< until nothing in it is worked on
};

/// Work that several threads take piece by piece. The last found comes first, so that few folders
/// are open at once. A folder is for one thread, as the system changes it for one at a time: of its
/// files others get some only when they have nothing else to do.
class TreeRemoval {
 public:
  explicit TreeRemoval(const std::string& top) {
    waiting_.push_back({std::make_shared<LeavingFolder>(nullptr, top), {}});
  }

  /// Until there is none left.
  void work() {
    try {
      while (std::optional<Piece> piece = next()) {
        do_piece(std::move(*piece));
        const std::lock_guard lock(mutex_);
        if (--taken_ == 0) changed_.notify_all();
      }
    } catch (...) {  // no memory
      const std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_all();
      throw;
    }
  }

 private:
  struct Piece {
    std::shared_ptr<LeavingFolder> folder;
    std::vector<std::string> files;  ///< empty: it is to be listed
  };

  /// Nullopt: all is taken, and no more will be found.
  std::optional<Piece> next() {
    std::unique_lock lock(mutex_);
    ++idle_;
    changed_.wait(lock, [&] { return ended_ || taken_ == 0 || !waiting_.empty(); });
    --idle_;
    if (ended_ || waiting_.empty()) return std::nullopt;
    Piece piece = std::move(waiting_.back());
    waiting_.pop_back();
    ++taken_;
    return piece;
  }

  void give(Piece piece) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(piece));
    changed_.notify_one();
  }

  void do_piece(Piece piece) {
    if (piece.files.empty()) {
      LeavingFolder::Names names = piece.folder->list();
      for (std::string& name : names.folders)
        give({std::make_shared<LeavingFolder>(piece.folder, std::move(name)), {}});
      piece.files = std::move(names.files);
    }
    std::span<const std::string> files = piece.files;
    while (!files.empty()) {
      constexpr std::size_t at_a_time = 64;
      const std::size_t some = std::min(files.size(), at_a_time);
      piece.folder->remove(files.first(some));
      files = files.subspan(some);
      if (idle_ == 0 || files.size() < 2 * at_a_time) continue;
      const auto given = files.last(files.size() / 2);
      give({piece.folder, {given.begin(), given.end()}});
      files = files.first(files.size() - given.size());
    }
  }

  std::mutex mutex_;  ///< protects what follows
  std::condition_variable changed_;
  std::vector<Piece> waiting_;
  unsigned taken_ = 0;  ///< of which more may be found
  std::atomic<unsigned> idle_ = 0;
  bool ended_ = false;
};

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
  const int fd = ::openat(parent, name, unfollowed_folder);
  if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) return refused;
  const int first = fd < 0 ? errno : empty_folder(fd);
  // A folder that cannot be read may still be empty.
  if (::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return 0;
  return first != 0 ? first : errno;
}

}  // namespace

int remove_tree(const std::string& path) {
  {
    TreeRemoval removal(path);
    const unsigned threads = system::usable_processors();
    system::for_each_at_once(threads, threads, [&](std::size_t) { removal.work(); });
  }
  // What that left; whatever is wrong is found here.
  return remove_at(AT_FDCWD, path.c_str());
}

}  // namespace axle::installer
