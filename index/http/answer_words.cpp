#include "index/http/answer_words.h"

#include "foundation/text/ascii.h"
#include "foundation/text/printable.h"

namespace axle::index {
namespace {

constexpr std::size_t longest_quote = 300;

}  // namespace

std::string answer_words(const HttpResponse& response) {
  std::string words;
  bool inside = false;
  for (const char c : response.body) {
    if (c == '<') inside = true;
    if (!inside) words += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
    if (c == '>') inside = false;
    if (words.size() > longest_quote) break;
  }
  std::string shortened;
  for (const char c : words) {
    if (c != ' ' || (!shortened.empty() && !shortened.ends_with(' '))) shortened += c;
  }
  return text::printable(text::trim_ascii(shortened));
}

}  // namespace axle::index
