#include "index/pages/html_reader.h"

#include <algorithm>
#include <array>

#include "foundation/text/ascii.h"

namespace axle::index {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\f' || c == '\r'; }
bool ends_name(char c) { return is_space(c) || c == '/' || c == '>'; }

bool is_named(std::string_view name, std::string_view lower) {
  return name.size() == lower.size() &&
         std::ranges::equal(name, lower, [](char a, char b) { return text::ascii_lower(a) == b; });
}

/// Elements whose content is text up to their own end tag; empty for any other.
std::string_view text_only_tag(std::string_view name) {
  static constexpr std::array<std::string_view, 8> tags = {
      "title", "textarea", "script", "style", "xmp", "iframe", "noembed", "noframes"};
  for (const std::string_view tag : tags) {
    if (is_named(name, tag)) return tag;
  }
  return {};
}

}  // namespace

const std::array<std::string_view, HtmlReader::known_count> HtmlReader::known_names = {
    "href",
    "name",
    "content",
    "data-requires-python",
    "data-yanked",
    "data-core-metadata",
    "data-dist-info-metadata",
    "data-provenance"};

HtmlReader::HtmlReader(std::string_view body) : rest_(body) {
  if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
}

const HtmlLink* HtmlReader::next() {
  while (skip_to('<')) {
    if (read_markup()) return &link_;
  }
  return nullptr;
}

/// Whether there is such a byte; everything before it is skipped.
bool HtmlReader::skip_to(char c) {
  const std::size_t at = rest_.find(c);
  rest_.remove_prefix(std::min(at, rest_.size()));
  return at != std::string_view::npos;
}

/// To the end of the next `end`, or of the page.
void HtmlReader::skip_past(std::string_view end) {
  const std::size_t at = rest_.find(end);
  rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
}

void HtmlReader::skip_spaces() {
  std::size_t i = 0;
  while (i < rest_.size() && is_space(rest_[i])) ++i;
  rest_.remove_prefix(i);
}

template <class Ends>
std::string_view HtmlReader::take_until(Ends ends) {
  std::size_t i = 0;
  while (i < rest_.size() && !ends(rest_[i])) ++i;
  const std::string_view taken = rest_.substr(0, i);
  rest_.remove_prefix(i);
  return taken;
}

/// At a "<". Whether a link begins here; it is then in `link_`.
bool HtmlReader::read_markup() {
  const char next = rest_.size() > 1 ? rest_[1] : '\0';
  const bool is_end = next == '/';
  const std::size_t name_at = is_end ? 2 : 1;
  if (name_at < rest_.size() && text::is_ascii_letter(rest_[name_at])) {
    rest_.remove_prefix(name_at);
    return read_tag(is_end);
  }
  if (rest_.starts_with("<!--")) {
    skip_comment();
  } else if (next == '!' || next == '?' || (is_end && rest_.size() > 2)) {
    skip_past(">");
  } else {
    rest_.remove_prefix(1);  // a "<" that is text
  }
  return false;
}

/// "<!-->" and "<!--->" are whole comments; others end at "-->" or "--!>".
void HtmlReader::skip_comment() {
  rest_.remove_prefix(4);
  for (const std::string_view at_once : {">", "->"}) {
    if (rest_.starts_with(at_once)) return rest_.remove_prefix(at_once.size());
  }
  while (!rest_.empty()) {
    skip_past("--");
    while (rest_.starts_with('-')) rest_.remove_prefix(1);
    for (const std::string_view end : {">", "!>"}) {
      if (rest_.starts_with(end)) return rest_.remove_prefix(end.size());
    }
  }
}

/// At the name of a tag.
bool HtmlReader::read_tag(bool is_end) {
  const std::string_view tag = take_until(ends_name);
  if (!read_attributes()) {
    rest_ = {};  // a tag without its end is not a tag, and extends to the end of the page
    return false;
  }
  if (is_end) return false;
  if (is_named(tag, "a")) return note_link();
  if (is_named(tag, "base")) {
    note_base();
  } else if (is_named(tag, "meta")) {
    note_meta();
  } else if (is_named(tag, "h1")) {
    note_title(rest_.substr(0, rest_.find('<')));
  } else if (is_named(tag, "plaintext")) {
    rest_ = {};
  } else if (const std::string_view text_only = text_only_tag(tag); !text_only.empty()) {
    const std::string_view text = take_text_content(text_only);
    if (text_only == "title") note_title(text);
  }
  return false;
}

/// Up to the end tag of `tag`, or to the end of the page.
std::string_view HtmlReader::take_text_content(std::string_view tag) {
  const std::string_view whole = rest_;
  while (skip_to('<')) {
    const bool is_end = rest_.starts_with("</") && rest_.size() > tag.size() + 2 &&
                        is_named(rest_.substr(2, tag.size()), tag) &&
                        ends_name(rest_[tag.size() + 2]);
    if (is_end) return whole.substr(0, whole.size() - rest_.size());
    rest_.remove_prefix(1);
  }
  return whole;
}

/// Past the ">". False: the page ends before.
bool HtmlReader::read_attributes() {
  values_.fill(std::nullopt);
  for (;;) {
    while (!rest_.empty() && (is_space(rest_[0]) || rest_[0] == '/')) rest_.remove_prefix(1);
    if (rest_.empty()) return false;
    if (rest_[0] == '>') {
      rest_.remove_prefix(1);
      return true;
    }
    // A "=" as the first character belongs to the name.
    const std::string_view from = rest_;
    rest_.remove_prefix(1);
    const std::string_view more = take_until([](char c) { return ends_name(c) || c == '='; });
    std::string_view value;
    if (!read_value(value)) return false;
    keep(from.substr(0, 1 + more.size()), value);
  }
}

/// The "=" and the value, if present. False: the page ends before.
bool HtmlReader::read_value(std::string_view& value) {
  skip_spaces();
  if (!rest_.starts_with('=')) return !rest_.empty();
  rest_.remove_prefix(1);
  skip_spaces();
  if (rest_.empty()) return false;
  const char quote = rest_[0];
  if (quote != '"' && quote != '\'') {
    value = take_until([](char c) { return is_space(c) || c == '>'; });
    return !rest_.empty();
  }
  const std::size_t end = rest_.find(quote, 1);
  if (end == std::string_view::npos) return false;
  value = rest_.substr(1, end - 1);
  rest_.remove_prefix(end + 1);
  return true;
}

/// If an attribute is repeated, the first counts.
void HtmlReader::keep(std::string_view attribute, std::string_view value) {
  const auto* known = std::ranges::find_if(
      known_names, [&](std::string_view one) { return is_named(attribute, one); });
  if (known == known_names.end()) return;
  auto& slot = values_[static_cast<std::size_t>(known - known_names.begin())];
  if (!slot) slot = value;
}

std::optional<std::string_view> HtmlReader::value(Known known) {
  const auto& raw = values_[known];
  if (!raw || raw->find('&') == std::string_view::npos) return raw;
  resolved_[known] = resolve_references(*raw);
  return resolved_[known];
}

bool HtmlReader::note_link() {
  const auto target = value(href);
  if (!target) return false;
  link_ = {*target,
           value(requires_python),
           value(yanked),
           value(core_metadata),
           value(dist_info_metadata),
           value(provenance)};
  return true;
}

void HtmlReader::note_base() {
  if (base_) return;
  if (const auto target = value(href)) base_ = *target;
}

void HtmlReader::note_meta() {
  const auto mark = value(name);
  const auto said = value(content);
  if (api_version_.empty() && said && mark == "pypi:repository-version") {
    api_version_ = text::trim_ascii(*said);
  }
}

void HtmlReader::note_title(std::string_view text) {
  titled_ = titled_ || text::trim_ascii(text).starts_with("Links for");
}

}  // namespace axle::index
