#include "runtime/tokenizer/jinja_text.h"

#include <algorithm>

namespace axle::runtime {
namespace {

constexpr std::string_view white = " \t\r\n";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::string read() {
    while (!rest_.empty()) {
      const std::size_t open = next_block();
      add_between(rest_.substr(0, open));
      rest_.remove_prefix(open == std::string_view::npos ? rest_.size() : open);
      if (!rest_.empty()) read_block();
    }
    for (const char* name : {"role", "content"}) {
      const std::string member = std::string("['") + name + "']";
      replace_all(result_, std::string("message.") + name, "message" + member);
      replace_all(result_, std::string("messages[0].") + name, "messages[0]" + member);
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::size_t next_block() const {
    std::size_t at = rest_.find('{');
    while (at != std::string_view::npos &&
           (at + 1 == rest_.size() ||
            std::string_view("{%#").find(rest_[at + 1]) == std::string_view::npos))
      at = rest_.find('{', at + 1);
    return at;
  }

  /// Text between two blocks, as transformers has it (trim_blocks, lstrip_blocks).
  void add_between(std::string_view text) {
    const bool trimmed_right = rest_.size() > text.size() + 2 && rest_[text.size() + 2] == '-';
    if (after_statement_ && text.starts_with('\n')) text.remove_prefix(1);
    if (trimmed_left_) text.remove_prefix(std::min(text.find_first_not_of(white), text.size()));
    if (trimmed_right) text = text.substr(0, text.find_last_not_of(white) + 1);
    const bool before_statement = rest_.size() > text.size() && !trimmed_right;
    if (before_statement && text.find_first_not_of(" \t") == std::string_view::npos &&
        (after_statement_ || result_.empty()))
      text = {};
    result_ += text;
  }

  void read_block() {
    const char kind = rest_[1];
    const std::string_view close = kind == '{' ? "}}" : kind == '%' ? "%}" : "#}";
    rest_.remove_prefix(2);
    if (kind == '#') {
      const std::size_t end = rest_.find(close);
      trimmed_left_ = end != std::string_view::npos && end > 0 && rest_[end - 1] == '-';
      after_statement_ = true;
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 2);
      return;
    }
    if (rest_.starts_with('-')) rest_.remove_prefix(1);
    result_ += '{';
    result_ += kind;
    const auto ends = [&] {
      const std::string_view from = rest_.starts_with('-') ? rest_.substr(1) : rest_;
      return rest_.empty() || rest_.starts_with(close) || from.starts_with(close);
    };
    while (!ends()) add_code();
    trimmed_left_ = rest_.starts_with('-');
    after_statement_ = kind == '%';
    if (trimmed_left_) rest_.remove_prefix(1);
    result_ += rest_.substr(0, 2);
    rest_.remove_prefix(std::min<std::size_t>(2, rest_.size()));
  }

  /// One character outside of strings, or a whole string.
  void add_code() {
    const char first = rest_[0];
    rest_.remove_prefix(1);
    if (white.find(first) != std::string_view::npos) return;
    if (first != '\'' && first != '"') {
      result_ += first;
      return;
    }
    result_ += '\'';
    while (!rest_.empty() && rest_[0] != first) {
      char c = rest_[0];
      if (c == '\\' && rest_.size() > 1) {
        rest_.remove_prefix(1);
        c = rest_[0] == 'n' ? '\n' : rest_[0] == 't' ? '\t' : rest_[0];
      }
      result_ += c;
      rest_.remove_prefix(1);
    }
    rest_.remove_prefix(std::min<std::size_t>(1, rest_.size()));
    result_ += '\'';
  }

  std::string_view rest_;
  std::string result_;
  bool trimmed_left_ = false;     ///< the block before ends with "-"
  bool after_statement_ = false;  ///< the block before is a statement or a comment
};

}  // namespace

std::string canonical_jinja(std::string_view text) {
  std::string trimmed(text.substr(0, text.find_last_not_of(white) + 1));
  return Reader(trimmed).read();
}

}  // namespace axle::runtime
