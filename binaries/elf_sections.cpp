#include "binaries/elf_sections.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <elf.h>
#include <fmt/format.h>

namespace axle::binaries {
namespace {

constexpr std::size_t longest_name = 255;

Error outside(std::string_view where) {
  return {ErrorKind::malformed, fmt::format("{}: the ELF file points outside of itself", where)};
}

template <class Record>
std::vector<Record> records(const std::string& bytes) {
  std::vector<Record> all(bytes.size() / sizeof(Record));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(Record));
  return all;
}

/// The text at `offset` of a string table, up to its end or the table's.
std::string name_at(std::string_view strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  std::string_view text = strings.substr(offset);
  text = text.substr(0, std::min(text.find('\0'), longest_name));
  std::string name(text);
  std::erase_if(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return name;
}

template <class Record>
Result<std::vector<Record>> read_table(wheel::ByteSource& source, std::uint64_t offset,
                                       std::uint64_t count, std::string_view where) {
  if (count > largest_elf_table / sizeof(Record)) return std::unexpected(outside(where));
  auto bytes = read_range(source, offset, count * sizeof(Record), where);
  if (!bytes) return std::unexpected(std::move(bytes).error());
  return records<Record>(*bytes);
}

Result<std::vector<Elf64_Shdr>> read_section_headers(wheel::ByteSource& source,
                                                     const Elf64_Ehdr& header,
                                                     std::string_view where) {
  if (header.e_shoff == 0) return std::vector<Elf64_Shdr>();
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return std::unexpected(outside(where));
  std::uint64_t count = header.e_shnum;
  if (count == 0) {
    // More than 65,279 sections: the number is the first one's size (gABI, e_shnum).
    auto first = read_table<Elf64_Shdr>(source, header.e_shoff, 1, where);
    if (!first) return std::unexpected(std::move(first).error());
    count = first->front().sh_size;
  }
  return read_table<Elf64_Shdr>(source, header.e_shoff, count, where);
}

Result<void> read_sections(wheel::ByteSource& source, const Elf64_Ehdr& header,
                           std::string_view where, ElfTables& tables) {
  auto headers = read_section_headers(source, header, where);
  if (!headers) return std::unexpected(std::move(headers).error());
  if (headers->empty()) return {};
  const std::uint64_t names_at =
      header.e_shstrndx == SHN_XINDEX ? headers->front().sh_link : header.e_shstrndx;
  if (names_at >= headers->size()) return std::unexpected(outside(where));
  const Elf64_Shdr& names = (*headers)[names_at];
  if (names.sh_size > largest_elf_table) return std::unexpected(outside(where));
  auto strings = read_range(source, names.sh_offset, names.sh_size, where);
  if (!strings) return std::unexpected(std::move(strings).error());
  for (const Elf64_Shdr& section : *headers) {
    const std::uint64_t size = section.sh_type == SHT_NOBITS ? 0 : section.sh_size;
    if (size != 0 &&
        (section.sh_offset > source.size() || source.size() - section.sh_offset < size)) {
      return std::unexpected(outside(where));
    }
    tables.sections.push_back({name_at(*strings, section.sh_name), section.sh_type,
                               section.sh_offset, size, section.sh_link});
  }
  return {};
}

Result<void> read_segments(wheel::ByteSource& source, const Elf64_Ehdr& header,
                           std::string_view where, ElfTables& tables) {
  if (header.e_phoff == 0 || header.e_phnum == 0) return {};
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return std::unexpected(outside(where));
  auto headers = read_table<Elf64_Phdr>(source, header.e_phoff, header.e_phnum, where);
  if (!headers) return std::unexpected(std::move(headers).error());
  for (const Elf64_Phdr& segment : *headers) {
    const bool inside =
        segment.p_offset <= source.size() && segment.p_filesz <= source.size() - segment.p_offset;
    if (!inside) return std::unexpected(outside(where));
    tables.segments.push_back(
        {segment.p_type, segment.p_offset, segment.p_vaddr, segment.p_filesz});
  }
  return {};
}

}  // namespace

const ElfSection* ElfTables::find(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &ElfSection::name);
  return found == sections.end() ? nullptr : &*found;
}

Result<std::string> read_range(wheel::ByteSource& source, std::uint64_t offset, std::uint64_t size,
                               std::string_view where) {
  if (offset > source.size() || source.size() - offset < size)
    return std::unexpected(outside(where));
  std::string bytes(size, '\0');
  auto done = source.read(offset, std::as_writable_bytes(std::span(bytes.data(), bytes.size())));
  if (!done) return std::unexpected(std::move(done).error());
  return bytes;
}

Result<ElfTables> read_elf_tables(wheel::ByteSource& source, std::string_view where) {
  if (source.size() < sizeof(Elf64_Ehdr))
    return fail(ErrorKind::malformed, fmt::format("{}: is no ELF file", where));
  auto bytes = read_range(source, 0, sizeof(Elf64_Ehdr), where);
  if (!bytes) return std::unexpected(std::move(bytes).error());
  Elf64_Ehdr header;
  std::memcpy(&header, bytes->data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return fail(ErrorKind::malformed, fmt::format("{}: is no ELF file", where));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return fail(ErrorKind::unsupported,
                fmt::format("{}: only 64-bit little-endian ELF files are known here", where));
  }
  ElfTables tables;
  tables.machine = header.e_machine;
  tables.type = header.e_type;
  if (auto done = read_sections(source, header, where, tables); !done)
    return std::unexpected(std::move(done).error());
  if (auto done = read_segments(source, header, where, tables); !done)
    return std::unexpected(std::move(done).error());
  return tables;
}

}  // namespace axle::binaries
