#include "foundation/elf/elf_notes.h"

#include <algorithm>
#include <cstring>

#include <elf.h>

#include "foundation/elf/elf_tables.h"

namespace axle::elf {
namespace {

constexpr std::uint64_t largest_found_notes = 64 * 1024;  // bytes
constexpr std::uint32_t isa_needed = 0xc0008002;          // GNU_PROPERTY_X86_ISA_1_NEEDED
constexpr std::uint32_t isa_used = 0xc0010002;            // GNU_PROPERTY_X86_ISA_1_USED

std::uint64_t rounded(std::uint64_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

/// `size` bytes, and the padding after them as far as present.
bool take(std::string_view& bytes, std::uint64_t size, std::size_t alignment,
          std::string_view& part) {
  if (bytes.size() < size) return false;
  part = bytes.substr(0, size);
  bytes.remove_prefix(std::min<std::uint64_t>(bytes.size(), rounded(size, alignment)));
  return true;
}

std::vector<std::string> levels_of(std::uint32_t bits) {
  std::vector<std::string> levels;
  for (unsigned level = 1; level <= 4; ++level) {
    if ((bits >> (level - 1) & 1U) != 0) levels.push_back("x86-64-v" + std::to_string(level));
  }
  return levels;
}

}  // namespace

std::vector<ElfNote> parse_elf_notes(std::string_view bytes, std::size_t alignment) {
  std::vector<ElfNote> notes;
  Elf64_Nhdr header;
  while (take(bytes, header)) {
    ElfNote note;
    note.type = header.n_type;
    if (!take(bytes, header.n_namesz, 4, note.owner)) break;
    if (!take(bytes, header.n_descsz, alignment, note.content)) break;
    while (note.owner.ends_with('\0')) note.owner.remove_suffix(1);
    notes.push_back(note);
  }
  return notes;
}

IsaLevels parse_isa_levels(std::string_view gnu_property_section) {
  IsaLevels levels;
  for (const ElfNote& note : parse_elf_notes(gnu_property_section, 8)) {
    if (note.owner != "GNU" || note.type != NT_GNU_PROPERTY_TYPE_0) continue;
    std::string_view rest = note.content;
    std::uint32_t head[2];
    while (take(rest, head)) {
      std::string_view value;
      if (!take(rest, head[1], 8, value)) break;
      std::uint32_t bits = 0;
      if (value.size() != sizeof(bits)) continue;
      std::memcpy(&bits, value.data(), sizeof(bits));
      if (head[0] == isa_needed) levels.needed = levels_of(bits);
      if (head[0] == isa_used) levels.used = levels_of(bits);
    }
  }
  return levels;
}

std::optional<std::string> find_note(Bytes& bytes, std::string_view section,
                                     std::string_view owner) {
  const auto tables = read_tables(bytes);
  if (!tables) return std::nullopt;
  for (const Section& one : tables->sections) {
    if (one.type != SHT_NOTE || one.name != section) continue;
    const auto range = bytes.range(one.offset, std::min(one.size, largest_found_notes));
    if (!range) return std::nullopt;
    const auto notes = parse_elf_notes(*range, 4);
    const auto note = std::ranges::find(notes, owner, &ElfNote::owner);
    if (note != notes.end()) return std::string(note->content);
  }
  return std::nullopt;
}

}  // namespace axle::elf
