#include "wheel/version.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/quote.h"
#include "wheel/version_scan.h"

namespace axle::wheel {
namespace {

constexpr bool is_separator(char c) { return c == '-' || c == '_' || c == '.'; }

/// Numbers and dots, as most versions of an index are; nullopt: another one, or none at all.
std::optional<Version> parse_plain(std::string_view text) {
  constexpr std::size_t most_parts = 8;
  constexpr std::size_t always_fit = 19;
  std::array<std::uint64_t, most_parts> parts{};
  std::size_t count = 0;
  std::size_t digits = 0;
  for (const char c : text) {
    if (text::is_ascii_digit(c) && digits < always_fit) {
      parts[count] = parts[count] * 10 + static_cast<std::uint64_t>(c - '0');
      ++digits;
    } else if (c == '.' && digits > 0 && count + 1 < most_parts) {
      ++count;
      digits = 0;
    } else {
      return std::nullopt;
    }
  }
  if (digits == 0) return std::nullopt;
  std::optional<Version> version(std::in_place);
  version->release.assign(std::span(parts).first(count + 1));
  return version;
}

/// A cursor over the version without surrounding white space. The grammar of PEP 440 needs no
/// backtracking: every optional part is recognised by its first letters.
class VersionParser {
 public:
  explicit VersionParser(std::string_view text) : text_(text) {}

  Result<Version> parse_whole();
  Result<ScannedVersion> scan(const ScanRules& rules);

 private:
  bool parse_public(Version& version);
  [[nodiscard]] bool at_end() const { return position_ == text_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  bool accept_word(std::string_view word, std::size_t ahead);
  std::optional<std::string_view> accept_any(std::initializer_list<std::string_view> words);
  [[nodiscard]] std::string_view digits();
  bool number(std::uint64_t& value);
  bool number_or_zero(std::uint64_t& value);
  bool parse_epoch_and_release(Version& version);
  bool parse_pre(Version& version);
  bool parse_post(Version& version);
  bool parse_dev(Version& version);
  bool parse_local(Version& version);
  [[nodiscard]] std::unexpected<Error> error() const;

  std::string_view text_;
  std::size_t position_ = 0;
  const char* problem_ = nullptr;
};

std::unexpected<Error> VersionParser::error() const {
  std::string why = problem_ != nullptr ? problem_
                    : at_end()          ? "it is incomplete"
                                        : "unexpected " + text::quote(text_.substr(position_, 1));
  return fail(ErrorKind::malformed,
              fmt::format("{} is not a valid version: {} at position {}", text::quote(text_), why,
                          position_),
              "versions look like 1.2.3, 2.0rc1 or 1.0.post1+local (PEP 440)");
}

bool VersionParser::accept_word(std::string_view word, std::size_t ahead) {
  if (position_ + ahead > text_.size()) return false;
  const std::string_view rest = text_.substr(position_ + ahead);
  if (rest.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (text::ascii_lower(rest[i]) != word[i]) return false;
  }
  position_ += ahead + word.size();
  return true;
}

/// One of `words`, a separator before it or not; a separator after it is swallowed, as PEP 440 has
/// it.
std::optional<std::string_view> VersionParser::accept_any(
    std::initializer_list<std::string_view> words) {
  const std::size_t ahead = is_separator(peek()) ? 1 : 0;
  for (const std::string_view word : words) {
    if (accept_word(word, ahead)) {
      if (is_separator(peek())) ++position_;
      return word;
    }
  }
  return std::nullopt;
}

std::string_view VersionParser::digits() {
  const std::size_t start = position_;
  while (text::is_ascii_digit(peek())) ++position_;
  return text_.substr(start, position_ - start);
}

bool VersionParser::number(std::uint64_t& value) {
  const std::size_t start = position_;
  constexpr std::size_t always_fit = 19;
  std::uint64_t short_value = 0;
  while (position_ < text_.size() && text::is_ascii_digit(text_[position_]) &&
         position_ - start < always_fit) {
    short_value = short_value * 10 + static_cast<std::uint64_t>(text_[position_++] - '0');
  }
  if (position_ > start && !text::is_ascii_digit(peek())) {
    value = short_value;
    return true;
  }
  position_ = start;
  const std::string_view text = digits();
  if (text.empty()) return false;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc() && end == text.data() + text.size()) return true;
  position_ = start;
  problem_ = "a number that does not fit 64 bits";
  return false;
}

bool VersionParser::number_or_zero(std::uint64_t& value) {
  value = 0;
  return !text::is_ascii_digit(peek()) || number(value);
}

bool VersionParser::parse_epoch_and_release(Version& version) {
  std::uint64_t value = 0;
  if (!number(value)) return false;
  if (peek() == '!') {
    ++position_;
    version.epoch = value;
    if (!number(value)) return false;
  }
  version.release.push_back(value);
  while (peek() == '.' && text::is_ascii_digit(peek(1))) {
    ++position_;
    if (!number(value)) return false;
    version.release.push_back(value);
  }
  return true;
}

bool VersionParser::parse_pre(Version& version) {
  const auto word = accept_any({"alpha", "a", "beta", "b", "preview", "pre", "c", "rc"});
  if (!word) return true;
  std::uint64_t value = 0;
  if (!number_or_zero(value)) return false;
  const PreRelease kind = word->front() == 'a'   ? PreRelease::alpha
                          : word->front() == 'b' ? PreRelease::beta
                                                 : PreRelease::candidate;
  version.pre.emplace(kind, value);
  return true;
}

bool VersionParser::parse_post(Version& version) {
  std::uint64_t value = 0;
  if (peek() == '-' && text::is_ascii_digit(peek(1))) {
    ++position_;
  } else if (!accept_any({"post", "rev", "r"})) {
    return true;
  }
  if (!number_or_zero(value)) return false;
  version.post = value;
  return true;
}

bool VersionParser::parse_dev(Version& version) {
  std::uint64_t value = 0;
  if (!accept_any({"dev"})) return true;
  if (!number_or_zero(value)) return false;
  version.dev = value;
  return true;
}

bool VersionParser::parse_local(Version& version) {
  if (peek() != '+') return true;
  do {
    ++position_;
    const std::size_t start = position_;
    bool numeric = true;
    while (text::is_ascii_alnum(peek())) {
      numeric = numeric && text::is_ascii_digit(peek());
      ++position_;
    }
    if (position_ == start) return false;
    const std::string_view part = text_.substr(start, position_ - start);
    if (numeric) {
      position_ = start;
      std::uint64_t value = 0;
      if (!number(value)) return false;
      version.local.emplace_back(value);
    } else {
      version.local.emplace_back(text::ascii_lower(part));
    }
  } while (is_separator(peek()));
  return true;
}

/// What follows the release.
bool VersionParser::parse_public(Version& version) {
  return parse_pre(version) && parse_post(version) && parse_dev(version);
}

Result<Version> VersionParser::parse_whole() {
  Version version;
  if (text::ascii_lower(peek()) == 'v') ++position_;
  if (!parse_epoch_and_release(version)) return error();
  // Most versions are nothing more.
  if (at_end()) return version;
  if (!parse_public(version) || !parse_local(version) || !at_end()) return error();
  return version;
}

Result<ScannedVersion> VersionParser::scan(const ScanRules& rules) {
  ScannedVersion scanned;
  if (text::ascii_lower(peek()) == 'v') ++position_;
  if (!parse_epoch_and_release(scanned.version)) return error();
  if (rules.wildcard && peek() == '.' && peek(1) == '*') {
    scanned.wildcard = true;
    position_ += 2;
  } else if (!parse_public(scanned.version) || (rules.local && !parse_local(scanned.version))) {
    return error();
  }
  scanned.length = position_;
  return scanned;
}

/// PEP 440 sorts a bare development release before any pre-release, and a final one after all.
std::pair<int, std::uint64_t> pre_key(const Version& version) {
  if (version.pre) return {1 + static_cast<int>(version.pre->first), version.pre->second};
  const bool bare_dev = !version.post && version.dev;
  return {bare_dev ? 0 : 4, 0};
}

/// Numbers above letters; a label that goes on where the other ends is the higher one.
std::strong_ordering compare_local(const std::vector<LocalPart>& left,
                                   const std::vector<LocalPart>& right) {
  const std::size_t shortest = std::min(left.size(), right.size());
  for (std::size_t i = 0; i < shortest; ++i) {
    const auto* left_number = std::get_if<std::uint64_t>(&left[i]);
    const auto* right_number = std::get_if<std::uint64_t>(&right[i]);
    std::strong_ordering order = std::strong_ordering::equal;
    if (left_number != nullptr && right_number != nullptr) {
      order = *left_number <=> *right_number;
    } else if (left_number == nullptr && right_number == nullptr) {
      order = std::get<std::string>(left[i]) <=> std::get<std::string>(right[i]);
    } else {
      order = left_number != nullptr ? std::strong_ordering::greater : std::strong_ordering::less;
    }
    if (order != std::strong_ordering::equal) return order;
  }
  return left.size() <=> right.size();
}

}  // namespace

Version Version::public_version() const {
  Version result;
  result.epoch = epoch;
  result.release = release;
  result.pre = pre;
  result.post = post;
  result.dev = dev;
  return result;
}

std::strong_ordering compare_release(const Version& left, const Version& right) {
  const std::size_t longest = std::max(left.release.size(), right.release.size());
  for (std::size_t i = 0; i < longest; ++i) {
    const std::uint64_t l = i < left.release.size() ? left.release[i] : 0;
    const std::uint64_t r = i < right.release.size() ? right.release[i] : 0;
    if (l != r) return l <=> r;
  }
  return std::strong_ordering::equal;
}

std::strong_ordering compare_public(const Version& left, const Version& right) {
  if (left.epoch != right.epoch) return left.epoch <=> right.epoch;
  if (const auto order = compare_release(left, right); order != 0) return order;
  if (const auto order = pre_key(left) <=> pre_key(right); order != 0) return order;
  // No post-release sorts before all, no development release after all.
  if (const auto order = left.post <=> right.post; order != 0) return order;
  if (left.dev.has_value() != right.dev.has_value()) {
    return left.dev ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  return left.dev <=> right.dev;
}

std::strong_ordering operator<=>(const Version& left, const Version& right) {
  if (const auto order = compare_public(left, right); order != 0) return order;
  return compare_local(left.local, right.local);
}

Result<Version> parse_version(std::string_view text) {
  if (auto plain = parse_plain(text)) return *std::move(plain);
  return VersionParser(text::trim_ascii(text)).parse_whole();
}

Result<ScannedVersion> scan_version(std::string_view text, const ScanRules& rules) {
  return VersionParser(text).scan(rules);
}

std::string render_version(const Version& version) {
  std::string text;
  auto out = std::back_inserter(text);
  if (version.epoch != 0) fmt::format_to(out, "{}!", version.epoch);
  fmt::format_to(out, "{}", fmt::join(version.release, "."));
  if (version.pre) {
    constexpr const char* kNames[] = {"a", "b", "rc"};
    fmt::format_to(out, "{}{}", kNames[static_cast<std::size_t>(version.pre->first)],
                   version.pre->second);
  }
  if (version.post) fmt::format_to(out, ".post{}", *version.post);
  if (version.dev) fmt::format_to(out, ".dev{}", *version.dev);
  char before = '+';
  for (const LocalPart& part : version.local) {
    text += before;
    before = '.';
    std::visit([&](const auto& value) { fmt::format_to(out, "{}", value); }, part);
  }
  return text;
}

}  // namespace axle::wheel
