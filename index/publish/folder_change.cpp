#include "index/publish/folder_change.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/whole_file.h"
#include "index/http/local_files.h"
#include "index/publish/copied_file.h"
#include "index/publish/folder_lock.h"
#include "index/publish/index_pages.h"

namespace axle::index {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t longest_journal = 1ULL << 30;
/// More files than that are flushed with everything else on their file system.
constexpr std::size_t most_flushed_alone = 64;

std::string change_folder(const std::string& folder) {
  return fmt::format("{}/{}", folder, change_folder_name);
}

std::string journal_of(const std::string& folder) { return change_folder(folder) + "/journal"; }

/// In which order files get their names: those that pages list, then of each project its variants
/// files, which change with the page, and its pages, then those of the index.
std::tuple<int, std::string_view, int> rank_of(std::string_view path) {
  const bool of_index = path.find('/') == path.rfind('/');
  const bool variants = path.ends_with("-variants.json");
  if (is_list_page(path)) return {2, {}, 3};
  if (!is_index_page(path) && !variants && !is_project_page(path)) return {0, {}, 0};
  return {of_index ? 2 : 1, path.substr(0, path.rfind('/')),
          variants                  ? 0
          : path.ends_with(".json") ? 1
          : is_project_page(path)   ? 3
                                    : 2};
}

Result<void> flush_path(const std::string& path, int kind) {
  const system::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | kind));
  if (!file) return errno == ENOENT ? Result<void>() : system_failure("open", path, errno);
  if (::fsync(file.get()) != 0) return system_failure("write", path, errno);
  return {};
}

Result<void> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0 || errno == EEXIST) return {};
  if (errno != ENOENT) return system_failure("create", path, errno);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return system_failure("create", path, error.value());
  return {};
}

/// Done before, by a process that was killed then: there is nothing staged any more.
Result<void> put(const std::string& staged, const std::string& path) {
  if (::rename(staged.c_str(), path.c_str()) == 0) return {};
  if (errno != ENOENT) return system_failure("replace", path, errno);
  struct stat status = {};
  if (::lstat(staged.c_str(), &status) != 0) return {};
  if (Result<void> made = make_folder(fs::path(path).parent_path()); !made) return made;
  if (::rename(staged.c_str(), path.c_str()) != 0) return system_failure("replace", path, errno);
  return {};
}

Result<void> drop(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_failure("remove", path, errno);
  // The folder of a project whose last file that was.
  const std::string folder = fs::path(path).parent_path();
  const bool stays =
      ::rmdir(folder.c_str()) != 0 && errno != ENOTEMPTY && errno != EEXIST && errno != ENOENT;
  if (stays) return system_failure("remove", folder, errno);
  return {};
}

Result<void> flush_folders(const std::set<std::string>& folders, const std::string& index) {
  if (folders.size() <= most_flushed_alone) {
    for (const std::string& folder : folders) {
      if (Result<void> done = flush_path(folder, O_DIRECTORY); !done) return done;
    }
    return {};
  }
  const system::Descriptor any(::open(index.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!any || ::syncfs(any.get()) != 0) return system_failure("write", index, errno);
  return {};
}

/// Can be done again from its beginning.
Result<void> carry_out(const std::vector<ChangeStep>& steps, const std::string& folder,
                       Report* report) {
  std::set<std::string> folders;
  std::size_t count = 0;
  for (const ChangeStep& step : steps) {
    const std::string path = fmt::format("{}/{}", folder, step.path);
    Result<void> done = step.staged.empty()
                            ? drop(path)
                            : put(fmt::format("{}/{}", change_folder(folder), step.staged), path);
    if (!done) {
      done.error().hint +=
          "; the change is decided, and the next command that changes the index "
          "completes it";
      return done;
    }
    folders.insert(fs::path(path).parent_path());
    if (report != nullptr) report->progress({"publishing", ++count, steps.size()});
  }
  folders.insert(folder);
  if (Result<void> flushed = flush_folders(folders, folder); !flushed) return flushed;
  const std::string journal = journal_of(folder);
  if (::unlink(journal.c_str()) != 0) return system_failure("remove", journal, errno);
  std::error_code ignored;
  fs::remove_all(change_folder(folder), ignored);
  return {};
}

}  // namespace

Result<void> complete_change(const std::string& folder) {
  const std::string journal = journal_of(folder);
  const Result<std::string> text = read_local_file(journal, longest_journal);
  if (!text && text.error().kind != ErrorKind::not_found) return std::unexpected(text.error());
  if (text) {
    const auto steps = parse_change(*text, journal);
    if (!steps) return std::unexpected(steps.error());
    return carry_out(*steps, folder, nullptr);
  }
  std::error_code error;
  fs::remove_all(change_folder(folder), error);
  if (error) return system_failure("remove", change_folder(folder), error.value());
  return {};
}

Result<std::unique_ptr<FolderChange>> FolderChange::begin(const std::string& folder) {
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error) return system_failure("create", folder, error.value());
  auto lock = lock_index_folder(folder);
  if (!lock) return std::unexpected(std::move(lock.error()));
  if (Result<void> completed = complete_change(folder); !completed) {
    return std::unexpected(std::move(completed.error()));
  }
  std::unique_ptr<FolderChange> change(new FolderChange(folder, std::move(*lock)));
  change->made_folder_ = made;
  return change;
}

FolderChange::~FolderChange() {
  std::error_code ignored;
  if (staging_ && !decided_) fs::remove_all(change_folder(folder_), ignored);
  if (made_folder_ && !decided_) ::rmdir(folder_.c_str());
}

Result<std::string> FolderChange::stage(std::string_view path) {
  const std::string aside = change_folder(folder_);
  if (!staging_) {
    if (::mkdir(aside.c_str(), 0700) != 0) return system_failure("create", aside, errno);
    staging_ = true;
  }
  ChangeStep step{std::string(path), std::to_string(puts_.size())};
  std::string staged = fmt::format("{}/{}", aside, step.staged);
  puts_.push_back(std::move(step));
  return staged;
}

Result<void> FolderChange::write(std::string_view path, std::string_view content) {
  const auto staged = stage(path);
  if (!staged) return std::unexpected(staged.error());
  return write_new_file(*staged, content);
}

Result<void> FolderChange::copy(const std::string& file, std::string_view path, std::string_view) {
  const auto staged = stage(path);
  if (!staged) return std::unexpected(staged.error());
  return copy_to_new_file(file, *staged);
}

void FolderChange::leave_out(std::string_view path) { drops_.push_back({std::string(path)}); }

Result<void> FolderChange::flush() const {
  if (puts_.size() > most_flushed_alone) {
    if (::syncfs(lock_.get()) != 0) return system_failure("write", folder_, errno);
    return {};
  }
  for (const ChangeStep& step : puts_) {
    const std::string staged = fmt::format("{}/{}", change_folder(folder_), step.staged);
    if (Result<void> flushed = flush_path(staged, 0); !flushed) return flushed;
  }
  return {};
}

Result<void> FolderChange::put_in_place(Report& report) {
  if (puts_.empty() && drops_.empty()) return {};
  const auto place = [](const ChangeStep& step) {
    return std::pair(rank_of(step.path), std::string_view(step.path));
  };
  std::ranges::sort(puts_, {}, place);
  std::ranges::sort(drops_, std::greater(), place);
  if (Result<void> flushed = flush(); !flushed) return flushed;
  std::vector<ChangeStep> steps = std::move(puts_);
  steps.insert(steps.end(), drops_.begin(), drops_.end());
  if (!staging_ && ::mkdir(change_folder(folder_).c_str(), 0700) != 0) {
    return system_failure("create", change_folder(folder_), errno);
  }
  staging_ = true;
  const std::string journal = journal_of(folder_);
  const std::error_code error = system::write_whole_file(journal, render_change(steps));
  if (error) return system_failure("write", journal, error.value());
  decided_ = true;
  return carry_out(steps, folder_, &report);
}

}  // namespace axle::index
