#include "foundation/system/newer_calls.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Hidden: a library that is opened takes those of the C library.
#if !__GLIBC_PREREQ(2, 25)
extern "C" [[gnu::visibility("hidden")]] ssize_t getrandom(void* bytes, std::size_t size,
                                                           unsigned flags) noexcept {
  const ssize_t got = ::syscall(SYS_getrandom, bytes, size, flags);
  if (got >= 0 || errno != ENOSYS) return got;
  const int device = ::open("/dev/urandom", O_RDONLY | O_CLOEXEC);  // Linux before 3.17
  if (device < 0) return -1;
  const ssize_t read = ::read(device, bytes, size);
  ::close(device);
  return read;
}
#endif

#if !__GLIBC_PREREQ(2, 27)
extern "C" [[gnu::visibility("hidden")]] int memfd_create(const char* name,
                                                          unsigned flags) noexcept {
  return static_cast<int>(::syscall(SYS_memfd_create, name, flags));
}

extern "C" [[gnu::visibility("hidden")]] ssize_t copy_file_range(int from, off64_t* from_at, int to,
                                                                 off64_t* to_at, std::size_t size,
                                                                 unsigned flags) {
  return ::syscall(SYS_copy_file_range, from, from_at, to, to_at, size, flags);
}
#endif

#if !__GLIBC_PREREQ(2, 28)
extern "C" [[gnu::visibility("hidden")]] int renameat2(int from_folder, const char* from,
                                                       int to_folder, const char* to,
                                                       unsigned flags) noexcept {
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}
#endif

#if !__GLIBC_PREREQ(2, 32)
extern "C" [[gnu::visibility("hidden")]] const char* sigabbrev_np(int signal) noexcept {
  // As Linux numbers them on x86-64 and ARM.
  static constexpr const char* names[] = {
      nullptr, "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
      "SEGV",  "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
      "TTOU",  "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "POLL", "PWR",  "SYS"};
  constexpr int count = sizeof names / sizeof *names;
  return signal > 0 && signal < count ? names[signal] : nullptr;
}
#endif
