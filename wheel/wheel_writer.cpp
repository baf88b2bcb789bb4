#include "wheel/wheel_writer.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <libdeflate.h>

#include "foundation/text/quote.h"
#include "wheel/hash/sha256.h"
#include "wheel/record.h"
#include "wheel/zip/member_name.h"
#include "wheel/zip/zip_format.h"

namespace axle::wheel {
namespace {

constexpr int compression_level = 9;  // part of what makes the bytes reproducible
constexpr std::uint64_t zip32_limit = 0xFFFFFFFE;
constexpr std::size_t zip32_entries = 0xFFFE;
constexpr std::uint16_t version_needed = 20;
constexpr std::uint16_t made_by_unix = (3U << 8) | version_needed;

/// Appends little-endian numbers.
class LittleEndianWriter {
 public:
  void u16(std::uint64_t value) { number(value, 2); }
  void u32(std::uint64_t value) { number(value, 4); }
  void text(std::string_view bytes) { bytes_ += bytes; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void number(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes_ += static_cast<char>((value >> (8 * i)) & 0xFF);
  }

  std::string bytes_;
};

/// A moment as zip archives have it: the date above the time, in steps of two seconds from 1980 to
/// 2107.
std::uint32_t dos_time(std::uint64_t unix_time) {
  namespace chrono = std::chrono;
  constexpr std::uint64_t earliest = 315532800;  // 1980-01-01 00:00:00
  constexpr std::uint64_t latest = 4354819198;   // 2107-12-31 23:59:58
  const chrono::sys_seconds moment{
      chrono::seconds(std::clamp<std::uint64_t>(unix_time, earliest, latest))};
  const auto day = chrono::floor<chrono::days>(moment);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss time(moment - day);
  const auto years = static_cast<std::uint32_t>(static_cast<int>(date.year()) - 1980);
  const auto hours = static_cast<std::uint32_t>(time.hours().count());
  const auto minutes = static_cast<std::uint32_t>(time.minutes().count());
  const auto seconds = static_cast<std::uint32_t>(time.seconds().count());
  return (years << 25) | (static_cast<unsigned>(date.month()) << 21) |
         (static_cast<unsigned>(date.day()) << 16) | (hours << 11) | (minutes << 5) | (seconds / 2);
}

struct PackedContent {
  std::uint16_t method = zip::stored;
  std::string bytes;
};

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const {
    libdeflate_free_compressor(compressor);
  }
};
using Compressor = std::unique_ptr<libdeflate_compressor, FreeCompressor>;

/// Deflated where that is shorter, else stored.
PackedContent pack(libdeflate_compressor* compressor, const std::string& content) {
  PackedContent packed;
  packed.bytes.resize(content.size());
  const std::size_t length = libdeflate_deflate_compress(compressor, content.data(), content.size(),
                                                         packed.bytes.data(), packed.bytes.size());
  if (length == 0 || length >= content.size()) {
    packed.bytes = content;
    return packed;
  }
  packed.method = zip::deflated;
  packed.bytes.resize(length);
  return packed;
}

/// What the directory says of a member.
struct Written {
  std::string_view path;
  bool executable;
  std::uint64_t size;
  std::uint16_t flags;
  std::uint16_t method;
  std::uint32_t crc32;
  std::size_t packed_size;
  std::size_t offset;
};

/// The fields that the local header and the directory have in common, from "version needed" on.
void write_common(LittleEndianWriter& out, const Written& written, std::uint32_t time) {
  out.u16(version_needed);
  out.u16(written.flags);
  out.u16(written.method);
  out.u32(time);
  out.u32(written.crc32);
  out.u32(written.packed_size);
  out.u32(written.size);
  out.u16(written.path.size());
  out.u16(0);  // extra field
}

Written write_member(LittleEndianWriter& out, const PackedMember& member, std::string_view path,
                     std::uint32_t time) {
  const bool ascii =
      std::ranges::all_of(path, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  const Written written{path,
                        member.executable,
                        member.size,
                        ascii ? std::uint16_t{0} : zip::flag_utf8,
                        member.method,
                        member.crc32,
                        member.packed.size(),
                        out.size()};
  out.u32(zip::local_signature);
  write_common(out, written, time);
  out.text(path);
  out.text(member.packed);
  return written;
}

PackedMember pack_with(libdeflate_compressor* compressor, const WheelMember& member) {
  PackedContent packed = pack(compressor, member.content);
  return {member.path,           std::move(packed.bytes),
          packed.method,         libdeflate_crc32(0, member.content.data(), member.content.size()),
          member.content.size(), member.executable};
}

void write_directory(LittleEndianWriter& out, const std::vector<Written>& members,
                     std::uint32_t time) {
  const std::size_t offset = out.size();
  for (const Written& written : members) {
    const std::uint32_t mode = zip::mode_regular | (written.executable ? 0755 : 0644);
    out.u32(zip::central_signature);
    out.u16(made_by_unix);
    write_common(out, written, time);
    out.u16(0);  // comment
    out.u16(0);  // disk
    out.u16(0);  // internal attributes
    out.u32(mode << 16);
    out.u32(written.offset);
    out.text(written.path);
  }
  const std::size_t size = out.size() - offset;
  out.u32(zip::end_signature);
  out.u16(0);
  out.u16(0);
  out.u16(members.size());
  out.u16(members.size());
  out.u32(size);
  out.u32(offset);
  out.u16(0);
}

struct Listed {
  std::string_view path;
  std::uint64_t size;  ///< the largest that its content can take
};

Result<void> check_members(const std::vector<Listed>& members) {
  std::vector<std::string_view> names;
  names.reserve(members.size());
  std::uint64_t total = 0;
  for (const Listed& member : members) {
    std::string problem = member_name_problem(member.path);
    if (problem.empty() && member.path.ends_with('/')) problem = "is a folder";
    if (problem.empty() && member.path.size() > 0xFFFF) problem = "is too long";
    if (!problem.empty()) {
      return fail(ErrorKind::malformed,
                  fmt::format("the path {} {}", text::quote(member.path), problem));
    }
    names.push_back(member.path);
    total += member.size + 2 * member.path.size() + zip::local_size + zip::central_size;
  }
  if (const auto collision = find_name_collision(names)) {
    return fail(ErrorKind::malformed, fmt::format("the paths {} and {} cannot both be in a wheel",
                                                  text::quote(names[collision->first]),
                                                  text::quote(names[collision->second])));
  }
  if (members.size() > zip32_entries || total > zip32_limit) {
    return fail(
        ErrorKind::unsupported,
        fmt::format("{} files of {} bytes in total do not fit into a wheel without Zip64 records",
                    members.size(), total),
        "split the package: installers and indexes accept wheels of up to 4 GiB");
  }
  return {};
}

}  // namespace

Result<std::string> write_zip(const std::vector<WheelMember>& members, std::uint64_t unix_time) {
  std::vector<Listed> listed;
  for (const WheelMember& member : members) listed.push_back({member.path, member.content.size()});
  if (auto checked = check_members(listed); !checked) {
    return std::unexpected(std::move(checked).error());
  }
  const Compressor compressor(libdeflate_alloc_compressor(compression_level));
  if (!compressor) throw std::bad_alloc();
  const std::uint32_t time = dos_time(unix_time);
  LittleEndianWriter out;
  std::vector<Written> written;
  written.reserve(members.size());
  for (const WheelMember& member : members) {
    written.push_back(write_member(out, pack_with(compressor.get(), member), member.path, time));
  }
  write_directory(out, written, time);
  return out.take();
}

PackedMember pack_member(const WheelMember& member) {
  const Compressor compressor(libdeflate_alloc_compressor(compression_level));
  if (!compressor) throw std::bad_alloc();
  return pack_with(compressor.get(), member);
}

Result<std::string> write_packed_zip(const std::vector<const PackedMember*>& members,
                                     std::uint64_t unix_time) {
  std::vector<Listed> listed;
  for (const PackedMember* member : members) {
    listed.push_back({member->path, member->packed.size()});
    if (member->size > zip32_limit) {
      return fail(ErrorKind::unsupported,
                  fmt::format("{} has more than 4 GiB", text::quote(member->path)));
    }
  }
  if (auto checked = check_members(listed); !checked) {
    return std::unexpected(std::move(checked).error());
  }
  const std::uint32_t time = dos_time(unix_time);
  LittleEndianWriter out;
  std::vector<Written> written;
  written.reserve(members.size());
  for (const PackedMember* member : members)
    written.push_back(write_member(out, *member, member->path, time));
  write_directory(out, written, time);
  return out.take();
}

Result<std::string> write_wheel(std::vector<WheelMember> members, std::string_view dist_info,
                                std::uint64_t unix_time) {
  const std::string folder = fmt::format("{}/", dist_info);
  std::ranges::sort(members, {}, [&](const WheelMember& member) {
    return std::pair(member.path.starts_with(folder), std::string_view(member.path));
  });
  std::vector<RecordEntry> record;
  for (const WheelMember& member : members) {
    record.push_back(
        {member.path, render_base64(sha256(member.content)), member.content.size(), {}});
  }
  const std::string record_path = folder + "RECORD";
  record.push_back({record_path, {}, std::nullopt, {}});
  members.push_back({record_path, render_record(record), false});
  return write_zip(members, unix_time);
}

}  // namespace axle::wheel
