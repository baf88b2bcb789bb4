#include "detect/drivers/kept_answers.h"

#include <algorithm>

#include "detect/vendor_probe.h"

namespace axle::detect {
namespace {

constexpr std::string_view header = "axle driver answers 1\n";
constexpr std::string_view answer_word = "answer\t";
constexpr std::string_view line_word = "\t";
constexpr std::string_view end_line = "end\n";
constexpr std::size_t most_answers = 8;

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// "answer\t<time>\t<subject>"
std::optional<KeptAnswer> parse_heading(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return std::nullopt;
  const auto time = parse_integer(line.substr(0, tab));
  if (!time || *time <= 0) return std::nullopt;
  return KeptAnswer{std::string(line.substr(tab + 1)), *time, {}};
}

}  // namespace

std::string render_kept_answers(std::string_view fingerprint,
                                const std::vector<KeptAnswer>& answers) {
  std::string text(header);
  text += fingerprint;
  for (const KeptAnswer& answer : answers) {
    text += answer_word;
    text += std::to_string(answer.time) + '\t' + answer.subject + '\n';
    std::string_view rest = answer.text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      text += line_word;
      text += rest.substr(0, end);
      text += '\n';
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  text += end_line;
  return text;
}

std::optional<std::vector<KeptAnswer>> parse_kept_answers(std::string_view text,
                                                          std::string_view fingerprint) {
  if (!take_prefix(text, header) || !take_prefix(text, fingerprint)) return std::nullopt;
  std::vector<KeptAnswer> answers;
  while (text != end_line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (take_prefix(line, answer_word)) {
      auto answer = parse_heading(line);
      if (!answer || answers.size() == most_answers) return std::nullopt;
      answers.push_back(std::move(*answer));
    } else if (take_prefix(line, line_word) && !answers.empty()) {
      answers.back().text += line;
      answers.back().text += '\n';
    } else {
      return std::nullopt;
    }
  }
  return answers;
}

std::int64_t lifetime_of(GpuVendor vendor, std::string_view lines) {
  return vendor_probe(vendor).lifetime(parse_driver_lines(lines));
}

}  // namespace axle::detect
