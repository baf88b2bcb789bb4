#include "providers/plugins/bare_machine.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "providers/plugins/landlock.h"

namespace axle::plugins {
namespace {

constexpr const char* covered[] = {"/sys/class",        "/sys/bus",     "/sys/dev",
                                   "/sys/devices",      "/sys/module",  "/sys/firmware/devicetree",
                                   "/proc/device-tree", "/proc/driver", "/dev"};

bool write_file(const char* path, const char* text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const auto size = static_cast<ssize_t>(std::strlen(text));
  const bool written = ::write(file, text, static_cast<std::size_t>(size)) == size;
  ::close(file);
  return written;
}

/// "NUMBER NUMBER 1": the same user inside as outside.
bool map_to_itself(const char* path, unsigned number) {
  char text[32];
  char* end = text + sizeof(text);
  *--end = '\0';
  *--end = '1';
  for (int times = 0; times < 2; ++times) {
    *--end = ' ';
    unsigned rest = number;
    do {
      *--end = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
  }
  return write_file(path, end);
}

/// A new mount namespace; users other than root need a user namespace for it.
bool leave_mounts() {
  const unsigned user = ::geteuid();
  const unsigned group = ::getegid();
  if (::unshare(CLONE_NEWNS) == 0) return true;
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  return write_file("/proc/self/setgroups", "deny") && map_to_itself("/proc/self/uid_map", user) &&
         map_to_itself("/proc/self/gid_map", group);
}

}  // namespace

bool hide_hardware(int rules) {
  if (!leave_mounts()) return false;
  // Mounts made here must not propagate.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  for (const char* path : covered) {
    const bool done = ::mount("none", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY,
                              "size=4k,mode=755") == 0;
    if (!done && errno != ENOENT && errno != ENOTDIR) return false;
    allow_folder(rules, path);
  }
  return true;
}

}  // namespace axle::plugins
