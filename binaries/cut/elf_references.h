#pragma once
// What else in an ELF file says where the containers of a section are, and what it must say after
// they moved: relocations, the pointers that they fill, symbols.

#include <cstdint>
#include <map>
#include <span>

#include "binaries/cut/elf_image.h"
#include "binaries/cut/section_cut.h"
#include "foundation/report/error.h"

namespace axle::binaries {

struct SectionToCut {
  std::size_t index = 0;  ///< of the section
  CutSection cut;
};

/// Words of 64 bits to write, by their offsets in the old file.
using Patches = std::map<std::uint64_t, std::uint64_t>;

struct MovedReferences {
  Patches patches;
  /// The containers to which no pointer is found, by their addresses: code may refer to them, so
  /// they must stay where they are.
  std::vector<std::uint64_t> without;
};

/// Errors: unsupported, if something refers to a container in a way that is not understood;
/// malformed (a table that is damaged).
[[nodiscard]] Result<MovedReferences> moved_references(const ElfImage& image,
                                                       std::span<const SectionToCut> cuts);

}  // namespace axle::binaries
