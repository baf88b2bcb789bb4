#pragma once
// What the loader reads from a shared library: the libraries, paths and symbol versions in its
// dynamic segment (ELF gABI, chapter 5; Linux Standard Base, "Symbol Versioning").

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/elf/elf_bytes.h"
#include "foundation/elf/elf_tables.h"

namespace axle::elf {

/// A dynamic segment. One that is larger, or whose names are outside of the file, is not read: see
/// `missing`.
class Dynamic {
 public:
  enum class Missing : std::uint8_t { nothing, entries, names };

  /// The texts of the entries with that tag (DT_NEEDED, DT_SONAME, …), in file order, at most 4,096
  /// of at most 4,096 bytes each; those outside of the string table are skipped.
  [[nodiscard]] std::vector<std::string> names(std::int64_t tag) const;
  /// The value of the last entry with that tag.
  [[nodiscard]] std::optional<std::uint64_t> value(std::int64_t tag) const;
  /// All names, each followed by a zero: those of dynamic symbols too.
  [[nodiscard]] std::string_view strings() const { return strings_; }
  /// What could not be found.
  [[nodiscard]] Missing missing() const { return missing_; }
  /// Every DT_NEEDED and DT_SONAME is a complete text of the string table, without control
  /// characters.
  [[nodiscard]] bool whole() const;

 private:
  friend std::expected<Dynamic, ReadError> read_dynamic(Bytes& bytes, const Tables& tables);

  struct TaggedValue {
    std::int64_t tag;
    std::uint64_t value;
  };
  std::vector<TaggedValue> entries_;
  std::string strings_;
  Missing missing_ = Missing::nothing;
};

/// Found like the loader does: by the segment, which a stripped file has too. A file without one
/// has an empty one.
[[nodiscard]] std::expected<Dynamic, ReadError> read_dynamic(Bytes& bytes, const Tables& tables);

struct VersionNeed {
  std::string library;
  std::string version;  ///< "GLIBC_2.17"
};

/// DT_VERNEED, in file order.
[[nodiscard]] std::expected<std::vector<VersionNeed>, ReadError> read_version_needs(
    Bytes& bytes, const Tables& tables, const Dynamic& dynamic);

struct DynamicSymbol {
  std::string_view name;   ///< valid during the visit only; not empty
  bool defined = false;    ///< here, for others
  bool weak = false;       ///< undefined: it may stay so
  bool versioned = false;  ///< it has a symbol version: another library's own business
};

/// The dynamic symbols, in the order of the file: those that it defines for others or needs.
[[nodiscard]] std::expected<void, ReadError> visit_dynamic_symbols(
    Bytes& bytes, const Tables& tables, const std::function<void(const DynamicSymbol&)>& visit);

/// Whether a dynamic symbol that the file defines begins with `prefix`.
[[nodiscard]] std::expected<bool, ReadError> defines_symbol(Bytes& bytes, const Tables& tables,
                                                            std::string_view prefix);

}  // namespace axle::elf
