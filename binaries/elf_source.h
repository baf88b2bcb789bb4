#pragma once
// Applies the ELF reader to the sources of wheels and files, with its problems as errors.

#include <cstdint>
#include <optional>
#include <string_view>

#include "foundation/elf/elf_bytes.h"
#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::binaries {

/// At most this much of any table or string section is read.
inline constexpr std::uint64_t largest_elf_table = 16U << 20;  ///< bytes

/// Malformed (not an ELF file, a table outside of it), unsupported (32 bits, big endian), io.
/// `where` is the name of the file.
[[nodiscard]] Error elf_error(elf::ReadError error, std::string_view where);

class ElfSource final : public elf::Bytes {
 public:
  explicit ElfSource(wheel::ByteSource& source, std::uint64_t largest_table = largest_elf_table)
      : Bytes(largest_table), source_(source) {}
  [[nodiscard]] std::uint64_t size() const override { return source_.size(); }
  /// As elf_error, with the source's own error if it could not be read.
  [[nodiscard]] Error error(elf::ReadError error, std::string_view where) const;

 private:
  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> out) override;

  wheel::ByteSource& source_;
  std::optional<Error> failure_;
};

}  // namespace axle::binaries
