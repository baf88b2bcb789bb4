#pragma once
// The sections and segments of an ELF file (ELF gABI, chapters 4 and 5). The file is not trusted.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "foundation/elf/elf_bytes.h"

namespace axle::elf {

struct Section {
  std::string name;  ///< without control characters, at most 255 bytes
  std::uint32_t type = 0;
  std::uint64_t offset = 0;  ///< in the file; inside of it if `size` is not 0
  std::uint64_t size = 0;    ///< bytes in the file; 0 for a section without any (SHT_NOBITS)
  std::uint32_t link = 0;
  std::uint64_t address = 0;  ///< when it is loaded
  std::uint64_t flags = 0;    ///< SHF_…
};

struct Segment {
  std::uint32_t type = 0;
  std::uint64_t offset = 0;  ///< in the file; inside of it if `size` is not 0
  std::uint64_t address = 0;
  std::uint64_t size = 0;   ///< bytes in the file
  std::uint32_t flags = 0;  ///< PF_…
};

struct Tables {
  std::uint16_t machine = 0;  ///< EM_…
  std::uint16_t type = 0;     ///< ET_…
  std::vector<Section> sections;
  std::vector<Segment> segments;

  /// The first section of that name, or nullptr.
  [[nodiscard]] const Section* find(std::string_view name) const;
  /// The first segment of that type (PT_…), or nullptr.
  [[nodiscard]] const Segment* segment(std::uint32_t wanted) const;
};

/// Whether the bytes begin like an ELF file.
[[nodiscard]] bool is_elf(std::string_view bytes);

/// 64-bit little-endian files. A section or segment outside of the file is an error.
[[nodiscard]] std::expected<Tables, ReadError> read_tables(Bytes& bytes);

/// The path of the program's loader (PT_INTERP); empty for a file that has none or is not a valid
/// ELF file. Sections are not read.
[[nodiscard]] std::string read_loader(Bytes& bytes);

/// The text at `offset` of a string table, up to its end or the table's, at most `longest` bytes.
[[nodiscard]] std::string_view string_at(std::string_view strings, std::uint64_t offset,
                                         std::size_t longest);

/// The complete records of `bytes`, one after the other.
template <class Record>
[[nodiscard]] std::vector<Record> records(std::string_view bytes) {
  static_assert(std::is_trivially_copyable_v<Record>);
  std::vector<Record> all(bytes.size() / sizeof(Record));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(Record));
  return all;
}

/// Removes a record from the front of `bytes`; false if there are not enough.
template <class Record>
[[nodiscard]] bool take(std::string_view& bytes, Record& record) {
  static_assert(std::is_trivially_copyable_v<Record>);
  if (bytes.size() < sizeof(Record)) return false;
  std::memcpy(&record, bytes.data(), sizeof(Record));
  bytes.remove_prefix(sizeof(Record));
  return true;
}

}  // namespace axle::elf
