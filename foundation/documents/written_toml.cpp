#include "foundation/documents/written_toml.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "foundation/documents/toml_reader.h"
#include "foundation/text/ascii.h"

namespace axle::documents {
namespace {

bool is_printable_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= ' ' && c <= '~') || c == '\n'; });
}

bool belongs_to_bare_key(char c) { return text::is_ascii_alnum(c) || c == '-' || c == '_'; }

/// Takes one statement after the other; whatever is not as expected ends it.
class WrittenReader {
 public:
  explicit WrittenReader(std::string_view text) : rest_(text) {}

  std::optional<toml::table> read() {
    while (!rest_.empty()) {
      if (!read_statement()) return std::nullopt;
    }
    return std::move(root_);
  }

 private:
  bool accept(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  bool read_statement() {
    switch (rest_.front()) {
      case '\n':
        return accept("\n");
      case '#':
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
        return accept("\n");
      case '[':
        return rest_.starts_with("[[") ? read_element() : read_table();
      default:
        return read_pair();
    }
  }

  /// Empty: there is none.
  std::string_view take_key() {
    const auto end = std::ranges::find_if_not(rest_, belongs_to_bare_key);
    const auto key = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    rest_.remove_prefix(key.size());
    return key;
  }

  /// [[key]], at the root.
  bool read_element() {
    if (!accept("[[")) return false;
    const std::string_view key = take_key();
    if (key.empty() || !accept("]]\n")) return false;
    toml::node* node = root_.get(key);
    // One that was a value takes no elements.
    if (node == nullptr) {
      node = &root_.emplace<toml::array>(key).first->second;
      elements_.emplace_back(key);
    } else if (std::ranges::find(elements_, key) == elements_.end()) {
      return false;
    }
    current_ = &node->as_array()->emplace_back<toml::table>();
    return true;
  }

  /// [key], or [key.key] of a table that is there or of the last element.
  bool read_table() {
    if (!accept("[")) return false;
    std::string_view key = take_key();
    toml::table* parent = &root_;
    if (accept(".")) {
      parent = table_named(key);
      key = take_key();
    }
    if (parent == nullptr || key.empty() || !accept("]\n")) return false;
    const auto [place, is_new] = parent->emplace<toml::table>(key);
    if (!is_new) return false;
    current_ = place->second.as_table();
    return true;
  }

  /// nullptr: there is none at the root, or it is a list of values.
  toml::table* table_named(std::string_view key) {
    toml::node* const node = root_.get(key);
    if (node == nullptr || node->is_table()) return node == nullptr ? nullptr : node->as_table();
    if (std::ranges::find(elements_, key) == elements_.end()) return nullptr;
    return node->as_array()->back().as_table();
  }

  bool read_pair() {
    const std::string_view key = take_key();
    if (key.empty() || !accept(" = ") || rest_.empty()) return false;
    if (rest_.front() == '"') {
      auto text = take_text();
      return text && accept("\n") && current_->emplace<std::string>(key, *std::move(text)).second;
    }
    if (rest_.front() == '[') {
      const auto [place, is_new] = current_->emplace<toml::array>(key);
      return is_new && read_texts(*place->second.as_array());
    }
    if (accept("true\n")) return current_->emplace<bool>(key, true).second;
    if (accept("false\n")) return current_->emplace<bool>(key, false).second;
    const auto number = take_number();
    return number && accept("\n") && current_->emplace<std::int64_t>(key, *number).second;
  }

  std::optional<std::int64_t> take_number() {
    constexpr std::size_t most_digits = 18;  // all of them fit
    const auto end = std::ranges::find_if_not(rest_, text::is_ascii_digit);
    const auto digits = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    const bool zero_first = digits.size() > 1 && digits.front() == '0';
    if (digits.empty() || digits.size() > most_digits || zero_first) return std::nullopt;
    std::int64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    rest_.remove_prefix(digits.size());
    return number;
  }

  bool read_texts(toml::array& into) {
    if (accept("[]\n")) return true;
    if (!accept("[\n")) return accept("[") && add_text(into) && accept("]\n");
    while (accept("    ")) {
      if (!add_text(into) || !accept(",\n")) return false;
    }
    return accept("]\n");
  }

  bool add_text(toml::array& into) {
    auto text = take_text();
    if (!text) return false;
    into.emplace_back<std::string>(*std::move(text));
    return true;
  }

  /// A basic string. The three quotes of another kind are an empty one, with a quote behind it that
  /// nobody accepts.
  std::optional<std::string> take_text() {
    if (!accept("\"")) return std::nullopt;
    std::string text;
    while (true) {
      const std::size_t end = rest_.find_first_of("\"\\\n");
      if (end == std::string_view::npos || rest_[end] == '\n') return std::nullopt;
      text += rest_.substr(0, end);
      rest_.remove_prefix(end);
      if (accept("\"")) return text;
      if (accept("\\\"")) {
        text += '"';
      } else if (accept("\\\\")) {
        text += '\\';
      } else if (accept("\\n")) {
        text += '\n';
      } else if (accept("\\t")) {
        text += '\t';
      } else {
        return std::nullopt;
      }
    }
  }

  std::string_view rest_;
  toml::table root_;
  toml::table* current_ = &root_;
  std::vector<std::string_view> elements_;  ///< keys of [[key]]
};

}  // namespace

std::optional<toml::table> parse_written_toml(std::string_view text) {
  if (text.size() > most_toml_bytes || !is_printable_ascii(text)) return std::nullopt;
  return WrittenReader(text).read();
}

}  // namespace axle::documents
