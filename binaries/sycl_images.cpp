#include "binaries/sycl_images.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include <ar.h>
#include <fmt/format.h>

#include "binaries/elf_source.h"
#include "foundation/elf/elf_notes.h"
#include "foundation/elf/elf_tables.h"

namespace axle::binaries {
namespace {

constexpr std::uint32_t note_product_config = 6;
constexpr std::size_t most_members = 256;
constexpr std::uint32_t spirv_magic = 0x07230203;

/// The bytes [offset, offset + size) of another source as a source.
class PartSource final : public wheel::ByteSource {
 public:
  PartSource(wheel::ByteSource& whole, std::uint64_t offset, std::uint64_t size)
      : whole_(whole), offset_(offset), size_(size) {}
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    if (offset > size_ || out.size() > size_ - offset)
      return fail(ErrorKind::malformed, "read beyond the end of a part");
    return whole_.read(offset_ + offset, out);
  }

 private:
  wheel::ByteSource& whole_;
  std::uint64_t offset_;
  std::uint64_t size_;
};

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

Result<void> read_archive(wheel::ByteSource& part, SyclImages& images) {
  std::uint64_t at = SARMAG;
  for (std::size_t i = 0; i < most_members && part.size() - at >= sizeof(ar_hdr); ++i) {
    ar_hdr header;
    if (auto done = part.read(at, std::as_writable_bytes(std::span(&header, 1))); !done)
      return done;
    std::uint64_t size = 0;
    const char* const end = header.ar_size + sizeof(header.ar_size);
    const auto parsed = std::from_chars(header.ar_size, end, size);
    at += sizeof(header);
    if (parsed.ec != std::errc() || size > part.size() - at) {
      note_stop(images, "an archive of device images is damaged");
      return {};
    }
    const std::string_view name(header.ar_name, sizeof(header.ar_name));
    if (name.starts_with("generic_ir")) images.jit = true;
    add_member(name, images);
    at += size + size % 2;
    if (at > part.size()) break;
  }
  return {};
}

Result<void> read_zebin(wheel::ByteSource& part, SyclImages& images) {
  ElfSource source(part);
  const auto tables = elf::read_tables(source);
  if (!tables) {
    note_stop(images, source.error(tables.error(), "a device image").message);
    return {};
  }
  const elf::Section* section = tables->find(".note.intelgt.compat");
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
  std::string magic(std::min<std::uint64_t>(size, SARMAG), '\0');
  auto done = source.read(offset, std::as_writable_bytes(std::span(magic.data(), magic.size())));
  if (!done) return done;
  PartSource part(source, offset, size);
  if (magic == ARMAG) return read_archive(part, images);
  if (elf::is_elf(magic)) return read_zebin(part, images);
  std::uint32_t word = 0;
  if (magic.size() >= sizeof(word)) std::memcpy(&word, magic.data(), sizeof(word));
  if (word == spirv_magic) {
    images.jit = true;
  } else {
    note_stop(images, "a device image has an unknown format");
  }
  return {};
}

}  // namespace axle::binaries
