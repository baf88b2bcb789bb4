#include "wheel/zip/zip_directory.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/quote.h"
#include "foundation/text/utf8.h"
#include "wheel/zip/member_name.h"
#include "wheel/zip/zip_format.h"

namespace axle::wheel::zip {
namespace {

/// One record of the directory as it stands there.
struct Central {
  std::uint16_t version_needed = 0;
  std::uint64_t disk = 0;
  std::uint32_t attributes = 0;
  std::string_view name;
  std::span<const std::byte> extra;
};

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Takes one record from the front of `bytes`; false when it is none.
bool take_record(std::span<const std::byte>& bytes, Central& central, ZipEntry& entry) {
  if (bytes.size() < central_size) return false;
  Fields fields(bytes);
  if (fields.u32() != central_signature) return false;
  fields.skip(2);  // made by
  central.version_needed = fields.u16();
  entry.flags = fields.u16();
  entry.method = fields.u16();
  fields.skip(4);  // time and date
  entry.crc32 = fields.u32();
  entry.compressed_size = fields.u32();
  entry.size = fields.u32();
  const std::size_t name_length = fields.u16();
  const std::size_t extra_length = fields.u16();
  const std::size_t comment_length = fields.u16();
  central.disk = fields.u16();
  fields.skip(2);  // internal attributes
  central.attributes = fields.u32();
  entry.header_offset = fields.u32();
  const auto rest = fields.rest();
  if (rest.size() < name_length + extra_length + comment_length) return false;
  central.name = as_text(rest.first(name_length));
  central.extra = rest.subspan(name_length, extra_length);
  bytes = rest.subspan(name_length + extra_length + comment_length);
  return true;
}

/// Sets the fields that defer to the Zip64 block to its values. Fields that it
/// repeats without need are taken only where every reader understands the same: after those it must
/// give, and equal.
std::string apply_zip64(Zip64Block zip64, Central& central, ZipEntry& entry) {
  struct Slot {
    std::uint64_t* value;
    std::uint64_t deferred;
    std::size_t width;
  };
  const Slot slots[] = {{&entry.size, in_zip64_32, 8},
                        {&entry.compressed_size, in_zip64_32, 8},
                        {&entry.header_offset, in_zip64_32, 8},
                        {&central.disk, in_zip64_16, 4}};
  const auto deferred = [](const Slot& slot) { return *slot.value == slot.deferred; };
  if (!zip64) {
    return std::ranges::any_of(slots, deferred) ? "has no Zip64 block for the sizes that need one"
                                                : "";
  }
  std::size_t needed_end = 0;  // past the last slot that defers
  for (std::size_t i = 0; i < std::size(slots); ++i) {
    if (deferred(slots[i])) needed_end = i + 1;
  }
  const bool compact = std::all_of(slots, slots + needed_end, deferred);
  Fields fields(*zip64);
  for (std::size_t i = 0; i < std::size(slots); ++i) {
    const Slot& slot = slots[i];
    const bool needed = deferred(slot);
    const bool repeated = compact && i >= needed_end && !fields.rest().empty();
    if (!needed && !repeated) continue;
    if (fields.rest().size() < slot.width) return "has a Zip64 block that is too short";
    const std::uint64_t value = slot.width == 8 ? fields.u64() : fields.u32();
    if (!needed && value != *slot.value) return "has a Zip64 block that contradicts its record";
    *slot.value = value;
  }
  return fields.rest().empty() ? "" : "has a Zip64 block that is too long";
}

std::string flags_problem(const ZipEntry& entry) {
  if ((entry.flags & (flag_encrypted | flag_strong_encryption | flag_masked)) != 0) {
    return "is encrypted";
  }
  if ((entry.flags & flag_patch) != 0) return "is a patch";
  constexpr std::uint16_t known = flags_deflate_level | flag_descriptor | flag_utf8;
  if ((entry.flags & ~known) != 0) return fmt::format("has unknown flags {:#06x}", entry.flags);
  if ((entry.flags & flag_utf8) == 0 && !is_ascii(entry.name)) {
    return "has a non-ASCII name that is not marked as UTF-8";
  }
  return {};
}

/// What the entry is on disk: a folder, a file, executable or not; links and devices are refused.
std::string read_mode(std::uint32_t attributes, ZipEntry& entry) {
  entry.directory = entry.name.ends_with('/');
  const std::uint32_t mode = attributes >> 16;
  const std::uint32_t type = mode & mode_type;
  if (type != 0 && type != mode_regular && type != mode_directory) {
    return fmt::format("is neither a file nor a folder (mode {:o})", mode);
  }
  const bool says_directory = type == mode_directory || (attributes & dos_directory) != 0;
  if (says_directory && !entry.directory)
    return "is a folder according to its mode and a file according to its name";
  if (type == mode_regular && entry.directory) {
    return "is a file according to its mode and a folder according to its name";
  }
  entry.executable = !entry.directory && (mode & 0111) != 0;
  return {};
}

std::string size_problem(const ZipEntry& entry, const ZipLimits& limits) {
  // An empty deflate stream has two bytes, or five as a stored block.
  if (entry.directory && (entry.size != 0 || entry.crc32 != 0 || entry.compressed_size > 5)) {
    return "is a folder but has content";
  }
  if (entry.method == stored && entry.size != entry.compressed_size) {
    return "is stored but has two different sizes";
  }
  if (entry.compressed_size == 0 && (entry.size != 0 || entry.method == deflated)) {
    return "is deflated to nothing";
  }
  if (entry.compressed_size != 0 && entry.size / entry.compressed_size > limits.max_ratio) {
    return fmt::format("unpacks {} bytes to {}: a zip bomb", entry.compressed_size, entry.size);
  }
  return {};
}

Result<ZipEntry> parse_entry(std::span<const std::byte>& bytes, std::size_t number,
                             const std::string& where, const ZipLimits& limits) {
  Central central;
  ZipEntry entry;
  if (!take_record(bytes, central, entry)) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: directory record {} is damaged or truncated", where, number));
  }
  entry.name = central.name;
  const auto refuse = [&](std::string_view problem) {
    return entry_error(ErrorKind::malformed, where, central.name, problem);
  };
  if (const auto problem = member_name_problem(entry.name); !problem.empty()) {
    return refuse(problem);
  }
  if (const auto problem = flags_problem(entry); !problem.empty()) return refuse(problem);
  if (entry.method != stored && entry.method != deflated) {
    return entry_error(
        ErrorKind::unsupported, where, entry.name,
        fmt::format("is compressed with method {}, which wheels do not use", entry.method));
  }
  if ((central.version_needed & 0xFF) > 63) {
    return entry_error(ErrorKind::unsupported, where, entry.name, "requires a newer zip format");
  }
  Zip64Block zip64;
  if (const auto problem = read_extra_field(central.extra, entry.name, zip64); !problem.empty()) {
    return refuse(problem);
  }
  if (const auto problem = apply_zip64(zip64, central, entry); !problem.empty()) {
    return refuse(problem);
  }
  if (central.disk != 0) return refuse("is in another part of the archive");
  if (const auto problem = read_mode(central.attributes, entry); !problem.empty()) {
    return refuse(problem);
  }
  if (const auto problem = size_problem(entry, limits); !problem.empty()) return refuse(problem);
  return entry;
}

/// Entries must follow each other from the first byte to the directory without gap or overlap. The
/// local extra fields are not known yet: what they leave open, check_local_header closes.
Result<void> lay_out(std::vector<ZipEntry>& entries, std::uint64_t directory_offset,
                     const std::string& where) {
  std::vector<ZipEntry*> order;
  order.reserve(entries.size());
  for (ZipEntry& entry : entries) order.push_back(&entry);
  std::ranges::sort(order, {}, &ZipEntry::header_offset);
  const std::uint64_t first = order.empty() ? directory_offset : order.front()->header_offset;
  if (first != 0) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: {} bytes before the first entry", where, first),
                "a wheel begins with its first file: something was prepended");
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    ZipEntry& entry = *order[i];
    entry.record_end = i + 1 < order.size() ? order[i + 1]->header_offset : directory_offset;
    const std::uint64_t fixed = local_size + entry.name.size();
    if (entry.record_end < entry.header_offset || entry.record_end - entry.header_offset < fixed ||
        entry.record_end - entry.header_offset - fixed < entry.compressed_size) {
      return entry_error(ErrorKind::malformed, where, entry.name,
                         "overlaps another entry or the directory");
    }
    const std::uint64_t slack =
        entry.record_end - entry.header_offset - fixed - entry.compressed_size;
    const bool described = (entry.flags & flag_descriptor) != 0;
    if (slack > 0xFFFF + (described ? longest_descriptor : 0)) {
      return entry_error(ErrorKind::malformed, where, entry.name,
                         "is followed by bytes that belong to no entry");
    }
  }
  return {};
}

Result<void> check_totals(const std::vector<ZipEntry>& entries, std::uint64_t archive_size,
                          const std::string& where, const ZipLimits& limits) {
  std::uint64_t total = 0;
  for (const ZipEntry& entry : entries) {
    if (entry.size > limits.max_total_size - total) {
      return entry_error(
          ErrorKind::malformed, where, entry.name,
          fmt::format("makes the unpacked archive larger than {} bytes", limits.max_total_size));
    }
    total += entry.size;
  }
  if (total > limits.ratio_free_size && total / archive_size >= limits.max_total_ratio) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: unpacks {} bytes to {}: a zip bomb", where, archive_size, total));
  }
  return {};
}

Result<void> check_names(const std::vector<ZipEntry>& entries, const std::string& where) {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const ZipEntry& entry : entries) names.push_back(entry.name);
  const auto collision = find_name_collision(names);
  if (!collision) return {};
  const std::string_view first = names[collision->first];
  const std::string_view second = names[collision->second];
  if (collision->nested) {
    return entry_error(ErrorKind::malformed, where, first,
                       fmt::format("and entry {}: one is a file, the other a folder or below it",
                                   text::quote(second)));
  }
  if (first == second) {
    return entry_error(ErrorKind::malformed, where, first, "is duplicated");
  }
  const bool case_only = text::ascii_lower(first) == text::ascii_lower(second);
  return entry_error(ErrorKind::malformed, where, first,
                     fmt::format("and entry {} {}", text::quote(second),
                                 case_only ? "differ in case only"
                                           : "cannot lie beside each other on every file system"));
}

}  // namespace

std::unexpected<Error> entry_error(ErrorKind kind, std::string_view where, std::string_view name,
                                   std::string_view problem) {
  std::string shown(name);
  if (!text::is_valid_utf8(shown)) {
    std::ranges::replace_if(
        shown, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  }
  return fail(kind, fmt::format("{}: entry {} {}", where, text::quote(shown), problem));
}

std::string read_extra_field(std::span<const std::byte> bytes, std::string_view name,
                             Zip64Block& zip64) {
  bool has_unicode_path = false;
  while (!bytes.empty()) {
    if (bytes.size() < 4) return "has a truncated extra field";
    Fields fields(bytes);
    const std::uint16_t id = fields.u16();
    const std::size_t length = fields.u16();
    if (fields.rest().size() < length) return "has a truncated extra field";
    const auto block = fields.rest().first(length);
    bytes = fields.rest().subspan(length);
    if (id == extra_zip64) {
      if (zip64) return "has two Zip64 blocks";
      zip64 = block;
    }
    if (id == extra_unicode_path) {
      // version, CRC-32 of the name, the name in UTF-8
      if (has_unicode_path || length < 5 || as_text(block.subspan(5)) != name) {
        return "has a second name in its extra field";
      }
      has_unicode_path = true;
    }
  }
  return {};
}

Result<std::vector<ZipEntry>> read_directory(ByteSource& source, const std::string& where,
                                             const ZipLimits& limits) {
  const auto end = read_end_record(source, where, limits);
  if (!end) return std::unexpected(end.error());
  std::string text(end->directory_size, '\0');
  auto read = source.read(end->directory_offset, std::as_writable_bytes(std::span(text)));
  if (!read) return std::unexpected(std::move(read).error());

  std::vector<ZipEntry> entries;
  entries.reserve(end->entries);
  std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  while (entries.size() < end->entries) {
    auto entry = parse_entry(bytes, entries.size() + 1, where, limits);
    if (!entry) return std::unexpected(std::move(entry).error());
    entries.push_back(std::move(*entry));
  }
  if (!bytes.empty()) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: {} bytes in the directory after its {} entries", where,
                            bytes.size(), entries.size()));
  }
  if (auto laid = lay_out(entries, end->directory_offset, where); !laid) {
    return std::unexpected(std::move(laid).error());
  }
  if (auto totals = check_totals(entries, source.size(), where, limits); !totals) {
    return std::unexpected(std::move(totals).error());
  }
  if (auto names = check_names(entries, where); !names) {
    return std::unexpected(std::move(names).error());
  }
  return entries;
}

}  // namespace axle::wheel::zip
