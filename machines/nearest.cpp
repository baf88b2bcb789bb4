#include "machines/nearest.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace axle::machines {
namespace {

// Levenshtein's distance, one row at a time.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t replaced = diagonal + (left[i] == right[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_words(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t shown = 3;
  constexpr std::size_t longest = 64;
  word = word.substr(0, longest);
  // distance, number of differing letters at the start, index in `known`
  std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> ranked;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto differs = std::ranges::mismatch(word, known[i]).in1;
    ranked.emplace_back(edit_distance(word, known[i]), word.end() - differs, i);
  }
  std::ranges::sort(ranked);
  std::string text;
  for (std::size_t i = 0; i < ranked.size() && i < shown; ++i) {
    if (i > 0) text += ", ";
    text += known[std::get<2>(ranked[i])];
  }
  return text;
}

}  // namespace axle::machines
