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
