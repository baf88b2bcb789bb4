#pragma once
// Interprets HTTP headers, as functions of text (RFC 9110, RFC 9111).

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "index/http/transport.h"

namespace axle::index {

struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  ///< inclusive
  std::optional<std::uint64_t> total;
};

/// "bytes 0-99/1000" or "bytes 0-99/*".
[[nodiscard]] std::optional<ContentRange> parse_content_range(std::string_view text);

/// A non-negative decimal number and nothing else.
[[nodiscard]] std::optional<std::uint64_t> parse_decimal(std::string_view text);

/// "Sun, 06 Nov 1994 08:49:37 GMT" (the form that servers must send, RFC 9110) as Unix time.
[[nodiscard]] std::optional<std::int64_t> parse_http_date(std::string_view text);

/// The headers of a response that are used.
struct ResponseHead {
  int status = 0;
  bool multiplexed = false;  ///< HTTP/2: one connection carries many exchanges
  std::string content_type;
  std::string content_encoding;
  std::string content_range;
  std::string etag;
  std::string last_modified;
  std::string cache_control;
  std::string location;
  std::optional<std::uint64_t> content_length;
  std::optional<std::uint64_t> retry_after_seconds;
  std::optional<std::int64_t> retry_after_time;  ///< Retry-After as a date; Unix time
  std::optional<std::int64_t> sent_at;           ///< Date
  std::uint64_t age_seconds = 0;
  /// Those of a storage, "x-amz-…", and of WebDAV, "lock-token"; by name in lower case.
  std::map<std::string, std::string, std::less<>> of_storage;

  /// A status line starts again (interim responses come first).
  void add_line(std::string_view line);
  [[nodiscard]] bool is_redirect() const;
  /// What Retry-After asks for. A date counts from the server's own clock, without that from `now`.
  [[nodiscard]] std::optional<std::uint64_t> seconds_to_wait(std::int64_t now) const;
};

/// The Range header for a request: "Range: bytes=0-99", empty for the whole file.
[[nodiscard]] std::string range_header(const HttpRequest& request);
/// Whether a 206 is what was requested; how many bytes its body must have. Error: unsupported, with
/// the URL and both ranges.
[[nodiscard]] Result<std::uint64_t> check_partial(const HttpRequest& request,
                                                  const ResponseHead& head);

/// The target of a redirect. Error: io (no http(s) target, or from https to http).
[[nodiscard]] Result<std::string> next_hop(std::string_view from, std::string_view location);

[[nodiscard]] bool is_transient_status(int status);
/// Doubles from `first` with each retry (0 is the first one); a server's Retry-After is used up to
/// 30 s.
[[nodiscard]] std::chrono::milliseconds retry_pause(
    unsigned retry, std::chrono::milliseconds first,
    std::optional<std::uint64_t> retry_after_seconds);

/// The server asks for more time than `retries` pauses may take: asking again before is no use.
[[nodiscard]] bool exceeds_pauses(std::optional<std::uint64_t> retry_after_seconds,
                                  unsigned retries);

struct CacheControl {
  std::optional<std::uint64_t> max_age_seconds;
  bool no_store = false;
  bool no_cache = false;
};
[[nodiscard]] CacheControl parse_cache_control(std::string_view text);

}  // namespace axle::index
