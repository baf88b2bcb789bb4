#pragma once
// What of an ELF file decides where it loads: architecture, libraries and symbol versions (ELF
// gABI, chapters 4 and 5; Linux Standard Base, "Symbol Versioning").

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::elf {

struct ElfFile {
  std::string architecture;  ///< "x86_64", "aarch64"; empty for another
  bool shared = false;       ///< a shared library or program; false: an object file
  std::string soname;
  std::vector<std::string> needed;  ///< DT_NEEDED, in file order
  struct VersionNeed {
    std::string library;
    std::string version;  ///< "GLIBC_2.17"
  };
  std::vector<VersionNeed> version_needs;
  bool python_module = false;  ///< defines PyInit_…
};

[[nodiscard]] bool is_elf(std::string_view bytes);

/// Little-endian 64-bit files. Errors: malformed (offsets outside the file), unsupported (32 bits,
/// big endian). `where` names the file in errors.
[[nodiscard]] Result<ElfFile> parse_elf(std::string_view bytes, std::string_view where);

}  // namespace axle::elf
