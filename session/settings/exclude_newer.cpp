#include "session/settings/exclude_newer.h"

#include <array>
#include <charconv>
#include <ctime>
#include <optional>

#include <fmt/core.h>

#include "foundation/text/ascii.h"

namespace axle::session {

namespace {

using std::chrono::microseconds;
using Time = std::chrono::sys_time<microseconds>;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes what it reads off the front of its text.
class TimeScanner {
 public:
  explicit TimeScanner(std::string_view text) : text_(text) {}
  [[nodiscard]] bool done() const { return text_.empty(); }
  [[nodiscard]] char next() const { return text_.empty() ? '\0' : text_.front(); }
  bool skip(char c) {
    if (next() != c || done()) return false;
    text_.remove_prefix(1);
    return true;
  }
  void skip_any(std::string_view characters) {
    while (!done() && characters.contains(next())) text_.remove_prefix(1);
  }
  /// At most `most` digits, with their number in `count`; nullopt if there are fewer than `least`.
  std::optional<std::int64_t> number(std::size_t least, std::size_t most) {
    std::size_t count = 0;
    while (count < text_.size() && count < most && is_digit(text_[count])) ++count;
    if (count < least) return std::nullopt;
    std::int64_t value = 0;
    if (std::from_chars(text_.data(), text_.data() + count, value).ec != std::errc())
      return std::nullopt;
    text_.remove_prefix(count);
    return value;
  }
  /// The digits of a fraction as millionths; further digits are truncated.
  std::optional<std::int64_t> millionths() {
    std::int64_t value = 0;
    std::int64_t digit = 100'000;
    if (!is_digit(next())) return std::nullopt;
    for (; is_digit(next()); text_.remove_prefix(1), digit /= 10)
      value += digit * (text_.front() - '0');
    return value;
  }
  std::string_view letters(std::size_t most) {
    std::size_t count = 0;
    while (count < text_.size() && count < most && text_[count] >= 'a' && text_[count] <= 'z')
      ++count;
    const std::string_view word = text_.substr(0, count);
    text_.remove_prefix(count);
    return word;
  }

 private:
  std::string_view text_;
};

/// The wall clock time `local` in the system's time zone.
Time from_local(std::chrono::local_time<microseconds> local) {
  const auto day = std::chrono::floor<std::chrono::days>(local);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(local - day);
  std::tm broken{};
  broken.tm_year = static_cast<int>(date.year()) - 1900;
  broken.tm_mon = static_cast<int>(static_cast<unsigned>(date.month())) - 1;
  broken.tm_mday = static_cast<int>(static_cast<unsigned>(date.day()));
  broken.tm_hour = static_cast<int>(clock.hours().count());
  broken.tm_min = static_cast<int>(clock.minutes().count());
  broken.tm_sec = static_cast<int>(clock.seconds().count());
  broken.tm_isdst = -1;
  return Time(std::chrono::seconds(std::mktime(&broken))) + clock.subseconds();
}

std::optional<std::chrono::local_days> parse_date(TimeScanner& scanner) {
  const auto year = scanner.number(4, 4);
  const bool dashes = scanner.skip('-');
  const auto month = scanner.number(2, 2);
  if (!year || !month || (dashes && !scanner.skip('-'))) return std::nullopt;
  const auto day = scanner.number(2, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  return std::chrono::local_days(date);
}

/// HH[:MM[:SS[.fraction]]]
std::optional<microseconds> parse_clock(TimeScanner& scanner) {
  const auto hours = scanner.number(2, 2);
  if (!hours || *hours > 23) return std::nullopt;
  microseconds time = std::chrono::hours(*hours);
  if (!is_digit(scanner.next()) && !scanner.skip(':')) return time;
  const auto minutes = scanner.number(2, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  time += std::chrono::minutes(*minutes);
  if (!is_digit(scanner.next()) && !scanner.skip(':')) return time;
  const auto seconds = scanner.number(2, 2);
  if (!seconds || *seconds > 60) return std::nullopt;
  time += std::chrono::seconds(*seconds);
  if (!scanner.skip('.') && !scanner.skip(',')) return time;
  const auto fraction = scanner.millionths();
  if (!fraction) return std::nullopt;
  return time + microseconds(*fraction);
}

/// Z or an offset; nullopt inside: no zone is stated.
std::optional<std::optional<microseconds>> parse_zone(TimeScanner& scanner) {
  using Zone = std::optional<microseconds>;
  if (scanner.done()) return Zone();
  if (scanner.skip('Z') || scanner.skip('z')) return Zone(microseconds(0));
  const bool west = scanner.next() == '-';
  if (!scanner.skip('-') && !scanner.skip('+')) return std::nullopt;
  const auto offset = parse_clock(scanner);
  if (!offset) return std::nullopt;
  return Zone(west ? -*offset : *offset);
}

std::optional<Time> parse_time(std::string_view text) {
  TimeScanner scanner(text);
  const auto date = parse_date(scanner);
  if (!date) return std::nullopt;
  if (scanner.done()) return from_local(*date + std::chrono::days(1));
  if (!scanner.skip('T') && !scanner.skip('t') && !scanner.skip(' ')) return std::nullopt;
  const auto clock = parse_clock(scanner);
  if (!clock) return std::nullopt;
  const auto zone = parse_zone(scanner);
  if (!zone || !scanner.done()) return std::nullopt;
  if (!*zone) return from_local(*date + *clock);
  return Time(date->time_since_epoch() + *clock - **zone);
}

struct Unit {
  std::string_view names;  ///< blanks around each
  microseconds length;     ///< 0: its length depends on the calendar
};

constexpr std::array units = {
    Unit{" y yr yrs year years ", microseconds(0)},
    Unit{" mo mos month months ", microseconds(0)},
    Unit{" w wk wks week weeks ", std::chrono::weeks(1)},
    Unit{" d day days ", std::chrono::days(1)},
    Unit{" h hr hrs hour hours ", std::chrono::hours(1)},
    Unit{" m min mins minute minutes ", std::chrono::minutes(1)},
    Unit{" s sec secs second seconds ", std::chrono::seconds(1)},
    Unit{" ms msec msecs milli millis millisecond milliseconds ", std::chrono::milliseconds(1)},
    Unit{" us usec usecs micro micros microsecond microseconds ", microseconds(1)},
};

Result<microseconds> unit_length(std::string_view name, std::string_view text) {
  for (const Unit& unit : units) {
    if (name.empty() || !unit.names.contains(fmt::format(" {} ", name))) continue;
    if (unit.length.count() == 0)
      return fail(ErrorKind::malformed,
                  fmt::format("`{}` is in {}, whose length varies", text, name),
                  "use days: 30 days, 365 days");
    return unit.length;
  }
  return fail(ErrorKind::malformed, fmt::format("`{}` has no known unit of time", text),
              "for example 3 days, 2 weeks, 24 hours, P3D");
}

/// Anything larger is before every upload, and would overflow.
constexpr std::int64_t most_microseconds = 200LL * 366 * 86400 * 1'000'000;

/// Numbers with units; `iso`: the letters of P1W2DT3H4M5S.
Result<microseconds> sum_of_units(TimeScanner scanner, std::string_view text, bool iso) {
  microseconds sum{};
  bool any = false;
  bool of_day = !iso;
  for (scanner.skip_any(iso ? "" : " ,"); !scanner.done(); scanner.skip_any(iso ? "" : " ,")) {
    if (iso && !of_day && scanner.skip('t')) {
      of_day = true;
      continue;
    }
    const auto number = scanner.number(1, 12);
    const auto fraction = scanner.skip('.') ? scanner.millionths() : std::optional<std::int64_t>(0);
    scanner.skip_any(iso ? "" : " ");
    const std::string_view name = scanner.letters(iso ? 1 : 20);
    if (!number || !fraction) {
      if (any && !number && name == "ago" && scanner.done()) break;
      return fail(ErrorKind::malformed, fmt::format("`{}` is not a duration", text));
    }
    const auto length = unit_length(iso && !of_day && name == "m" ? "mo" : name, text);
    if (!length) return length;
    if (*number > most_microseconds / length->count())
      return fail(ErrorKind::malformed, fmt::format("`{}` is too long", text));
    if (*fraction != 0 && *length > std::chrono::hours(1))
      return fail(ErrorKind::malformed, fmt::format("`{}` has a fraction of a day", text),
                  "use hours");
    sum += *number * *length + microseconds(*fraction * length->count() / 1'000'000);
    any = true;
  }
  if (!any || sum.count() > most_microseconds)
    return fail(ErrorKind::malformed, fmt::format("`{}` is not a duration", text));
  return sum;
}

Result<microseconds> parse_duration(std::string_view text) {
  const std::string lower = text::ascii_lower(text);
  TimeScanner scanner(lower);
  if (scanner.skip('p')) return sum_of_units(scanner, text, true);
  return sum_of_units(scanner, text, false);
}

std::string render(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

}  // namespace

Result<std::string> parse_cutoff(std::string_view text, std::chrono::sys_seconds now) {
  text = text::trim_ascii(text);
  if (const auto time = parse_time(text)) return render(*time);
  const bool is_date = text.size() >= 8 && TimeScanner(text).number(4, 4) && !text.contains(':') &&
                       (text[4] == '-' || is_digit(text[4]));
  Result<microseconds> duration =
      is_date ? fail(ErrorKind::malformed, fmt::format("`{}` is not a valid date", text))
              : parse_duration(text);
  if (duration) return render(Time(now) - *duration);
  Error error = std::move(duration).error();
  if (error.hint.empty())
    error.hint = "a date (2026-01-31), a time (2026-01-31T12:00:00Z) or a duration (3 days, P3D)";
  return std::unexpected(std::move(error));
}

std::string pip_cutoff(std::string_view text) {
  TimeScanner scanner(text::trim_ascii(text));
  const bool is_date = parse_date(scanner).has_value() && scanner.done();
  return std::string(text::trim_ascii(text)) + (is_date ? "T00:00:00" : "");
}

}  // namespace axle::session
