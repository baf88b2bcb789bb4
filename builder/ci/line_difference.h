#pragma once
// What differs between two texts, by lines.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace axle::builder {

struct LineDifference {
  std::size_t line = 0;  ///< the first that differs in `old`, counted from 1; 0: none does
  /// "-12: old line", "+ new line", in the order of the texts, at most `most`.
  std::vector<std::string> lines;
  std::size_t left_out = 0;  ///< further ones
};

[[nodiscard]] LineDifference line_difference(std::string_view old, std::string_view now,
                                             std::size_t most);

}  // namespace axle::builder
