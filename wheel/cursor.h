#pragma once
// Where a parser of one-line texts (requirements, markers) stands, and how it says what it missed.

#include <cstddef>
#include <string_view>

#include "foundation/report/error.h"
#include "foundation/text/ascii.h"

namespace axle::wheel {

class Cursor {
 public:
  /// `subject` is what the text should be ("a requirement"), for errors.
  Cursor(std::string_view text, std::string_view subject) : text_(text), subject_(subject) {}

  [[nodiscard]] bool at_end() const { return position_ == text_.size(); }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::string_view rest() const { return text_.substr(position_); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[position_]; }
  void advance(std::size_t count) { position_ += count; }

  /// Spaces and tabs; whether there were any.
  bool skip_blanks();
  bool accept(char wanted);
  /// `word` with no letter, digit or underscore after it.
  bool accept_word(std::string_view word);

  /// "… is not a requirement: expected `what` at position 7".
  [[nodiscard]] std::unexpected<Error> expected(std::string_view what) const;
  /// "… is not a requirement: `why` at position 7".
  [[nodiscard]] std::unexpected<Error> refuse(std::string_view why) const;

 private:
  std::string_view text_;
  std::string_view subject_;
  std::size_t position_ = 0;
};

constexpr bool is_word_character(char c) { return text::is_ascii_alnum(c) || c == '_'; }

}  // namespace axle::wheel
