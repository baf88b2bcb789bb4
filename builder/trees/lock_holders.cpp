#include "builder/trees/lock_holders.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

struct Holder {
  pid_t process = 0;
  pid_t session = 0;
};

std::optional<Holder> named_holder(const system::Descriptor& lock) {
  std::array<char, 64> text{};
  const ssize_t size = ::pread(lock.get(), text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  const char* const end = text.data() + size;
  Holder holder;
  const auto first = std::from_chars(text.data(), end, holder.process);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ' ') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, holder.session);
  if (second.ec != std::errc() || second.ptr == end || *second.ptr != '\n') return std::nullopt;
  return holder;
}

/// proc(5): of a descriptor whose open file has a lock, fdinfo says so. Others, who wait for it,
/// have the file open, too.
bool has_lock(const fs::path& process, const struct stat& file) {
  std::error_code error;
  for (fs::directory_iterator it(process / "fd", error), end; !error && it != end;
       it.increment(error)) {
    struct stat status = {};
    if (::stat(it->path().c_str(), &status) != 0 || status.st_dev != file.st_dev ||
        status.st_ino != file.st_ino)
      continue;
    std::ifstream info(process / "fdinfo" / it->path().filename());
    for (std::string line; std::getline(info, line);) {
      if (line.starts_with("lock:") && line.find("FLOCK") != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace

void name_holder(const system::Descriptor& lock) {
  const std::string text = fmt::format("{} {}\n", ::getpid(), ::getsid(0));
  if (::ftruncate(lock.get(), 0) == 0) (void)!::pwrite(lock.get(), text.data(), text.size(), 0);
}

bool held_by_servers_alone(const system::Descriptor& lock) {
  struct stat file = {};
  const auto holder = named_holder(lock);
  if (!holder || ::kill(holder->process, 0) == 0 || errno != ESRCH ||
      ::fstat(lock.get(), &file) != 0)
    return false;
  bool servers = false;
  std::error_code error;
  for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    pid_t process = 0;
    const auto number = std::from_chars(name.data(), name.data() + name.size(), process);
    if (number.ec != std::errc() || number.ptr != name.data() + name.size() ||
        !has_lock(it->path(), file))
      continue;
    if (::getsid(process) == holder->session) return false;
    servers = true;
  }
  return servers && !error;
}

}  // namespace axle::builder
