#include "session/cache/cache_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include "foundation/system/file_lock.h"

namespace axle::session {

namespace {

/// NFS grants an exclusive lock only on a file open for writing; that of a cache that cannot be
/// written can still be shared.
system::Descriptor open_lock(const std::string& folder, system::Lock lock) {
  const std::string path = folder + "/lock";
  system::Descriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (file || lock == system::Lock::exclusive) return file;
  return system::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
}

std::error_code lock_with_a_word(const system::Descriptor& file, system::Lock lock,
                                 const std::string& word, Report& report) {
  const std::error_code tried = system::try_lock(file, lock);
  if (tried != std::errc::operation_would_block) return tried;
  report.note(word);
  return system::wait_for_lock(file, lock);
}

}  // namespace

system::Descriptor share_cache(const std::string& folder, Report& report) {
  if (folder.empty()) return {};
  system::Descriptor file = open_lock(folder, system::Lock::shared);
  if (!file) return {};
  const std::string word =
      fmt::format("waiting for another command that removes things from the cache {}", folder);
  if (lock_with_a_word(file, system::Lock::shared, word, report)) return {};
  return file;
}

Result<system::Descriptor> claim_cache(const std::string& folder, Report& report) {
  system::Descriptor file = open_lock(folder, system::Lock::exclusive);
  const std::string word = fmt::format("waiting for other commands that use the cache {}", folder);
  const std::error_code error =
      file ? lock_with_a_word(file, system::Lock::exclusive, word, report) : system::last_error();
  if (!error) return file;
  return fail(ErrorKind::io, fmt::format("cannot lock {}/lock: {}", folder, error.message()),
              "nothing was removed");
}

}  // namespace axle::session
