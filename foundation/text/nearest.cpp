#include "foundation/text/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include "foundation/text/ascii.h"

namespace axle::text {
namespace {

constexpr std::size_t most_shown = 3;

/// What counts of a word. A longer one than any name is no slip.
std::string folded(std::string_view word) {
  constexpr std::size_t longest = 64;
  std::string kept;
  for (const char c : word.substr(0, longest)) {
    if (c != '-' && c != '_' && c != '.' && !is_ascii_space(c)) kept += ascii_lower(c);
  }
  return kept;
}

/// Damerau's and Levenshtein's distance, in the form that edits no letter twice ("optimal string
/// alignment"), one row at a time.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> above;
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < left.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t replaced = above[j] + (left[i] == right[j] ? 0 : 1);
      row[j + 1] = std::min({replaced, above[j + 1] + 1, row[j] + 1});
      if (i > 0 && j > 0 && left[i] == right[j - 1] && left[i - 1] == right[j])
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

struct Ranked {
  std::size_t distance;
  std::size_t differing;  ///< letters of the word from the first that differs
  std::size_t index;      ///< in the known words
  std::size_t length;     ///< of what was compared, of the longer one
  friend bool operator<(const Ranked& left, const Ranked& right) {
    return std::tie(left.distance, left.differing, left.index) <
           std::tie(right.distance, right.differing, right.index);
  }
};

std::vector<Ranked> rank(std::string_view word, const std::vector<std::string>& known) {
  const std::string wanted = folded(word);
  std::vector<Ranked> ranked;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::string candidate = folded(known[i]);
    const auto differs = std::ranges::mismatch(wanted, candidate).in1;
    ranked.push_back({edit_distance(wanted, candidate),
                      static_cast<std::size_t>(wanted.end() - differs), i,
                      std::max(wanted.size(), candidate.size())});
  }
  std::ranges::sort(ranked, [](const Ranked& a, const Ranked& b) { return a < b; });
  return ranked;
}

}  // namespace

std::string nearest_words(std::string_view word, const std::vector<std::string>& known) {
  std::string text;
  std::size_t shown = 0;
  for (const Ranked& one : rank(word, known)) {
    if (shown == most_shown) break;
    text += (shown++ == 0 ? "" : ", ") + known[one.index];
  }
  return text;
}

std::vector<std::string> likely_meant(std::string_view word,
                                      const std::vector<std::string>& known) {
  std::vector<std::string> likely;
  const std::vector<Ranked> ranked = rank(word, known);
  for (const Ranked& one : ranked) {
    constexpr std::size_t letters_an_edit = 3;
    const bool near = one.distance * letters_an_edit <= one.length && one.length > 0;
    if (!near || (one.distance > 0 && ranked.front().distance == 0)) continue;
    if (likely.size() == most_shown) break;
    if (std::ranges::find(likely, known[one.index]) == likely.end())
      likely.push_back(known[one.index]);
  }
  return likely;
}

std::string joined_by_or(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string> likely = likely_meant(word, known);
  return likely.empty() ? std::string() : "did you mean " + joined_by_or(likely) + "?";
}

std::string suggest(std::string_view word, const std::vector<std::string>& known,
                    std::string_view otherwise) {
  std::string hint = did_you_mean(word, known);
  if (!hint.empty() && !otherwise.empty()) hint += ' ';
  return hint += otherwise;
}

}  // namespace axle::text
