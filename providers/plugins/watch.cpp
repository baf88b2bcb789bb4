#include "providers/plugins/watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "providers/plugins/answer.h"
#include "providers/plugins/syscall_filter.h"

namespace axle::plugins {
namespace {

constexpr std::size_t most_attempts = 32;
constexpr int most_at_once = 64;
constexpr std::size_t longest_path = 200;

/// Calls with a file name, and which argument it is.
constexpr std::pair<std::string_view, std::size_t> paths[] = {
    {"open", 0},      {"openat", 1},   {"creat", 0},     {"execve", 0}, {"execveat", 1},
    {"mkdir", 0},     {"mkdirat", 1},  {"rmdir", 0},     {"unlink", 0}, {"unlinkat", 1},
    {"rename", 0},    {"renameat", 1}, {"renameat2", 1}, {"chmod", 0},  {"fchmodat", 1},
    {"chown", 0},     {"fchownat", 1}, {"truncate", 0},  {"mknod", 0},  {"mknodat", 1},
    {"symlinkat", 0}, {"symlink", 0},
};

/// The name of a system call of this machine, or "system call N".
std::string syscall_name(int number) {
  char* name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
  std::string text = name == nullptr ? fmt::format("system call {}", number) : name;
  std::free(name);
  return text;
}

/// The error that the filter returns without us: EACCES for files and programs, else EPERM.
int refusal_of(std::string_view name) {
  const bool is_file = name == "open" || name == "openat" || name.starts_with("execve");
  return is_file ? EACCES : EPERM;
}

/// The text at `address` of the process, as far as it can be read.
std::string text_of(pid_t process, std::uint64_t address) {
  std::array<char, longest_path> bytes{};
  const iovec here{bytes.data(), bytes.size()};
  // Up to the end of the page: the next one may not be mapped.
  const std::size_t in_page = 4096 - address % 4096;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in another process
  const iovec there{reinterpret_cast<void*>(address), std::min(in_page, bytes.size())};
  const ssize_t got = ::process_vm_readv(process, &here, 1, &there, 1, 0);
  if (got <= 0) return {};
  const std::string_view text(bytes.data(), static_cast<std::size_t>(got));
  std::string shown = printable(text.substr(0, text.find('\0')), longest_path);
  std::ranges::replace(shown, '\n', '?');
  return shown;
}

std::string describe(const seccomp_notif& call, const std::string& name) {
  const auto* const path =
      std::ranges::find(paths, name, &std::pair<std::string_view, std::size_t>::first);
  if (path == std::end(paths)) return name;
  const std::string text = text_of(static_cast<pid_t>(call.pid), call.data.args[path->second]);
  return text.empty() ? name : name + " " + text;
}

}  // namespace

Watch::Watch(pid_t child, int pidfd) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) return;
  }
  if (info.si_code != CLD_STOPPED) return;
#ifdef SYS_pidfd_getfd
  listener_ = static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd, listener_place, 0U));
#else
  static_cast<void>(pidfd);
#endif
  ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED);
  ::kill(child, SIGCONT);
}

Watch::Watch(Watch&& other) noexcept
    : listener_(std::exchange(other.listener_, -1)),
      order_(std::move(other.order_)),
      counts_(std::move(other.counts_)) {}

Watch& Watch::operator=(Watch&& other) noexcept {
  std::swap(listener_, other.listener_);
  std::swap(order_, other.order_);
  std::swap(counts_, other.counts_);
  return *this;
}

Watch::~Watch() {
  if (listener_ >= 0) ::close(listener_);
}

void Watch::attend() {
  for (int i = 0; listener_ >= 0 && i < most_at_once; ++i) {
    pollfd waiting{listener_, POLLIN, 0};
    if (::poll(&waiting, 1, 0) <= 0) return;
    if ((waiting.revents & POLLIN) != 0 && answer_one()) continue;
    // All processes that could ask have ended.
    if ((waiting.revents & (POLLHUP | POLLERR)) != 0) ::close(std::exchange(listener_, -1));
    return;
  }
}

bool Watch::answer_one() {
  seccomp_notif_sizes sizes{};
  if (::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0U, &sizes) != 0) return false;
  // The kernel's structs may be larger than those of the headers; it requires them zeroed.
  const auto zeroed = [](std::size_t kernels, std::size_t ours) {
    return std::vector<std::uint64_t>(std::max(kernels, ours) / sizeof(std::uint64_t) + 1, 0);
  };
  std::vector<std::uint64_t> asked = zeroed(sizes.seccomp_notif, sizeof(seccomp_notif));
  std::vector<std::uint64_t> answered =
      zeroed(sizes.seccomp_notif_resp, sizeof(seccomp_notif_resp));
  auto* const call = reinterpret_cast<seccomp_notif*>(asked.data());
  // ENOENT: it has been killed since.
  if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, call) != 0)
    return errno == ENOENT || errno == EINTR;
  const std::string name = syscall_name(call->data.nr);
  // The C library asks a daemon for user names over such a socket, and works without it.
  const bool is_local = name == "socket" && call->data.args[0] == AF_UNIX;
  const std::string attempt = is_local ? std::string() : describe(*call, name);
  // While we read its memory it may have ended, and another process may have its number.
  if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id) == 0 && !is_local) note(attempt);
  auto* const answer = reinterpret_cast<seccomp_notif_resp*>(answered.data());
  answer->id = call->id;
  answer->error = -refusal_of(name);
  ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, answer);
  return true;
}

void Watch::note(std::string attempt) {
  if (!counts_.contains(attempt)) {
    if (order_.size() == most_attempts) return;
    order_.push_back(attempt);
  }
  ++counts_[std::move(attempt)];
}

std::vector<std::string> Watch::attempts() const {
  std::vector<std::string> told;
  for (const std::string& attempt : order_) {
    const std::size_t times = counts_.at(attempt);
    told.push_back(times == 1 ? attempt : fmt::format("{} ({} times)", attempt, times));
  }
  return told;
}

bool enforce_watched(std::vector<sock_filter>& filter, pid_t self) {
  fill_in_own_number(filter, self);
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  const long listener =
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (listener < 0) return false;
  const auto descriptor = static_cast<int>(listener);
  if (descriptor != listener_place) {
    ::dup2(descriptor, listener_place);
    ::close(descriptor);
  }
  ::kill(self, SIGSTOP);
  ::close(listener_place);
  return true;
}

}  // namespace axle::plugins
