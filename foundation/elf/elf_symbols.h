#pragma once
// The symbols that a shared library has for others and needs of them, and their versions (Linux
// Standard Base, "Symbol Versioning").

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/elf/elf_bytes.h"
#include "foundation/elf/elf_dynamic.h"
#include "foundation/elf/elf_tables.h"

namespace axle::elf {

struct VersionNeed {
  std::string library;      ///< DT_SONAME of the one that must define it
  std::string version;      ///< "GLIBC_2.17"
  bool weak = false;        ///< the loader does without it
  std::uint16_t index = 0;  ///< DynamicSymbol::version of the symbols that have it
};

/// DT_VERNEED, in file order, at most 4,096.
[[nodiscard]] std::expected<std::vector<VersionNeed>, ReadError> read_version_needs(
    Bytes& bytes, const Tables& tables, const Dynamic& dynamic);

/// DT_VERDEF: the versions that its symbols have, in file order, at most 4,096. With its base
/// version, which the loader accepts as well. Empty: it has no versions, and the loader asks for
/// none.
[[nodiscard]] std::expected<std::vector<std::string>, ReadError> read_version_definitions(
    Bytes& bytes, const Tables& tables, const Dynamic& dynamic);

struct DynamicSymbol {
  std::string_view name;      ///< valid during the visit only; not empty
  bool defined = false;       ///< here, for others
  bool weak = false;          ///< undefined: it may stay so
  std::uint16_t version = 0;  ///< VersionNeed::index, or one of a definition; 0: none
};

/// The dynamic symbols, in the order of the file: those that it defines for others or needs.
[[nodiscard]] std::expected<void, ReadError> visit_dynamic_symbols(
    Bytes& bytes, const Tables& tables, const std::function<void(const DynamicSymbol&)>& visit);

/// Whether a dynamic symbol that the file defines begins with `prefix`.
[[nodiscard]] std::expected<bool, ReadError> defines_symbol(Bytes& bytes, const Tables& tables,
                                                            std::string_view prefix);

}  // namespace axle::elf
