#include "installer/store/partial_log.h"

#include <array>
#include <charconv>
#include <concepts>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace axle::installer {
namespace {

constexpr std::size_t check_digits = 16;

std::string check_of(std::string_view text) {
  return wheel::render_hex(wheel::sha256(text)).substr(0, check_digits);
}

std::string with_check(std::string text) {
  text += ' ';
  return text + check_of(text) + '\n';
}

/// Takes the words of a line, each only in the one way in which it is written.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view next() {
    const std::size_t end = rest_.find(' ');
    if (end == std::string_view::npos) {
      good_ = false;
      return {};
    }
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return word;
  }
  template <std::unsigned_integral Number>
  Number number(int base = 10) {
    const std::string_view word = next();
    Number value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
    if (error != std::errc() || end != word.data() + word.size()) good_ = false;
    return value;
  }
  [[nodiscard]] bool are_all_taken() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

/// The next line, without its check; nullopt: it is not whole.
std::optional<std::string_view> next_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos || end < check_digits) return std::nullopt;
  const std::string_view text = rest.substr(0, end - check_digits);
  if (rest.substr(text.size(), check_digits) != check_of(text)) return std::nullopt;
  rest.remove_prefix(end + 1);
  return text;
}

bool read_line(std::string_view line, std::uint64_t size, PartialLog& log) {
  Words words(line);
  const std::string_view kind = words.next();
  if (kind == "hash") {
    wheel::Sha256Midpoint hash;
    hash.bytes = words.number<std::uint64_t>();
    for (std::uint32_t& word : hash.words) word = words.number<std::uint32_t>(16);
    if (!words.are_all_taken() || hash.bytes % wheel::Sha256Midpoint::block != 0 ||
        hash.bytes == 0 || hash.bytes > size) {
      return false;
    }
    // A later command begins before the end of an earlier one.
    while (!log.hashes.empty() && log.hashes.back().bytes >= hash.bytes) log.hashes.pop_back();
    log.hashes.push_back(hash);
    return true;
  }
  const auto member = words.number<std::size_t>();
  if (kind == "done") {
    if (!words.are_all_taken()) return false;
    log.done.insert(member);
    return true;
  }
  wheel::ContentPlace place;
  place.data_offset = words.number<std::uint64_t>();
  place.packed_bits = words.number<std::uint64_t>();
  place.size = words.number<std::uint64_t>();
  place.crc32 = words.number<std::uint32_t>(16);
  if (kind != "place" || !words.are_all_taken() || place.data_offset > size ||
      place.packed_bits / 8 > size - place.data_offset) {
    return false;
  }
  log.places.insert_or_assign(member, place);
  return true;
}

}  // namespace

std::string render_log_head(std::string_view sha256, std::uint64_t size) {
  return with_check(fmt::format("axle-partial-wheel 1 {} {}", sha256, size));
}

std::string render_log_line(const wheel::Sha256Midpoint& hash) {
  return with_check(fmt::format("hash {} {:08x}", hash.bytes, fmt::join(hash.words, " ")));
}

std::string render_log_line(std::size_t done_member) {
  return with_check(fmt::format("done {}", done_member));
}

std::string render_log_line(std::size_t member, const wheel::ContentPlace& place) {
  return with_check(fmt::format("place {} {} {} {} {:08x}", member, place.data_offset,
                                place.packed_bits, place.size, place.crc32));
}

std::optional<PartialLog> parse_partial_log(std::string_view text, std::string_view sha256,
                                            std::uint64_t size) {
  const std::string head = render_log_head(sha256, size);
  if (!text.starts_with(head)) return std::nullopt;
  PartialLog log;
  std::string_view rest = text.substr(head.size());
  while (const auto line = next_line(rest)) {
    if (!read_line(*line, size, log)) break;
    log.length = text.size() - rest.size();
  }
  if (log.length == 0) log.length = head.size();
  return log;
}

}  // namespace axle::installer
