#include "providers/plugins/syscall_filter.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <string_view>

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "foundation/system/newer_calls.h"

namespace axle::plugins {
namespace {

/// Names that another architecture or an older libseccomp does not have are skipped.
// clang-format off
constexpr std::string_view allowed[] = {
    // open files, names, metadata
    "read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64", "pwritev",
    "pwritev2", "close", "close_range", "lseek", "_llseek", "fstat", "fstat64", "stat",
    "stat64", "lstat", "lstat64", "newfstatat", "fstatat64", "statx", "statfs", "statfs64",
    "fstatfs", "fstatfs64", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
    "getdents", "getdents64", "getcwd", "chdir", "fchdir", "fadvise64", "fadvise64_64",
    "readahead", "flock", "dup", "dup2", "dup3", "pipe", "pipe2",
    "fsync", "fdatasync", "ftruncate", "ftruncate64", "sendfile", "sendfile64", "umask",
    "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr",
    "memfd_create",
    // waiting
    "poll", "ppoll", "ppoll_time64", "select", "_newselect", "pselect6", "pselect6_time64",
    "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2",
    "eventfd", "eventfd2", "timerfd_create", "timerfd_settime", "timerfd_gettime", "signalfd",
    "signalfd4", "pause",
    // memory
    "munmap", "mprotect", "madvise", "mincore", "msync", "mlock", "mlock2", "munlock", "brk",
    "membarrier", "get_mempolicy", "set_mempolicy", "mbind", "pkey_alloc", "pkey_free",
    "pkey_mprotect",
    // time
    "clock_gettime", "clock_gettime64", "clock_getres", "clock_getres_time64",
    "clock_nanosleep", "clock_nanosleep_time64", "nanosleep", "gettimeofday", "time", "times",
    "getitimer", "setitimer", "alarm", "timer_create", "timer_settime", "timer_gettime",
    "timer_delete", "timer_getoverrun",
    // the process itself and its threads
    "exit", "exit_group", "getpid", "gettid", "getppid", "getuid", "geteuid", "getgid",
    "getegid", "getuid32", "geteuid32", "getgid32", "getegid32", "getresuid", "getresgid",
    "getgroups", "getpgid", "getpgrp", "getsid", "getrusage", "getrlimit", "ugetrlimit",
    "setrlimit", "sysinfo", "uname", "getcpu", "sched_yield", "sched_getaffinity",
    "sched_getparam", "sched_getscheduler", "sched_getattr",
    "sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval", "getpriority",
    "arch_prctl", "set_thread_area", "set_tid_address", "set_robust_list", "get_robust_list",
    "rseq", "futex", "futex_time64", "futex_waitv", "wait4", "waitid", "waitpid",
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigreturn", "rt_sigpending",
    "rt_sigsuspend", "rt_sigtimedwait", "sigaltstack", "restart_syscall", "getrandom", "capget",
    "riscv_hwprobe", "riscv_flush_icache", "cacheflush",
};
// clang-format on

/// System calls that plugins are likely to try: they get an error that says "denied".
// clang-format off
constexpr std::string_view forbidden[] = {
    "socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "sendto",
    "sendmsg", "sendmmsg", "recvfrom", "recvmsg", "recvmmsg", "socketcall", "ptrace",
    "process_vm_readv", "process_vm_writev", "pidfd_open", "pidfd_getfd", "pidfd_send_signal",
    "rt_sigqueueinfo", "rt_tgsigqueueinfo", "tkill", "setsid", "setpgid", "mount", "umount2",
    "unshare", "setns", "chroot", "pivot_root", "bpf", "perf_event_open", "userfaultfd",
    "io_uring_setup", "io_uring_enter", "io_uring_register", "keyctl", "add_key", "request_key",
    "init_module", "finit_module", "delete_module", "kexec_load", "reboot", "swapon", "swapoff",
    "iopl", "ioperm", "modify_ldt", "setuid", "setgid", "setreuid", "setregid", "setresuid",
    "setresgid", "setgroups", "capset", "shmget", "shmat", "shmctl", "msgget", "semget",
    "mq_open", "creat", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat",
    "renameat2", "link", "linkat", "symlink", "symlinkat", "mknod", "mknodat", "chmod",
    "fchmod", "fchmodat", "chown", "fchown", "lchown", "fchownat", "truncate", "truncate64",
    "fallocate", "utime", "utimes", "utimensat", "futimesat", "setxattr", "lsetxattr",
    "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "copy_file_range",
    "inotify_init", "inotify_init1", "fanotify_init",
};
// clang-format on

/// A placeholder for the process's own number until the process knows it.
constexpr std::uint32_t own_number = 0x7ffffff1;
/// Nothing may be mapped below this address on request: `one_program_page` is there.
constexpr scmp_datum_t lowest_mapping = 256U << 20;
constexpr std::uint32_t clone_thread = 0x00010000;
/// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
constexpr std::uint32_t clone_namespaces = 0x7e020000;
/// Flags with which mremap accepts a caller's address: MREMAP_FIXED requires it, MREMAP_DONTUNMAP
/// uses it as a hint.
constexpr scmp_datum_t placing[] = {2, 4};

#if defined(__s390x__)
constexpr unsigned clone_flags_argument = 1;
#else
constexpr unsigned clone_flags_argument = 0;
#endif

/// Values of prctl's first argument that only affect the caller's own name, memory and vectors
/// (include/uapi/linux/prctl.h). PR_SET_PDEATHSIG is not among them.
constexpr scmp_datum_t own_settings[] = {
    3 /* GET_DUMPABLE */,      15 /* SET_NAME */,        16 /* GET_NAME */,
    21 /* GET_SECCOMP */,      23 /* CAPBSET_READ */,    30 /* GET_TIMERSLACK */,
    39 /* GET_NO_NEW_PRIVS */, 47 /* CAP_AMBIENT */,     50 /* SVE_SET_VL */,
    51 /* SVE_GET_VL */,       53 /* GET_SPECULATION */, 54 /* PAC_RESET_KEYS */,
    55 /* SET_TAGGED_ADDR */,  56 /* GET_TAGGED_ADDR */, 63 /* SME_SET_VL */,
    64 /* SME_GET_VL */,       0x53564d41 /* SET_VMA */,
};

/// Commands of fcntl that only affect the descriptor and what it refers to
/// (include/uapi/asm-generic/fcntl.h, linux/fcntl.h).
constexpr scmp_datum_t descriptor_commands[] = {
    F_DUPFD,  F_DUPFD_CLOEXEC, F_GETFD,  F_SETFD,      F_GETFL,     F_SETFL,
    F_GETLK,  F_SETLK,         F_SETLKW, F_OFD_GETLK,  F_OFD_SETLK, F_OFD_SETLKW,
    F_GETOWN, F_GETOWN_EX,     F_GETSIG, F_GETPIPE_SZ, F_GET_SEALS, F_ADD_SEALS,
};
/// Commands by which a descriptor sends signals to any process (F_SETOWN), or blocks others
/// (leases).
constexpr scmp_datum_t commands_upon_others[] = {F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE,
                                                 F_NOTIFY};

/// Requests to terminals, pipes and descriptors that C libraries make for any file.
constexpr scmp_datum_t plain_requests[] = {TCGETS,  TIOCGWINSZ, TIOCGPGRP, FIONREAD,
                                           FIONBIO, FIOCLEX,    FIONCLEX};
/// The second byte of file system requests, some of which change a file through a descriptor that
/// is open for reading: FS_IOC_SETFLAGS, FS_IOC_ENABLE_VERITY and f2fs, FS_IOC_FSSETXATTR, FAT,
/// FS_IOC_SETVERSION, FICLONE and btrfs, f2fs.
constexpr unsigned file_system_requests[] = {'f', 'X', 'r', 'v', 0x94, 0xf5};

class Rules {
 public:
  explicit Rules(bool watched) : watched_(watched), context_(seccomp_init(SCMP_ACT_ERRNO(ENOSYS))) {
    if (context_ == nullptr) return;
    seccomp_attr_set(context_, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    seccomp_attr_set(context_, SCMP_FLTATR_CTL_NNP, 0);
    // A balanced tree: plugins make many calls.
    seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  }
  ~Rules() {
    if (context_ != nullptr) seccomp_release(context_);
  }
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  void allow(std::string_view name, const std::vector<scmp_arg_cmp>& when = {}) {
    add(SCMP_ACT_ALLOW, name, when);
  }
  void deny(std::string_view name, int error, const std::vector<scmp_arg_cmp>& when = {}) {
    add(watched_ ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO(static_cast<unsigned>(error)), name, when);
  }

  [[nodiscard]] std::vector<sock_filter> compile() const {
    if (context_ == nullptr || failed_) return {};
    const int file = ::memfd_create("axle-filter", MFD_CLOEXEC);
    if (file < 0) return {};
    std::vector<sock_filter> filter;
    const off_t size = seccomp_export_bpf(context_, file) == 0 ? ::lseek(file, 0, SEEK_END) : 0;
    if (size > 0 && static_cast<std::size_t>(size) % sizeof(sock_filter) == 0) {
      filter.resize(static_cast<std::size_t>(size) / sizeof(sock_filter));
      if (::pread(file, filter.data(), static_cast<std::size_t>(size), 0) != size) filter.clear();
    }
    ::close(file);
    return filter;
  }

 private:
  void add(std::uint32_t action, std::string_view name, const std::vector<scmp_arg_cmp>& when) {
    if (context_ == nullptr) return;
    const int number = seccomp_syscall_resolve_name(std::string(name).c_str());
    if (number < 0) return;
    const int result = seccomp_rule_add_array(context_, action, number,
                                              static_cast<unsigned>(when.size()), when.data());
    failed_ = failed_ || result != 0;
  }

  bool watched_;
  scmp_filter_ctx context_;
  bool failed_ = false;
};

scmp_arg_cmp argument(unsigned index, scmp_compare compare, scmp_datum_t left,
                      scmp_datum_t right = 0) {
  return {index, compare, left, right};
}

scmp_arg_cmp has_bits(unsigned index, scmp_datum_t bits) {
  return argument(index, SCMP_CMP_MASKED_EQ, bits, bits);
}

scmp_arg_cmp lacks_bits(unsigned index, scmp_datum_t bits) {
  return argument(index, SCMP_CMP_MASKED_EQ, bits, 0);
}

/// Denies everything that creates or changes a file, with or without Landlock. `open` of devices
/// for writing remains allowed if Landlock restricts it.
void rule_opening(Rules& rules, bool devices) {
  const auto bits = devices ? std::vector<scmp_datum_t>{O_CREAT, O_TRUNC}
                            : std::vector<scmp_datum_t>{O_WRONLY, O_RDWR, O_CREAT, O_TRUNC};
  scmp_datum_t all = 0;
  for (const scmp_datum_t bit : bits) all |= bit;
  for (const auto& [name, index] : {std::pair("open", 1U), std::pair("openat", 2U)}) {
    rules.allow(name, {lacks_bits(index, all)});
    for (const scmp_datum_t bit : bits) rules.deny(name, EACCES, {has_bits(index, bit)});
  }
}

void rule_memory(Rules& rules) {
  for (const std::string_view name : {"mmap", "mmap2"}) {
    rules.allow(name, {argument(0, SCMP_CMP_EQ, 0)});
    rules.allow(name, {argument(0, SCMP_CMP_GE, lowest_mapping)});
  }
  rules.allow("mremap", {lacks_bits(3, placing[0] | placing[1])});
  for (const scmp_datum_t flag : placing)
    rules.allow("mremap", {has_bits(3, flag), argument(4, SCMP_CMP_GE, lowest_mapping)});
}

void rule_descriptors(Rules& rules) {
  for (const std::string_view name : {"fcntl", "fcntl64"}) {
    for (const scmp_datum_t command : descriptor_commands)
      rules.allow(name, {argument(1, SCMP_CMP_EQ, command)});
    for (const scmp_datum_t command : commands_upon_others)
      rules.deny(name, EPERM, {argument(1, SCMP_CMP_EQ, command)});
  }
}

/// Every request to a device whose second byte begins with the `bits` upper bits of `kind`, except
/// file system requests.
void rule_device_requests(Rules& rules, unsigned kind, unsigned bits) {
  const unsigned free_bits = 8 - bits;
  const bool holds_file_systems = std::ranges::any_of(file_system_requests, [&](unsigned denied) {
    return denied >> free_bits == kind >> free_bits;
  });
  const scmp_datum_t mask = ((0xffU << free_bits) & 0xffU) << 8;
  const scmp_arg_cmp matches = argument(1, SCMP_CMP_MASKED_EQ, mask, scmp_datum_t{kind} << 8);
  if (!holds_file_systems) return rules.allow("ioctl", {matches});
  if (free_bits == 0) return rules.deny("ioctl", EPERM, {matches});
  rule_device_requests(rules, kind, bits + 1);
  rule_device_requests(rules, kind | 1U << (free_bits - 1), bits + 1);
}

void rule_requests(Rules& rules, bool devices) {
  if (devices) return rule_device_requests(rules, 0, 0);
  for (const scmp_datum_t request : plain_requests)
    rules.allow("ioctl", {argument(1, SCMP_CMP_MASKED_EQ, 0xffffffff, request)});
  for (const scmp_datum_t kind : file_system_requests)
    rules.deny("ioctl", EPERM, {argument(1, SCMP_CMP_MASKED_EQ, 0xff00, kind << 8)});
}

void rule_processes(Rules& rules, const FilterOptions& options) {
  if (options.processes) {
    for (const std::string_view name : {"fork", "vfork", "execve"}) rules.allow(name);
    rules.allow("clone", {lacks_bits(clone_flags_argument, clone_namespaces)});
    return;
  }
  rules.deny("fork", EPERM);
  rules.deny("vfork", EPERM);
  rules.allow("clone", {has_bits(clone_flags_argument, clone_thread)});
  rules.deny("clone", EPERM, {lacks_bits(clone_flags_argument, clone_thread)});
  if (options.program != 0) {
    rules.allow("execve", {argument(0, SCMP_CMP_EQ, options.program)});
    rules.deny("execve", EACCES, {argument(0, SCMP_CMP_NE, options.program)});
  } else {
    rules.deny("execve", EACCES);
  }
}

void rule_itself(Rules& rules) {
  for (const std::string_view name : {"kill", "tgkill"}) {
    rules.allow(name, {argument(0, SCMP_CMP_EQ, own_number)});
    rules.deny(name, EPERM, {argument(0, SCMP_CMP_NE, own_number)});
  }
  for (const std::string_view name : {"prlimit64", "sched_setaffinity"}) {
    rules.allow(name, {argument(0, SCMP_CMP_EQ, 0)});
    rules.allow(name, {argument(0, SCMP_CMP_EQ, own_number)});
  }
  rules.allow("personality", {argument(0, SCMP_CMP_EQ, 0xffffffff)});
  for (const scmp_datum_t setting : own_settings)
    rules.allow("prctl", {argument(0, SCMP_CMP_EQ, setting)});
}

}  // namespace

bool has_syscall_filters() {
  // A null program is only checked by a kernel with filters: EFAULT, not EINVAL (seccomp(2)).
  return ::prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, nullptr, 0, 0) == -1 &&
         errno == EFAULT;
}

std::vector<sock_filter> make_syscall_filter(const FilterOptions& options) {
  Rules rules(options.watched);
  for (const std::string_view name : allowed) rules.allow(name);
  for (const std::string_view name : forbidden) rules.deny(name, EPERM);
  rules.deny("execveat", EACCES);
  rule_opening(rules, options.devices);
  rule_memory(rules);
  rule_descriptors(rules);
  rule_requests(rules, options.devices);
  rule_processes(rules, options);
  rule_itself(rules);
  return rules.compile();
}

std::uintptr_t one_program_page() {
  std::ifstream file("/proc/sys/vm/mmap_min_addr");
  std::uintptr_t lowest = 0;
  if (!(file >> lowest)) return 0;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  lowest = std::max<std::uintptr_t>((lowest + page - 1) / page * page, 16 * page);
  return lowest + page <= lowest_mapping / 2 ? lowest : 0;
}

void fill_in_own_number(std::vector<sock_filter>& filter, pid_t self) {
  for (sock_filter& line : filter) {
    const bool compares = BPF_CLASS(line.code) == BPF_JMP && BPF_OP(line.code) == BPF_JEQ;
    if (compares && line.k == own_number) line.k = static_cast<std::uint32_t>(self);
  }
}

bool enforce(std::vector<sock_filter>& filter, pid_t self) {
  fill_in_own_number(filter, self);
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, &program, 0, 0) == 0;
}

}  // namespace axle::plugins
