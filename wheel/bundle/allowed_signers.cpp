#include "wheel/bundle/allowed_signers.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/base64.h"
#include "foundation/text/quote.h"
#include "wheel/bundle/ssh_signature.h"

namespace axle::wheel {
namespace {

bool is_key_type(std::string_view word) {
  return word.starts_with("ssh-") || word.starts_with("ecdsa-") || word.starts_with("sk-");
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// The next word of a line; blanks and commas within double quotes belong to it.
std::string_view take_word(std::string_view& rest) {
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  bool quoted = false;
  std::size_t end = 0;
  for (; end < rest.size() && (quoted || !is_blank(rest[end])); ++end)
    quoted = rest[end] == '"' ? !quoted : quoted;
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end);
  return word;
}

bool is_quoted(std::string_view word) {
  return word.size() >= 2 && word.starts_with('"') && word.ends_with('"');
}

std::string_view without_quotes(std::string_view word) {
  return is_quoted(word) ? word.substr(1, word.size() - 2) : word;
}

/// YYYYMMDD[HHMM[SS]][Z]
std::optional<std::int64_t> parse_time(std::string_view text) {
  const bool utc = text.ends_with('Z') || text.ends_with('z');
  if (utc) text.remove_suffix(1);
  if ((text.size() != 8 && text.size() != 12 && text.size() != 14) ||
      !std::ranges::all_of(text, text::is_ascii_digit))
    return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    for (std::size_t i = at; i < at + digits && i < text.size(); ++i)
      value = 10 * value + (text[i] - '0');
    return value;
  };
  std::tm time = {};
  time.tm_year = number(0, 4) - 1900;
  time.tm_mon = number(4, 2) - 1;
  time.tm_mday = number(6, 2);
  time.tm_hour = number(8, 2);
  time.tm_min = number(10, 2);
  time.tm_sec = number(12, 2);
  time.tm_isdst = -1;
  std::tm made = time;
  const std::time_t seconds = utc ? ::timegm(&made) : ::mktime(&made);
  const bool real = made.tm_mday == time.tm_mday && made.tm_mon == time.tm_mon &&
                    time.tm_hour < 24 && time.tm_min < 60 && time.tm_sec < 60;
  if (!real) return std::nullopt;
  return seconds;
}

/// One of the options of a line. Returns what is wrong with it, or nothing.
std::string take_option(std::string_view option, AllowedSigner& signer) {
  const std::size_t equals = std::min(option.find('='), option.size());
  const std::string name = text::ascii_lower(option.substr(0, equals));
  const std::string_view quoted = option.substr(std::min(equals + 1, option.size()));
  const std::string_view value = without_quotes(quoted);
  if (name == "cert-authority" && equals == option.size()) {
    signer.authority = true;
    return {};
  }
  const bool has_value = name == "namespaces" || name == "valid-after" || name == "valid-before";
  if (has_value && !is_quoted(quoted))
    return fmt::format("the value of {} is not in double quotes", text::quote(name));
  if (name == "namespaces" && !value.empty()) {
    if (signer.namespaces) return fmt::format("{} is given twice", text::quote(name));
    signer.namespaces = std::string(value);
    return {};
  }
  if (name != "valid-after" && name != "valid-before")
    return fmt::format("{} is not an option of a signer", text::quote(option));
  auto& time = name == "valid-after" ? signer.valid_after : signer.valid_before;
  if (time) return fmt::format("{} is given twice", text::quote(name));
  time = parse_time(value);
  return time ? std::string() : fmt::format("{} is not a time", text::quote(value));
}

std::string take_options(std::string_view options, AllowedSigner& signer) {
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= options.size(); ++i) {
    if (i < options.size() && options[i] == '"') quoted = !quoted;
    if (i < options.size() && (quoted || options[i] != ',')) continue;
    if (std::string wrong = take_option(options.substr(begin, i - begin), signer); !wrong.empty())
      return wrong;
    begin = i + 1;
  }
  return {};
}

/// Returns what is wrong with the line, or nothing.
std::string read_line(std::string_view line, AllowedSigner& signer) {
  signer.principals = std::string(without_quotes(take_word(line)));
  std::string_view type = take_word(line);
  if (!type.empty() && !is_key_type(type)) {
    if (std::string wrong = take_options(type, signer); !wrong.empty()) return wrong;
    type = take_word(line);
  }
  const auto key = text::decode_base64(take_word(line));
  if (signer.principals.empty() || type.empty() || !key || ssh_key_type(*key) != type)
    return "this is not PRINCIPALS [OPTIONS] KEYTYPE KEY";
  signer.key = *key;
  return {};
}

/// `*` and `?` are what they are to a shell.
bool matches_pattern(std::string_view text, std::string_view pattern) {
  std::size_t star = std::string_view::npos;
  std::size_t at = 0;
  std::size_t again = 0;  // in `text`, with what the last `*` takes
  std::size_t i = 0;
  while (i < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      again = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[i])) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++again;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

/// One of the patterns matches, and none of those that begin with "!".
bool matches_list(std::string_view text, std::string_view patterns) {
  bool found = false;
  while (!patterns.empty()) {
    const std::size_t comma = std::min(patterns.find(','), patterns.size());
    const std::string_view pattern = patterns.substr(0, comma);
    patterns.remove_prefix(std::min(comma + 1, patterns.size()));
    if (pattern.starts_with('!') && matches_pattern(text, pattern.substr(1))) return false;
    found = found || (!pattern.empty() && matches_pattern(text, pattern));
  }
  return found;
}

/// Why a signer with the right key does not count; empty: it does.
std::string why_not(const AllowedSigner& signer, std::string_view name_space, std::int64_t now) {
  if (signer.authority) return "signs only certificates (cert-authority)";
  if (signer.namespaces && !matches_list(name_space, *signer.namespaces))
    return fmt::format("signs only for the namespaces {}", *signer.namespaces);
  if (signer.valid_after && now < *signer.valid_after) return "is not valid yet (valid-after)";
  if (signer.valid_before && now > *signer.valid_before)
    return "is not valid any more (valid-before)";
  return {};
}

}  // namespace

Result<std::vector<AllowedSigner>> parse_allowed_signers(std::string_view text,
                                                         const std::string& where) {
  std::vector<AllowedSigner> signers;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text::trim_ascii(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    AllowedSigner signer;
    if (const std::string wrong = read_line(line, signer); !wrong.empty())
      return fail(ErrorKind::malformed, fmt::format("{}:{}: {}", where, number, wrong),
                  "ssh-keygen(1) has the format under ALLOWED SIGNERS");
    signers.push_back(std::move(signer));
  }
  return signers;
}

Result<const AllowedSigner*> find_allowed_signer(const std::vector<AllowedSigner>& signers,
                                                 std::string_view key, std::string_view name_space,
                                                 std::int64_t now) {
  std::string reason = "is not among them";
  for (const AllowedSigner& signer : signers) {
    if (signer.key != key) continue;
    std::string why = why_not(signer, name_space, now);
    if (why.empty()) return &signer;
    reason = std::move(why);
  }
  return fail(ErrorKind::mismatch,
              fmt::format("the key {} {}", ssh_key_fingerprint(key), std::move(reason)));
}

}  // namespace axle::wheel
