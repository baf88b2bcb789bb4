// Loaded with LD_PRELOAD: ends the process, makes a call fail, or has something else happen, at the
// n-th call that changes a file system. Calls are made directly to the kernel, so that the shim
// needs nothing of the libc it stands before.
//
//   AXLE_FAULT_AT      which call, counted from 1; without it nothing happens
//   AXLE_FAULT_ACTION  "kill" (a write is cut in half first);
//                      the name of an error in `errors`: the call fails with it;
//                      "signal 15": that one comes, and where the process lives on so does the
//                      call; "short": from then on every write takes half of what it is given;
//                      "clock -3600": from then on the clock is that many seconds ahead;
//                      "vanish PATH": PATH has another name before the call;
//                      "lost": the call is made twice, as by NFS where an answer was lost, and
//                      gives what the second one did
//   AXLE_FAULT_MODE    "once", or "after": that call and every later one
//   AXLE_FAULT_COUNT   file that receives the number of calls when the process ends by itself
//   AXLE_FAULT_MARK    file that is created when the action takes place
//   AXLE_FAULT_NFS     from the beginning the file system is one of NFS: exclusive locks need a
//   file
//                      that is open for writing, there are no clones, and an open file that is
//                      removed stays as .nfs…; "ENOLCK" and the like: it has no locks either
//   AXLE_FAULT_NFS_BELOW   only what is below that folder is on it
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum action { kill_it, fail_it, signal_it, shorten, shift_clock, vanish, lose_answer };

static const struct {
  const char* name;
  int number;
} errors[] = {{"ENOSPC", ENOSPC},         {"EIO", EIO},       {"EACCES", EACCES},
              {"EROFS", EROFS},           {"ENOLCK", ENOLCK}, {"ENOSYS", ENOSYS},
              {"EOPNOTSUPP", EOPNOTSUPP}, {"EDQUOT", EDQUOT}, {"ESTALE", ESTALE}};

static atomic_ulong calls;
static unsigned long fault_at;
static enum action action;
static int fault_errno;
static int fault_signal;
static long clock_shift;
static const char* vanishing;
static int fault_after;
static atomic_int begun;  // "short" and "clock" last
static int on_nfs;
static int lock_errno;  // 0: there are locks

static void misused(const char* what) {
  static const char word[] = "fault_shim: unknown action ";
  syscall(SYS_write, 2, word, sizeof word - 1);
  syscall(SYS_write, 2, what, strlen(what));
  syscall(SYS_exit_group, 99);
}

static void read_action(const char* text) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) {
    if (strcmp(text, errors[i].name) != 0) continue;
    action = fail_it;
    fault_errno = errors[i].number;
    return;
  }
  if (strcmp(text, "kill") == 0) {
    action = kill_it;
  } else if (strcmp(text, "short") == 0) {
    action = shorten;
  } else if (strcmp(text, "lost") == 0) {
    action = lose_answer;
  } else if (strncmp(text, "signal ", 7) == 0) {
    action = signal_it;
    fault_signal = atoi(text + 7);
  } else if (strncmp(text, "clock ", 6) == 0) {
    action = shift_clock;
    clock_shift = atol(text + 6);
  } else if (strncmp(text, "vanish ", 7) == 0) {
    action = vanish;
    vanishing = text + 7;
  } else {
    misused(text);
  }
}

__attribute__((constructor)) static void begin(void) {
  const char* at = getenv("AXLE_FAULT_AT");
  const char* text = getenv("AXLE_FAULT_ACTION");
  const char* mode = getenv("AXLE_FAULT_MODE");
  if (at != NULL) fault_at = strtoul(at, NULL, 10);
  fault_after = mode != NULL && strcmp(mode, "after") == 0;
  if (text != NULL) read_action(text);
  const char* nfs = getenv("AXLE_FAULT_NFS");
  on_nfs = nfs != NULL;
  for (size_t i = 0; on_nfs && i < sizeof errors / sizeof *errors; ++i)
    if (strcmp(nfs, errors[i].name) == 0) lock_errno = errors[i].number;
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

static void mark(void) {
  const char* path = getenv("AXLE_FAULT_MARK");
  if (path == NULL) return;
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) syscall(SYS_close, fd);
}

static void let_vanish(void) {
  char away[4096];
  snprintf(away, sizeof away, "%s.gone-%d", vanishing, (int)getpid());
  syscall(SYS_renameat2, AT_FDCWD, vanishing, AT_FDCWD, away, 0);
}

enum verdict { go_on, fail_now, die_now, do_twice };

static enum verdict judge(void) {
  const unsigned long call = atomic_fetch_add(&calls, 1) + 1;
  if (fault_at == 0 || call < fault_at || (call > fault_at && !fault_after)) return go_on;
  if (action != shorten && action != shift_clock) mark();
  switch (action) {
    case kill_it:
      return die_now;
    case fail_it:
      errno = fault_errno;
      return fail_now;
    case signal_it:
      syscall(SYS_kill, getpid(), fault_signal);
      return go_on;
    case vanish:
      let_vanish();
      return go_on;
    case lose_answer:
      return do_twice;
    case shorten:
    case shift_clock:
      atomic_store(&begun, 1);
      return go_on;
  }
  return go_on;
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

// The same of a call that NFS may send twice: it stands in `call`, and `result` is what it gives.
#define CHANGE(result, call)                                          \
  do {                                                                \
    const enum verdict verdict = judge();                             \
    if (verdict == die_now) die();                                    \
    if (verdict == fail_now) return -1;                               \
    (result) = (int)(call);                                           \
    if (verdict == do_twice && (result) == 0) (result) = (int)(call); \
  } while (0)

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
    if (action == shorten && atomic_load(&begun) && size > 1) {
      mark();
      size /= 2;
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
  int result;
  CHANGE(result, syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  return result;
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return renameat2(from_folder, from, to_folder, to, 0);
}
int rename(const char* from, const char* to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  int result;
  CHANGE(result, syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
  return result;
}
int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

// Whether the open file or folder is on what stands for NFS.
static int is_on_nfs(int fd) {
  const char* below = getenv("AXLE_FAULT_NFS_BELOW");
  char link[64], path[4096];
  if (!on_nfs || below == NULL) return on_nfs;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path);
  const size_t wanted = strlen(below);
  return length >= (long)wanted && strncmp(path, below, wanted) == 0;
}

// Whether this process has the file open.
static int is_open(int folder, const char* path) {
  struct stat wanted, open_one;
  if (fstatat(folder, path, &wanted, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(wanted.st_mode))
    return 0;
  for (int fd = 3; fd < 256; ++fd) {
    if (fstat(fd, &open_one) == 0 && open_one.st_ino == wanted.st_ino &&
        open_one.st_dev == wanted.st_dev)
      return is_on_nfs(fd);
  }
  return 0;
}

// Removes an open file as NFS does: it has another name until it is closed (here, for good).
static int rename_away(int folder, const char* path) {
  static atomic_uint number;
  const char* slash = strrchr(path, '/');
  char away[4096];
  snprintf(away, sizeof away, "%.*s.nfs%016x", slash == NULL ? 0 : (int)(slash - path + 1), path,
           atomic_fetch_add(&number, 1));
  return (int)syscall(SYS_renameat2, folder, path, folder, away, 0);
}

int unlinkat(int folder, const char* path, int flags) {
  int result;
  if (on_nfs && flags == 0 && is_open(folder, path)) return rename_away(folder, path);
  CHANGE(result, syscall(SYS_unlinkat, folder, path, flags));
  return result;
}
int unlink(const char* path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char* path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char* path) {
  if (unlinkat(AT_FDCWD, path, 0) == 0) return 0;
  return errno == EISDIR ? unlinkat(AT_FDCWD, path, AT_REMOVEDIR) : -1;
}

int mkdirat(int folder, const char* path, mode_t mode) {
  int result;
  CHANGE(result, syscall(SYS_mkdirat, folder, path, mode));
  return result;
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
  int result;
  CHANGE(result, syscall(SYS_symlinkat, target, folder, path));
  return result;
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

// The clock, as its readers ask for it.
static void shift(struct timespec* time) {
  if (!atomic_load(&begun) || action != shift_clock) return;
  mark();
  time->tv_sec += clock_shift;
}
int clock_gettime(clockid_t clock, struct timespec* time) {
  const int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) shift(time);
  return result;
}
time_t time(time_t* out) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}
int gettimeofday(struct timeval* restrict out, void* restrict zone) {
  (void)zone;
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}

int flock(int fd, int operation) {
  struct stat status;
  if (is_on_nfs(fd) && fstat(fd, &status) == 0) {
    const int flags = fcntl(fd, F_GETFL);
    errno = lock_errno;
    if (lock_errno != 0 && (operation & LOCK_UN) == 0) return -1;
    // Folders have locks of this host only.
    errno = EBADF;
    if (S_ISREG(status.st_mode) && (operation & LOCK_EX) != 0 && (flags & O_ACCMODE) == O_RDONLY)
      return -1;
  }
  return (int)syscall(SYS_flock, fd, operation);
}

int fstatfs(int fd, struct statfs* out) {
  const int result = (int)syscall(SYS_fstatfs, fd, out);
  if (result == 0 && is_on_nfs(fd)) out->f_type = 0x6969;  // NFS_SUPER_MAGIC
  return result;
}

int fstatfs64(int fd, struct statfs64* out) { return fstatfs(fd, (struct statfs*)out); }

int ioctl(int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  const unsigned long argument = va_arg(arguments, unsigned long);
  va_end(arguments);
  if (is_on_nfs(fd) && request == 0x40049409) {  // FICLONE
    errno = EOPNOTSUPP;
    return -1;
  }
  return (int)syscall(SYS_ioctl, fd, request, argument);
}
