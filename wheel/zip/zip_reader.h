#pragma once
// A strict zip reader for wheels. The whole central directory is validated against every local
// header before a byte of content is given out; whatever two readers could understand differently
// is refused.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::wheel {

/// Where the bytes of an archive come from: a file, memory, or HTTP ranges.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills `out` from `offset`; a short read is an error.
  [[nodiscard]] virtual Result<void> read(std::uint64_t offset, std::span<std::byte> out) = 0;
};

[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_file_source(const std::string& path);
/// `bytes` must outlive the source.
[[nodiscard]] std::unique_ptr<ByteSource> memory_source(std::string_view bytes);
/// The same with bytes of its own.
[[nodiscard]] std::unique_ptr<ByteSource> kept_source(std::string bytes);

struct ZipEntry {
  std::string
      name;  ///< valid UTF-8, "/"-separated, relative, no "." or ".." part, no control characters
  std::uint64_t compressed_size = 0;
  std::uint64_t size = 0;
  std::uint32_t crc32 = 0;
  std::uint16_t method = 0;  ///< 0 stored, 8 deflated; nothing else
  bool executable = false;   ///< any x bit of the Unix mode
  bool directory = false;
  std::uint64_t header_offset = 0;  ///< of the local header
  std::uint64_t record_end = 0;   ///< where the next record begins, content and descriptor included
  std::uint64_t data_offset = 0;  ///< of the content; 0 in a directory-only archive
  std::uint16_t flags = 0;        ///< general purpose bits
};

struct ZipLimits {
  std::uint64_t max_entries = 2'000'000;
  std::uint64_t max_total_size = 64ULL << 30;  ///< bytes unpacked
  std::uint64_t max_ratio = 1100;  ///< unpacked : packed per entry (deflate's bound is 1032)
  /// Unpacked : archive as a whole, for archives that unpack to more than `ratio_free_size`.
  std::uint64_t max_total_ratio = 50;
  std::uint64_t ratio_free_size = 64ULL << 20;
  std::uint64_t max_directory_size = 256ULL << 20;  ///< bytes of the central directory
};

/// Where the content of an entry can be unpacked further without the packed bytes before: between
/// two blocks of a deflate stream, or anywhere in what is stored.
struct ContentPlace {
  std::uint64_t data_offset = 0;  ///< of the content in the archive
  std::uint64_t packed_bits = 0;  ///< of the content, before the place
  std::uint64_t size = 0;         ///< unpacked bytes before it
  std::uint32_t crc32 = 0;        ///< of these

  /// What a deflate stream can refer back to, in unpacked bytes.
  static constexpr std::size_t window = 32UL << 10;
  friend bool operator==(const ContentPlace&, const ContentPlace&) = default;
};

/// Of bytes behind those that have `crc32`; that of none is 0.
[[nodiscard]] std::uint32_t continue_crc32(std::uint32_t crc32, std::span<const std::byte> bytes);

/// Places are told after what is before them was given to the sink.
struct PlacesWanted {
  std::uint64_t every;  ///< packed bytes; a writer may have made longer blocks
  std::function<void(const ContentPlace&)> tell;
};

class ZipReader {
 public:
  /// Validates everything: one end record, nothing before, between or after the entries, names
  /// that can lie beside each other on any file system (unique without ASCII case, no path below a
  /// file), no encryption, links or devices, sizes within limits, every local header equal to its
  /// directory entry. Data descriptors (streamed archives) are taken when header, descriptor and
  /// directory agree to the byte; so are Zip64 records, extra fields and a comment that ends with
  /// the file. `where` names the file in errors. Errors: malformed; unsupported (a method other
  /// than stored or deflated); io.
  [[nodiscard]] static Result<ZipReader> open(std::unique_ptr<ByteSource> source, std::string where,
                                              const ZipLimits& limits = {});
  /// Reads the end of a remote archive only: central directory validated in itself, local headers
  /// are checked entry by entry when read. For metadata by range request.
  [[nodiscard]] static Result<ZipReader> open_directory(std::unique_ptr<ByteSource> source,
                                                        std::string where,
                                                        const ZipLimits& limits = {});

  [[nodiscard]] const std::vector<ZipEntry>& entries() const { return entries_; }
  /// nullptr when there is none.
  [[nodiscard]] const ZipEntry* find(std::string_view name) const;

  using Sink = std::function<Result<void>(std::span<const std::byte>)>;
  /// Streams the content to `sink` in chunks of up to 256 KiB; size and CRC-32 are checked, no byte
  /// beyond the declared size is given out. What the sink was given counts only when this succeeds.
  /// Several threads may read at once if the source's `read` may be called so (files and memory
  /// may).
  [[nodiscard]] Result<void> read(const ZipEntry& entry, const Sink& sink) const;
  /// The same of a record that is in `source` at its place in the archive and was not checked
  /// before: its local header and data descriptor are, too. Reads in ascending order and never
  /// before the beginning of the last read, so that `source` may let go of what lies there.
  [[nodiscard]] Result<void> read_in_order(ByteSource& source, const ZipEntry& entry,
                                           const Sink& sink,
                                           const PlacesWanted* wanted = nullptr) const;
  /// Whether `place` can lie in the content of `entry`: it may come from a file. What is unpacked
  /// from a place that was never told is wrong, or ends with an error.
  [[nodiscard]] static bool may_be_place(const ZipEntry& entry, const ContentPlace& place);
  /// The rest of a record of which a part was read in order, up to `place`. `window`: the last
  /// bytes before it, ContentPlace::window or all of them. The local header is not checked again.
  [[nodiscard]] Result<void> continue_in_order(ByteSource& source, const ZipEntry& entry,
                                               const ContentPlace& place,
                                               std::span<const std::byte> window, const Sink& sink,
                                               const PlacesWanted* wanted = nullptr) const;
  /// The whole content; refuses more than `limit` bytes before reading.
  [[nodiscard]] Result<std::string> read_text(const ZipEntry& entry, std::uint64_t limit) const;

  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  ZipReader() = default;
  std::shared_ptr<ByteSource> source_;
  std::string where_;
  std::vector<ZipEntry> entries_;     ///< in directory order
  std::vector<std::size_t> by_name_;  ///< indices of entries_ in the order of their names
};

}  // namespace axle::wheel
