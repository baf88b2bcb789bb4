#pragma once
// Where tables, keys, values and elements stand in the text of a TOML document, for changing some
// of them and nothing else. The text must be valid TOML: parse_toml (toml_reader.h) says that.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace axle::documents {

/// Bytes of the text: [begin, end).
struct TomlSpan {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] std::string_view of(std::string_view text) const {
    return text.substr(begin, end - begin);
  }
};

enum class TomlStatementKind : std::uint8_t { table, array_of_tables, value };

/// `[a.b]`, `[[a.b]]`, or `c = 1`.
struct TomlStatement {
  TomlStatementKind kind = TomlStatementKind::value;
  std::vector<std::string> path = {};  ///< from the root: of a value behind that of its table
  std::size_t depth = 0;               ///< how many segments of `path` are those of its table
  TomlSpan whole = {};                 ///< from key or bracket to value or bracket
  TomlSpan value = {};                 ///< of TomlStatementKind::value
  /// The statement whose value is the inline table that this one is in.
  std::optional<std::size_t> inside = {};
};

/// In the order of the text; an inline table before its members. What is in arrays is not among
/// them.
[[nodiscard]] std::vector<TomlStatement> toml_statements(std::string_view text);

struct TomlElement {
  TomlSpan value;
  std::optional<std::size_t> comma;  ///< where the comma behind it is
};

struct TomlArray {
  TomlSpan whole;  ///< with the brackets
  std::vector<TomlElement> elements;
};

/// `value`: of an array.
[[nodiscard]] TomlArray toml_array(std::string_view text, TomlSpan value);

/// The length of the string at the start of `text`, of any of TOML's four kinds; all of it if it
/// does not end.
[[nodiscard]] std::size_t toml_string_length(std::string_view text);

/// `value` in the quotes of `like`, the string that it takes the place of or stands beside (empty:
/// there is none). Single quotes also where a value with double quotes needs no escapes then.
[[nodiscard]] std::string toml_string_like(std::string_view value, std::string_view like);
/// A key: bare if it may be.
[[nodiscard]] std::string toml_key(std::string_view key);

}  // namespace axle::documents
