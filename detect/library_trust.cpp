#include "detect/library_trust.h"

#include <cstdlib>

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "detect/host.h"

namespace axle::detect {
namespace {

constexpr uid_t overflow_user = 65534;  // user_namespaces(7), "Unmapped user and group IDs"

/// Whether files of users that this namespace does not know show as the overflow user's: root's
/// outside may be among them. Where every user is mapped, that one is nobody's but its own.
bool lacks_users() {
  const auto host = make_real_host();
  const std::string map = host->read_file("/proc/self/uid_map", 4096).value_or("");
  return map.find(" 4294967295\n") == std::string::npos;
}

std::string refuse_owner(const std::string& path, const struct stat& status) {
  const bool known = status.st_uid == 0 || status.st_uid == ::geteuid();
  const bool unmapped = status.st_uid == overflow_user && lacks_users();
  if (!known && !unmapped) return path + " is not loaded: it belongs to another user";
  const bool open_to_all = (status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0;
  if (open_to_all) return path + " is not loaded: everyone may write it";
  return {};
}

/// The file, links followed, and the folder that it is named in.
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
