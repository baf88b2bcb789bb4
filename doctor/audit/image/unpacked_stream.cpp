#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "binaries/zstd_library.h"
#include "doctor/audit/image/byte_stream.h"
#include "wheel/hash/sha256.h"
#include "wheel/libraries/opened_libraries.h"
#include "wheel/zip/inflation.h"

namespace axle::doctor {
namespace {

constexpr std::size_t step_size = 256 << 10;  ///< bytes that are read and unpacked at once

/// The bytes as they are, hashed.
class RangeStream final : public ByteStream {
 public:
  RangeStream(ByteRange range, std::string where, std::string sha256)
      : range_(std::move(range)), where_(std::move(where)), expected_(std::move(sha256)) {}

  Result<std::size_t> read(std::span<std::byte> out) override {
    const std::uint64_t left = range_.size - done_;
    if (left == 0) return check_hash();
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, out.size()));
    if (auto read = range_.source->read(range_.offset + done_, out.first(size)); !read)
      return std::unexpected(std::move(read).error());
    if (!expected_.empty()) hash_.update(out.first(size));
    done_ += size;
    return size;
  }

  /// What is hashed is read.
  Result<std::uint64_t> skip(std::uint64_t bytes) override {
    if (!expected_.empty()) return ByteStream::skip(bytes);
    const std::uint64_t skipped = std::min(bytes, range_.size - done_);
    done_ += skipped;
    return skipped;
  }

  [[nodiscard]] std::uint64_t done() const { return done_; }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  Result<std::size_t> check_hash() {
    if (expected_.empty() || checked_) return 0;
    checked_ = true;
    if (wheel::render_hex(hash_.finish()) == expected_) return 0;
    return fail(ErrorKind::mismatch, fmt::format("{}: its sha256 is another one", where_),
                "the image is damaged: save or pull it again");
  }

  ByteRange range_;
  std::string where_;
  std::string expected_;
  wheel::Sha256 hash_;
  std::uint64_t done_ = 0;
  bool checked_ = false;
};

std::unexpected<Error> damaged(const RangeStream& packed, std::string_view why) {
  return fail(ErrorKind::malformed, fmt::format("{}: {}", packed.where(), why),
              "the image is damaged or truncated: save or pull it again");
}

/// Packed bytes, a buffer at a time. The last ones before it are kept: an inflater that has ended
/// may give some of them back.
class Input {
 public:
  explicit Input(RangeStream& packed) : packed_(packed), buffer_(kept + step_size) {}

  /// False: there are no more. What is left of the buffer is given up.
  Result<bool> refill() {
    const std::size_t keep = std::min(kept, end_ - begin_);
    std::memmove(buffer_.data() + kept - keep, buffer_.data() + end_ - keep, keep);
    begin_ = kept - keep;
    at_ = end_ = kept;
    auto read = packed_.read(std::span(buffer_).subspan(kept));
    if (!read) return std::unexpected(std::move(read).error());
    end_ += *read;
    return *read != 0;
  }
  /// nullopt: the end.
  Result<std::optional<unsigned>> next() {
    if (at_ == end_) {
      const auto more = refill();
      if (!more) return std::unexpected(more.error());
      if (!*more) return std::optional<unsigned>();
    }
    return std::optional(std::to_integer<unsigned>(buffer_[at_++]));
  }
  [[nodiscard]] std::span<const std::byte> rest() const {
    return std::span<const std::byte>(buffer_).subspan(at_, end_ - at_);
  }
  void take(std::size_t bytes) { at_ += bytes; }
  void give_back(std::size_t bytes) { at_ -= std::min(bytes, at_ - begin_); }

 private:
  static constexpr std::size_t kept = 16;

  RangeStream& packed_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = kept;
  std::size_t at_ = kept;
  std::size_t end_ = kept;
};

/// Counts what was unpacked, and gives it out in the caller's portions.
class Unpacking : public ByteStream {
 public:
  Unpacking(std::unique_ptr<RangeStream> packed, const UnpackLimits& limits)
      : packed_(std::move(packed)), limits_(limits), input_(*packed_) {}

  Result<std::size_t> read(std::span<std::byte> out) override {
    while (left_.empty() && !ended_) {
      if (auto done = step(); !done) return std::unexpected(std::move(done).error());
      count_ += left_.size();
      const std::uint64_t most = std::max(limits_.free_size, packed_->done() * limits_.ratio);
      if (count_ > std::min(most, limits_.size))
        return damaged(*packed_, fmt::format("{} bytes unpack to more than {}", packed_->done(),
                                             std::min(most, limits_.size)));
    }
    const std::size_t size = std::min(out.size(), left_.size());
    if (size != 0) std::memcpy(out.data(), left_.data(), size);
    left_ = left_.subspan(size);
    return size;
  }

 protected:
  /// Sets `left_`, which may stay empty, or `ended_`.
  virtual Result<void> step() = 0;

  std::unique_ptr<RangeStream> packed_;
  UnpackLimits limits_;
  Input input_;
  std::span<const std::byte> left_;
  bool ended_ = false;

 private:
  std::uint64_t count_ = 0;
};

/// RFC 1952: members one after the other.
class GzipStream final : public Unpacking {
 public:
  using Unpacking::Unpacking;

 private:
  Result<void> step() override {
    if (!inflation_) {
      auto begun = read_header();
      if (!begun) return std::unexpected(std::move(begun).error());
      if (!*begun) {
        ended_ = true;
        return {};
      }
    }
    if (inflation_->waiting() == 0 && !given_all_) {
      if (auto done = give(); !done) return done;
    }
    const auto unpacked = inflation_->step();
    if (!unpacked) return damaged(*packed_, "it is not a valid gzip stream");
    left_ = *unpacked;
    crc_ = wheel::continue_crc32(crc_, left_);
    size_ += left_.size();
    if (inflation_->ended()) return finish_member();
    if (left_.empty() && given_all_) return damaged(*packed_, "the gzip stream is truncated");
    return {};
  }

  Result<void> give() {
    if (input_.rest().empty()) {
      const auto more = input_.refill();
      if (!more) return std::unexpected(more.error());
      given_all_ = !*more;
    }
    const auto rest = input_.rest();
    inflation_->give(rest);
    input_.take(rest.size());
    return {};
  }

  /// The bytes behind a member are the trailer and the next one.
  Result<void> finish_member() {
    input_.give_back(inflation_->unused());
    last_ = std::vector<std::byte>(left_.begin(), left_.end());
    left_ = last_;
    inflation_.reset();
    std::array<std::uint32_t, 2> trailer{};
    for (std::uint32_t& word : trailer) {
      for (unsigned i = 0; i < 4; ++i) {
        const auto next = input_.next();
        if (!next) return std::unexpected(next.error());
        if (!*next) return damaged(*packed_, "the gzip stream is truncated");
        word |= **next << (8 * i);
      }
    }
    if (trailer[0] != crc_ || trailer[1] != static_cast<std::uint32_t>(size_))
      return damaged(*packed_, "the checksum of the gzip stream is another one");
    return {};
  }

  /// False: the end, or zeros that pad a file.
  Result<bool> read_header() {
    std::array<unsigned, 10> header{};
    for (std::size_t i = 0; i < header.size(); ++i) {
      const auto next = input_.next();
      if (!next) return std::unexpected(next.error());
      if (!*next && i == 0) return false;
      if (!*next) return damaged(*packed_, "the gzip stream is truncated");
      header[i] = **next;
      if (i == 0 && members_ > 0 && header[0] == 0) return skip_padding();
    }
    if (header[0] != 0x1F || header[1] != 0x8B || header[2] != 8)
      return damaged(*packed_, "it is not a valid gzip stream");
    if (auto skipped = skip_fields(header[3]); !skipped)
      return std::unexpected(std::move(skipped).error());
    ++members_;
    inflation_.emplace(step_size);
    crc_ = 0;
    size_ = 0;
    given_all_ = false;
    return true;
  }

  Result<bool> skip_padding() {
    while (true) {
      const auto next = input_.next();
      if (!next) return std::unexpected(next.error());
      if (!*next) return false;
      if (**next != 0) return damaged(*packed_, "bytes follow the gzip stream");
    }
  }

  Result<void> skip_fields(unsigned flags) {
    constexpr unsigned checksum = 2;
    constexpr unsigned extra = 4;
    constexpr unsigned name = 8;
    constexpr unsigned comment = 16;
    const auto next = [&]() -> Result<unsigned> {
      const auto value = input_.next();
      if (!value) return std::unexpected(value.error());
      if (!*value) return damaged(*packed_, "the gzip stream is truncated");
      return **value;
    };
    unsigned skipped = 0;
    if ((flags & extra) != 0) {
      const auto low = next();
      const auto high = next();
      if (!low || !high) return std::unexpected(low ? high.error() : low.error());
      skipped = *low | *high << 8;
    }
    for (unsigned i = 0; i < skipped; ++i) {
      if (const auto value = next(); !value) return std::unexpected(value.error());
    }
    for (const unsigned text : {name, comment}) {
      while ((flags & text) != 0) {
        const auto value = next();
        if (!value) return std::unexpected(value.error());
        if (*value == 0) break;
      }
    }
    for (unsigned i = 0; (flags & checksum) != 0 && i < 2; ++i) {
      if (const auto value = next(); !value) return std::unexpected(value.error());
    }
    return {};
  }

  std::optional<wheel::zip::Inflation> inflation_;  ///< nullopt: between two members
  std::vector<std::byte> last_;
  std::uint32_t crc_ = 0;
  std::uint64_t size_ = 0;
  bool given_all_ = false;
  std::size_t members_ = 0;
};

class ZstdStream final : public Unpacking {
 public:
  ZstdStream(std::unique_ptr<RangeStream> packed, const UnpackLimits& limits,
             const binaries::ZstdLibrary& library)
      : Unpacking(std::move(packed), limits),
        library_(library),
        stream_(library.create()),
        unpacked_(step_size) {}
  ~ZstdStream() override {
    if (stream_ != nullptr) library_.release(stream_);
  }
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;

 private:
  Result<void> step() override {
    if (stream_ == nullptr) return fail(ErrorKind::io, "zstd ran out of memory");
    bool more = true;
    if (input_.rest().empty()) {
      const auto refilled = input_.refill();
      if (!refilled) return std::unexpected(refilled.error());
      more = *refilled;
    }
    const auto rest = input_.rest();
    binaries::ZstdInput in{rest.data(), rest.size(), 0};
    binaries::ZstdOutput out{unpacked_.data(), unpacked_.size(), 0};
    const std::size_t state = library_.unpack(stream_, &out, &in);
    if (library_.is_error(state) != 0) return damaged(*packed_, "it is not a valid zstd stream");
    input_.take(in.position);
    left_ = std::span<const std::byte>(unpacked_).first(out.position);
    const bool whole = state == 0 || (frame_ended_ && in.position == 0);
    frame_ended_ = whole;
    if (!more && left_.empty()) {
      if (!whole) return damaged(*packed_, "the zstd stream is truncated");
      ended_ = true;
    }
    return {};
  }

  const binaries::ZstdLibrary& library_;
  void* stream_;
  std::vector<std::byte> unpacked_;
  bool frame_ended_ = false;
};

}  // namespace

Result<std::uint64_t> ByteStream::skip(std::uint64_t bytes) {
  std::vector<std::byte> unread(
      static_cast<std::size_t>(std::min<std::uint64_t>(bytes, step_size)));
  std::uint64_t skipped = 0;
  while (skipped < bytes) {
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes - skipped, unread.size()));
    auto got = read(std::span(unread).first(size));
    if (!got) return std::unexpected(std::move(got).error());
    if (*got == 0) break;
    skipped += *got;
  }
  return skipped;
}

Result<std::unique_ptr<ByteStream>> open_unpacked(ByteRange range, std::string where,
                                                  std::string sha256, const UnpackLimits& limits) {
  std::array<std::byte, 4> magic{};
  if (range.size >= magic.size()) {
    if (auto read = range.source->read(range.offset, magic); !read)
      return std::unexpected(std::move(read).error());
  }
  auto packed =
      std::make_unique<RangeStream>(std::move(range), std::move(where), std::move(sha256));
  if (magic[0] == std::byte{0x1F} && magic[1] == std::byte{0x8B}) {
    try {
      (void)wheel::zip::Inflation(1);
    } catch (const wheel::LibraryUnavailable& missing) {
      return fail(ErrorKind::unsupported, missing.what());
    }
    return std::make_unique<GzipStream>(std::move(packed), limits);
  }
  constexpr std::array zstd = {std::byte{0x28}, std::byte{0xB5}, std::byte{0x2F}, std::byte{0xFD}};
  if (magic != zstd) return packed;
  const binaries::ZstdLibrary* library = binaries::zstd_library();
  if (library == nullptr)
    return fail(
        ErrorKind::unsupported,
        fmt::format("{}: compressed with zstd, and libzstd.so.1 is not installed", packed->where()),
        "install libzstd1");
  return std::make_unique<ZstdStream>(std::move(packed), limits, *library);
}

}  // namespace axle::doctor
