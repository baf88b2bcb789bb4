#include "wheel/cursor.h"

#include <fmt/format.h>

#include "foundation/text/quote.h"

namespace axle::wheel {

bool Cursor::skip_blanks() {
  const std::size_t start = position_;
  while (peek() == ' ' || peek() == '\t') ++position_;
  return position_ != start;
}

bool Cursor::accept(char wanted) {
  if (at_end() || text_[position_] != wanted) return false;
  ++position_;
  return true;
}

bool Cursor::accept_word(std::string_view word) {
  const std::string_view text = rest();
  if (!text.starts_with(word)) return false;
  if (text.size() > word.size() && is_word_character(text[word.size()])) return false;
  position_ += word.size();
  return true;
}

std::unexpected<Error> Cursor::expected(std::string_view what) const {
  return refuse(fmt::format("expected {}", what));
}

std::unexpected<Error> Cursor::refuse(std::string_view why) const {
  return fail(ErrorKind::malformed, fmt::format("{} is not {}: {} at position {}",
                                                text::quote(text_), subject_, why, position_));
}

}  // namespace axle::wheel
