#include "binaries/cut/elf_image.h"

#include <algorithm>
#include <iterator>

#include "foundation/elf/elf_tables.h"

namespace axle::binaries {
namespace {

bool contains(std::string_view file, std::uint64_t offset, std::uint64_t size) {
  return offset <= file.size() && size <= file.size() - offset;
}

template <class Record>
bool read_table(std::string_view file, std::uint64_t offset, std::size_t count,
                std::vector<Record>& table) {
  if (!contains(file, offset, count * sizeof(Record))) return false;
  table = elf::records<Record>(file.substr(offset, count * sizeof(Record)));
  return true;
}

bool is_whole(const ElfImage& image) {
  const bool segments = std::ranges::all_of(image.segments, [&](const Elf64_Phdr& segment) {
    return contains(image.file, segment.p_offset, segment.p_filesz) &&
           segment.p_vaddr <= UINT64_MAX - segment.p_memsz &&
           (segment.p_type != PT_LOAD || segment.p_memsz >= segment.p_filesz);
  });
  return segments && std::ranges::all_of(image.sections, [&](const Elf64_Shdr& section) {
           return section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL ||
                  (contains(image.file, section.sh_offset, section.sh_size) &&
                   section.sh_addr <= UINT64_MAX - section.sh_size);
         });
}

}  // namespace

std::string_view ElfImage::name_of(const Elf64_Shdr& section) const {
  if (header.e_shstrndx >= sections.size()) return {};
  constexpr std::size_t longest = 255;
  return elf::string_at(bytes_of(sections[header.e_shstrndx]), section.sh_name, longest);
}

std::string_view ElfImage::bytes_of(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) return {};
  return file.substr(section.sh_offset, section.sh_size);
}

std::optional<std::uint64_t> ElfImage::in_file(std::uint64_t address, std::uint64_t size) const {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const std::uint64_t inside = address - segment.p_vaddr;
    if (inside <= segment.p_filesz && size <= segment.p_filesz - inside)
      return segment.p_offset + inside;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ElfImage::dynamic_value(std::int64_t tag) const {
  const auto dynamic = std::ranges::find(segments, Elf64_Word{PT_DYNAMIC}, &Elf64_Phdr::p_type);
  if (dynamic == segments.end()) return std::nullopt;
  const std::string_view bytes = file.substr(dynamic->p_offset, dynamic->p_filesz);
  for (std::uint64_t at = 0; bytes.size() - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
    const auto entry = elf_record<Elf64_Dyn>(bytes, at);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == tag) return entry.d_un.d_val;
  }
  return std::nullopt;
}

Result<ElfImage> read_elf_image(std::string_view file) {
  ElfImage image;
  image.file = file;
  if (file.size() < sizeof(Elf64_Ehdr) || !elf::is_elf(file))
    return fail(ErrorKind::malformed, "is not an ELF file");
  image.header = elf_record<Elf64_Ehdr>(file, 0);
  const Elf64_Ehdr& header = image.header;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return fail(ErrorKind::unsupported, "is not an ELF file of 64 bits, little-endian");
  if (header.e_type != ET_DYN && header.e_type != ET_EXEC)
    return fail(ErrorKind::unsupported, "is neither a shared library nor a program");
  // A file with more sections or segments than fit keeps their number elsewhere (gABI, "ELF
  // Header").
  if (header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == PN_XNUM)
    return fail(ErrorKind::unsupported, "has no section table, or an unusual one");
  if (!read_table(file, header.e_phoff, header.e_phnum, image.segments) ||
      !read_table(file, header.e_shoff, header.e_shnum, image.sections) || !is_whole(image))
    return fail(ErrorKind::malformed, "its tables are outside of it: it is truncated or damaged");
  return image;
}

}  // namespace axle::binaries
