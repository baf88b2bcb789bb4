#include "wheel/zip/zip_content.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <libdeflate.h>

#include "wheel/zip/inflation.h"
#include "wheel/zip/zip_directory.h"
#include "wheel/zip/zip_format.h"

namespace axle::wheel::zip {
namespace {

constexpr std::size_t chunk_size = 256UL << 10;

/// Input without a place after which one is no longer searched for, in steps of a few KiB: a block
/// may be as long as the stream.
constexpr unsigned most_short_steps = 96;

/// The packed bytes of an entry, chunk by chunk: first those already read, then the source's.
class PackedReader {
 public:
  PackedReader(ByteSource& source, const ZipEntry& entry, const ContentStart& start)
      : source_(source),
        content_(start.place.data_offset),
        offset_(content_ + start.place.packed_bits / 8),
        left_(entry.compressed_size - start.place.packed_bits / 8),
        ahead_(start.ahead) {
    ahead_ = ahead_.first(std::min<std::uint64_t>(ahead_.size(), left_));
    if (ahead_.size() < left_) buffer_size_ = std::min<std::uint64_t>(left_, chunk_size);
    if (buffer_size_ != 0) buffer_ = std::make_unique_for_overwrite<std::byte[]>(buffer_size_);
  }

  [[nodiscard]] bool done() const { return left_ == 0; }
  /// Of the content, up to what was given.
  [[nodiscard]] std::uint64_t given() const { return offset_ - content_; }

  /// The next bytes, at least one unless done; valid until the next call.
  Result<std::span<const std::byte>> next() {
    std::span<const std::byte> chunk = std::exchange(ahead_, {});
    if (chunk.empty() && left_ != 0) {
      const auto out = std::span(buffer_.get(), std::min<std::uint64_t>(left_, buffer_size_));
      auto read = source_.read(offset_, out);
      if (!read) return std::unexpected(std::move(read).error());
      chunk = out;
    }
    offset_ += chunk.size();
    left_ -= chunk.size();
    return chunk;
  }

 private:
  ByteSource& source_;
  std::uint64_t content_;
  std::uint64_t offset_;
  std::uint64_t left_;
  std::span<const std::byte> ahead_;
  std::size_t buffer_size_ = 0;
  std::unique_ptr<std::byte[]> buffer_;
};

/// Passes content on while it is within the size that the directory promises, and sums it.
class Unpacked {
 public:
  Unpacked(const std::string& where, const ZipEntry& entry, const ContentPlace& from,
           const ZipReader::Sink& sink)
      : where_(where),
        entry_(entry),
        sink_(sink),
        left_(entry.size - from.size),
        crc32_(from.crc32) {}

  [[nodiscard]] std::uint64_t left() const { return left_; }
  /// After `packed_bits` of the content.
  [[nodiscard]] ContentPlace place(std::uint64_t data_offset, std::uint64_t packed_bits) const {
    return {data_offset, packed_bits, entry_.size - left_, crc32_};
  }

  Result<void> take(std::span<const std::byte> bytes) {
    if (bytes.empty()) return {};
    if (bytes.size() > left_) {
      return refuse(fmt::format("unpacks to more than the {} bytes it declares", entry_.size));
    }
    left_ -= bytes.size();
    crc32_ = continue_crc32(crc32_, bytes);
    return sink_(bytes);
  }

  Result<void> finish() {
    if (left_ != 0) {
      return refuse(
          fmt::format("unpacks to {} bytes instead of {}", entry_.size - left_, entry_.size));
    }
    if (crc32_ != entry_.crc32) {
      return refuse(fmt::format("is damaged: its checksum is {:08x} instead of {:08x}", crc32_,
                                entry_.crc32));
    }
    return {};
  }

  std::unexpected<Error> refuse(std::string_view problem) {
    return entry_error(ErrorKind::malformed, where_, entry_.name, problem);
  }

 private:
  const std::string& where_;
  const ZipEntry& entry_;
  const ZipReader::Sink& sink_;
  std::uint64_t left_;
  std::uint32_t crc32_;
};

/// Tells places at the wanted distance.
class Places {
 public:
  Places(const PlacesWanted* wanted, const ContentPlace& from)
      : wanted_(wanted), data_offset_(from.data_offset), last_bits_(from.packed_bits) {}

  /// After `packed` bytes of the content.
  [[nodiscard]] bool is_due(std::uint64_t packed) const {
    return wanted_ != nullptr && packed >= last_bits_ / 8 + wanted_->every;
  }
  void tell(const Unpacked& unpacked, std::uint64_t packed_bits) {
    last_bits_ = packed_bits;
    wanted_->tell(unpacked.place(data_offset_, packed_bits));
  }
  /// There is none near.
  void pass_over(std::uint64_t packed) { last_bits_ = 8 * packed; }

 private:
  const PlacesWanted* wanted_;
  std::uint64_t data_offset_;
  std::uint64_t last_bits_;
};

/// Finds the signature of a data descriptor in what comes in chunks.
class DescriptorSearch {
 public:
  bool found_with(std::span<const std::byte> chunk) {
    for (const std::byte byte : chunk) {
      last_ = (last_ >> 8) | (std::to_integer<std::uint32_t>(byte) << 24);
      if (last_ == descriptor_signature) return true;
    }
    return false;
  }

 private:
  std::uint32_t last_ = 0;  // the last four bytes, little-endian
};

/// `described`: a reader from the front finds the end by the descriptor behind the content; one may
/// begin in `window`, which is what was given before.
Result<void> copy(PackedReader& packed, Unpacked& unpacked, Places& places,
                  std::span<const std::byte> window, bool described) {
  DescriptorSearch search;
  static_cast<void>(search.found_with(window.last(std::min<std::size_t>(window.size(), 3))));
  while (!packed.done()) {
    const auto chunk = packed.next();
    if (!chunk) return std::unexpected(chunk.error());
    if (described && search.found_with(*chunk)) {
      return unpacked.refuse(
          "is stored and has the signature of a data descriptor in its content: where it ends "
          "depends on the reader");
    }
    if (auto taken = unpacked.take(*chunk); !taken) return taken;
    if (places.is_due(packed.given())) places.tell(unpacked, 8 * packed.given());
  }
  return unpacked.finish();
}

Result<void> inflate(PackedReader& packed, Unpacked& unpacked, Places& places,
                     const ContentStart& start) {
  // One byte of room beyond the declared size shows an excess.
  Inflation inflation(std::min<std::uint64_t>(unpacked.left() + 1, chunk_size));
  if (start.place.packed_bits != 0)
    inflation.begin_at_block(start.place.packed_bits % 8, start.window);
  unsigned short_steps = 0;
  while (!inflation.ended()) {
    if (inflation.waiting() == 0 && !packed.done()) {
      const auto chunk = packed.next();
      if (!chunk) return std::unexpected(chunk.error());
      inflation.give(*chunk);
    }
    const std::size_t available = inflation.waiting();
    const bool is_due = places.is_due(packed.given() - available);
    const auto bytes = is_due ? inflation.step_to_block() : inflation.step();
    if (!bytes) return unpacked.refuse("is damaged: not a deflate stream");
    if (auto taken = unpacked.take(*bytes); !taken) return taken;
    if (is_due) {
      const auto next = inflation.bits_of_next_block();
      if (next)
        places.tell(unpacked, 8 * packed.given() - *next);
      else if (++short_steps == most_short_steps)
        places.pass_over(packed.given());
      if (next || short_steps == most_short_steps) short_steps = 0;
    }
    const bool stuck =
        bytes->empty() && inflation.waiting() == available && (available != 0 || packed.done());
    if (stuck && !inflation.ended()) {
      return unpacked.refuse("is damaged: its deflate stream is incomplete");
    }
  }
  if (!packed.done() || inflation.unused() != 0) {
    return unpacked.refuse("has bytes after the end of its deflate stream");
  }
  return unpacked.finish();
}

}  // namespace

Result<void> read_content(ByteSource& source, const std::string& where, const ZipEntry& entry,
                          const ContentStart& start, const ZipReader::Sink& sink,
                          const PlacesWanted* wanted) {
  PackedReader packed(source, entry, start);
  Unpacked unpacked(where, entry, start.place, sink);
  Places places(wanted, start.place);
  if (entry.method != stored) return inflate(packed, unpacked, places, start);
  const bool described = (entry.flags & flag_descriptor) != 0;
  return copy(packed, unpacked, places, start.window, described);
}

}  // namespace axle::wheel::zip

namespace axle::wheel {

std::uint32_t continue_crc32(std::uint32_t crc32, std::span<const std::byte> bytes) {
  return libdeflate_crc32(crc32, bytes.data(), bytes.size());
}

}  // namespace axle::wheel
