#include "binaries/sycl_images.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include <ar.h>
#include <elf.h>
#include <fmt/format.h>

#include "binaries/elf_source.h"
#include "binaries/part_source.h"
#include "binaries/zstd_unpack.h"
#include "foundation/elf/elf_notes.h"
#include "foundation/elf/elf_tables.h"

namespace axle::binaries {
namespace {

constexpr std::uint32_t note_product_config = 6;
constexpr std::size_t most_members = 256;
constexpr std::uint32_t spirv_magic = 0x07230203;
constexpr std::uint32_t zstd_magic = 0xfd2fb528;
/// Of each image in its section (clang-offload-wrapper).
constexpr std::uint64_t image_alignment = 16;
/// Unpacked bytes of one compressed image and of all in a section; more is not looked into.
constexpr std::size_t largest_image = 256ULL << 20U;
constexpr std::size_t largest_images = 4ULL << 30U;

void add_once(std::vector<std::string>& list, std::string text) {
  const auto place = std::ranges::lower_bound(list, text);
  if (place == list.end() || *place != text) list.insert(place, std::move(text));
}

void note_stop(SyclImages& images, std::string why) {
  if (images.stopped.empty()) images.stopped = std::move(why);
}

bool is_ip(std::string_view text) {
  return !text.empty() && std::ranges::count(text, '.') == 2 && text.front() != '.' &&
         text.back() != '.' && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// "64.20.1.0" and "64.pvc", with ocloc's trailing padding.
void add_member(std::string_view name, SyclImages& images) {
  name = name.substr(0, name.find_first_of("/ \n"));
  const std::size_t dot = name.find('.');
  const std::string_view width = name.substr(0, dot);
  if (dot == std::string_view::npos || (width != "64" && width != "32")) return;
  std::string_view device = name.substr(dot + 1);
  if (is_ip(device)) return add_once(images.device_ips, std::string(device));
  const bool word = !device.empty() && std::ranges::all_of(device, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
  if (word) add_once(images.products, std::string(device));
}

/// Where an image ends in its section; nothing: what follows cannot be found.
using End = std::optional<std::uint64_t>;

struct SectionReading {
  SyclImages& images;
  std::size_t budget = largest_images;  ///< what may still be unpacked
};

Result<End> read_archive(wheel::ByteSource& part, SyclImages& images) {
  std::uint64_t at = SARMAG;
  for (std::size_t i = 0; i < most_members && part.size() - at >= sizeof(ar_hdr); ++i) {
    ar_hdr header;
    if (auto done = part.read(at, std::as_writable_bytes(std::span(&header, 1))); !done)
      return std::unexpected(std::move(done).error());
    if (std::memcmp(header.ar_fmag, ARFMAG, sizeof(header.ar_fmag)) != 0) return at;
    std::uint64_t size = 0;
    const char* const end = header.ar_size + sizeof(header.ar_size);
    const auto parsed = std::from_chars(header.ar_size, end, size);
    at += sizeof(header);
    if (parsed.ec != std::errc() || size > part.size() - at) {
      note_stop(images, "an archive of device images is damaged");
      return std::nullopt;
    }
    const std::string_view name(header.ar_name, sizeof(header.ar_name));
    if (name.starts_with("generic_ir")) images.jit = true;
    add_member(name, images);
    at = std::min(at + size + size % 2, part.size());
  }
  return at;
}

/// Notes the device that a zebin is for.
Result<void> read_compatibility(ElfSource& source, const elf::Tables& tables, SyclImages& images) {
  const elf::Section* section = tables.find(".note.intelgt.compat");
  if (section == nullptr || section->size > elf::largest_elf_notes) {
    note_stop(images, "a device image does not name its device");
    return {};
  }
  const auto bytes = source.range(section->offset, section->size);
  if (!bytes) return std::unexpected(source.error(bytes.error(), "a device image"));
  for (const elf::ElfNote& note : elf::parse_elf_notes(*bytes, 4)) {
    if (note.owner != "IntelGT" || note.type != note_product_config ||
        note.content.size() != sizeof(std::uint32_t))
      continue;
    std::uint32_t value = 0;
    std::memcpy(&value, note.content.data(), sizeof(value));
    add_once(images.device_ips, render_device_ip(value));
    return {};
  }
  note_stop(images, "a device image does not name its device");
  return {};
}

Result<End> read_zebin(wheel::ByteSource& part, SyclImages& images) {
  ElfSource source(part);
  const auto tables = elf::read_tables(source);
  if (!tables) {
    note_stop(images, source.error(tables.error(), "a device image").message);
    return std::nullopt;
  }
  if (auto done = read_compatibility(source, *tables, images); !done)
    return std::unexpected(std::move(done).error());
  Elf64_Ehdr header;
  if (auto done = part.read(0, std::as_writable_bytes(std::span(&header, 1))); !done)
    return std::unexpected(std::move(done).error());
  // read_tables() found the section table inside of the part.
  std::uint64_t end = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  for (const elf::Section& section : tables->sections)
    end = std::max(end, section.offset + section.size);
  return std::min(end, part.size());
}

Result<End> read_packed(wheel::ByteSource& part, SectionReading& reading);

Result<End> read_image(wheel::ByteSource& part, bool packed, SectionReading& reading) {
  std::string magic(std::min<std::uint64_t>(part.size(), SARMAG), '\0');
  if (auto done = part.read(0, std::as_writable_bytes(std::span(magic.data(), magic.size())));
      !done)
    return std::unexpected(std::move(done).error());
  if (magic == ARMAG) return read_archive(part, reading.images);
  if (elf::is_elf(magic)) return read_zebin(part, reading.images);
  std::uint32_t word = 0;
  if (magic.size() >= sizeof(word)) std::memcpy(&word, magic.data(), sizeof(word));
  if (word == zstd_magic && !packed) return read_packed(part, reading);
  if (word == spirv_magic) {
    reading.images.jit = true;
  } else {
    note_stop(reading.images, "a device image has an unknown format");
  }
  return std::nullopt;
}

/// What `--offload-compress` leaves: each image is a frame of its own.
Result<End> read_packed(wheel::ByteSource& part, SectionReading& reading) {
  const auto frame = unpack_zstd_frame(part, std::min(largest_image, reading.budget));
  if (!frame) {
    if (frame.error().kind == ErrorKind::io) return std::unexpected(frame.error());
    note_stop(reading.images, "a compressed device image: " + frame.error().message);
    return std::nullopt;
  }
  reading.budget -= frame->bytes.size();
  const auto unpacked = wheel::memory_source(frame->bytes);
  const auto end = read_image(*unpacked, true, reading);
  if (!end) return std::unexpected(end.error());
  // What pads an archive is a member of it.
  if (*end && frame->bytes.size() - **end >= image_alignment)
    note_stop(reading.images, "a compressed device image goes on behind its end");
  return frame->packed_size;
}

}  // namespace

std::string render_device_ip(std::uint32_t value) {
  return fmt::format("{}.{}.{}", value >> 22U, (value >> 14U) & 0xffU, value & 0x3fU);
}

Result<void> read_sycl_section(wheel::ByteSource& source, std::string_view name,
                               std::uint64_t offset, std::uint64_t size, SyclImages& images) {
  const std::string_view triple = name.substr(std::min(name.size(), sycl_section_prefix.size()));
  const bool ahead = triple.starts_with("spir64_gen");
  if (!ahead && !triple.starts_with("spir64_"))
    images.jit = images.jit || triple.starts_with("spir64");
  if (triple.starts_with("spirv")) images.jit = true;
  if (!ahead) return {};
  images.ahead = true;
  if (offset > source.size() || source.size() - offset < size)
    return fail(ErrorKind::malformed, "the section of the device images extends beyond the file");
  SectionReading reading{images};
  for (std::uint64_t at = 0; at < size;) {
    PartSource part(source, offset + at, size - at);
    const auto end = read_image(part, false, reading);
    if (!end) return std::unexpected(end.error());
    if (end->value_or(0) == 0) break;
    at += **end + (image_alignment - **end % image_alignment) % image_alignment;
  }
  return {};
}

}  // namespace axle::binaries
