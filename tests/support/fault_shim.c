// Loaded with LD_PRELOAD: ends the process, makes a call fail, or has a signal come before it, at
// the n-th call that changes a file system. Calls are made directly to the kernel, so that the shim
// needs nothing of the libc it stands before.
//
//   AXLE_FAULT_AT      which call, counted from 1; without it nothing happens
//   AXLE_FAULT_ACTION  "kill" (a write is cut in half first), "ENOSPC", "EIO", "EACCES", or
//                      "signal 15": that one comes, and where the process lives on so does the call
//   AXLE_FAULT_MODE    "once", or "after": that call and every later one
//   AXLE_FAULT_COUNT   file that receives the number of calls when the process ends by itself
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_ulong calls;
static unsigned long fault_at;
static int fault_errno;   // 0: kill
static int fault_signal;  // 0: none
static int fault_after;

__attribute__((constructor)) static void begin(void) {
  const char* at = getenv("AXLE_FAULT_AT");
  const char* action = getenv("AXLE_FAULT_ACTION");
  const char* mode = getenv("AXLE_FAULT_MODE");
  if (at != NULL) fault_at = strtoul(at, NULL, 10);
  fault_after = mode != NULL && strcmp(mode, "after") == 0;
  if (action == NULL || strcmp(action, "kill") == 0) return;
  if (strncmp(action, "signal ", 7) == 0) {
    fault_signal = atoi(action + 7);
    return;
  }
  fault_errno = strcmp(action, "ENOSPC") == 0   ? ENOSPC
                : strcmp(action, "EACCES") == 0 ? EACCES
                                                : EIO;
}

__attribute__((destructor)) static void end(void) {
  const char* path = getenv("AXLE_FAULT_COUNT");
  if (path == NULL) return;
  char text[32];
  const int length = snprintf(text, sizeof text, "%lu\n", (unsigned long)atomic_load(&calls));
  const long fd =
      syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return;
  (void)!syscall(SYS_write, fd, text, (size_t)length);
  syscall(SYS_close, fd);
}

enum verdict { go_on, fail_now, die_now };

static enum verdict judge(void) {
  const unsigned long call = atomic_fetch_add(&calls, 1) + 1;
  if (fault_at == 0 || call < fault_at || (call > fault_at && !fault_after)) return go_on;
  if (fault_signal != 0) {
    syscall(SYS_kill, getpid(), fault_signal);
    return go_on;
  }
  if (fault_errno == 0) return die_now;
  errno = fault_errno;
  return fail_now;
}

static void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

// True: the call must fail with the errno that is set.
static int faulted(void) {
  const enum verdict verdict = judge();
  if (verdict == die_now) die();
  return verdict == fail_now;
}

static int is_regular(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

static int open_at(int folder, const char* path, int flags, mode_t mode) {
  const int changes = (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  if (changes && faulted()) return -1;
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define READ_MODE(flags, mode)                      \
  mode_t mode = 0;                                  \
  if (((flags) & (O_CREAT | O_TMPFILE)) != 0) {     \
    va_list arguments;                              \
    va_start(arguments, flags);                     \
    mode = (mode_t)va_arg(arguments, unsigned int); \
    va_end(arguments);                              \
  }

int open(const char* path, int flags, ...) {
  READ_MODE(flags, mode)
  return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  READ_MODE(flags, mode)
  return open_at(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  READ_MODE(flags, mode)
  return open_at(folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  READ_MODE(flags, mode)
  return open_at(folder, path, flags, mode);
}
int creat(const char* path, mode_t mode) {
  return open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  if (is_regular(fd)) {
    const enum verdict verdict = judge();
    if (verdict == fail_now) return -1;
    if (verdict == die_now) {
      syscall(SYS_write, fd, bytes, size / 2);
      die();
    }
  }
  return syscall(SYS_write, fd, bytes, size);
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
  if (is_regular(fd) && faulted()) return -1;
  return syscall(SYS_writev, fd, parts, count);
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  if (faulted()) return -1;
  return syscall(SYS_pwrite64, fd, bytes, size, offset);
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t offset) {
  return pwrite(fd, bytes, size, offset);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned int flags) {
  if (faulted()) return -1;
  return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return renameat2(from_folder, from, to_folder, to, 0);
}
int rename(const char* from, const char* to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  if (faulted()) return -1;
  return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}
int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int folder, const char* path, int flags) {
  if (faulted()) return -1;
  return (int)syscall(SYS_unlinkat, folder, path, flags);
}
int unlink(const char* path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char* path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char* path) {
  if (unlinkat(AT_FDCWD, path, 0) == 0) return 0;
  return errno == EISDIR ? unlinkat(AT_FDCWD, path, AT_REMOVEDIR) : -1;
}

int mkdirat(int folder, const char* path, mode_t mode) {
  if (faulted()) return -1;
  return (int)syscall(SYS_mkdirat, folder, path, mode);
}
int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

char* mkdtemp(char* pattern) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  const size_t length = strlen(pattern);
  unsigned char random[6];
  if (length < 6 || getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
    errno = EINVAL;
    return NULL;
  }
  for (size_t i = 0; i < sizeof random; ++i) pattern[length - 6 + i] = letters[random[i] % 36];
  return mkdirat(AT_FDCWD, pattern, 0700) == 0 ? pattern : NULL;
}

int symlinkat(const char* target, int folder, const char* path) {
  if (faulted()) return -1;
  return (int)syscall(SYS_symlinkat, target, folder, path);
}
int symlink(const char* target, const char* path) { return symlinkat(target, AT_FDCWD, path); }

int fchmodat(int folder, const char* path, mode_t mode, int flags) {
  (void)flags;
  if (faulted()) return -1;
  return (int)syscall(SYS_fchmodat, folder, path, mode);
}
int chmod(const char* path, mode_t mode) { return fchmodat(AT_FDCWD, path, mode, 0); }
int fchmod(int fd, mode_t mode) {
  if (faulted()) return -1;
  return (int)syscall(SYS_fchmod, fd, mode);
}

int fsync(int fd) {
  if (faulted()) return -1;
  return (int)syscall(SYS_fsync, fd);
}
int fdatasync(int fd) {
  if (faulted()) return -1;
  return (int)syscall(SYS_fdatasync, fd);
}
int syncfs(int fd) {
  if (faulted()) return -1;
  return (int)syscall(SYS_syncfs, fd);
}
int ftruncate(int fd, off_t size) {
  if (faulted()) return -1;
  return (int)syscall(SYS_ftruncate, fd, size);
}
int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size,
                        unsigned int flags) {
  if (faulted()) return -1;
  return syscall(SYS_copy_file_range, from, from_offset, to, to_offset, size, flags);
}
ssize_t sendfile(int to, int from, off_t* offset, size_t size) {
  if (faulted()) return -1;
  return syscall(SYS_sendfile, to, from, offset, size);
}
ssize_t sendfile64(int to, int from, off64_t* offset, size_t size) {
  return sendfile(to, from, offset, size);
}
