#include "foundation/documents/toml_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "foundation/documents/toml_writer.h"
#include "foundation/text/ascii.h"

namespace axle::documents {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_bare(char c) { return text::is_ascii_alnum(c) || c == '-' || c == '_'; }

/// What `key`, in quotes, stands for.
std::string unquoted(std::string_view key) {
  if (key.front() == '\'' || !key.contains('\\')) return std::string(key.substr(1, key.size() - 2));
  try {
    const toml::table read = toml::parse(fmt::format("k = {}", key));
    return read["k"].value_or(std::string());
  } catch (const toml::parse_error&) {
    return std::string(key);
  }
}

class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : text_(text) {}

  std::vector<TomlStatement> statements() {
    if (text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
    for (skip_between(); at_ < text_.size(); skip_between()) {
      if (text_[at_] == '[') {
        take_header();
      } else {
        take_value(table_, std::nullopt);
      }
    }
    return std::move(found_);
  }

  TomlArray array(TomlSpan value) {
    TomlArray read{value, {}};
    at_ = value.begin + 1;
    for (skip_between(); at_ + 1 < value.end; skip_between()) {
      TomlElement element{scan_value(), std::nullopt};
      skip_between();
      if (at_ < value.end && text_[at_] == ',') element.comma = at_++;
      read.elements.push_back(element);
    }
    return read;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }
  /// White space, line ends and comments.
  void skip_between() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        skip_comment();
      } else if (is_blank(text_[at_]) || text_[at_] == '\n' || text_[at_] == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  /// `a."b.c"`, up to what cannot belong to it.
  std::vector<std::string> scan_key() {
    std::vector<std::string> path;
    while (at_ < text_.size()) {
      skip_blanks();
      const std::size_t begin = at_;
      if (at_ < text_.size() && is_quote(text_[at_])) {
        at_ += toml_string_length(text_.substr(at_));
        path.push_back(unquoted(text_.substr(begin, at_ - begin)));
      } else {
        while (at_ < text_.size() && is_bare(text_[at_])) ++at_;
        path.emplace_back(text_.substr(begin, at_ - begin));
      }
      const std::size_t end = at_;
      skip_blanks();
      if (at_ >= text_.size() || text_[at_] != '.') {
        at_ = end;
        return path;
      }
      ++at_;
    }
    return path;
  }

  void take_header() {
    TomlStatement header{.kind = TomlStatementKind::table};
    header.whole.begin = at_++;
    if (at_ < text_.size() && text_[at_] == '[') {
      header.kind = TomlStatementKind::array_of_tables;
      ++at_;
    }
    header.path = scan_key();
    header.depth = header.path.size();
    skip_blanks();
    at_ = std::min(at_ + (header.kind == TomlStatementKind::table ? 1U : 2U), text_.size());
    header.whole.end = at_;
    table_ = header.path;
    found_.push_back(std::move(header));
  }

  void take_value(std::vector<std::string> path, std::optional<std::size_t> inside) {
    TomlStatement statement{.depth = path.size(), .inside = inside};
    statement.whole.begin = at_;
    for (std::string& segment : scan_key()) path.push_back(std::move(segment));
    statement.path = std::move(path);
    skip_blanks();
    if (at_ < text_.size()) ++at_;  // "="
    skip_blanks();
    statement.value = scan_value();
    statement.whole.end = statement.value.end;
    const std::size_t own = found_.size();
    found_.push_back(statement);
    if (statement.value.of(text_).starts_with('{')) take_members(own);
    at_ = statement.whole.end;
  }

  /// Of an inline table. Its nesting is limited by the parser that read the text first.
  void take_members(std::size_t own) {
    const TomlSpan value = found_[own].value;
    at_ = value.begin + 1;
    for (skip_between(); at_ + 1 < value.end; skip_between()) {
      take_value(found_[own].path, own);
      skip_between();
      if (at_ < value.end && text_[at_] == ',') ++at_;
    }
  }

  TomlSpan scan_value() {
    const std::size_t begin = at_;
    if (at_ >= text_.size()) return {begin, begin};
    if (is_quote(text_[at_])) {
      at_ += toml_string_length(text_.substr(at_));
    } else if (text_[at_] == '[' || text_[at_] == '{') {
      skip_nested();
    } else {
      at_ = std::min(text_.find_first_of(",]}#\n", at_), text_.size());
      std::size_t end = at_;
      while (end > begin && text::is_ascii_space(text_[end - 1])) --end;
      // What is no value at all must not stop the scan.
      at_ = std::max(end, begin + 1);
    }
    return {begin, at_};
  }

  void skip_nested() {
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_quote(c)) {
        at_ += toml_string_length(text_.substr(at_));
        continue;
      }
      if (c == '#') {
        skip_comment();
        continue;
      }
      ++at_;
      if (c == '[' || c == '{') ++depth;
      if ((c == ']' || c == '}') && --depth == 0) return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> table_;
  std::vector<TomlStatement> found_;
};

}  // namespace

std::vector<TomlStatement> toml_statements(std::string_view text) {
  return TextScanner(text).statements();
}

TomlArray toml_array(std::string_view text, TomlSpan value) {
  return TextScanner(text).array(value);
}

std::size_t toml_string_length(std::string_view text) {
  const char quote = text[0];
  const bool multiline = text.size() > 2 && text[1] == quote && text[2] == quote;
  const std::size_t marks = multiline ? 3 : 1;
  for (std::size_t i = marks; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == '\n' && !multiline) {
      return i;
    } else if (text[i] == quote && (!multiline || text.substr(i, marks) == text.substr(0, marks))) {
      std::size_t end = i + marks;
      // Up to two quotes before the closing ones belong to the string.
      for (int more = 0; multiline && more < 2 && end < text.size() && text[end] == quote; ++more)
        ++end;
      return end;
    }
  }
  return text.size();
}

std::string toml_string_like(std::string_view value, std::string_view like) {
  const bool one_line = std::ranges::none_of(
      value, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  const bool plain = !value.contains('"') && !value.contains('\\');
  if (one_line && !value.contains('\'') && (like.starts_with('\'') || !plain))
    return fmt::format("'{}'", value);
  return TomlWriter::quoted(value);
}

std::string toml_key(std::string_view key) {
  if (!key.empty() && std::ranges::all_of(key, is_bare)) return std::string(key);
  return TomlWriter::quoted(key);
}

}  // namespace axle::documents
