#include "builder/trees/build_trees.h"

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>

#include "builder/trees/lock_holders.h"
#include "foundation/system/file_lock.h"

namespace axle::builder {

namespace fs = std::filesystem;

Result<BuildTrees> BuildTrees::open(const std::string& wanted, Report& report) {
  std::error_code error;
  BuildTrees trees;
  if (!wanted.empty()) {
    trees.path_ = fs::absolute(wanted, error).lexically_normal();
    if (!error) fs::create_directories(trees.path_, error);
  } else {
    std::string pattern = (fs::temp_directory_path(error) / "axle-build-XXXXXX").string();
    if (!error && mkdtemp(pattern.data()) == nullptr)
      error = std::error_code(errno, std::generic_category());
    trees.path_ = pattern;
    trees.temporary_ = !error;
  }
  if (error)
    return fail(ErrorKind::io, fmt::format("{}: {}", trees.path_.string(), error.message()));
  if (trees.temporary_) return trees;
  if (auto locked = trees.lock(report); !locked) return std::unexpected(locked.error());
  return trees;
}

namespace {

/// Without O_CLOEXEC: what is started inherits it, and holds it as long as it runs.
system::Descriptor open_lock(const std::string& file) {
  return system::Descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0644));
}

/// Not if another build has put a new one in its place.
bool is_still(const system::Descriptor& lock, const std::string& file) {
  struct stat opened = {};
  struct stat named = {};
  return ::fstat(lock.get(), &opened) == 0 && ::lstat(file.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// Puts a new lock, which is held, in the place of one that only servers hold; nothing if it is not
/// so, or another build does it.
system::Descriptor take_over(const fs::path& folder, const system::Descriptor& old) {
  const std::string file = (folder / "lock").string();
  const system::Descriptor turn(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!turn || system::try_lock(turn) || !is_still(old, file) || !held_by_servers_alone(old))
    return {};
  const std::string beside = file + ".new";
  system::Descriptor lock = open_lock(beside);
  if (!lock || system::try_lock(lock) || ::rename(beside.c_str(), file.c_str()) != 0) return {};
  return lock;
}

}  // namespace

Result<void> BuildTrees::lock(Report& report) {
  const std::string file = (path_ / "lock").string();
  constexpr std::chrono::milliseconds pause{100};
  constexpr std::chrono::minutes patience{10};
  constexpr unsigned looks = 10;  // /proc is looked through once a second
  const auto give_up = std::chrono::steady_clock::now() + patience;
  for (unsigned turn = 0;; ++turn) {
    lock_ = open_lock(file);
    if (!lock_)
      return fail(ErrorKind::io, fmt::format("{}: {}", file, system::last_error().message()));
    const auto refused = system::try_lock(lock_);
    bool mine = !refused && is_still(lock_, file);
    if (refused == std::errc::operation_would_block && turn % looks == 1) {
      if (system::Descriptor taken = take_over(path_, lock_)) {
        lock_ = std::move(taken);
        mine = true;
      }
    }
    if (mine || system::has_no_locks(refused)) {
      name_holder(lock_);
      // The cache goes by it: used now.
      (void)::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0);
      return {};
    }
    if (refused && refused != std::errc::operation_would_block)
      return fail(ErrorKind::io, fmt::format("{}: {}", file, refused.message()));
    lock_.reset();  // not held, and not to be given up by the destructor
    if (std::chrono::steady_clock::now() > give_up) break;
    if (turn == 0) report.note(fmt::format("waiting for another build of this project ({})", file));
    std::this_thread::sleep_for(pause);
  }
  return fail(ErrorKind::io, fmt::format("{}: another build of this project is not ending", file),
              "wait for it, or choose another cache with --cache-dir");
}

BuildTrees::BuildTrees(BuildTrees&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, false)),
      lock_(std::move(other.lock_)) {}

BuildTrees::~BuildTrees() {
  // Closing it is not enough: a compiler's server (sccache) has inherited it, and outlives builds.
  if (lock_) system::unlock(lock_);
  std::error_code ignored;
  if (temporary_) fs::remove_all(path_, ignored);
}

void BuildTrees::keep(const Error& error) {
  std::error_code ignored;
  if (!std::exchange(temporary_, false)) return;
  bool any = false;
  std::vector<fs::path> rows;
  for (fs::directory_iterator it(path_, ignored), end; !ignored && it != end; it.increment(ignored))
    rows.push_back(it->path());
  for (const fs::path& row : rows) {
    const fs::path log = row / "build.log";
    const fs::path aside = path_ / "kept.log";
    const bool named = (error.message + error.hint).contains(log.string());
    if (named) fs::rename(log, aside, ignored);
    fs::remove_all(row, ignored);
    if (!named) continue;
    fs::create_directory(row, ignored);
    fs::rename(aside, log, ignored);
    any = true;
  }
  if (!any) fs::remove(path_, ignored);
}

}  // namespace axle::builder
