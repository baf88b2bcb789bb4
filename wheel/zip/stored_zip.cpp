#include "wheel/zip/stored_zip.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "wheel/zip/zip_format.h"
#include "wheel/zip/zip_reader.h"

namespace axle::wheel {
namespace {

constexpr std::uint16_t version_plain = 20;
constexpr std::uint16_t version_zip64 = 45;
constexpr std::uint16_t made_by_unix = 3U << 8;
constexpr std::uint32_t first_day_of_zip = (1U << 21) | (1U << 16);  // 1980-01-01 00:00:00
constexpr std::uint32_t mode = 0644;

/// Little-endian numbers.
class Record {
 public:
  Record& u16(std::uint64_t value) { return number(value, 2); }
  Record& u32(std::uint64_t value) { return number(value, 4); }
  Record& u64(std::uint64_t value) { return number(value, 8); }
  Record& text(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  Record& number(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes_ += static_cast<char>((value >> (8 * i)) & 0xFF);
    return *this;
  }
  std::string bytes_;
};

bool is_large(std::uint64_t number) { return number >= zip::in_zip64_32; }

/// What stands in its 32 bits.
std::uint64_t shown(std::uint64_t number) { return is_large(number) ? zip::in_zip64_32 : number; }

/// The fields that the local header and the directory share, from "version needed" to the lengths.
void add_common(Record& record, const StoredMember& member, bool zip64, std::size_t extra) {
  const bool ascii =
      std::ranges::all_of(member.path, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  record.u16(zip64 ? version_zip64 : version_plain)
      .u16(ascii ? 0 : zip::flag_utf8)
      .u16(zip::stored)
      .u32(first_day_of_zip)
      .u32(member.crc32)
      .u32(shown(member.size))
      .u32(shown(member.size))
      .u16(member.path.size())
      .u16(extra);
}

/// A Zip64 block with these numbers; empty without any.
std::string zip64_block(const std::vector<std::uint64_t>& numbers) {
  if (numbers.empty()) return {};
  Record block;
  block.u16(zip::extra_zip64).u16(8 * numbers.size());
  for (const std::uint64_t number : numbers) block.u64(number);
  return block.bytes();
}

std::string local_header(const StoredMember& member) {
  const bool large = is_large(member.size);
  const std::string extra =
      zip64_block(large ? std::vector{member.size, member.size} : std::vector<std::uint64_t>{});
  Record header;
  header.u32(zip::local_signature);
  add_common(header, member, large, extra.size());
  return header.text(member.path).text(extra).bytes();
}

std::string directory_entry(const StoredMember& member, std::uint64_t offset) {
  std::vector<std::uint64_t> numbers;
  if (is_large(member.size)) numbers = {member.size, member.size};
  if (is_large(offset)) numbers.push_back(offset);
  const std::string extra = zip64_block(numbers);
  const bool zip64 = !numbers.empty();
  Record entry;
  entry.u32(zip::central_signature).u16(made_by_unix | (zip64 ? version_zip64 : version_plain));
  add_common(entry, member, zip64, extra.size());
  entry.u16(0).u16(0).u16(0).u32((zip::mode_regular | mode) << 16).u32(shown(offset));
  return entry.text(member.path).text(extra).bytes();
}

std::string end_records(std::uint64_t count, std::uint64_t offset, std::uint64_t size) {
  Record end;
  const bool many = count >= zip::in_zip64_16;
  if (many || is_large(offset) || is_large(size)) {
    end.u32(zip::end64_signature).u64(zip::end64_size - 12);
    end.u16(made_by_unix | version_zip64).u16(version_zip64).u32(0).u32(0);
    end.u64(count).u64(count).u64(size).u64(offset);
    end.u32(zip::locator64_signature).u32(0).u64(offset + size).u32(1);
  }
  const std::uint64_t entries = many ? zip::in_zip64_16 : count;
  end.u32(zip::end_signature).u16(0).u16(0).u16(entries).u16(entries);
  return end.u32(shown(size)).u32(shown(offset)).u16(0).bytes();
}

Result<void> write_content(const StoredMember& member, const ZipSink& sink) {
  std::uint64_t size = 0;
  std::uint32_t crc32 = 0;
  auto written = member.content([&](std::string_view bytes) {
    size += bytes.size();
    crc32 = continue_crc32(crc32, std::as_bytes(std::span(bytes)));
    return sink(bytes);
  });
  if (!written || (size == member.size && crc32 == member.crc32)) return written;
  return fail(ErrorKind::mismatch,
              fmt::format("{} was changed while it was being read", member.path),
              "run the command again");
}

}  // namespace

Result<void> write_stored_zip(const std::vector<StoredMember>& members, const ZipSink& sink) {
  std::uint64_t at = 0;
  std::string directory;
  for (const StoredMember& member : members) {
    const std::string header = local_header(member);
    directory += directory_entry(member, at);
    if (auto done = sink(header); !done) return done;
    if (auto done = write_content(member, sink); !done) return done;
    at += header.size() + member.size;
  }
  if (auto done = sink(directory); !done) return done;
  return sink(end_records(members.size(), at, directory.size()));
}

}  // namespace axle::wheel
