#include "index/http/http_rules.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/rfc3339.h"
#include "index/http/redaction.h"
#include "index/http/url.h"

namespace axle::index {
namespace {

constexpr std::uint64_t longest_retry_after_seconds = 30;
constexpr std::chrono::milliseconds longest_pause{30'000};

}  // namespace

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_http_date(std::string_view text) {
  constexpr std::string_view shape = "Sun, 06 Nov 1994 08:49:37 GMT";
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != shape.size() || !text.ends_with(" GMT")) return std::nullopt;
  const std::size_t month = months.find(text.substr(8, 3));
  if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
  const auto time = text::parse_rfc3339(fmt::format(
      "{}-{:02}-{}T{}Z", text.substr(12, 4), month / 3 + 1, text.substr(5, 2), text.substr(17, 8)));
  if (!time) return std::nullopt;
  return *time / 1'000'000;  // of microseconds
}

std::optional<ContentRange> parse_content_range(std::string_view text) {
  text = text::trim_ascii(text);
  if (!text::ascii_lower(text.substr(0, 6)).starts_with("bytes ")) return std::nullopt;
  text = text::trim_ascii(text.substr(6));
  const std::size_t dash = text.find('-');
  const std::size_t slash = text.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || dash > slash) {
    return std::nullopt;
  }
  const auto first = parse_decimal(text.substr(0, dash));
  const auto last = parse_decimal(text.substr(dash + 1, slash - dash - 1));
  if (!first || !last || *last < *first || *last == std::numeric_limits<std::uint64_t>::max()) {
    return std::nullopt;
  }
  ContentRange range{*first, *last, std::nullopt};
  if (const std::string_view total = text.substr(slash + 1); total != "*") {
    range.total = parse_decimal(total);
    if (!range.total || *range.total <= *last) return std::nullopt;
  }
  return range;
}

void ResponseHead::add_line(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    *this = ResponseHead{};
    multiplexed = line.starts_with("HTTP/2");
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos) {
      status = static_cast<int>(parse_decimal(line.substr(space + 1, 3)).value_or(0));
    }
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string name = text::ascii_lower(line.substr(0, colon));
  const std::string_view value = text::trim_ascii(line.substr(colon + 1));
  if (name == "content-type") content_type = value;
  if (name == "content-encoding") content_encoding = text::ascii_lower(value);
  if (name == "content-range") content_range = value;
  if (name == "content-length") content_length = parse_decimal(value);
  if (name == "etag") etag = value;
  if (name == "last-modified") last_modified = value;
  if (name == "cache-control") {
    if (!cache_control.empty()) cache_control += ", ";
    cache_control += value;
  }
  if (name == "location") location = value;
  if (name == "retry-after") {
    retry_after_seconds = parse_decimal(value);
    retry_after_time = parse_http_date(value);
  }
  if (name == "date") sent_at = parse_http_date(value);
  if (name.starts_with("x-amz-") || name == "lock-token")
    of_storage.insert_or_assign(name, std::string(value));
  if (name == "age") age_seconds = parse_decimal(value).value_or(0);
}

bool ResponseHead::is_redirect() const {
  return (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) &&
         !location.empty();
}

std::optional<std::uint64_t> ResponseHead::seconds_to_wait(std::int64_t now) const {
  if (!retry_after_time) return retry_after_seconds;
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(*retry_after_time - sent_at.value_or(now), 0));
}

std::string range_header(const HttpRequest& request) {
  if (request.tail) return fmt::format("Range: bytes=-{}", *request.tail);
  if (!request.range) return {};
  return fmt::format("Range: bytes={}-{}", request.range->offset,
                     request.range->offset + request.range->length - 1);
}

Result<std::uint64_t> check_partial(const HttpRequest& request, const ResponseHead& head) {
  const std::string asked = range_header(request);
  const auto lie = [&](std::string_view what) {
    return fail(
        ErrorKind::unsupported,
        fmt::format(
            "invalid response for a part of {}: {} (requested '{}', got Content-Range '{}')",
            redact_url(request.url), what, asked, head.content_range),
        "the server's byte ranges are broken; report it to its operator, or use another index");
  };
  if (asked.empty()) return lie("no part was requested");
  if (!head.content_encoding.empty() && head.content_encoding != "identity") {
    return lie("its body is compressed");
  }
  const std::optional<ContentRange> got = parse_content_range(head.content_range);
  if (!got) return lie("it has no range");
  const std::uint64_t length = got->last - got->first + 1;
  if (request.tail) {
    if (!got->total || got->last + 1 != *got->total) return lie("it is not the end of the file");
    if (length != std::min(*request.tail, *got->total)) return lie("its length differs");
    return length;
  }
  if (got->first != request.range->offset) return lie("its start differs");
  const bool whole_end = got->total && got->last + 1 == *got->total;
  if (length > request.range->length || (length < request.range->length && !whole_end)) {
    return lie("its length differs");
  }
  return length;
}

Result<std::string> next_hop(std::string_view from, std::string_view location) {
  std::string to = without_credentials(without_fragment(resolve_url(from, location)));
  if (!is_http_url(to)) {
    return fail(ErrorKind::io, fmt::format("{} redirects to {}, which is not http or https",
                                           redact_url(from), redact_url(to)));
  }
  if (text::ascii_lower(split_url(from).scheme) == "https" &&
      text::ascii_lower(split_url(to).scheme) == "http") {
    return fail(
        ErrorKind::io,
        fmt::format("{} redirects to {}: from https to http", redact_url(from), redact_url(to)),
        "use the final address as the index URL if you trust that connection");
  }
  return to;
}

bool is_transient_status(int status) {
  return status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

std::chrono::milliseconds retry_pause(unsigned retry, std::chrono::milliseconds first,
                                      std::optional<std::uint64_t> retry_after_seconds) {
  std::chrono::milliseconds pause = std::min(first * (1U << std::min(retry, 10U)), longest_pause);
  if (retry_after_seconds) {
    const std::chrono::seconds wanted(std::min(*retry_after_seconds, longest_retry_after_seconds));
    pause = std::max<std::chrono::milliseconds>(pause, wanted);
  }
  return pause;
}

bool exceeds_pauses(std::optional<std::uint64_t> retry_after_seconds, unsigned retries) {
  return retry_after_seconds && *retry_after_seconds > longest_retry_after_seconds * retries;
}

CacheControl parse_cache_control(std::string_view text) {
  CacheControl result;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string item = text::ascii_lower(text::trim_ascii(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (item == "no-store") result.no_store = true;
    if (item == "no-cache" || item.starts_with("no-cache=")) result.no_cache = true;
    if (item.starts_with("max-age=")) {
      std::string_view value = std::string_view(item).substr(8);
      if (value.size() > 1 && value.front() == '"' && value.back() == '"') {
        value = value.substr(1, value.size() - 2);
      }
      result.max_age_seconds = parse_decimal(value).value_or(0);
    }
  }
  return result;
}

}  // namespace axle::index
