#include "foundation/system/file_lock.h"

#include <cerrno>

#include <sys/file.h>

namespace axle::system {
namespace {

std::error_code lock_with(const Descriptor& file, int operation) {
  while (::flock(file.get(), operation) != 0) {
    if (errno != EINTR) return last_error();
  }
  return {};
}

int operation_of(Lock lock) { return lock == Lock::shared ? LOCK_SH : LOCK_EX; }

}  // namespace

std::error_code try_lock(const Descriptor& file, Lock lock) {
  return lock_with(file, operation_of(lock) | LOCK_NB);
}

std::error_code wait_for_lock(const Descriptor& file, Lock lock) {
  return lock_with(file, operation_of(lock));
}

}  // namespace axle::system
