// The plain form of an index page, read in one pass. Wherever a browser's rules would have to be
// known (implied end tags, repaired nesting, encodings), this reader knows nothing and says so.
//
// Why a flat sequence of tags is enough: without tables, frames, templates and foreign elements
// a browser appends what it meets in the order in which it meets it, wherever html, head and body
// begin and end; and no <a>, <h1> or <title> holds another element here.
#include <algorithm>
#include <array>
#include <utility>

#include "index/byte_kinds.h"
#include "index/html_content.h"
#include "wheel/ascii.h"

namespace axle::index {
namespace {

/// Bytes that a decoder, a tokenizer or newline normalisation treats specially.
constexpr Byte is_special(Byte c) {
  return static_cast<Byte>(((c < 0x20) & (c != '\n') & (c != '\t')) | (c > 0x7e));
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }
bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || wheel::is_ascii_digit(c) || c == '-';
}

/// The character that "&…;" at the beginning of `text` stands for, and the length of all of it; 0
/// for one that is not of the usual few or not printable ASCII.
std::pair<char, std::size_t> read_reference(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, char>, 4> named = {
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}}};
  for (const auto& [name, character] : named) {
    if (text.starts_with(name)) return {character, name.size()};
  }
  if (!text.starts_with("&#")) return {};
  const bool hexadecimal = text.starts_with("&#x");
  constexpr std::size_t most_digits = 4;
  unsigned code = 0;
  std::size_t i = hexadecimal ? 3 : 2;
  for (const std::size_t end = std::min(i + most_digits, text.size()); i < end; ++i) {
    const char c = wheel::ascii_lower(text[i]);
    if (wheel::is_ascii_digit(c)) {
      code = code * (hexadecimal ? 16 : 10) + static_cast<unsigned>(c - '0');
    } else if (hexadecimal && c >= 'a' && c <= 'f') {
      code = code * 16 + static_cast<unsigned>(c - 'a' + 10);
    } else {
      break;
    }
  }
  if (i >= text.size() || text[i] != ';' || code < 0x20 || code > 0x7e) return {};
  return {static_cast<char>(code), i + 1};
}

class PlainReader {
 public:
  explicit PlainReader(std::string_view body) : rest_(body) {}

  bool read() {
    take_spaces();
    if (rest_.starts_with("<!") && !rest_.starts_with("<!--") && !take_doctype()) return false;
    for (;;) {
      static_cast<void>(take_text());
      if (rest_.empty()) return true;
      if (!take_tag()) return false;
    }
  }

  HtmlContent content;

 private:
  static constexpr std::size_t most_attributes = 16;
  struct Attribute {
    std::string_view name;
    std::string_view value;
  };

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  std::string_view take_while(bool (*belongs)(char)) {
    std::size_t end = 0;
    while (end < rest_.size() && belongs(rest_[end])) ++end;
    const std::string_view taken = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return taken;
  }

  bool take_spaces() { return !take_while(is_space).empty(); }

  /// Up to the next "<".
  std::string_view take_text() {
    const std::string_view text = rest_.substr(0, rest_.find('<'));
    rest_.remove_prefix(text.size());
    return text;
  }

  bool take_doctype() {
    constexpr std::string_view doctype = "<!doctype html>";
    if (wheel::ascii_lower(rest_.substr(0, doctype.size())) != doctype) return false;
    rest_.remove_prefix(doctype.size());
    return true;
  }

  /// "<!---->", "<!-->" and their kin have rules of their own.
  bool take_comment() {
    if (!take("<!--") || rest_.starts_with('>') || rest_.starts_with('-')) return false;
    const std::size_t end = rest_.find("--");
    if (end == std::string_view::npos) return false;
    rest_.remove_prefix(end);
    return take("-->");
  }

  bool take_tag() {
    if (rest_.starts_with("<!")) return take_comment();
    if (take("</")) return take("html>") || take("head>") || take("body>");
    rest_.remove_prefix(1);
    const std::string_view name = take_while(is_name_character);
    const bool is_void = name == "br" || name == "meta" || name == "base";
    if (!take_attributes(is_void)) return false;
    if (name == "a") return take_link();
    if (name == "title" || name == "h1") return take_title(name);
    if (is_void) return note_void(name);
    return name == "html" || name == "head" || name == "body";
  }

  /// Through the end of the tag.
  bool take_attributes(bool is_void) {
    attribute_count_ = 0;
    for (;;) {
      const bool spaced = take_spaces();
      if (take(">") || (is_void && take("/>"))) return true;
      if (!spaced || !take_attribute()) return false;
    }
  }

  bool take_attribute() {
    const std::string_view name = take_while(is_name_character);
    if (name.empty() || attribute_count_ == most_attributes || find(name)) return false;
    std::string_view value;
    if (take("=")) {
      if (rest_.empty() || (rest_[0] != '"' && rest_[0] != '\'')) return false;
      const std::size_t end = rest_.find(rest_[0], 1);
      if (end == std::string_view::npos) return false;
      const auto text = resolve_references(rest_.substr(1, end - 1));
      if (!text) return false;
      value = *text;
      rest_.remove_prefix(end + 1);
    }
    attributes_[attribute_count_++] = {name, value};
    return true;
  }

  std::optional<std::string_view> resolve_references(std::string_view text) {
    std::size_t mark = text.find('&');
    if (mark == std::string_view::npos) return text;
    char* const begin = static_cast<char*>(content.memory.allocate(text.size()));
    char* end = begin;
    while (mark != std::string_view::npos) {
      end = std::copy_n(text.data(), mark, end);
      text.remove_prefix(mark);
      const auto [character, length] = read_reference(text);
      if (length == 0) return std::nullopt;
      *end++ = character;
      text.remove_prefix(length);
      mark = text.find('&');
    }
    end = std::ranges::copy(text, end).out;
    return std::string_view(begin, end);
  }

  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const {
    for (std::size_t i = 0; i < attribute_count_; ++i) {
      if (attributes_[i].name == name) return attributes_[i].value;
    }
    return std::nullopt;
  }

  bool take_link() {
    if (const auto href = find("href")) {
      content.links.push_back({*href, find("data-requires-python"), find("data-yanked"),
                               find("data-core-metadata"), find("data-dist-info-metadata")});
    }
    static_cast<void>(take_text());
    return take("</a>");
  }

  bool take_title(std::string_view name) {
    const auto text = resolve_references(take_text());
    if (!text) return false;
    content.note_title(*text);
    return take("</") && take(name) && take(">");
  }

  bool note_void(std::string_view name) {
    if (name == "base") {
      if (const auto href = find("href")) content.note_base(*href);
    } else if (name == "meta") {
      const auto mark = find("name");
      const auto value = find("content");
      if (mark && value) content.note_meta(*mark, *value);
    }
    return true;
  }

  std::string_view rest_;
  std::array<Attribute, most_attributes> attributes_;  ///< of the tag that is being read
  std::size_t attribute_count_ = 0;
};

}  // namespace

std::optional<HtmlContent> read_plain_html(std::string_view body) {
  if (has_any<is_special>(body)) return std::nullopt;
  PlainReader reader(body);
  if (!reader.read()) return std::nullopt;
  return std::move(reader.content);
}

}  // namespace axle::index
