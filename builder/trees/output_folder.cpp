#include "builder/trees/output_folder.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace axle::builder {

namespace fs = std::filesystem;

Result<OutputFolder> OutputFolder::open(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::absolute(path, error).lexically_normal();
  if (!error) fs::create_directories(folder, error);
  if (error) return fail(ErrorKind::io, fmt::format("{}: {}", folder.string(), error.message()));
  OutputFolder opened(folder.string());
  if (fs::is_directory(fs::symlink_status(opened.drafts(), error)))
    system::remove_abandoned_drafts(opened.drafts());
  return opened;
}

OutputFolder::OutputFolder(OutputFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

OutputFolder::~OutputFolder() {
  // Another program may be writing there: then it is not empty, and stays.
  std::error_code ignored;
  if (!path_.empty()) fs::remove(drafts(), ignored);
}

std::string OutputFolder::drafts() const { return (fs::path(path_) / ".variant-drafts").string(); }

Result<void> OutputFolder::write(const std::string& name, std::string_view bytes,
                                 system::Flush flush) const {
  const std::string file = (fs::path(path_) / name).string();
  std::error_code error;
  // Another program may remove the folder before there is something in it.
  constexpr int attempts = 10;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    fs::create_directory(drafts(), error);
    if (error) break;
    error = system::write_whole_file(file, bytes, {.flush = flush, .drafts = drafts()});
    if (error != std::errc::no_such_file_or_directory) break;
  }
  if (!error) return {};
  return fail(ErrorKind::io, fmt::format("{}: cannot be written: {}", file, error.message()));
}

}  // namespace axle::builder
