#include "runtime/tokenizer/text_split.h"

#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

// As tokenizer.json files have them. The matchers below follow their alternatives in order.
constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view llama3_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view qwen2_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

bool is_line_end(char32_t c) { return c == '\r' || c == '\n'; }

/// Neither white space nor letter nor number.
bool is_sign(char32_t c) {
  const CharacterClass own = class_of(c);
  return own != CharacterClass::space && own != CharacterClass::letter &&
         own != CharacterClass::number && own != CharacterClass::other_number;
}

/// Case folded, as far as the contractions' letters have it: U+017F is a long s.
char32_t folded(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c + ('a' - 'A');
  return c == 0x17f ? U's' : c;
}

/// What one rule asks of the text from a place on.
class Matcher {
 public:
  Matcher(std::u32string_view text, SplitRule rule) : text_(text), rule_(rule) {}

  /// Characters that the rule takes; at least one of a text that is not empty.
  [[nodiscard]] std::size_t match() const {
    switch (rule_) {
      case SplitRule::gpt2:
        return match_gpt2();
      case SplitRule::llama3:
      case SplitRule::qwen2:
        return match_llama3(rule_ == SplitRule::llama3 ? 3 : 1);
      case SplitRule::digits:
        return is_number(text_[0]) ? 1 : run([](char32_t c) { return !is_number(c); }, 0);
      case SplitRule::none:
        break;
    }
    return text_.size();
  }

 private:
  template <class Test>
  [[nodiscard]] std::size_t run(Test test, std::size_t from) const {
    while (from < text_.size() && test(text_[from])) ++from;
    return from;
  }

  template <class Test>
  [[nodiscard]] bool has(std::size_t at, Test test) const {
    return at < text_.size() && test(text_[at]);
  }

  [[nodiscard]] std::size_t contraction(bool any_case) const {
    if (text_[0] != '\'') return 0;
    const auto at = [&](std::size_t i) {
      return i >= text_.size() ? U'\0' : any_case ? folded(text_[i]) : text_[i];
    };
    const char32_t a = at(1);
    const char32_t b = at(2);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
    const bool two = (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l');
    return two ? 3 : 0;
  }

  /// `\s+(?!\S)|\s+`: the last space of a run is left for the word behind it.
  [[nodiscard]] std::size_t spaces() const {
    const std::size_t end = run(is_space, 0);
    return end == text_.size() || end == 1 ? end : end - 1;
  }

  [[nodiscard]] std::size_t match_gpt2() const {
    const std::size_t short_form = contraction(false);
    if (short_form > 0) return short_form;
    const std::size_t start = text_[0] == ' ' ? 1 : 0;
    if (has(start, is_letter)) return run(is_letter, start);
    if (has(start, is_number)) return run(is_number, start);
    if (has(start, is_sign)) return run(is_sign, start);
    return spaces();
  }

  [[nodiscard]] std::size_t match_llama3(std::size_t digits) const {
    const std::size_t short_form = contraction(true);
    if (short_form > 0) return short_form;
    if (is_letter(text_[0])) return run(is_letter, 0);
    if (!is_line_end(text_[0]) && !is_number(text_[0]) && has(1, is_letter))
      return run(is_letter, 1);
    if (is_number(text_[0])) {
      const std::size_t end = run(is_number, 0);
      return end < digits ? end : digits;
    }
    const std::size_t start = text_[0] == ' ' ? 1 : 0;
    if (has(start, is_sign)) return run(is_line_end, run(is_sign, start));
    const std::size_t end = run(is_space, 0);
    for (std::size_t i = end; i > 0; --i) {
      if (is_line_end(text_[i - 1])) return i;
    }
    return spaces();
  }

  std::u32string_view text_;
  SplitRule rule_;
};

}  // namespace

SplitRule rule_of_pattern(std::string_view pattern) {
  if (pattern == gpt2_pattern) return SplitRule::gpt2;
  if (pattern == llama3_pattern) return SplitRule::llama3;
  if (pattern == qwen2_pattern) return SplitRule::qwen2;
  return SplitRule::none;
}

std::vector<std::u32string_view> split(const std::vector<std::u32string_view>& pieces,
                                       SplitRule rule) {
  if (rule == SplitRule::none) return pieces;
  std::vector<std::u32string_view> words;
  for (std::u32string_view text : pieces) {
    while (!text.empty()) {
      const std::size_t count = Matcher(text, rule).match();
      words.push_back(text.substr(0, count));
      text.remove_prefix(count);
    }
  }
  return words;
}

}  // namespace axle::runtime
