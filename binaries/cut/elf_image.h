#pragma once
// The headers of an ELF file as they lie, for rewriting it; every table is inside of the file.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

#include "foundation/report/error.h"

namespace axle::binaries {

struct ElfImage {
  std::string_view file;
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Shdr> sections;

  [[nodiscard]] std::string_view name_of(const Elf64_Shdr& section) const;
  /// Its bytes; empty for one without any.
  [[nodiscard]] std::string_view bytes_of(const Elf64_Shdr& section) const;
  /// Where `size` bytes of the loaded library are in the file.
  [[nodiscard]] std::optional<std::uint64_t> in_file(std::uint64_t address,
                                                     std::uint64_t size) const;
  /// The value of a dynamic entry (DT_…).
  [[nodiscard]] std::optional<std::uint64_t> dynamic_value(std::int64_t tag) const;
};

template <class Record>
[[nodiscard]] Record elf_record(std::string_view bytes, std::uint64_t at) {
  Record record;
  std::memcpy(&record, bytes.data() + at, sizeof(record));
  return record;
}

/// Shared libraries and programs of 64 bits, little-endian. Errors: malformed, unsupported.
[[nodiscard]] Result<ElfImage> read_elf_image(std::string_view file);

}  // namespace axle::binaries
