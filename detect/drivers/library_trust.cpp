#include "detect/drivers/library_trust.h"

#include <cstdlib>

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "detect/host.h"

namespace axle::detect {
namespace {

std::string refuse_owner(const std::string& path, const struct stat& status) {
  if (!may_be_root(status.st_uid) && status.st_uid != ::geteuid())
    return path + " is not loaded: it belongs to another user";
  const bool open_to_all = (status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0;
  if (open_to_all) return path + " is not loaded: it is world-writable";
  return {};
}

/// The file, links resolved, and the folder that it is named in.
std::string refuse_place(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return {};
  if (std::string refused = refuse_owner(path, status); !refused.empty()) return refused;
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {};
  const std::string folder = slash == 0 ? "/" : path.substr(0, slash);
  if (::stat(folder.c_str(), &status) != 0) return {};
  return refuse_owner(folder, status);
}

}  // namespace

// user_namespaces(7), "Unmapped user and group IDs". If every user is mapped, the overflow user is
// an ordinary one.
bool may_be_root(std::uint32_t user) {
  if (user == 0) return true;
  const auto host = make_real_host();
  const std::string overflow =
      host->read_file("/proc/sys/kernel/overflowuid", 64).value_or("65534");
  if (std::strtoul(overflow.c_str(), nullptr, 10) != user) return false;
  const std::string map = host->read_file("/proc/self/uid_map", 4096).value_or("");
  // A kernel without such namespaces has no map.
  return !map.empty() && map.find(" 4294967295\n") == std::string::npos;
}

Privilege own_privilege() {
  if (::getauxval(AT_SECURE) != 0) return Privilege::elevated;
  return ::geteuid() == 0 ? Privilege::root : Privilege::user;
}

std::string refuse_file(const std::string& path, Privilege privilege) {
  if (privilege == Privilege::user) return {};
  std::string refused = refuse_place(path);
  if (!refused.empty()) return refused;
  char* const resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return {};
  if (path != resolved) refused = refuse_place(resolved);
  std::free(resolved);
  return refused;
}

}  // namespace axle::detect
