#include "wheel/requirement.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/quote.h"
#include "wheel/cursor.h"
#include "wheel/marker_node.h"
#include "wheel/specifier_scan.h"

namespace axle::wheel {
namespace {

constexpr std::size_t longest_requirement = 64U << 10;

constexpr bool is_name_separator(char c) { return c == '-' || c == '_' || c == '.'; }

/// PEP 508: requirement = name [extras] (specifiers | "@" URL) [";" marker]. `packaging` is the
/// judge of details: blanks are spaces and tabs, a comma may trail.
class RequirementParser {
 public:
  explicit RequirementParser(std::string_view text) : cursor_(text, "a requirement") {}
  Result<Requirement> parse();
  Result<Requirement> parse_tail();

 private:
  std::string_view identifier();
  Result<void> parse_extras();
  Result<void> parse_url();
  Result<void> parse_parenthesised_specifiers();
  Result<void> parse_specifier_list();
  Result<void> parse_one_specifier();
  Result<void> parse_marker_part(std::string_view expected);

  Cursor cursor_;
  Requirement requirement_;
};

std::string_view RequirementParser::identifier() {
  const std::string_view rest = cursor_.rest();
  if (rest.empty() || !text::is_ascii_alnum(rest.front())) return {};
  std::size_t length = 0;
  while (length < rest.size() &&
         (text::is_ascii_alnum(rest[length]) || is_name_separator(rest[length]))) {
    ++length;
  }
  while (!text::is_ascii_alnum(rest[length - 1])) --length;
  cursor_.advance(length);
  return rest.substr(0, length);
}

Result<void> RequirementParser::parse_extras() {
  if (!cursor_.accept('[')) return {};
  cursor_.skip_blanks();
  std::string_view extra = identifier();
  while (!extra.empty()) {
    requirement_.extras.push_back(normalize_name(extra));
    cursor_.skip_blanks();
    if (!cursor_.accept(',')) break;
    cursor_.skip_blanks();
    extra = identifier();
    if (extra.empty()) return cursor_.expected("the name of an extra");
  }
  if (!cursor_.accept(']')) return cursor_.expected("\",\" or \"]\" after an extra");
  std::ranges::sort(requirement_.extras);
  const auto repeated = std::ranges::unique(requirement_.extras);
  requirement_.extras.erase(repeated.begin(), repeated.end());
  return {};
}

Result<void> RequirementParser::parse_url() {
  cursor_.skip_blanks();
  const std::string_view rest = cursor_.rest();
  const std::string_view url = rest.substr(0, rest.find_first_of(" \t"));
  if (url.empty()) return cursor_.expected("a URL after \"@\"");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::ranges::any_of(url, is_control)) return cursor_.refuse("a control character in the URL");
  requirement_.url = std::string(url);
  cursor_.advance(url.size());
  cursor_.skip_blanks();
  return parse_marker_part("\";\" after the URL and a blank, or the end");
}

Result<void> RequirementParser::parse_one_specifier() {
  auto scanned = scan_specifier(cursor_.rest());
  if (!scanned) return cursor_.refuse(scanned.error().message);
  if (scanned->specifier.comparison == Comparison::arbitrary) {
    auto clauses = parse_specifiers(cursor_.rest().substr(0, scanned->length));
    if (!clauses) return cursor_.refuse(clauses.error().message);
    std::ranges::move(clauses->specifiers, std::back_inserter(requirement_.specifiers.specifiers));
  } else {
    requirement_.specifiers.specifiers.push_back(std::move(scanned->specifier));
  }
  cursor_.advance(scanned->length);
  return {};
}

Result<void> RequirementParser::parse_specifier_list() {
  cursor_.skip_blanks();
  while (scan_comparison(cursor_.rest())) {
    if (auto done = parse_one_specifier(); !done) return done;
    cursor_.skip_blanks();
    if (!cursor_.accept(',')) break;
    cursor_.skip_blanks();
  }
  return {};
}

Result<void> RequirementParser::parse_parenthesised_specifiers() {
  const bool parenthesised = cursor_.accept('(');
  if (auto done = parse_specifier_list(); !done) return done;
  if (parenthesised && !cursor_.accept(')')) return cursor_.expected("\",\" or \")\"");
  cursor_.skip_blanks();
  return parse_marker_part(requirement_.specifiers.empty()
                               ? "a version specifier, \"@\", \";\" or the end"
                               : "\",\", \";\" or the end");
}

Result<void> RequirementParser::parse_marker_part(std::string_view expected) {
  if (cursor_.at_end()) return {};
  if (!cursor_.accept(';')) return cursor_.expected(expected);
  auto marker = MarkerParser(cursor_).parse();
  if (!marker) return std::unexpected(std::move(marker.error()));
  if (!cursor_.at_end()) return cursor_.expected("\"and\", \"or\" or the end");
  requirement_.marker = std::move(*marker);
  return {};
}

Result<Requirement> RequirementParser::parse() {
  cursor_.skip_blanks();
  requirement_.name = std::string(identifier());
  if (requirement_.name.empty()) return cursor_.expected("the name of a package");
  cursor_.skip_blanks();
  if (auto done = parse_extras(); !done) return std::unexpected(std::move(done.error()));
  cursor_.skip_blanks();
  auto done = cursor_.accept('@') ? parse_url() : parse_parenthesised_specifiers();
  if (!done) return std::unexpected(std::move(done.error()));
  return std::move(requirement_);
}

Result<Requirement> RequirementParser::parse_tail() {
  cursor_.skip_blanks();
  if (auto done = parse_extras(); !done) return std::unexpected(std::move(done.error()));
  cursor_.skip_blanks();
  if (auto done = parse_marker_part("\"[\", \";\" or the end"); !done)
    return std::unexpected(std::move(done.error()));
  return std::move(requirement_);
}

Result<void> check_length(std::string_view text) {
  if (text.size() <= longest_requirement) return {};
  return fail(ErrorKind::malformed, fmt::format("a requirement of {} bytes is too long: {}...",
                                                text.size(), text::quote(text.substr(0, 60))));
}

}  // namespace

std::string normalize_name(std::string_view name) {
  std::string normalized;
  normalized.reserve(name.size());
  bool in_run = false;
  for (const char c : name) {
    if (!is_name_separator(c)) {
      normalized += text::ascii_lower(c);
    } else if (!in_run) {
      normalized += '-';
    }
    in_run = is_name_separator(c);
  }
  return normalized;
}

bool is_valid_name(std::string_view name) {
  return !name.empty() && text::is_ascii_alnum(name.front()) && text::is_ascii_alnum(name.back()) &&
         std::ranges::all_of(
             name, [](char c) { return text::is_ascii_alnum(c) || is_name_separator(c); });
}

Result<Requirement> parse_requirement(std::string_view text) {
  if (auto good = check_length(text); !good) return std::unexpected(std::move(good).error());
  return RequirementParser(text).parse();
}

Result<Requirement> parse_extras_and_marker(std::string_view text) {
  if (auto good = check_length(text); !good) return std::unexpected(std::move(good).error());
  return RequirementParser(text).parse_tail();
}

std::string render_requirement(const Requirement& requirement) {
  std::string text = requirement.name;
  for (std::size_t i = 0; i < requirement.extras.size(); ++i) {
    text += i == 0 ? '[' : ',';
    text += requirement.extras[i];
  }
  if (!requirement.extras.empty()) text += ']';
  text += render_specifiers(requirement.specifiers);
  if (!requirement.url.empty()) {
    text += " @ ";
    text += requirement.url;
    if (requirement.marker) text += ' ';
  }
  if (requirement.marker) {
    text += "; ";
    text += requirement.marker->render();
  }
  return text;
}

}  // namespace axle::wheel
