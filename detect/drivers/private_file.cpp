#include "detect/drivers/private_file.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/whole_file.h"

namespace axle::detect {
namespace {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

bool is_private(const struct stat& status, std::size_t limit, std::int64_t now) {
  return S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IRWXG | S_IRWXO)) == 0 &&
         status.st_size <= static_cast<off_t>(limit) && status.st_mtim.tv_sec <= now;
}

}  // namespace

std::optional<std::string> read_private_file(const std::string& path, std::size_t limit,
                                             std::int64_t now) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return std::nullopt;
  struct stat status{};
  std::optional<std::string> content;
  if (::fstat(file, &status) == 0 && is_private(status, limit, now)) {
    content.emplace();
    std::array<char, 8192> buffer;
    while (content->size() <= limit) {
      const ssize_t got = ::read(file, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      content->append(buffer.data(), static_cast<std::size_t>(got));
    }
    if (content->size() > limit) content.reset();
  }
  ::close(file);
  return content;
}

bool write_private_file(const std::string& path, std::string_view content) {
  const system::WholeFile how{.flush = system::Flush::no, .mode = 0600};
  std::error_code error = system::write_whole_file(path, content, how);
  if (error == std::errc::no_such_file_or_directory) {
    std::error_code ignored;
    std::filesystem::create_directories(folder_of(path), ignored);
    error = system::write_whole_file(path, content, how);
  }
  return !error;
}

void remove_old_files(const std::string& folder, std::string_view prefix, std::int64_t time) {
  DIR* const open_folder = ::opendir(folder.c_str());
  if (open_folder == nullptr) return;
  while (const dirent* entry = ::readdir(open_folder)) {
    if (!std::string_view(entry->d_name).starts_with(prefix)) continue;
    struct stat status{};
    const int descriptor = ::dirfd(open_folder);
    if (::fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (status.st_mtim.tv_sec < time) ::unlinkat(descriptor, entry->d_name, 0);
  }
  ::closedir(open_folder);
}

}  // namespace axle::detect
