#include "index/publish/folder_lock.h"

#include <cerrno>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "foundation/system/file_lock.h"
#include "index/publish/copied_file.h"

namespace axle::index {
namespace {

constexpr auto patience = std::chrono::minutes(1);
constexpr auto pause = std::chrono::milliseconds(5);

bool still_has_name(const system::Descriptor& held, const std::string& folder) {
  struct stat mine = {};
  struct stat named = {};
  return ::fstat(held.get(), &mine) == 0 && ::stat(folder.c_str(), &named) == 0 &&
         mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

}  // namespace

Result<system::Descriptor> lock_index_folder(const std::string& folder) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    system::Descriptor held(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!held) return system_failure("open", folder, errno);
    const std::error_code refused = system::try_lock(held);
    if (!refused && still_has_name(held, folder)) return held;
    if (refused && refused != std::errc::operation_would_block) {
      return system_failure("lock", folder, refused.value());
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return fail(ErrorKind::io,
                  fmt::format("another process is writing to {}; nothing was changed", folder),
                  "run the command again when it has finished");
    }
    if (refused) std::this_thread::sleep_for(pause);
  }
}

}  // namespace axle::index
