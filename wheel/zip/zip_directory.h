#pragma once
// The central directory of a zip archive, read and validated in itself, and the local headers that
// must agree with it. Private to the zip reader.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::wheel::zip {

struct EndRecord {
  std::uint64_t entries = 0;
  std::uint64_t directory_offset = 0;
  std::uint64_t directory_size = 0;
};

/// Finds the one end record, with its Zip64 part if there is one, and proves that the directory
/// reaches up to it and it to the end of the file.
[[nodiscard]] Result<EndRecord> read_end_record(ByteSource& source, const std::string& where,
                                                const ZipLimits& limits);

/// Reads the whole directory; record_end is filled, data_offset is not. Everything that the
/// directory alone can prove is checked: layout, names, flags, modes, sizes, limits.
[[nodiscard]] Result<std::vector<ZipEntry>> read_directory(ByteSource& source,
                                                           const std::string& where,
                                                           const ZipLimits& limits);

/// How many bytes at the start of the record of `entry` check_local_header needs.
[[nodiscard]] std::size_t local_header_length(const ZipEntry& entry);

/// Checks the local header of `entry`, the first bytes of which are `record`, against the
/// directory. Returns the offset of the content.
[[nodiscard]] Result<std::uint64_t> check_local_header(const std::string& where,
                                                       const ZipEntry& entry,
                                                       std::span<const std::byte> record);

/// Checks what stands between the content, which begins at `data_offset`, and the next record: a
/// data descriptor that agrees with the directory, or nothing.
[[nodiscard]] Result<void> check_record_end(ByteSource& source, const std::string& where,
                                            const ZipEntry& entry, std::uint64_t data_offset);

/// The content of the Zip64 block of an extra field, if it has one.
using Zip64Block = std::optional<std::span<const std::byte>>;

/// Walks an extra field: whole blocks only, Zip64 and the Unicode path at most once, the latter
/// equal to `name`. Returns what is wrong, or nothing.
[[nodiscard]] std::string read_extra_field(std::span<const std::byte> bytes, std::string_view name,
                                           Zip64Block& zip64);

/// `WHERE: entry "NAME": PROBLEM`; hostile names are escaped.
[[nodiscard]] std::unexpected<Error> entry_error(ErrorKind kind, std::string_view where,
                                                 std::string_view name, std::string_view problem);

}  // namespace axle::wheel::zip
