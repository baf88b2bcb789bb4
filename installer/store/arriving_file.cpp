#include "installer/store/arriving_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include <unistd.h>

namespace axle::installer {
namespace {

/// Bytes: a fraction of what is read at once.
constexpr std::uint64_t published_at_once = 64U << 10;
constexpr std::uint64_t nothing_awaited = std::numeric_limits<std::uint64_t>::max();

}  // namespace

ArrivingFile::ArrivingFile(std::vector<std::uint64_t> part_begins, std::uint64_t parts_end,
                           std::size_t window, std::uint64_t first, Descriptor aside)
    : parts_end_(parts_end),
      window_(window),
      bytes_(std::make_unique_for_overwrite<std::byte[]>(window)),
      aside_(std::move(aside)),
      written_(first),
      limit_(first),
      received_(first),
      aside_begin_(parts_end),
      awaited_(nothing_awaited),
      positions_(std::move(part_begins)),
      finished_(positions_.size()),
      dropping_(positions_.empty()) {}

std::uint64_t ArrivingFile::begin() const {
  return lowest_ < positions_.size() ? positions_[lowest_] : parts_end_;
}

Result<void> ArrivingFile::put(std::span<const std::byte> bytes) {
  const std::uint64_t step = std::min<std::uint64_t>(published_at_once, window_ / 8);
  while (!bytes.empty() && !done_) {
    if (written_ == limit_ && !extend()) return {};
    // Before a gap that nobody reads there is more room than the window has.
    const auto some = bytes.first(
        std::min<std::uint64_t>({bytes.size(), limit_ - written_, std::uint64_t{window_}}));
    if (auto copied = copy_in(written_, some); !copied) return copied;
    const bool is_much = written_ / step != (written_ + some.size()) / step;
    written_ += some.size();
    bytes = bytes.subspan(some.size());
    if (!is_much) continue;
    const std::lock_guard lock(mutex_);
    publish();
    done_ = dropping_;
  }
  return {};
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
  const auto has_room = [&] { return dropping_ || room() >= wanted_room_; };
  if (aside_ && !has_room()) {
    full_ = true;
    aside_begin_ = received_;
  } else {
    room_.wait(lock, has_room);
  }
  done_ = dropping_ || received_ == parts_end_;
  wanted_room_ = 0;
  limit_ = full_ ? parts_end_ : std::min(begin() + window_, parts_end_);
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
  std::uint64_t aside = 0;
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
    aside = aside_begin_;
  }
  return copy_out(offset, out, aside);
}

Result<void> ArrivingFile::copy_in(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (full_ && !bytes.empty()) {
    const ssize_t put =
        ::pwrite(aside_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return std::unexpected(system_error("keep", "what has come of a wheel", errno));
    offset += static_cast<std::uint64_t>(put);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  if (full_) return {};
  const std::size_t at = offset % window_;
  const std::size_t first = std::min(bytes.size(), window_ - at);
  std::memcpy(bytes_.get() + at, bytes.data(), first);
  std::memcpy(bytes_.get(), bytes.data() + first, bytes.size() - first);
  return {};
}

Result<void> ArrivingFile::copy_out(std::uint64_t offset, std::span<std::byte> out,
                                    std::uint64_t aside) const {
  if (offset < aside) {
    const auto in_memory = out.first(std::min<std::uint64_t>(out.size(), aside - offset));
    const std::size_t at = offset % window_;
    const std::size_t first = std::min(in_memory.size(), window_ - at);
    std::memcpy(in_memory.data(), bytes_.get() + at, first);
    std::memcpy(in_memory.data() + first, bytes_.get(), in_memory.size() - first);
    offset += in_memory.size();
    out = out.subspan(in_memory.size());
  }
  while (!out.empty()) {
    const ssize_t got = ::pread(aside_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return std::unexpected(
          system_error("read", "what has come of a wheel", got < 0 ? errno : EIO));
    offset += static_cast<std::uint64_t>(got);
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace axle::installer
