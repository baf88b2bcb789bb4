#include "index/http/answer_words.h"

#include <string_view>

#include "foundation/text/ascii.h"
#include "foundation/text/printable.h"

namespace axle::index {
namespace {

constexpr std::size_t longest_quote = 300;

/// Where `end` is over in `text`; its size if it is not in it.
std::size_t past(std::string_view text, std::string_view end) {
  const std::size_t at = text.find(end);
  return at == std::string_view::npos ? text.size() : at + end.size();
}

/// Of what begins with "<" and is for no reader: a tag, a comment, or a whole style or script.
/// `html` is in lower case.
std::size_t markup_size(std::string_view html) {
  if (html.starts_with("<!--")) return past(html, "-->");
  for (const std::string_view end : {"</style", "</script"}) {
    if (!html.substr(1).starts_with(end.substr(2))) continue;
    const std::size_t content = past(html, end);
    return content + past(html.substr(content), ">");
  }
  return past(html, ">");
}

}  // namespace

std::string answer_words(const HttpResponse& response) {
  const std::string lower = text::ascii_lower(response.body);
  std::string words;
  for (std::size_t at = 0; at < lower.size() && words.size() <= longest_quote;) {
    if (lower[at] == '<') {
      at += markup_size(std::string_view(lower).substr(at));
      continue;
    }
    const char c = response.body[at++];
    words += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  }
  std::string shortened;
  for (const char c : words) {
    if (c != ' ' || (!shortened.empty() && !shortened.ends_with(' '))) shortened += c;
  }
  return text::printable(text::trim_ascii(shortened));
}

}  // namespace axle::index
