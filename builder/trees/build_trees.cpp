#include "builder/trees/build_trees.h"

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

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

Result<void> BuildTrees::lock(Report& report) {
  const std::string file = (path_ / "lock").string();
  // Without O_CLOEXEC: what is started inherits it, and holds it as long as it runs.
  lock_ = system::Descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0644));
  if (!lock_)
    return fail(ErrorKind::io, fmt::format("{}: {}", file, system::last_error().message()));
  constexpr std::chrono::milliseconds pause{100};
  constexpr std::chrono::minutes patience{10};
  const auto give_up = std::chrono::steady_clock::now() + patience;
  for (bool said = false;; said = true) {
    const auto refused = system::try_lock(lock_);
    if (!refused || system::has_no_locks(refused)) {
      // The cache goes by it: used now.
      (void)::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0);
      return {};
    }
    if (refused != std::errc::operation_would_block)
      return fail(ErrorKind::io, fmt::format("{}: {}", file, refused.message()));
    if (std::chrono::steady_clock::now() > give_up) break;
    if (!said) report.note(fmt::format("waiting for another build of this project ({})", file));
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

void BuildTrees::keep() {
  std::error_code ignored;
  if (!std::exchange(temporary_, false)) return;
  std::vector<fs::path> rows;
  for (fs::directory_iterator it(path_, ignored), end; !ignored && it != end; it.increment(ignored))
    rows.push_back(it->path());
  for (const fs::path& row : rows) {
    if (fs::is_directory(row, ignored)) fs::remove(row, ignored);
  }
  fs::remove(path_, ignored);
}

}  // namespace axle::builder
