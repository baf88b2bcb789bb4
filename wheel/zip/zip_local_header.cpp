#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "wheel/zip/zip_directory.h"
#include "wheel/zip/zip_format.h"

namespace axle::wheel::zip {
namespace {

struct Local {
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc32 = 0;
  std::uint64_t compressed_size = 0;
  std::uint64_t size = 0;
  std::string_view name;
  std::span<const std::byte> extra;
};

/// Parses the header; false when `record` holds none or too little of it.
bool parse_local(std::span<const std::byte> record, Local& local) {
  if (record.size() < local_size) return false;
  Fields fields(record);
  if (fields.u32() != local_signature) return false;
  fields.skip(2);  // version needed: Zip64 writers differ in which of the two headers they raise it
  local.flags = fields.u16();
  local.method = fields.u16();
  fields.skip(4);  // time and date
  local.crc32 = fields.u32();
  local.compressed_size = fields.u32();
  local.size = fields.u32();
  const std::size_t name_length = fields.u16();
  const std::size_t extra_length = fields.u16();
  const auto rest = fields.rest();
  if (rest.size() < name_length + extra_length) return false;
  local.name = {reinterpret_cast<const char*>(rest.data()), name_length};
  local.extra = rest.subspan(name_length, extra_length);
  return true;
}

/// In a local header the Zip64 block has both sizes, whichever of them needs it.
std::string apply_zip64(const Zip64Block& zip64, Local& local) {
  const bool needed = local.size == in_zip64_32 || local.compressed_size == in_zip64_32;
  if (!zip64) return needed ? "has no Zip64 block for the sizes that need one" : "";
  if (zip64->size() != 16) return "has a Zip64 block of the wrong length";
  Fields fields(*zip64);
  const std::uint64_t size = fields.u64();
  const std::uint64_t compressed_size = fields.u64();
  const bool described = (local.flags & flag_descriptor) != 0;
  const auto agrees = [described](std::uint64_t field, std::uint64_t value) {
    return field == in_zip64_32 || (described && field == 0) || field == value;
  };
  if (!agrees(local.size, size) || !agrees(local.compressed_size, compressed_size)) {
    return "has a Zip64 block that contradicts its header";
  }
  local.size = size;
  local.compressed_size = compressed_size;
  return {};
}

/// What the two headers disagree in, or nothing. With a data descriptor the local one may leave
/// sizes and checksum zero.
std::string contradiction(const Local& local, const ZipEntry& entry) {
  const auto differ = [](std::string_view what) {
    return fmt::format("has a local header that contradicts the directory: another {}", what);
  };
  if (local.name != entry.name) return differ("name");
  if (local.flags != entry.flags) return differ("set of flags");
  if (local.method != entry.method) return differ("method");
  const bool described = (entry.flags & flag_descriptor) != 0;
  const auto agrees = [described](std::uint64_t field, std::uint64_t value) {
    return field == value || (described && field == 0);
  };
  if (!agrees(local.crc32, entry.crc32)) return differ("checksum");
  if (!agrees(local.compressed_size, entry.compressed_size)) return differ("compressed size");
  if (!agrees(local.size, entry.size)) return differ("size");
  return {};
}

/// The data descriptor fills what is left of the record: with or without a signature, with sizes of
/// four or eight bytes, which makes 12, 16, 20 or 24 bytes and tells the four forms apart.
std::string descriptor_problem(std::span<const std::byte> bytes, const ZipEntry& entry) {
  const bool is_signed = bytes.size() == 16 || bytes.size() == 24;
  const bool is_wide = bytes.size() >= 20;
  if (bytes.size() != 12 && bytes.size() != 20 && !is_signed) {
    return "has no data descriptor after its content";
  }
  Fields fields(bytes);
  if (is_signed && fields.u32() != descriptor_signature) {
    return "has no data descriptor after its content";
  }
  const std::uint32_t crc32 = fields.u32();
  const std::uint64_t compressed_size = is_wide ? fields.u64() : fields.u32();
  const std::uint64_t size = is_wide ? fields.u64() : fields.u32();
  if (crc32 != entry.crc32 || compressed_size != entry.compressed_size || size != entry.size) {
    return "has a data descriptor that contradicts the directory";
  }
  return {};
}

}  // namespace

Result<void> check_record_end(ByteSource& source, const std::string& where, const ZipEntry& entry,
                              std::uint64_t data_offset) {
  const std::uint64_t content_end = data_offset + entry.compressed_size;
  const bool described = (entry.flags & flag_descriptor) != 0;
  const std::uint64_t left = entry.record_end - content_end;
  if (!described && left == 0) return {};
  if (!described || left > longest_descriptor) {
    return entry_error(ErrorKind::malformed, where, entry.name,
                       "is followed by bytes that belong to no entry");
  }
  std::array<std::byte, longest_descriptor> buffer{};
  const auto bytes = std::span(buffer).first(left);
  if (auto read = source.read(content_end, bytes); !read) return read;
  if (const auto problem = descriptor_problem(bytes, entry); !problem.empty()) {
    return entry_error(ErrorKind::malformed, where, entry.name, problem);
  }
  return {};
}

std::size_t local_header_length(const ZipEntry& entry) {
  const std::uint64_t record = entry.record_end - entry.header_offset;
  return std::min<std::uint64_t>(record - entry.compressed_size,
                                 local_size + entry.name.size() + 0xFFFF);
}

Result<std::uint64_t> check_local_header(const std::string& where, const ZipEntry& entry,
                                         std::span<const std::byte> record) {
  const auto refuse = [&](std::string_view problem) {
    return entry_error(ErrorKind::malformed, where, entry.name, problem);
  };
  Local local;
  if (!parse_local(record, local)) return refuse("has no local header where the directory points");
  Zip64Block zip64;
  if (const auto problem = read_extra_field(local.extra, entry.name, zip64); !problem.empty()) {
    return refuse(problem);
  }
  if (const auto problem = apply_zip64(zip64, local); !problem.empty()) return refuse(problem);
  if (const auto problem = contradiction(local, entry); !problem.empty()) return refuse(problem);
  const std::uint64_t data_offset =
      entry.header_offset + local_size + local.name.size() + local.extra.size();
  // lay_out has proved that the record holds header, name and content; the extra field may not fit.
  if (data_offset > entry.record_end || entry.record_end - data_offset < entry.compressed_size) {
    return refuse("overlaps another entry or the directory");
  }
  return data_offset;
}

}  // namespace axle::wheel::zip
