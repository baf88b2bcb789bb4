#include "providers/plugins/confined_process.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "foundation/system/descriptor.h"
#include "providers/plugins/bare_machine.h"
#include "providers/plugins/grants.h"
#include "providers/plugins/program_start.h"
#include "providers/plugins/syscall_filter.h"
#include "providers/plugins/watch.h"

namespace axle::plugins {
namespace {

/// Read-only, with everything below: programs, libraries, what the kernel reports about the
/// hardware. No personal data: not /home, /root, /tmp, /var, /run, nor most of /etc.
constexpr const char* system_paths[] = {
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld-musl-x86_64.path",
    "/etc/ld-musl-aarch64.path",
    "/etc/alternatives",
    "/etc/os-release",
    "/etc/localtime",
    "/etc/nv_tegra_release",
    "/etc/OpenCL",
    "/sys/bus",
    "/sys/class",
    "/sys/dev",
    "/sys/devices",
    "/sys/module",
    "/sys/firmware/devicetree",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/modules",
    "/proc/version",
    "/proc/stat",
    "/proc/devices",
    "/proc/filesystems",
    "/proc/driver",
    "/proc/device-tree",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/vm/mmap_min_addr",
    "/proc/sys/kernel/cap_last_cap",
    "/dev/null",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
};
/// Folders that may be listed, to find a node's name.
constexpr const char* listed_folders[] = {"/dev/dri", "/dev/nvidia-caps"};

constexpr int rules_place = 4;
constexpr int trouble_place = 5;
constexpr int guard_place = 6;

enum Step : std::int32_t {
  limits = 1,
  privileges,
  capabilities,
  files,
  system_calls,
  program,
  hardware,
  unguarded,
};

/// Everything that the child needs, prepared while memory can still be allocated.
struct Preparation {
  FileRules rules;
  std::vector<sock_filter> filter;
  std::uintptr_t page = 0;  ///< where the program's name is put; 0: execve gets it as it is
  ProgramStart start;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  rlim_t cpu_seconds = 0;
  bool alone = false;
};

std::vector<char*> as_pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void allow_files(const ConfinedTask& task, Preparation& prepared) {
  FileRules& rules = prepared.rules;
  for (const char* path : system_paths) rules.allow_reading(path);
  for (const char* path : listed_folders) rules.allow_listing(path);
  for (const std::string& path : task.grants.readable) rules.allow_reading(path);
  for (const std::string& path : task.grants.devices) rules.allow_device(path);
  for (const std::string& path : files_to_start(task.program, program_folders))
    rules.allow_program(path);
  for (const std::string& probe : task.grants.programs) {
    for (const std::string& path : files_to_start(probe, program_folders))
      rules.allow_program(path);
  }
  // Programs that start probes redirect their output.
  if (!task.grants.programs.empty()) rules.allow_device("/dev/null");
}

bool prepare(const ConfinedTask& task, const SandboxSupport& support, Preparation& prepared,
             std::string& why) {
  // Exceptions only apply if Landlock can limit them to paths.
  const bool limited = support.landlock > 0;
  const bool starts_probes = limited && !task.grants.programs.empty();
  const bool opens_devices = limited && (starts_probes || !task.grants.devices.empty());
  prepared.start = start_of(task.program, task.arguments, program_folders);
  if (limited) {
    if (!prepared.rules.open(support.landlock)) {
      why = "the kernel rejects the Landlock rules";
      return false;
    }
    allow_files(task, prepared);
  }
  if (support.seccomp) {
    if (!starts_probes) prepared.page = one_program_page();
    const bool free_start = !starts_probes && prepared.page == 0;
    prepared.alone = !starts_probes && !free_start;
    prepared.filter =
        make_syscall_filter({!prepared.alone, opens_devices, prepared.page, task.watched});
    if (prepared.filter.empty() || (free_start && !limited)) {
      why = "the system call filter cannot be created";
      return false;
    }
  }
  prepared.arguments = as_pointers(prepared.start.arguments);
  prepared.environment = as_pointers(task.environment);
  prepared.cpu_seconds = static_cast<rlim_t>(task.limits.time.count() / 1000 + 2);
  return true;
}

// From here to `become`: in the child, system calls only.

[[noreturn]] void give_up(Step step) {
  const StartTrouble trouble{step, errno};
  [[maybe_unused]] const ssize_t written = ::write(trouble_place, &trouble, sizeof(trouble));
  system::leave(127);
}

void limit(int resource, rlim_t soft, rlim_t hard) {
  rlimit old{};
  const auto which = static_cast<__rlimit_resource>(resource);
  ::getrlimit(which, &old);
  const rlimit value{std::min(soft, old.rlim_max), std::min(hard, old.rlim_max)};
  if (::setrlimit(which, &value) != 0) give_up(limits);
}

void set_limits(const ConfinedTask& task, const Preparation& prepared) {
  constexpr rlim_t mib = 1 << 20;
  // A limit of zero does not prevent kernels from piping core dumps into a program, one byte does
  // (Linux, fs/coredump.c), and no dump to a file is that small.
  limit(RLIMIT_CORE, 1, 1);
  limit(RLIMIT_FSIZE, 0, 0);
  limit(RLIMIT_NOFILE, 256, 256);
  limit(RLIMIT_MSGQUEUE, 0, 0);
  limit(RLIMIT_STACK, 8 * mib, 64 * mib);
  limit(RLIMIT_CPU, prepared.cpu_seconds, prepared.cpu_seconds);
  limit(RLIMIT_AS, task.limits.memory, task.limits.memory);
}

/// Drops all privileges and prevents new ones, also for root.
void drop_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up(privileges);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  for (int capability = 0; capability < 64; ++capability)
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) give_up(capabilities);
}

/// execve's first argument, at the address that the filter expects.
const char* program_name(const Preparation& prepared) {
  const char* name = prepared.start.program.c_str();
  if (prepared.page == 0) return name;
  const std::size_t length = prepared.start.program.size() + 1;
  if (length > static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    errno = ENAMETOOLONG;
    give_up(program);
  }
  // The address is a number: nothing is mapped there yet. NOLINTNEXTLINE(performance-no-int-to-ptr)
  void* page = ::mmap(reinterpret_cast<void*>(prepared.page), length, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (page == MAP_FAILED) give_up(program);
  std::memcpy(page, name, length);
  return static_cast<const char*>(page);
}

[[noreturn]] void become(const ConfinedTask& task, Preparation& prepared) {
  ::fcntl(trouble_place, F_SETFD, FD_CLOEXEC);
  if (!OrphanGuard::guard_own_group(guard_place)) give_up(unguarded);
  ::close(guard_place);
  // A write beyond the limit fails instead of killing the process.
  ::signal(SIGXFSZ, SIG_IGN);
  if (::chdir("/") != 0) system::leave(127);
  ::umask(077);
  if (task.bare_machine && !hide_hardware(rules_place)) give_up(hardware);
  // Before the limits are set: the page counts, and the parent may use more address space than they
  // allow.
  const char* name = program_name(prepared);
  set_limits(task, prepared);
  drop_privileges();
  if (prepared.rules.descriptor() >= 0) {
    allow_own_proc(rules_place);
    if (!restrict_to(rules_place)) give_up(files);
  }
  ::close(rules_place);
  if (!prepared.filter.empty()) {
    const auto put_in_force = task.watched ? enforce_watched : enforce;
    if (!put_in_force(prepared.filter, ::getpid())) give_up(system_calls);
  }
  ::execve(name, prepared.arguments.data(), prepared.environment.data());
  give_up(program);
}

}  // namespace

std::string render_trouble(const StartTrouble& trouble) {
  const char* what = "it cannot be sandboxed";
  if (trouble.step == program) what = "it cannot be started";
  if (trouble.step == unguarded) what = "its child processes could not be ended";
  if (trouble.step == hardware)
    what = "this system does not allow a test environment without devices";
  return std::string(what) + ": " + std::strerror(trouble.error);
}

std::optional<ConfinedProcess> start_confined(const ConfinedTask& task,
                                              const SandboxSupport& support,
                                              const OrphanGuard& guard, std::string& why) {
  Preparation prepared;
  if (!prepare(task, support, prepared, why)) return std::nullopt;
  const auto made = [&](system::Descriptor& ours) -> system::Descriptor {
    auto pipe = system::make_pipe();
    if (!pipe) return {};
    ::fcntl(pipe->read.get(), F_SETFL, O_NONBLOCK);
    ours = std::move(pipe->read);
    return std::move(pipe->write);
  };
  ConfinedProcess process;
  const system::Descriptor answer =
      task.answer_on_stdout ? system::Descriptor() : made(process.answer);
  const system::Descriptor out = made(process.stdout_);
  const system::Descriptor err = made(process.stderr_);
  const system::Descriptor trouble = made(process.trouble);
  if (!out || !err || !trouble || !(task.answer_on_stdout || answer)) {
    why = std::string("no process can be created: ") + std::strerror(errno);
    return std::nullopt;
  }
  system::ChildSettings settings;
  settings.group = system::Group::session;
  settings.places = {
      system::nowhere, out.get(),         err.get(), answer.get(), prepared.rules.descriptor(),
      trouble.get(),   guard.descriptor()};
  auto child = system::fork_child(settings, [&] { become(task, prepared); });
  if (!child) {
    why = "no process can be created: " + child.error().message();
    return std::nullopt;
  }
  process.child = std::move(*child);
  process.alone = prepared.alone;
#ifdef SYS_pidfd_open
  process.ended =
      system::Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process.child.id(), 0U)));
#endif
  return process;
}

}  // namespace axle::plugins
