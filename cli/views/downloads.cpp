#include "cli/views/downloads.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

namespace axle::cli {

void Downloads::expect(std::size_t files, std::uint64_t bytes) {
  expected_files_ = files;
  expected_bytes_ = bytes;
}

void Downloads::note(const Download& download) {
  auto place = files_.find(download.file);
  if (place == files_.end()) place = files_.emplace(download.file, File()).first;
  place->second = {
      download.bytes, download.total,
      download.stage == Download::Stage::begins || download.stage == Download::Stage::goes_on,
      download.stage == Download::Stage::ended};
}

bool Downloads::are_several() const { return all_files() > 1; }

bool Downloads::are_under_way() const {
  return std::ranges::any_of(std::views::values(files_), &File::under_way);
}

std::string Downloads::name() const {
  return fmt::format("downloading {} of {} files", complete_files(), all_files());
}

std::uint64_t Downloads::bytes() const {
  std::uint64_t sum = 0;
  for (const File& file : std::views::values(files_)) sum += file.bytes;
  return sum;
}

std::uint64_t Downloads::total() const {
  if (expected_files_ >= files_.size()) return expected_bytes_;
  std::uint64_t sum = 0;
  for (const File& file : std::views::values(files_)) {
    if (file.total == 0) return 0;
    sum += file.total;
  }
  return sum;
}

std::uint64_t Downloads::complete_bytes() const {
  std::uint64_t sum = 0;
  for (const File& file : std::views::values(files_)) sum += file.complete ? file.bytes : 0;
  return sum;
}

std::size_t Downloads::complete_files() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(std::views::values(files_), &File::complete));
}

std::size_t Downloads::all_files() const { return std::max(expected_files_, files_.size()); }

}  // namespace axle::cli
