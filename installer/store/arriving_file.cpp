#include "installer/store/arriving_file.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace axle::installer {
namespace {

/// Bytes: a fraction of what is read at once.
constexpr std::uint64_t published_at_once = 64U << 10;
constexpr std::uint64_t nothing_awaited = std::numeric_limits<std::uint64_t>::max();

}  // namespace

ArrivingFile::ArrivingFile(std::vector<std::uint64_t> part_begins, std::uint64_t parts_end,
                           std::size_t window, std::uint64_t first)
    : parts_end_(parts_end),
      window_(window),
      bytes_(std::make_unique_for_overwrite<std::byte[]>(window)),
      written_(first),
      limit_(first),
      received_(first),
      awaited_(nothing_awaited),
      positions_(std::move(part_begins)),
      finished_(positions_.size()),
      dropping_(positions_.empty()) {}

std::uint64_t ArrivingFile::begin() const {
  return lowest_ < positions_.size() ? positions_[lowest_] : parts_end_;
}

void ArrivingFile::put(std::span<const std::byte> bytes) {
  const std::uint64_t step = std::min<std::uint64_t>(published_at_once, window_ / 8);
  while (!bytes.empty() && !done_) {
    if (written_ == limit_ && !extend()) return;
    // Before a gap that nobody reads there is more room than the window has.
    const auto some = bytes.first(
        std::min<std::uint64_t>({bytes.size(), limit_ - written_, std::uint64_t{window_}}));
    copy_in(written_, some);
    const bool is_much = written_ / step != (written_ + some.size()) / step;
    written_ += some.size();
    bytes = bytes.subspan(some.size());
    if (!is_much) continue;
    const std::lock_guard lock(mutex_);
    publish();
  }
}

void ArrivingFile::publish() {
  received_ = written_;
  if (received_ < awaited_) return;
  awaited_ = nothing_awaited;
  arrival_.notify_all();
}

bool ArrivingFile::extend() {
  std::unique_lock lock(mutex_);
  publish();
  // Not for every small part that is finished.
  wanted_room_ = std::min<std::uint64_t>(parts_end_ - received_, window_ / 4);
  room_.wait(lock, [&] { return dropping_ || room() >= wanted_room_; });
  done_ = dropping_ || received_ == parts_end_;
  wanted_room_ = 0;
  limit_ = std::min(begin() + window_, parts_end_);
  return !done_;
}

void ArrivingFile::tell_of_room() {
  if (wanted_room_ != 0 && (dropping_ || room() >= wanted_room_)) room_.notify_all();
}

void ArrivingFile::end() {
  const std::lock_guard lock(mutex_);
  publish();
  ended_ = true;
  arrival_.notify_all();
}

void ArrivingFile::drop_rest() {
  const std::lock_guard lock(mutex_);
  dropping_ = true;
  arrival_.notify_all();
  room_.notify_all();
}

void ArrivingFile::finish(std::size_t part) {
  const std::lock_guard lock(mutex_);
  finished_[part] = true;
  if (part != lowest_) return;
  while (lowest_ < finished_.size() && finished_[lowest_]) ++lowest_;
  if (lowest_ == finished_.size()) dropping_ = true;
  tell_of_room();
}

Result<void> ArrivingFile::read(std::size_t part, std::uint64_t offset, std::span<std::byte> out) {
  {
    std::unique_lock lock(mutex_);
    if (offset < positions_[part] || out.size() > window_ / 2 || offset + out.size() > parts_end_)
      return fail(ErrorKind::io, "read outside of a part that is being received");
    positions_[part] = offset;
    if (part == lowest_) tell_of_room();
    const std::uint64_t end = offset + out.size();
    while (received_ < end && !ended_ && !dropping_) {
      awaited_ = std::min(awaited_, end);
      arrival_.wait(lock);
    }
    if (dropping_ || received_ < end)
      return fail(ErrorKind::io, "the rest of the file did not come");
  }
  copy_out(offset, out);
  return {};
}

void ArrivingFile::copy_in(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::size_t at = offset % window_;
  const std::size_t first = std::min(bytes.size(), window_ - at);
  std::memcpy(bytes_.get() + at, bytes.data(), first);
  std::memcpy(bytes_.get(), bytes.data() + first, bytes.size() - first);
}

void ArrivingFile::copy_out(std::uint64_t offset, std::span<std::byte> out) const {
  const std::size_t at = offset % window_;
  const std::size_t first = std::min(out.size(), window_ - at);
  std::memcpy(out.data(), bytes_.get() + at, first);
  std::memcpy(out.data() + first, bytes_.get(), out.size() - first);
}

}  // namespace axle::installer
