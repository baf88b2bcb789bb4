#include "installer/store/partial_wheel.h"

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace axle::installer {
namespace {

constexpr std::string_view prefix = "partial-";
constexpr std::uint64_t longest_log = 64U << 20;
/// Lines about small members are written together.
constexpr std::size_t worth_writing = 4096;
constexpr std::time_t seconds_until_forgotten = 7 * 24 * 3600;

std::string name_of(const std::string& sha256) { return std::string(prefix) + sha256; }

/// Whether below `tree` there are only the wheel's own folders and files: no links, and nothing
/// that would be in the store unseen.
bool has_only(const std::string& tree, const Manifest& manifest) {
  std::unordered_set<std::string> files;
  std::unordered_set<std::string> folders;
  for (const StoredFile& file : manifest.files) {
    files.insert(file.path);
    for (std::size_t slash = file.path.find('/'); slash != std::string::npos;
         slash = file.path.find('/', slash + 1)) {
      folders.insert(file.path.substr(0, slash));
    }
  }
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(tree, error), end;
       !error && entry != end; entry.increment(error)) {
    const std::filesystem::file_status status = entry->symlink_status(error);
    const std::string path = entry->path().string().substr(tree.size() + 1);
    const bool is_known = std::filesystem::is_directory(status)
                              ? folders.contains(path)
                              : std::filesystem::is_regular_file(status) && files.contains(path);
    if (error || !is_known) return false;
  }
  return !error;
}

bool is_folder(const std::string& path) {
  const auto status = look_at(path);
  return status && *status && S_ISDIR((*status)->st_mode);
}

std::time_t last_used(const std::string& folder) {
  for (const std::string& path : {folder + "/log", folder}) {
    const auto status = look_at(path);
    if (!status) break;
    if (*status) return (*status)->st_mtim.tv_sec;
  }
  return std::time(nullptr);
}

}  // namespace

Result<std::unique_ptr<PartialWheel>> PartialWheel::open(const std::string& store,
                                                         const std::string& sha256,
                                                         std::uint64_t size,
                                                         const Manifest& manifest) {
  auto folder = WorkFolder::take_over(store, name_of(sha256));
  if (!folder) return std::unexpected(folder.error());
  if (!*folder) return nullptr;
  std::unique_ptr<PartialWheel> partial(new PartialWheel(std::move(**folder), sha256, size));
  const auto is_left = partial->read_what_is_left(manifest);
  if (!is_left) return std::unexpected(is_left.error());
  if (!*is_left) {
    if (auto begun = partial->start_again(); !begun) return std::unexpected(begun.error());
  }
  return partial;
}

Result<bool> PartialWheel::read_what_is_left(const Manifest& manifest) {
  const std::string tree = folder_.path() + "/entry/tree";
  const auto text = read_file(log_path(), longest_log);
  if (!text || !is_folder(folder_.path() + "/entry") || !is_folder(tree)) return false;
  auto log = parse_partial_log(*text, sha256_, size_);
  if (!log || !has_only(tree, manifest)) return false;
  log_ = std::move(*log);
  const std::lock_guard lock(mutex_);
  has_hash_ = !log_.hashes.empty();
  log_file_ = Descriptor(::open(log_path().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  if (!log_file_ || ::ftruncate(log_file_.get(), static_cast<off_t>(log_.length)) != 0)
    return std::unexpected(system_error("write", log_path(), errno));
  return true;
}

Result<void> PartialWheel::start_again() {
  log_ = {};
  const std::lock_guard lock(mutex_);
  unwritten_.clear();
  has_hash_ = false;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_.path(), error), end;
       !error && entry != end; entry.increment(error)) {
    std::filesystem::remove_all(entry->path(), error);
    if (error) break;
  }
  if (error) return std::unexpected(system_error("empty", folder_.path(), error.value()));
  log_file_ = Descriptor(
      ::open(log_path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (!log_file_) return std::unexpected(system_error("create", log_path(), errno));
  return write_all(log_file_.get(), render_log_head(sha256_, size_), log_path());
}

void PartialWheel::append(const std::string& line, bool write_now) {
  const std::lock_guard lock(mutex_);
  if (!log_file_) return;
  unwritten_ += line;
  if (!write_now && unwritten_.size() < worth_writing) return;
  // After a part of a line nothing counts: no more is written then.
  if (!write_all(log_file_.get(), unwritten_, log_path())) log_file_.reset();
  unwritten_.clear();
}

void PartialWheel::note_hash(const wheel::Sha256Midpoint& hash) {
  append(render_log_line(hash), true);
  const std::lock_guard lock(mutex_);
  has_hash_ = true;
}

void PartialWheel::note_done(std::size_t member) { append(render_log_line(member), false); }

void PartialWheel::note_place(std::size_t member, const wheel::ContentPlace& place) {
  append(render_log_line(member, place), true);
}

void PartialWheel::keep() {
  append({}, true);
  const std::lock_guard lock(mutex_);
  if (has_hash_) folder_.leave();
}

WorkFolder PartialWheel::take_folder() { return std::move(folder_); }

void remove_forgotten_partial_wheels(const std::string& store) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(store, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(prefix) ||
        std::time(nullptr) - last_used(entry->path().string()) < seconds_until_forgotten) {
      continue;
    }
    // It is removed with the object, unless another process has it.
    static_cast<void>(WorkFolder::take_over(store, name));
  }
}

void remove_partial_wheel(const std::string& store, const std::string& sha256) {
  if (is_folder(store + "/" + name_of(sha256)))
    static_cast<void>(WorkFolder::take_over(store, name_of(sha256)));
}

}  // namespace axle::installer
