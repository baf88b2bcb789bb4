#include "index/pages/upload_time.h"

#include <charconv>
#include <chrono>

namespace axle::index {
namespace {

constexpr std::int64_t second = 1'000'000;

/// Removes `count` digits from the front of `text`.
std::optional<int> take_number(std::string_view& text, std::size_t count) {
  if (text.size() < count || text[0] < '0' || text[0] > '9') return std::nullopt;
  int number = 0;
  const char* end = text.data() + count;
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  text.remove_prefix(count);
  return number;
}

bool take(std::string_view& text, std::string_view one_of) {
  if (text.empty() || !one_of.contains(text[0])) return false;
  text.remove_prefix(1);
  return true;
}

/// ".123456789", truncated to microseconds; may be absent.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  if (!take(text, ".,")) return 0;
  std::int64_t fraction = 0;
  std::int64_t place = second;
  std::size_t digits = 0;
  for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1), ++digits) {
    place /= 10;
    fraction += place * (text[0] - '0');
  }
  if (digits == 0) return std::nullopt;
  return fraction;
}

/// "Z" or "+02:00", as seconds east of UTC.
std::optional<int> take_offset(std::string_view& text) {
  if (take(text, "Zz")) return 0;
  const bool west = text.starts_with('-');
  if (!take(text, "+-")) return std::nullopt;
  const auto hours = take_number(text, 2);
  if (!hours || !take(text, ":")) return std::nullopt;
  const auto minutes = take_number(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const int seconds = (*hours * 60 + *minutes) * 60;
  return west ? -seconds : seconds;
}

}  // namespace

std::optional<std::int64_t> parse_upload_time(std::string_view text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, "-")) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take(text, "-")) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day || !take(text, "Tt ")) return std::nullopt;
  const auto hour = take_number(text, 2);
  if (!hour || !take(text, ":")) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || !take(text, ":")) return std::nullopt;
  const auto seconds = take_number(text, 2);
  if (!seconds || *hour > 23 || *minute > 59 || *seconds > 60) return std::nullopt;
  const auto fraction = take_fraction(text);
  if (!fraction) return std::nullopt;
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t of_day = (*hour * 60LL + *minute) * 60 + *seconds - *offset;
  return (days * 86'400 + of_day) * second + *fraction;
}

}  // namespace axle::index
