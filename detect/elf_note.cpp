#include "detect/elf_note.h"

#include <algorithm>
#include <cstring>

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

namespace axle::detect {
namespace {

constexpr std::size_t most_sections = 4096;
constexpr std::size_t largest_names = 256 * 1024;
constexpr std::size_t largest_note_section = 64 * 1024;

/// A structure at `offset` of `bytes`, or nullopt where it does not fit.
template <typename Struct>
std::optional<Struct> take(std::string_view bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Struct)) return std::nullopt;
  Struct value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

std::optional<Elf64_Ehdr> read_header(const ReadAt& read_at) {
  const auto header = take<Elf64_Ehdr>(read_at(0, sizeof(Elf64_Ehdr)), 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return std::nullopt;
  if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum == 0 ||
      header->e_shnum > most_sections || header->e_shstrndx >= header->e_shnum) {
    return std::nullopt;
  }
  return header;
}

/// The bytes of a section, at most `limit`; what the file does not hold is missing.
std::string read_section(const ReadAt& read_at, const Elf64_Shdr& section, std::size_t limit) {
  if (section.sh_type == SHT_NOBITS) return {};
  const auto size = std::min<std::uint64_t>(section.sh_size, limit);
  return read_at(section.sh_offset, static_cast<std::size_t>(size));
}

std::string_view name_at(std::string_view names, std::size_t offset) {
  if (offset >= names.size()) return {};
  const std::string_view rest = names.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

constexpr std::size_t padded(std::size_t size) { return (size + 3) / 4 * 4; }

std::optional<std::string> note_of(std::string_view bytes, std::string_view owner) {
  while (const auto note = take<Elf64_Nhdr>(bytes, 0)) {
    bytes.remove_prefix(sizeof(*note));
    const std::size_t name_size = note->n_namesz;
    if (name_size > bytes.size()) return std::nullopt;
    std::string_view name = bytes.substr(0, name_size);
    bytes.remove_prefix(std::min(padded(name_size), bytes.size()));
    const std::size_t size = note->n_descsz;
    if (size > bytes.size()) return std::nullopt;
    while (name.ends_with('\0')) name.remove_suffix(1);
    if (name == owner) return std::string(bytes.substr(0, size));
    bytes.remove_prefix(std::min(padded(size), bytes.size()));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_elf_note(const ReadAt& read_at, std::string_view section,
                                         std::string_view owner) {
  const auto header = read_header(read_at);
  if (!header) return std::nullopt;
  const std::string table =
      read_at(header->e_shoff, std::size_t{header->e_shnum} * sizeof(Elf64_Shdr));
  const auto strings = take<Elf64_Shdr>(table, header->e_shstrndx * sizeof(Elf64_Shdr));
  if (!strings) return std::nullopt;
  const std::string names = read_section(read_at, *strings, largest_names);
  for (std::size_t i = 0; i < header->e_shnum; ++i) {
    const auto each = take<Elf64_Shdr>(table, i * sizeof(Elf64_Shdr));
    if (!each) break;
    if (each->sh_type != SHT_NOTE || name_at(names, each->sh_name) != section) continue;
    if (auto note = note_of(read_section(read_at, *each, largest_note_section), owner)) return note;
  }
  return std::nullopt;
}

std::optional<std::string> read_elf_note(const std::string& path, std::string_view section,
                                         std::string_view owner) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return std::nullopt;
  const auto read_at = [file](std::uint64_t offset, std::size_t size) {
    std::string bytes(size, '\0');
    std::size_t have = 0;
    while (have < size) {
      const ssize_t got =
          ::pread(file, bytes.data() + have, size - have, static_cast<off_t>(offset + have));
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    bytes.resize(have);
    return bytes;
  };
  auto note = find_elf_note(read_at, section, owner);
  ::close(file);
  return note;
}

}  // namespace axle::detect
