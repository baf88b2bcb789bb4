#include "foundation/documents/toml_array_edit.h"

#include <algorithm>

#include <fmt/format.h>

namespace axle::documents {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view one_indent = "    ";

/// The white space at the beginning of the line with `at`.
std::string_view indent_of(std::string_view text, std::size_t at) {
  const std::size_t begin = line_begin(text, at);
  const std::size_t end = std::min(text.find_first_not_of(blanks, begin), text.size());
  return text.substr(begin, end - begin);
}

/// Whether only white space is before `at` in its line.
bool begins_line(std::string_view text, std::size_t at) {
  return line_begin(text, at) + indent_of(text, at).size() == at;
}

/// Where the line with `at` ends, before its line end.
std::size_t line_text_end(std::string_view text, std::size_t at) {
  std::size_t end = std::min(text.find('\n', at), text.size());
  if (end > at && text[end - 1] == '\r') --end;
  return end;
}

/// Whether nothing but white space, or else a comment, is behind `at` in its line.
bool ends_line(std::string_view text, std::size_t at) {
  const std::size_t next = text.find_first_not_of(blanks, at);
  return next == std::string_view::npos || text[next] == '#' || text[next] == '\n' ||
         text[next] == '\r';
}

std::string replaced(std::string_view text, TomlSpan span, std::string_view by) {
  return fmt::format("{}{}{}", text.substr(0, span.begin), by, text.substr(span.end));
}

std::string with_first(std::string_view text, const TomlArray& array, std::string_view written,
                       bool in_line) {
  const TomlSpan inner{array.whole.begin + 1, array.whole.end - 1};
  const bool has_lines = inner.of(text).contains('\n');
  if (in_line && !has_lines) return replaced(text, inner, written);
  const std::string_view newline = line_end_at(text, inner.begin);
  const std::string_view outer = indent_of(text, array.whole.begin);
  if (!has_lines) {
    return replaced(text, inner,
                    fmt::format("{0}{1}{2}{3},{0}{1}", newline, outer, one_indent, written));
  }
  // Comments stay above it.
  const std::size_t last_line = line_begin(text, inner.end);
  const std::size_t comment = inner.of(text).find('#');
  const bool is_indented =
      comment != std::string_view::npos && begins_line(text, inner.begin + comment);
  const std::string indent = is_indented
                                 ? std::string(indent_of(text, inner.begin + comment))
                                 : fmt::format("{}{}", indent_of(text, inner.end), one_indent);
  return replaced(text, {last_line, last_line}, fmt::format("{}{},{}", indent, written, newline));
}

/// Behind the last element.
std::string with_last(std::string_view text, const TomlArray& array, std::string_view written) {
  const TomlElement& last = array.elements.back();
  const std::size_t end = last.comma ? *last.comma + 1 : last.value.end;
  const bool own_line = begins_line(text, last.value.begin) || ends_line(text, end);
  if (!own_line) {
    return replaced(text, {end, end},
                    fmt::format("{} {}{}", last.comma ? "" : ",", written, last.comma ? "," : ""));
  }
  const std::string indent =
      begins_line(text, last.value.begin)
          ? std::string(indent_of(text, last.value.begin))
          : fmt::format("{}{}", indent_of(text, last.value.begin), one_indent);
  const std::string line =
      fmt::format("{}{}{}{}", line_end_at(text, end), indent, written, last.comma ? "," : "");
  // Behind the comment of its line; a bracket in that line comes after both.
  const std::size_t at = ends_line(text, end) ? line_text_end(text, end) : end;
  std::string made = replaced(text, {at, at}, line);
  if (!last.comma) made.insert(last.value.end, ",");
  return made;
}

/// Spaces and tabs before `at`, if nothing else is between them and the line's beginning.
std::size_t before_blanks(std::string_view text, std::size_t at) {
  while (at > 0 && blanks.contains(text[at - 1])) --at;
  return at;
}

std::string without_parts(std::string_view text, std::vector<TomlSpan> parts) {
  std::string left(text);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    left.erase(part->begin, part->end - part->begin);
  return left;
}

}  // namespace

std::string_view line_end_at(std::string_view text, std::size_t at) {
  std::size_t end = text.find('\n', at);
  if (end == std::string_view::npos) end = text.substr(0, at).rfind('\n');
  const bool with_return = end != std::string_view::npos && end > 0 && text[end - 1] == '\r';
  return with_return ? "\r\n" : "\n";
}

std::size_t line_begin(std::string_view text, std::size_t at) {
  const std::size_t before = text.substr(0, at).rfind('\n');
  return before == std::string_view::npos ? 0 : before + 1;
}

std::size_t next_line(std::string_view text, std::size_t at) {
  const std::size_t end = text.find('\n', at);
  return end == std::string_view::npos ? text.size() : end + 1;
}

std::string with_element(std::string_view text, const TomlArray& array, std::size_t index,
                         std::string_view written, bool in_line) {
  if (array.elements.empty()) return with_first(text, array, written, in_line);
  if (index >= array.elements.size()) return with_last(text, array, written);
  const std::size_t next = array.elements[index].value.begin;
  if (!begins_line(text, next)) return replaced(text, {next, next}, fmt::format("{}, ", written));
  // Comments above an element are about that one: the new one comes before them.
  const std::size_t anchor =
      index == 0 ? array.whole.begin + 1 : *array.elements[index - 1].comma + 1;
  const std::size_t at =
      ends_line(text, anchor) ? line_text_end(text, anchor) : line_begin(text, next);
  const std::string line = fmt::format("{}{},", indent_of(text, next), written);
  const std::string_view newline = line_end_at(text, anchor);
  return replaced(text, {at, at},
                  ends_line(text, anchor) ? fmt::format("{}{}", newline, line)
                                          : fmt::format("{}{}", line, newline));
}

std::string with_replaced_element(std::string_view text, const TomlArray& array, std::size_t index,
                                  std::string_view written) {
  return replaced(text, array.elements[index].value, written);
}

std::string without_element(std::string_view text, const TomlArray& array, std::size_t index) {
  const TomlElement& element = array.elements[index];
  const std::size_t end = element.comma ? *element.comma + 1 : element.value.end;
  const bool is_last = index + 1 == array.elements.size();
  // The comma before the last element is not needed, if that had none.
  std::vector<TomlSpan> parts;
  if (is_last && index > 0 && !element.comma) {
    const std::size_t comma = *array.elements[index - 1].comma;
    parts.push_back({comma, comma + 1});
  }
  const bool own_line = begins_line(text, element.value.begin) && ends_line(text, end) &&
                        !element.value.of(text).contains('\n') &&
                        line_text_end(text, end) < text.size();
  if (own_line) {
    parts.push_back({line_begin(text, element.value.begin), next_line(text, end)});
    return without_parts(text, std::move(parts));
  }
  TomlSpan gone{element.value.begin, end};
  if (!is_last) {
    // The next one moves to its place, if it stands in the same line.
    const std::size_t next = array.elements[index + 1].value.begin;
    if (text.substr(end, next - end).find_first_not_of(blanks) == std::string_view::npos)
      gone.end = next;
  } else if (index > 0) {
    gone.begin = std::max(before_blanks(text, gone.begin), array.elements[index - 1].value.end);
    if (begins_line(text, element.value.begin)) gone.begin = element.value.begin;
  } else if (!array.whole.of(text).contains('\n')) {
    gone = {array.whole.begin + 1, array.whole.end - 1};
  }
  parts.push_back(gone);
  return without_parts(text, std::move(parts));
}

}  // namespace axle::documents
