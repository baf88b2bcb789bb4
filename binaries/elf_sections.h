#pragma once
// The sections of an ELF file, read in ranges: a library of several gigabytes costs its tables and
// no more (ELF gABI, chapters 4 and 5).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::binaries {

struct ElfSection {
  std::string name;  ///< control characters taken out, at most 255 bytes
  std::uint32_t type = 0;
  std::uint64_t offset = 0;  ///< in the file; inside of it together with `size`
  std::uint64_t size = 0;    ///< bytes in the file; 0 of a section without any (SHT_NOBITS)
  std::uint32_t link = 0;
};

struct ElfSegment {
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;  ///< bytes in the file
};

struct ElfTables {
  std::uint16_t machine = 0;  ///< EM_…
  std::uint16_t type = 0;     ///< ET_…
  std::vector<ElfSection> sections;
  std::vector<ElfSegment> segments;

  [[nodiscard]] const ElfSection* find(std::string_view name) const;
};

/// At most this much of any table or string section is read.
inline constexpr std::uint64_t largest_elf_table = 16U << 20;  ///< bytes

/// 64-bit little-endian files. Errors: malformed (no ELF file, a table outside of it), unsupported
/// (32 bits, big endian), io.
[[nodiscard]] Result<ElfTables> read_elf_tables(wheel::ByteSource& source, std::string_view where);

/// `size` bytes from `offset`, which must lie inside. Errors: malformed, io.
[[nodiscard]] Result<std::string> read_range(wheel::ByteSource& source, std::uint64_t offset,
                                             std::uint64_t size, std::string_view where);

}  // namespace axle::binaries
