#include "index/http/http_rules.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace axle::index;
using axle::ErrorKind;
using std::chrono::milliseconds;

TEST_CASE("Content-Range is read strictly") {
  const auto range = parse_content_range("bytes 5-9/100");
  REQUIRE(range.has_value());
  CHECK(range->first == 5);
  CHECK(range->last == 9);
  CHECK(range->total == 100);
  CHECK(!parse_content_range("bytes 0-9/*")->total.has_value());
  for (const char* broken : {"", "bytes */100", "bytes 9-5/100", "bytes 0-100/100", "items 0-9/100",
                             "bytes -1-9/100", "bytes 0-18446744073709551615/*", "bytes 0-9"}) {
    CAPTURE(broken);
    CHECK(!parse_content_range(broken).has_value());
  }
}

namespace {

ResponseHead partial(const char* content_range) {
  ResponseHead head;
  head.add_line("HTTP/1.1 206 Partial Content");
  head.add_line(std::string("Content-Range: ") + content_range);
  return head;
}

HttpRequest asks(std::uint64_t offset, std::uint64_t length) {
  HttpRequest request;
  request.url = "https://user:secret@host/x.whl";
  request.range = ByteRange{offset, length};
  return request;
}

}  // namespace

TEST_CASE("a part must be the part that was asked for") {
  CHECK(check_partial(asks(10, 5), partial("bytes 10-14/100")).value() == 5);
  CHECK(check_partial(asks(98, 5), partial("bytes 98-99/100")).value() == 2);
  for (const char* lie :
       {"bytes 11-15/100", "bytes 10-13/100", "bytes 10-15/100", "bytes 10-13/*"}) {
    CAPTURE(lie);
    const auto checked = check_partial(asks(10, 5), partial(lie));
    REQUIRE(!checked);
    CHECK(checked.error().kind == ErrorKind::unsupported);
    CHECK(checked.error().message.find("secret") == std::string::npos);
    CHECK(checked.error().message.find(lie) != std::string::npos);
  }
  ResponseHead packed = partial("bytes 10-14/100");
  packed.add_line("content-encoding: gzip");
  CHECK(!check_partial(asks(10, 5), packed));
  CHECK(!check_partial(HttpRequest{}, partial("bytes 0-9/10")));
}

TEST_CASE("a tail must be the end of the file") {
  HttpRequest request;
  request.tail = 10;
  CHECK(check_partial(request, partial("bytes 90-99/100")).value() == 10);
  CHECK(check_partial(request, partial("bytes 0-4/5")).value() == 5);
  CHECK(!check_partial(request, partial("bytes 89-98/100")));
  CHECK(!check_partial(request, partial("bytes 95-99/100")));
  CHECK(!check_partial(request, partial("bytes 90-99/*")));
}

TEST_CASE("redirects stay on http and never leave https") {
  CHECK(next_hop("https://a/x/", "/y").value() == "https://a/y");
  CHECK(next_hop("http://a/x/", "https://b/y#f").value() == "https://b/y");
  CHECK(next_hop("https://u:p@a/x/", "y").value() == "https://a/x/y");
  CHECK(next_hop("https://a/x", "https://u:p@b/y").value() == "https://b/y");
  CHECK(next_hop("https://a/x", "http://a/y").error().message.find("from https to http") !=
        std::string::npos);
  CHECK(!next_hop("http://a/x", "file:///etc/passwd"));
  CHECK(!next_hop("http://a/x", "ftp://b/"));
}

TEST_CASE("pauses double, heed the server, and end at 30 seconds") {
  CHECK(retry_pause(0, milliseconds(250), {}) == milliseconds(250));
  CHECK(retry_pause(2, milliseconds(250), {}) == milliseconds(1000));
  CHECK(retry_pause(0, milliseconds(250), 3) == milliseconds(3000));
  CHECK(retry_pause(0, milliseconds(250), 86400) == milliseconds(30000));
  CHECK(retry_pause(60, milliseconds(250), {}) == milliseconds(30000));
}

TEST_CASE("a server may ask for more time than all retries wait") {
  CHECK(!axle::index::exceeds_pauses({}, 3));
  CHECK(!axle::index::exceeds_pauses(90, 3));
  CHECK(axle::index::exceeds_pauses(91, 3));
  CHECK(axle::index::exceeds_pauses(86400, 3));
}

TEST_CASE("Retry-After is a number of seconds or a date, which counts from the server's clock") {
  CHECK(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT") == 784111777);
  CHECK(parse_http_date("Thu, 29 Feb 2024 00:00:00 GMT") == 1709164800);
  for (const char* wrong : {"", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 31 Feb 2024 00:00:00 GMT",
                            "Sun, 06 ovD 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
                            "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, xx Nov 1994 08:49:37 GMT"}) {
    CHECK_MESSAGE(!parse_http_date(wrong), wrong);
  }
  const auto wait = [](const std::vector<std::string>& lines) {
    ResponseHead head;
    for (const std::string& line : lines) head.add_line(line);
    return head.seconds_to_wait(784111770);
  };
  CHECK(wait({"HTTP/1.1 503 Busy"}) == std::nullopt);
  CHECK(wait({"HTTP/1.1 503 Busy", "Retry-After: 7"}) == 7);
  CHECK(wait({"HTTP/1.1 503 Busy", "Retry-After: -7"}) == std::nullopt);
  CHECK(wait({"HTTP/1.1 503 Busy", "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"}) == 7);
  CHECK(wait({"HTTP/1.1 503 Busy", "Retry-After: Sun, 06 Nov 1994 08:49:00 GMT"}) == 0);
  CHECK(wait({"HTTP/1.1 503 Busy", "Date: Sun, 06 Nov 1994 08:49:35 GMT",
              "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"}) == 2);
}

TEST_CASE("only statuses that may pass are tried again") {
  for (const int status : {429, 500, 502, 503, 504}) CHECK(is_transient_status(status));
  for (const int status : {200, 301, 400, 401, 403, 404, 410, 501, 505}) {
    CHECK(!is_transient_status(status));
  }
}

TEST_CASE("Cache-Control is read without case") {
  const CacheControl control = parse_cache_control("Public, MAX-AGE=600");
  CHECK(control.max_age_seconds == 600);
  CHECK(!control.no_store);
  CHECK(parse_cache_control("no-store").no_store);
  CHECK(parse_cache_control("no-cache, max-age=5").no_cache);
  CHECK(parse_cache_control("max-age=\"60\"").max_age_seconds == 60);
  CHECK(parse_cache_control("max-age=-1").max_age_seconds == 0);
  CHECK(!parse_cache_control("").max_age_seconds.has_value());
}

TEST_CASE("headers belong to the last status line") {
  ResponseHead head;
  head.add_line("HTTP/1.1 100 Continue");
  head.add_line("ETag: \"old\"");
  head.add_line("HTTP/2 301");
  head.add_line("LOCATION:  /next ");
  CHECK(head.status == 301);
  CHECK(head.etag.empty());
  CHECK(head.location == "/next");
  CHECK(head.is_redirect());
}
