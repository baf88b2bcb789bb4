#include "index/serve/request_rules.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "foundation/text/ascii.h"
#include "index/http/url.h"
#include "index/pages/page_entry.h"

namespace axle::index {
namespace {

constexpr std::string_view json_type = "application/vnd.pypi.simple.v1+json";
constexpr std::string_view html_type = "application/vnd.pypi.simple.v1+html";
constexpr std::string_view plain_html = "text/html";

struct OfferedType {
  std::string_view asked;
  PageForm form;
  std::string_view told;
};
/// What a client may ask for, and what it is then told; of equally good ones the first.
constexpr std::array<OfferedType, 7> offered = {{
    {json_type, PageForm::json, json_type},
    {"application/vnd.pypi.simple.latest+json", PageForm::json, json_type},
    {html_type, PageForm::html, html_type},
    {"application/vnd.pypi.simple.latest+html", PageForm::html, html_type},
    {plain_html, PageForm::html, plain_html},
    {"text/*", PageForm::html, plain_html},
    {"*/*", PageForm::html, plain_html},
}};

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool has_sound_escapes(std::string_view text) {
  for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1)) {
    if (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return false;
  }
  return true;
}

/// In thousandths; 0: not acceptable, as is what is no number.
int quality_of(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::size_t end = std::min(parameters.find(';'), parameters.size());
    const std::string_view one = text::trim_ascii(parameters.substr(0, end));
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
    if (!one.starts_with("q=") && !one.starts_with("Q=")) continue;
    const std::string_view number = one.substr(2);
    if (number.empty() || number.size() > 5 || (number[0] != '0' && number[0] != '1')) return 0;
    int thousandths = number[0] == '1' ? 1000 : 0;
    if (number.size() > 1 && number[1] != '.') return 0;
    int place = 100;
    for (const char c : number.substr(std::min<std::size_t>(2, number.size()))) {
      if (c < '0' || c > '9') return 0;
      thousandths += place * (c - '0');
      place /= 10;
    }
    return std::min(thousandths, 1000);
  }
  return 1000;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::vector<std::string>> parse_request_path(std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view raw = path.substr(0, slash);
    const bool last = slash == path.size();
    if (!has_sound_escapes(raw)) return std::nullopt;
    std::string part = percent_decode(raw);
    const bool sound =
        is_sound_file_name(part) && !part.starts_with('.') && part.find('/') == std::string::npos;
    if (!sound && !(last && part.empty())) return std::nullopt;
    parts.push_back(std::move(part));
    if (last) return parts;
    path.remove_prefix(slash + 1);
  }
}

std::optional<NegotiatedForm> negotiate_form(std::string_view accept) {
  if (text::trim_ascii(accept).empty()) return NegotiatedForm{PageForm::html, plain_html};
  int best = 0;
  std::size_t best_row = offered.size();
  while (!accept.empty()) {
    const std::size_t comma = std::min(accept.find(','), accept.size());
    const std::string_view one = accept.substr(0, comma);
    accept.remove_prefix(std::min(comma + 1, accept.size()));
    const std::size_t semicolon = std::min(one.find(';'), one.size());
    const std::string type = text::ascii_lower(text::trim_ascii(one.substr(0, semicolon)));
    const auto row = static_cast<std::size_t>(
        std::ranges::find(offered, type, &OfferedType::asked) - offered.begin());
    if (row == offered.size()) continue;
    const int quality = quality_of(one.substr(std::min(semicolon + 1, one.size())));
    if (quality > best || (quality == best && quality > 0 && row < best_row)) {
      best = quality;
      best_row = row;
    }
  }
  if (best_row == offered.size()) return std::nullopt;
  return NegotiatedForm{offered[best_row].form, offered[best_row].told};
}

RequestedRange parse_range(std::string_view range, std::uint64_t size) {
  constexpr std::string_view unit = "bytes=";
  if (!range.starts_with(unit)) return {};
  range.remove_prefix(unit.size());
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos || range.find(',') != std::string_view::npos) return {};
  const std::string_view first_text = text::trim_ascii(range.substr(0, dash));
  const std::string_view last_text = text::trim_ascii(range.substr(dash + 1));
  const auto first = parse_number(first_text);
  const auto last = parse_number(last_text);
  if ((!first && !first_text.empty()) || (!last && !last_text.empty())) return {};
  if (!first && !last) return {};
  if (first && last && *last < *first) return {};
  if (!first) {
    const std::uint64_t length = std::min(*last, size);
    if (length == 0) return {WantedRange::none_of_it};
    return {WantedRange::part, size - length, length};
  }
  if (*first >= size) return {WantedRange::none_of_it};
  const std::uint64_t end = last ? std::min(*last, size - 1) : size - 1;
  return {WantedRange::part, *first, end - *first + 1};
}

bool names_etag(std::string_view if_none_match, std::string_view etag) {
  while (!if_none_match.empty()) {
    const std::size_t comma = std::min(if_none_match.find(','), if_none_match.size());
    std::string_view one = text::trim_ascii(if_none_match.substr(0, comma));
    if_none_match.remove_prefix(std::min(comma + 1, if_none_match.size()));
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == "*" || one == etag) return true;
  }
  return false;
}

}  // namespace axle::index
