#include "foundation/system/whole_file.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/file_lock.h"
#include "foundation/system/newer_calls.h"

namespace axle::system {
namespace {

struct Draft {
  std::string path;
  Descriptor file;
};

std::string draft_name() {
  constexpr std::string_view characters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::array<unsigned char, 6> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    random = {};  // the name is only tried
  std::string name;
  for (const unsigned char each : random) name += characters[each % characters.size()];
  return name;
}

/// A new file. In a folder of drafts it is locked: between the two calls another process may
/// consider it abandoned.
std::expected<Draft, std::error_code> create_draft(const std::string& path, const WholeFile& how) {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  constexpr int attempts = 100;
  const std::string stem =
      how.drafts.empty() ? path : how.drafts + '/' + path.substr(path.rfind('/') + 1);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    Draft draft{stem + '.' + draft_name(), {}};
    draft.file = Descriptor(::open(draft.path.c_str(), flags, how.mode.value_or(0666)));
    if (!draft.file && errno == EEXIST) continue;
    if (!draft.file) return std::unexpected(last_error());
    if (how.drafts.empty()) return draft;
    (void)try_lock(draft.file);
    struct stat status = {};
    if (::fstat(draft.file.get(), &status) == 0 && status.st_nlink > 0) return draft;
  }
  return std::unexpected(std::make_error_code(std::errc::file_exists));
}

std::error_code error_of(int result) { return result == 0 ? std::error_code() : last_error(); }

/// Some file systems only report a full disk when the file is closed.
std::error_code fill(Descriptor& file, std::string_view content, const WholeFile& how) {
  // The file has 0600; the umask may have removed further permissions.
  if (how.mode && *how.mode != 0600 && ::fchmod(file.get(), *how.mode) != 0) return last_error();
  if (const std::error_code error = write_all(file.get(), content)) return error;
  if (how.flush == Flush::yes && ::fsync(file.get()) != 0) return last_error();
  return file.close();
}

}  // namespace

std::error_code write_whole_file(const std::string& path, std::string_view content,
                                 const WholeFile& how) {
  auto draft = create_draft(path, how);
  if (!draft) return draft.error();
  // Until the draft has its final name.
  const Descriptor lock(how.drafts.empty() ? -1 : ::fcntl(draft->file.get(), F_DUPFD_CLOEXEC, 0));
  std::error_code error = fill(draft->file, content, how);
  if (!error && how.modified) {
    const std::array<timespec, 2> times = {timespec{*how.modified, 0}, timespec{*how.modified, 0}};
    error = error_of(::utimensat(AT_FDCWD, draft->path.c_str(), times.data(), 0));
  }
  if (!error) error = error_of(::rename(draft->path.c_str(), path.c_str()));
  if (error) ::unlink(draft->path.c_str());
  return error;
}

void remove_abandoned_drafts(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> abandoned;
  for (std::filesystem::directory_iterator draft(folder, error), end; !error && draft != end;
       draft.increment(error)) {
    // NFS locks exclusively only what is open for writing.
    const Descriptor file(
        ::open(draft->path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file && !try_lock(file)) abandoned.push_back(draft->path());
  }
  for (const std::string& draft : abandoned) ::unlink(draft.c_str());
}

}  // namespace axle::system
