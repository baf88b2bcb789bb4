#pragma once
// What the loader reads from a shared library: the libraries and paths in its dynamic segment (ELF
// gABI, chapter 5).

#include <cstdint>
#include <expected>
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
  /// The one at `offset`; nullopt if it does not end there, has more than 4,096 bytes, or control
  /// characters.
  [[nodiscard]] std::optional<std::string> name_at(std::uint64_t offset) const;
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

/// Where a part of the loaded library is in the file.
struct FileRange {
  std::uint64_t offset;
  std::uint64_t size;  ///< up to the segment's end
};

/// nullopt: no segment that is loaded has that address.
[[nodiscard]] std::optional<FileRange> in_file(const Tables& tables, std::uint64_t address);

/// Found like the loader does: by the segment, which a stripped file has too. A file without one
/// has an empty one.
[[nodiscard]] std::expected<Dynamic, ReadError> read_dynamic(Bytes& bytes, const Tables& tables);

}  // namespace axle::elf
