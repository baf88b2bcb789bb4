#pragma once
// Typed reading of TOML with the file, the line and the key in every error: pyproject.toml and
// family files.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "foundation/report/error.h"

namespace axle::documents {

/// The first error in a file; values read after it are ignored.
class TomlReading {
 public:
  explicit TomlReading(std::string where) : where_(std::move(where)) {}

  void refuse(const toml::node& node, std::string_view path, std::string_view why,
              std::string hint = {}, ErrorKind kind = ErrorKind::malformed);
  void refuse(Error error);

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  /// "pyproject.toml:12"
  [[nodiscard]] std::string place(const toml::node& node) const;

 private:
  std::string where_;
  std::optional<Error> error_;
};

/// One table: every known key is read, and `finish` rejects the others.
class TomlTable {
 public:
  TomlTable(const toml::table& table, std::string path, TomlReading& reading)
      : table_(table), path_(std::move(path)), reading_(reading) {}

  [[nodiscard]] const toml::node* find(std::string_view key);
  [[nodiscard]] std::optional<std::string> text(std::string_view key);
  /// As `text`, but the key is required.
  [[nodiscard]] std::string required_text(std::string_view key);
  [[nodiscard]] std::optional<bool> flag(std::string_view key);
  [[nodiscard]] std::vector<std::string> texts(std::string_view key);
  /// Keys and their strings, by key.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> text_pairs(std::string_view key);
  [[nodiscard]] std::optional<TomlTable> table(std::string_view key);
  [[nodiscard]] std::vector<TomlTable> tables(std::string_view key);

  /// Whether `schema` is `known`, the one number that this version reads; else it is refused, as
  /// ErrorKind::unsupported where another is given.
  bool has_schema(std::int64_t known);

  void refuse(std::string_view key, std::string_view why, std::string hint = {},
              ErrorKind kind = ErrorKind::malformed);
  void finish();

  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] const toml::table& node() const { return table_; }
  [[nodiscard]] TomlReading& reading() { return reading_; }

 private:
  const toml::table& table_;
  std::string path_;
  TomlReading& reading_;
  std::vector<std::string> known_;  ///< as often as they were asked for
};

inline constexpr std::size_t most_toml_bytes = 16U << 20;
/// Errors: malformed, with line and column; so is a file over `most_toml_bytes` or a key of over
/// 100 segments.
[[nodiscard]] Result<toml::table> parse_toml(std::string_view text, const std::string& where);

}  // namespace axle::documents
