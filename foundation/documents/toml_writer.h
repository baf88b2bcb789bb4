#pragma once
// TOML as it is written for people and for version control: keys in the order they are given, a
// list of several with an element a line, so that one changed element is one changed line.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace axle::documents {

class TomlWriter {
 public:
  /// "# text", a line for each of `text`.
  void comment(std::string_view text);
  /// A blank line before the next key or table.
  void blank() { text_ += '\n'; }
  /// "[path]" after a blank line; `path` as it is written.
  void table(std::string_view path);
  /// "[[path]]" after a blank line.
  void element(std::string_view path);
  void text(std::string_view key, std::string_view value);
  /// Nothing if `value` is empty.
  void text_if_any(std::string_view key, std::string_view value);
  void number(std::string_view key, std::uint64_t value);
  void flag(std::string_view key, bool value);
  void texts(std::string_view key, const std::vector<std::string>& values);
  /// A value that is TOML already, such as an inline table.
  void raw(std::string_view key, std::string_view value);
  /// A list of such values, each on a line of its own.
  void raws(std::string_view key, const std::vector<std::string>& values);

  [[nodiscard]] const std::string& written() const { return text_; }

  /// A basic string. What is not UTF-8 becomes U+FFFD; control characters are escaped.
  [[nodiscard]] static std::string quoted(std::string_view text);

 private:
  void open(std::string_view key);

  std::string text_;
};

}  // namespace axle::documents
