#include "wheel/license_expression.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "foundation/text/ascii.h"

namespace axle::wheel {
namespace {

constexpr std::size_t longest_expression = 4096;

bool is_id(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return text::is_ascii_alnum(c) || c == '-' || c == '.';
  });
}

/// "MIT", "GPL-2.0+", "LicenseRef-x", "DocumentRef-y:LicenseRef-x".
bool is_license(std::string_view word) {
  if (const std::size_t colon = word.find(':'); colon != std::string_view::npos)
    return word.starts_with("DocumentRef-") && is_id(word.substr(0, colon)) &&
           word.substr(colon + 1).starts_with("LicenseRef-") && is_id(word.substr(colon + 1));
  if (word.ends_with('+') && !word.starts_with("LicenseRef-")) word.remove_suffix(1);
  return is_id(word);
}

/// What may come next.
enum class Place : std::uint8_t {
  license,
  exception,
  operation,    ///< AND, OR, WITH
  conjunction,  ///< AND, OR
};

}  // namespace

std::optional<std::string> normalize_license_expression(std::string_view text) {
  if (text.size() > longest_expression) return std::nullopt;
  constexpr std::string_view blanks = " \t\r\n";
  std::string expression;
  std::size_t open = 0;
  Place place = Place::license;
  while (true) {
    const std::size_t start = text.find_first_not_of(blanks);
    if (start == std::string_view::npos) break;
    text.remove_prefix(start);
    const bool bracket = text[0] == '(' || text[0] == ')';
    const std::size_t length = bracket ? 1 : std::min(text.find_first_of(" \t\r\n()"), text.size());
    const std::string_view word = text.substr(0, length);
    text.remove_prefix(length);
    const std::string lower = text::ascii_lower(word);
    const bool wants_license = place == Place::license;
    const bool closes = word == ")";
    if (!expression.empty() && !closes && !expression.ends_with('(')) expression += ' ';
    if (word == "(") {
      if (!wants_license) return std::nullopt;
      ++open;
      expression += '(';
    } else if (closes) {
      if (open == 0 || wants_license || place == Place::exception) return std::nullopt;
      --open;
      expression += ')';
      place = Place::conjunction;
    } else if (lower == "and" || lower == "or") {
      if (wants_license || place == Place::exception) return std::nullopt;
      expression += lower == "or" ? "OR" : "AND";
      place = Place::license;
    } else if (lower == "with") {
      if (place != Place::operation) return std::nullopt;
      expression += "WITH";
      place = Place::exception;
    } else if (place == Place::exception) {
      if (!is_id(word)) return std::nullopt;
      expression += word;
      place = Place::conjunction;
    } else {
      if (!wants_license || !is_license(word)) return std::nullopt;
      expression += word;
      place = Place::operation;
    }
  }
  const bool complete = place == Place::operation || place == Place::conjunction;
  if (!complete || open != 0) return std::nullopt;
  return expression;
}

}  // namespace axle::wheel
