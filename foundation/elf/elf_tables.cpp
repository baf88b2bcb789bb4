#include "foundation/elf/elf_tables.h"

#include <algorithm>

#include <elf.h>

namespace axle::elf {
namespace {

constexpr std::size_t longest_section_name = 255;
constexpr std::size_t longest_path = 4096;

template <class Record>
std::expected<std::vector<Record>, ReadError> read_records(Bytes& bytes, std::uint64_t offset,
                                                           std::uint64_t count) {
  if (count > bytes.largest_range() / sizeof(Record)) return std::unexpected(ReadError::outside);
  auto range = bytes.range(offset, count * sizeof(Record));
  if (!range) return std::unexpected(range.error());
  return records<Record>(*range);
}

std::expected<Elf64_Ehdr, ReadError> read_header(Bytes& bytes) {
  if (bytes.size() < sizeof(Elf64_Ehdr)) return std::unexpected(ReadError::not_elf);
  const auto header = read_records<Elf64_Ehdr>(bytes, 0, 1);
  if (!header) return std::unexpected(header.error());
  const unsigned char* ident = header->front().e_ident;
  if (std::memcmp(ident, ELFMAG, SELFMAG) != 0) return std::unexpected(ReadError::not_elf);
  if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
    return std::unexpected(ReadError::other_format);
  return header->front();
}

std::expected<std::vector<Elf64_Shdr>, ReadError> read_section_headers(Bytes& bytes,
                                                                       const Elf64_Ehdr& header) {
  if (header.e_shoff == 0) return std::vector<Elf64_Shdr>();
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return std::unexpected(ReadError::outside);
  std::uint64_t count = header.e_shnum;
  if (count == 0) {
    // More than 65,279 sections: the number is the first one's size (gABI, e_shnum).
    const auto first = read_records<Elf64_Shdr>(bytes, header.e_shoff, 1);
    if (!first) return std::unexpected(first.error());
    count = first->front().sh_size;
  }
  return read_records<Elf64_Shdr>(bytes, header.e_shoff, count);
}

std::string section_name(std::string_view strings, std::uint64_t offset) {
  std::string name(string_at(strings, offset, longest_section_name));
  std::erase_if(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return name;
}

std::expected<std::vector<Section>, ReadError> read_sections(Bytes& bytes,
                                                             const Elf64_Ehdr& header) {
  const auto headers = read_section_headers(bytes, header);
  if (!headers) return std::unexpected(headers.error());
  std::vector<Section> sections;
  if (headers->empty()) return sections;
  const std::uint64_t names_at =
      header.e_shstrndx == SHN_XINDEX ? headers->front().sh_link : header.e_shstrndx;
  if (names_at >= headers->size()) return std::unexpected(ReadError::outside);
  const Elf64_Shdr& names = (*headers)[names_at];
  const auto strings = bytes.range(names.sh_offset, names.sh_size);
  if (!strings) return std::unexpected(strings.error());
  for (const Elf64_Shdr& section : *headers) {
    const std::uint64_t size = section.sh_type == SHT_NOBITS ? 0 : section.sh_size;
    if (size != 0 && !bytes.contains(section.sh_offset, size))
      return std::unexpected(ReadError::outside);
    sections.push_back({section_name(*strings, section.sh_name), section.sh_type, section.sh_offset,
                        size, section.sh_link, section.sh_addr, section.sh_flags});
  }
  return sections;
}

std::expected<std::vector<Segment>, ReadError> read_segments(Bytes& bytes,
                                                             const Elf64_Ehdr& header) {
  std::vector<Segment> segments;
  if (header.e_phoff == 0 || header.e_phnum == 0) return segments;
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return std::unexpected(ReadError::outside);
  const auto headers = read_records<Elf64_Phdr>(bytes, header.e_phoff, header.e_phnum);
  if (!headers) return std::unexpected(headers.error());
  for (const Elf64_Phdr& segment : *headers) {
    if (segment.p_filesz != 0 && !bytes.contains(segment.p_offset, segment.p_filesz))
      return std::unexpected(ReadError::outside);
    segments.push_back(
        {segment.p_type, segment.p_offset, segment.p_vaddr, segment.p_filesz, segment.p_flags});
  }
  return segments;
}

}  // namespace

const Section* Tables::find(std::string_view name) const {
  const auto found = std::ranges::find(sections, name, &Section::name);
  return found == sections.end() ? nullptr : &*found;
}

const Segment* Tables::segment(std::uint32_t wanted) const {
  const auto found = std::ranges::find(segments, wanted, &Segment::type);
  return found == segments.end() ? nullptr : &*found;
}

bool is_elf(std::string_view bytes) { return bytes.starts_with(ELFMAG); }

std::expected<Tables, ReadError> read_tables(Bytes& bytes) {
  const auto header = read_header(bytes);
  if (!header) return std::unexpected(header.error());
  auto sections = read_sections(bytes, *header);
  if (!sections) return std::unexpected(sections.error());
  auto segments = read_segments(bytes, *header);
  if (!segments) return std::unexpected(segments.error());
  return Tables{header->e_machine, header->e_type, std::move(*sections), std::move(*segments)};
}

std::string read_loader(Bytes& bytes) {
  const auto header = read_header(bytes);
  if (!header) return {};
  const auto segments = read_segments(bytes, *header);
  if (!segments) return {};
  const auto found = std::ranges::find(*segments, std::uint32_t{PT_INTERP}, &Segment::type);
  if (found == segments->end()) return {};
  const auto path = bytes.range(found->offset, std::min<std::uint64_t>(found->size, longest_path));
  return path ? std::string(string_at(*path, 0, longest_path)) : std::string();
}

std::string_view string_at(std::string_view strings, std::uint64_t offset, std::size_t longest) {
  if (offset >= strings.size()) return {};
  const std::string_view text = strings.substr(offset);
  return text.substr(0, std::min(text.find('\0'), longest));
}

}  // namespace axle::elf
