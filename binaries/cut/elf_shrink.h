#pragma once
// Makes an ELF file smaller by what was cut out of its sections of GPU code.
//
// Addresses stay: code and data refer to each other by them. A section ends earlier, and whole
// pages of the file behind it are left out. Segments that follow move in the file only; the one
// with the section is split in two, between which no page is loaded. Its new segment needs a longer
// program header table, which lies in the room that became free.

#include <span>
#include <string>

#include "binaries/cut/elf_image.h"
#include "binaries/cut/elf_references.h"
#include "foundation/report/error.h"

namespace axle::binaries {

/// `cuts` in the order of the file. Errors: unsupported (a layout that cannot be changed so).
[[nodiscard]] Result<std::string> shrink_elf(const ElfImage& image,
                                             std::span<const SectionToCut> cuts,
                                             const Patches& patches);

}  // namespace axle::binaries
