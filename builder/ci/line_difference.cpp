#include "builder/ci/line_difference.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace axle::builder {

namespace {

using Lines = std::vector<std::string_view>;

/// A last line without its end is another one than with it.
Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      lines.push_back(text);
      break;
    }
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
    if (text.empty()) lines.emplace_back();
  }
  return lines;
}

/// Of each pair of ends, how many lines they have in common.
class CommonLines {
 public:
  CommonLines(const Lines& old, const Lines& now)
      : width_(now.size() + 1), counts_((old.size() + 1) * width_) {
    for (std::size_t i = old.size(); i-- > 0;) {
      for (std::size_t j = now.size(); j-- > 0;) {
        counts_[i * width_ + j] =
            old[i] == now[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
      }
    }
  }
  [[nodiscard]] std::uint32_t at(std::size_t i, std::size_t j) const {
    return counts_[i * width_ + j];
  }

 private:
  std::size_t width_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace

LineDifference line_difference(std::string_view old_text, std::string_view now_text,
                               std::size_t most) {
  LineDifference difference;
  if (old_text == now_text) return difference;
  Lines old = lines_of(old_text);
  Lines now = lines_of(now_text);
  const auto first = std::ranges::mismatch(old, now).in1 - old.begin();
  const auto same = static_cast<std::size_t>(first);
  difference.line = same + 1;
  old.erase(old.begin(), old.begin() + first);
  now.erase(now.begin(), now.begin() + first);
  while (!old.empty() && !now.empty() && old.back() == now.back()) {
    old.pop_back();
    now.pop_back();
  }
  const auto add = [&](std::string line) {
    if (difference.lines.size() < most)
      difference.lines.push_back(std::move(line));
    else
      ++difference.left_out;
  };
  // Beyond, all of one is shown before all of the other.
  constexpr std::size_t comparable = std::size_t{1} << 22;
  const bool compared = (old.size() + 1) * (now.size() + 1) <= comparable;
  const CommonLines common(compared ? old : Lines{}, compared ? now : Lines{});
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < old.size() || j < now.size()) {
    if (compared && i < old.size() && j < now.size() && old[i] == now[j]) {
      ++i;
      ++j;
    } else if (i < old.size() &&
               (j == now.size() || !compared || common.at(i + 1, j) >= common.at(i, j + 1))) {
      add(fmt::format("-{}: {}", same + i + 1, old[i]));
      ++i;
    } else {
      add(fmt::format("+ {}", now[j++]));
    }
  }
  return difference;
}

}  // namespace axle::builder
