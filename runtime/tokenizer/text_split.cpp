#include "runtime/tokenizer/text_split.h"

#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

struct NamedPattern {
  SplitRule rule;
  std::string_view pattern;
};

// As tokenizer.json files have them. The matchers below follow their alternatives in order.
constexpr NamedPattern patterns[] = {
    {SplitRule::gpt2,
     R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    {SplitRule::gpt2, R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    {SplitRule::llama3,
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {SplitRule::qwen2,
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {SplitRule::tekken,
     R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
};

using Class = CharacterClass;

bool is_number(Class c) { return c == Class::number; }
bool is_white(Class c) { return c == Class::space; }
bool is_sign(Class c) { return !is_white(c) && !is_letter(c) && !is_number(c); }
bool is_mark(Class c) { return c == Class::nonspacing_mark || c == Class::mark; }
/// [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and [\p{Ll}\p{Lm}\p{Lo}\p{M}]: most scripts have no cases.
bool may_begin_word(Class c) {
  return c == Class::upper_case || c == Class::other_letter || is_mark(c);
}
bool may_end_word(Class c) {
  return c == Class::lower_case || c == Class::other_letter || is_mark(c);
}

/// What one rule asks of the text from its beginning on. All places are in bytes.
class Matcher {
 public:
  explicit Matcher(std::string_view text) : text_(text), first_(first_character(text)) {}

  [[nodiscard]] std::size_t gpt2() const {
    const std::size_t short_form = contraction(false);
    if (short_form > 0) return short_form;
    const std::size_t start = first_.code == ' ' ? 1 : 0;
    if (has(start, is_letter)) return run(is_letter, start);
    if (has(start, is_number)) return run(is_number, start);
    if (has(start, is_sign)) return run(is_sign, start);
    return spaces();
  }

  /// At most `digits` number characters make a word.
  [[nodiscard]] std::size_t llama3(std::size_t digits) const {
    const std::size_t short_form = contraction(true);
    if (short_form > 0) return short_form;
    const std::size_t start = after_leading_sign();
    if (has(start, is_letter)) return run(is_letter, start);
    return numbers_signs_and_spaces(digits, "\r\n");
  }

  [[nodiscard]] std::size_t tekken() const {
    // Marks may be the leading sign, or begin the word: with it, then without, for either kind.
    const std::size_t start = after_leading_sign();
    for (const bool needs_end : {true, false}) {
      const std::size_t with_sign = cased_word(start, needs_end);
      if (with_sign > start) return with_sign;
      const std::size_t without = start > 0 ? cased_word(0, needs_end) : 0;
      if (without > 0) return without;
    }
    return numbers_signs_and_spaces(1, "\r\n/");
  }

  [[nodiscard]] std::size_t digits() const {
    const auto other = [](Class c) { return !is_number(c); };
    return has(0, is_number) ? first_.bytes : run(other, 0);
  }

 private:
  template <class Test>
  [[nodiscard]] std::size_t run(Test test, std::size_t from) const {
    while (from < text_.size()) {
      const Character c = first_character(text_.substr(from));
      if (!test(class_of(c.code))) break;
      from += c.bytes;
    }
    return from;
  }

  template <class Test>
  [[nodiscard]] bool has(std::size_t at, Test test) const {
    return at < text_.size() && test(class_of(first_character(text_.substr(at)).code));
  }

  [[nodiscard]] std::size_t run_of(std::string_view bytes, std::size_t from) const {
    const std::size_t end = text_.find_first_not_of(bytes, from);
    return end == std::string_view::npos ? text_.size() : end;
  }

  [[nodiscard]] std::size_t contraction(bool any_case) const {
    if (first_.code != '\'' || text_.size() < 2) return 0;
    // Case is folded: U+017F, two bytes, is a long s.
    if (any_case && text_.substr(1).starts_with("\xc5\xbf")) return 3;
    const auto at = [&](std::size_t i) {
      const char c = i < text_.size() ? text_[i] : '\0';
      return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    };
    const char a = at(1);
    const char b = at(2);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
    const bool two = (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l');
    return two ? 3 : 0;
  }

  /// `[^\r\n\p{L}\p{N}]?`
  [[nodiscard]] std::size_t after_leading_sign() const {
    const Class own = class_of(first_.code);
    const bool taken =
        first_.code != '\r' && first_.code != '\n' && !is_letter(own) && !is_number(own);
    return taken ? first_.bytes : 0;
  }

  /// The end of a word of tekken's from `start` on, or `start`. With `needs_end`: characters that
  /// may begin a word, then at least one that may end it, for which the former give some back.
  [[nodiscard]] std::size_t cased_word(std::size_t start, bool needs_end) const {
    std::size_t at = start;
    std::size_t after_end = start;  // behind the last character of the beginning that may end it
    while (at < text_.size()) {
      const Character c = first_character(text_.substr(at));
      const Class own = class_of(c.code);
      if (!may_begin_word(own)) break;
      at += c.bytes;
      if (may_end_word(own)) after_end = at;
    }
    if (has(at, may_end_word)) return needs_end || at > start ? run(may_end_word, at) : start;
    return needs_end ? after_end : at;
  }

  /// The alternatives that llama3 and tekken share. Signs may be followed by `behind_signs`.
  [[nodiscard]] std::size_t numbers_signs_and_spaces(std::size_t digits,
                                                     std::string_view behind_signs) const {
    if (has(0, is_number)) {
      std::size_t end = first_.bytes;
      for (std::size_t count = 1; count < digits && has(end, is_number); ++count)
        end += first_character(text_.substr(end)).bytes;
      return end;
    }
    const std::size_t start = first_.code == ' ' ? 1 : 0;
    if (has(start, is_sign)) return run_of(behind_signs, run(is_sign, start));
    // `\s*[\r\n]+`: up to the last line end of the run.
    const std::size_t end = run(is_white, 0);
    const std::size_t line_end = text_.substr(0, end).find_last_of("\r\n");
    return line_end == std::string_view::npos ? spaces() : line_end + 1;
  }

  /// `\s+(?!\S)|\s+`: the last space of a run is left for the word behind it.
  [[nodiscard]] std::size_t spaces() const {
    const std::size_t end = run(is_white, 0);
    if (end == text_.size()) return end;
    const std::size_t last = last_character(text_.substr(0, end)).bytes;
    return end == last ? end : end - last;
  }

  std::string_view text_;
  Character first_;
};

}  // namespace

bool find_rule(std::string_view pattern, SplitRule& rule) {
  for (const NamedPattern& known : patterns) {
    if (known.pattern != pattern) continue;
    rule = known.rule;
    return true;
  }
  return false;
}

std::string_view pattern_of(SplitRule rule) {
  for (const NamedPattern& known : patterns) {
    if (known.rule == rule) return known.pattern;
  }
  return {};
}

std::size_t first_word(std::string_view text, SplitRule rule) {
  const Matcher matcher(text);
  switch (rule) {
    case SplitRule::gpt2:
      return matcher.gpt2();
    case SplitRule::llama3:
      return matcher.llama3(3);
    case SplitRule::qwen2:
      return matcher.llama3(1);
    case SplitRule::tekken:
      return matcher.tekken();
    case SplitRule::digits:
      return matcher.digits();
    case SplitRule::space_before:
      break;
  }
  return text.size();
}

}  // namespace axle::runtime
