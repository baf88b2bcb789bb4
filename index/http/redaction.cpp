#include "index/http/redaction.h"

#include <algorithm>

#include "foundation/text/ascii.h"

namespace axle::index {
namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view quotes = "\"'`<>([{";

bool is_scheme_byte(char c) {
  return text::is_ascii_letter(c) || text::is_ascii_digit(c) || c == '+' || c == '-' || c == '.';
}

bool is_port(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, text::is_ascii_digit);
}

/// Where the user name and password behind the "//" of a URL end, the "@" counted; 0: there are
/// none. A password may hold "/", "?" and "#" that nobody encoded.
std::size_t end_of_login(std::string_view rest) {
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) return at + 1;
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.ends_with(']')) return 0;
  if (is_port(authority.substr(colon + 1))) return 0;
  const std::size_t at = rest.rfind('@');
  return at == std::string_view::npos ? 0 : at + 1;
}

void hide_query_values(std::string_view query, std::string& out) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find_first_of("&;"), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) {
      // A key without a value may be the token itself.
      out += pair.empty() ? "" : "***";
    } else {
      const std::size_t quote = pair.find_first_of("\"'`<>", equals);
      out += pair.substr(0, equals + 1);
      if (equals + 1 < std::min(quote, pair.size())) out += "***";
      if (quote != std::string_view::npos) out += pair.substr(quote);
    }
    if (end < query.size()) out += query[end];
    query.remove_prefix(std::min(end + 1, query.size()));
  }
}

/// A URL after its scheme and slashes.
void redact_rest(std::string_view rest, std::string& out) {
  rest.remove_prefix(end_of_login(rest));
  const std::size_t fragment = std::min(rest.find('#'), rest.size());
  const std::size_t query = std::min(rest.find('?'), fragment);
  out += rest.substr(0, query);
  if (query < fragment) {
    out += '?';
    hide_query_values(rest.substr(query + 1, fragment - query - 1), out);
  }
  out += rest.substr(fragment);
}

void redact_word(std::string_view word, std::string& out);

/// `word` from the scheme of its next URL; npos: it has no other one.
std::size_t next_scheme(std::string_view word, std::size_t from) {
  std::size_t scheme = word.find("://", from);
  if (scheme == std::string_view::npos) return scheme;
  while (scheme > from && is_scheme_byte(word[scheme - 1])) --scheme;
  return scheme;
}

void redact_word(std::string_view word, std::string& out) {
  const std::size_t bare = std::min(word.find_first_not_of(quotes), word.size());
  out += word.substr(0, bare);
  word.remove_prefix(bare);
  // The scheme's colon and slashes: "https://", and "https:/" as it is mistyped.
  std::size_t slashes = word.find(":/");
  while (slashes != std::string_view::npos && (slashes == 0 || !is_scheme_byte(word[slashes - 1])))
    slashes = word.find(":/", slashes + 1);
  if (slashes != std::string_view::npos && word.substr(0, slashes).find('@') == word.npos) {
    if (word.substr(0, slashes).ends_with("file") && word.substr(slashes).starts_with(":///")) {
      out += word;  // a path of this machine, whatever it contains
      return;
    }
    std::size_t begin = slashes + 1;
    while (begin < word.size() && word[begin] == '/') ++begin;
    out += word.substr(0, begin);
    begin += end_of_login(word.substr(begin));
    const std::size_t next = std::min(next_scheme(word, begin), word.size());
    redact_rest(word.substr(begin, next - begin), out);
    if (next < word.size()) redact_word(word.substr(next), out);
    return;
  }
  // "name@https://…" is a requirement without blanks.
  if (slashes != std::string_view::npos) {
    std::size_t scheme = slashes;
    while (scheme > 0 && is_scheme_byte(word[scheme - 1])) --scheme;
    if (scheme > 0 && word[scheme - 1] == '@' && word.substr(0, scheme).find(':') == word.npos) {
      out += word.substr(0, scheme);
      redact_word(word.substr(scheme), out);
      return;
    }
  }
  // "user:password@host", with or without slashes in front of it.
  const std::size_t at = word.rfind('@');
  const std::size_t colon = word.find(':');
  if (at != std::string_view::npos && colon < at) {
    out += "***";
    word.remove_prefix(at);
  }
  const std::size_t query = word.find('?');
  if (query == std::string_view::npos || word.find('=', query) == std::string_view::npos) {
    out += word;
    return;
  }
  out += word.substr(0, query);
  redact_rest(word.substr(query), out);
}

/// "https://user:pass" before a blank: the rest of the password may stand behind it.
bool login_goes_on(std::string_view word) {
  const std::size_t slashes = word.find("://");
  if (slashes == std::string_view::npos) return false;
  const std::string_view rest = word.substr(slashes + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t colon = authority.rfind(':');
  return rest.find('@') == std::string_view::npos && colon != std::string_view::npos &&
         !authority.ends_with(']') && !is_port(authority.substr(colon + 1));
}

}  // namespace

std::string redact_url(std::string_view text) {
  if (text.find_first_of("@?") == std::string_view::npos) return std::string(text);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    std::size_t end = std::min(text.find_first_of(blanks), text.size());
    if (login_goes_on(text.substr(0, end))) {
      const std::size_t at = text.find_first_of("@\n", end);
      if (at != std::string_view::npos && text[at] == '@')
        end = std::min(text.find_first_of(blanks, at), text.size());
    }
    redact_word(text.substr(0, end), out);
    const std::size_t next = std::min(text.find_first_not_of(blanks, end), text.size());
    out += text.substr(end, next - end);
    text.remove_prefix(next);
  }
  return out;
}

}  // namespace axle::index
