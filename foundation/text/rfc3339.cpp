#include "foundation/text/rfc3339.h"

#include <array>
#include <chrono>
#include <cstdio>

namespace axle::text {
namespace {

constexpr std::int64_t second = 1'000'000;

/// What is left of a text. A page has a time for each of its files.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] bool is_digit() const { return at_ != end_ && *at_ >= '0' && *at_ <= '9'; }
  [[nodiscard]] int digit() { return *at_++ - '0'; }
  [[nodiscard]] bool take(char one, char other) {
    if (at_ == end_ || (*at_ != one && *at_ != other)) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] bool take(char one) { return take(one, one); }
  /// Exactly two digits.
  [[nodiscard]] bool take_pair(int& number) {
    if (!is_digit()) return false;
    number = 10 * digit();
    if (!is_digit()) return false;
    number += digit();
    return true;
  }

 private:
  const char* at_;
  const char* end_;
};

/// ".123456789", truncated to microseconds; may be absent.
bool take_fraction(Cursor& text, std::int64_t& fraction) {
  if (!text.take('.', ',')) return true;
  if (!text.is_digit()) return false;
  for (std::int64_t place = second / 10; text.is_digit(); place /= 10)
    fraction += place * text.digit();
  return true;
}

/// "Z" or "+02:00", as seconds east of UTC.
bool take_offset(Cursor& text, int& seconds) {
  if (text.take('Z', 'z')) return true;
  const bool west = text.take('-');
  if (!west && !text.take('+')) return false;
  int hours = 0;
  int minutes = 0;
  if (!text.take_pair(hours) || !text.take(':') || !text.take_pair(minutes)) return false;
  if (hours > 23 || minutes > 59) return false;
  seconds = (hours * 60 + minutes) * 60;
  if (west) seconds = -seconds;
  return true;
}

}  // namespace

std::optional<std::int64_t> parse_rfc3339(std::string_view text) {
  Cursor rest(text);
  int century = 0;
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int seconds = 0;
  const bool clock = rest.take_pair(century) && rest.take_pair(year) && rest.take('-') &&
                     rest.take_pair(month) && rest.take('-') && rest.take_pair(day) &&
                     (rest.take('T', 't') || rest.take(' ')) && rest.take_pair(hour) &&
                     rest.take(':') && rest.take_pair(minute) && rest.take(':') &&
                     rest.take_pair(seconds);
  if (!clock || hour > 23 || minute > 59 || seconds > 60) return std::nullopt;
  std::int64_t fraction = 0;
  int offset = 0;
  if (!take_fraction(rest, fraction) || !take_offset(rest, offset) || !rest.at_end())
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(100 * century + year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t of_day = (hour * 60LL + minute) * 60 + seconds - offset;
  return (days * 86'400 + of_day) * second + fraction;
}

std::string render_rfc3339(std::int64_t microseconds) {
  using std::chrono::days;
  const std::chrono::sys_time<std::chrono::microseconds> time{
      std::chrono::microseconds(microseconds)};
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 64> text{};
  const int size = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
      static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
      static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
      static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
      static_cast<int>(clock.subseconds().count()));
  return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace axle::text
