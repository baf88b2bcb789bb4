#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "wheel/zip/zip_directory.h"
#include "wheel/zip/zip_format.h"

namespace axle::wheel::zip {
namespace {

constexpr std::string_view end_magic("PK\x05\x06", 4);
constexpr std::string_view locator64_magic("PK\x06\x07", 4);

/// Of all records; with one of them in the comment, where the archive ends depends on the reader.
constexpr std::array<std::string_view, 6> magics = {end_magic,    locator64_magic, "PK\x06\x06",
                                                    "PK\x01\x02", "PK\x03\x04",    "PK\x07\x08"};

std::unexpected<Error> broken(const std::string& where, std::string_view problem) {
  return fail(ErrorKind::malformed, fmt::format("{}: {}", where, problem),
              "the archive is damaged or was not made by a wheel builder: download it again");
}

/// The last bytes of the archive: all that the end records can reach into.
struct Tail {
  std::uint64_t offset = 0;
  std::string bytes;

  [[nodiscard]] Fields fields_at(std::uint64_t position) const {
    return Fields(std::as_bytes(std::span(bytes)).subspan(position - offset));
  }
  [[nodiscard]] std::string_view text_at(std::uint64_t position, std::size_t length) const {
    return std::string_view(bytes).substr(position - offset, length);
  }
};

Result<Tail> read_tail(ByteSource& source) {
  Tail tail;
  const std::uint64_t length = std::min<std::uint64_t>(
      source.size(), longest_comment + end_size + locator64_size + end64_size);
  tail.offset = source.size() - length;
  tail.bytes.resize(length);
  auto read = source.read(tail.offset, std::as_writable_bytes(std::span(tail.bytes)));
  if (!read) return std::unexpected(std::move(read).error());
  return tail;
}

/// The offset of the end record: the last one in the file, whose comment must end with the file.
Result<std::uint64_t> find_end(const Tail& tail, const std::string& where) {
  const std::uint64_t size = tail.offset + tail.bytes.size();
  if (size < end_size) return broken(where, "too short for a zip archive");
  const std::size_t found = tail.bytes.rfind(end_magic, tail.bytes.size() - end_size);
  if (found == std::string::npos) {
    return broken(where, "no end record: not a zip archive, or truncated");
  }
  const std::uint64_t position = tail.offset + found;
  Fields fields = tail.fields_at(position + end_size - 2);
  const std::uint64_t end = position + end_size + fields.u16();
  if (end > size) return broken(where, "truncated inside the archive comment");
  if (end < size) {
    return broken(where, fmt::format("{} bytes after the end of the archive", size - end));
  }
  const auto comment = std::string_view(tail.bytes).substr(found + end_size);
  if (std::ranges::any_of(magics, [&](std::string_view magic) { return comment.contains(magic); }))
    return broken(where, "the signature of a zip record in the archive comment");
  return position;
}

struct RawEnd {
  std::uint64_t disk = 0;
  std::uint64_t directory_disk = 0;
  std::uint64_t entries_here = 0;
  std::uint64_t entries = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
};

RawEnd parse_end(Fields fields) {
  fields.skip(4);
  RawEnd raw;
  raw.disk = fields.u16();
  raw.directory_disk = fields.u16();
  raw.entries_here = fields.u16();
  raw.entries = fields.u16();
  raw.size = fields.u32();
  raw.offset = fields.u32();
  return raw;
}

/// A field of the small end record agrees with the Zip64 one when it is equal or defers to it.
bool agrees(std::uint64_t field, std::uint64_t deferred, std::uint64_t value) {
  return field == deferred || field == value;
}

Result<RawEnd> read_end64(const Tail& tail, const std::string& where, std::uint64_t locator,
                          const RawEnd& small) {
  Fields fields = tail.fields_at(locator);
  fields.skip(4);
  const std::uint32_t disk = fields.u32();
  const std::uint64_t position = fields.u64();
  const std::uint32_t disks = fields.u32();
  if (locator < tail.offset + end64_size || position != locator - end64_size || disk != 0 ||
      disks != 1) {
    return broken(where, "the Zip64 locator does not point to a Zip64 end record before it");
  }
  Fields record = tail.fields_at(position);
  const std::uint32_t signature = record.u32();
  const std::uint64_t length = record.u64();
  record.skip(4);  // versions
  RawEnd raw;
  raw.disk = record.u32();
  raw.directory_disk = record.u32();
  raw.entries_here = record.u64();
  raw.entries = record.u64();
  raw.size = record.u64();
  raw.offset = record.u64();
  if (signature != end64_signature || length != end64_size - 12) {
    return broken(where, "no plain Zip64 end record where its locator points");
  }
  if (!agrees(small.disk, in_zip64_16, raw.disk) ||
      !agrees(small.directory_disk, in_zip64_16, raw.directory_disk) ||
      !agrees(small.entries_here, in_zip64_16, raw.entries_here) ||
      !agrees(small.entries, in_zip64_16, raw.entries) ||
      !agrees(small.size, in_zip64_32, raw.size) ||
      !agrees(small.offset, in_zip64_32, raw.offset)) {
    return broken(where, "the end record and the Zip64 end record contradict each other");
  }
  return raw;
}

}  // namespace

Result<EndRecord> read_end_record(ByteSource& source, const std::string& where,
                                  const ZipLimits& limits) {
  const auto tail = read_tail(source);
  if (!tail) return std::unexpected(tail.error());
  const auto end = find_end(*tail, where);
  if (!end) return std::unexpected(end.error());
  std::uint64_t directory_end = *end;
  RawEnd raw = parse_end(tail->fields_at(*end));
  if (*end >= tail->offset + locator64_size &&
      tail->text_at(*end - locator64_size, 4) == locator64_magic) {
    const auto raw64 = read_end64(*tail, where, *end - locator64_size, raw);
    if (!raw64) return std::unexpected(raw64.error());
    raw = *raw64;
    directory_end = *end - locator64_size - end64_size;
  }
  if (raw.disk != 0 || raw.directory_disk != 0 || raw.entries_here != raw.entries) {
    return broken(where, "one part of a multi-part archive");
  }
  if (raw.size > directory_end || raw.offset != directory_end - raw.size) {
    return broken(
        where, fmt::format(
                   "the end record places the directory at {} with {} bytes, but it must end at "
                   "{}: there are bytes before the archive or inside it, or it has two end records",
                   raw.offset, raw.size, directory_end));
  }
  if (raw.entries > limits.max_entries || raw.size > limits.max_directory_size) {
    return broken(where, fmt::format("a directory of {} entries and {} bytes exceeds the limit",
                                     raw.entries, raw.size));
  }
  if (raw.size / central_size < raw.entries) {
    return broken(where, fmt::format("a directory of {} bytes cannot hold {} entries", raw.size,
                                     raw.entries));
  }
  return EndRecord{raw.entries, raw.offset, raw.size};
}

}  // namespace axle::wheel::zip
