#include "wheel/zip/zip_content.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>

#include "wheel/zip/zip_directory.h"
#include "wheel/zip/zip_format.h"

namespace axle::wheel::zip {
namespace {

constexpr std::size_t chunk_size = 256UL << 10;

/// The packed bytes of an entry, chunk by chunk: first those already read, then the source's.
class PackedReader {
 public:
  PackedReader(ByteSource& source, const ZipEntry& entry, std::uint64_t data_offset,
               std::span<const std::byte> ahead)
      : source_(source), offset_(data_offset), left_(entry.compressed_size), ahead_(ahead) {
    ahead_ = ahead_.first(std::min<std::uint64_t>(ahead_.size(), left_));
    if (ahead_.size() < left_) buffer_size_ = std::min<std::uint64_t>(left_, chunk_size);
    if (buffer_size_ != 0) buffer_ = std::make_unique_for_overwrite<std::byte[]>(buffer_size_);
  }

  [[nodiscard]] bool done() const { return left_ == 0; }

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
  std::uint64_t offset_;
  std::uint64_t left_;
  std::span<const std::byte> ahead_;
  std::size_t buffer_size_ = 0;
  std::unique_ptr<std::byte[]> buffer_;
};

/// Passes content on while it is within the size that the directory promises, and sums it.
class Unpacked {
 public:
  Unpacked(const std::string& where, const ZipEntry& entry, const ZipReader::Sink& sink)
      : where_(where), entry_(entry), sink_(sink), left_(entry.size) {}

  [[nodiscard]] std::uint64_t left() const { return left_; }

  Result<void> take(std::span<const std::byte> bytes) {
    if (bytes.empty()) return {};
    if (bytes.size() > left_) {
      return refuse(fmt::format("unpacks to more than the {} bytes it declares", entry_.size));
    }
    left_ -= bytes.size();
    crc32_ = libdeflate_crc32(crc32_, bytes.data(), bytes.size());
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
  std::uint32_t crc32_ = 0;
};

Result<void> copy(PackedReader& packed, Unpacked& unpacked) {
  while (!packed.done()) {
    const auto chunk = packed.next();
    if (!chunk) return std::unexpected(chunk.error());
    if (auto taken = unpacked.take(*chunk); !taken) return taken;
  }
  return unpacked.finish();
}

/// Whole bytes that ISA-L has taken in after the end of the deflate stream.
std::size_t unused_input(const inflate_state& state) {
  return state.avail_in + static_cast<std::size_t>(std::max(state.read_in_length, 0)) / 8;
}

Result<void> inflate(PackedReader& packed, Unpacked& unpacked) {
  const auto state = std::make_unique_for_overwrite<inflate_state>();
  isal_inflate_init(state.get());
  state->avail_in = 0;
  state->next_in = nullptr;
  // One byte of room beyond the declared size shows an excess.
  const std::size_t room = std::min<std::uint64_t>(unpacked.left() + 1, chunk_size);
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(room);
  while (state->block_state != ISAL_BLOCK_FINISH) {
    if (state->avail_in == 0 && !packed.done()) {
      const auto chunk = packed.next();
      if (!chunk) return std::unexpected(chunk.error());
      // ISA-L takes a pointer to non-const and does not write through it.
      state->next_in = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(chunk->data()));
      state->avail_in = static_cast<std::uint32_t>(chunk->size());
    }
    const std::uint32_t available = state->avail_in;
    state->next_out = reinterpret_cast<std::uint8_t*>(buffer.get());
    state->avail_out = static_cast<std::uint32_t>(room);
    if (isal_inflate(state.get()) != ISAL_DECOMP_OK) {
      return unpacked.refuse("is damaged: not a deflate stream");
    }
    const std::size_t produced = room - state->avail_out;
    if (auto taken = unpacked.take({buffer.get(), produced}); !taken) return taken;
    const bool stuck =
        produced == 0 && state->avail_in == available && (available != 0 || packed.done());
    if (stuck && state->block_state != ISAL_BLOCK_FINISH) {
      return unpacked.refuse("is damaged: its deflate stream is incomplete");
    }
  }
  if (!packed.done() || unused_input(*state) != 0) {
    return unpacked.refuse("has bytes after the end of its deflate stream");
  }
  return unpacked.finish();
}

}  // namespace

Result<void> read_content(ByteSource& source, const std::string& where, const ZipEntry& entry,
                          std::uint64_t data_offset, std::span<const std::byte> ahead,
                          const ZipReader::Sink& sink) {
  PackedReader packed(source, entry, data_offset, ahead);
  Unpacked unpacked(where, entry, sink);
  return entry.method == stored ? copy(packed, unpacked) : inflate(packed, unpacked);
}

}  // namespace axle::wheel::zip
