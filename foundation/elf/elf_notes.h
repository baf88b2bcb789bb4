#pragma once
// Notes of ELF files (gABI, "Note Section") and the instruction set levels in GNU property notes
// (x86-64 psABI, "Program Property"; Linux Extensions to gABI).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/elf/elf_bytes.h"

namespace axle::elf {

inline constexpr std::uint64_t largest_elf_notes = 1U << 20;  ///< bytes of a section that are read

struct ElfNote {
  std::string_view owner;  ///< without its zero
  std::uint32_t type = 0;
  std::string_view content;
};

/// Up to the first invalid one. `alignment`: 4, or 8 in .note.gnu.property of 64-bit files. The
/// views point into `bytes`.
[[nodiscard]] std::vector<ElfNote> parse_elf_notes(std::string_view bytes, std::size_t alignment);

/// GNU_PROPERTY_X86_ISA_1: levels "x86-64-v1" … "x86-64-v4", lowest first. The loader (since glibc
/// 2.33) rejects a file that needs one that the CPU lacks; `used` is informational.
struct IsaLevels {
  std::vector<std::string> needed;
  std::vector<std::string> used;
};

[[nodiscard]] IsaLevels parse_isa_levels(std::string_view gnu_property_section);

/// The content of the first note of `owner` in the sections of that name, of which 64 KiB are read.
/// nullopt if there is none, or if it is not a valid 64-bit little-endian ELF file.
[[nodiscard]] std::optional<std::string> find_note(Bytes& bytes, std::string_view section,
                                                   std::string_view owner);

}  // namespace axle::elf
