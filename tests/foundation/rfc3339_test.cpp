#include "foundation/text/rfc3339.h"

#include <doctest/doctest.h>

using namespace axle;
using text::parse_rfc3339;

TEST_CASE("upload times are read to the microsecond") {
  CHECK(parse_rfc3339("1970-01-01T00:00:00Z") == 0);
  CHECK(parse_rfc3339("1970-01-01T00:00:00.000001Z") == 1);
  CHECK(parse_rfc3339("1970-01-02T00:00:01.5Z") == 86'401'500'000);
  CHECK(parse_rfc3339("2024-06-01T12:00:00.123456Z") == 1'717'243'200'123'456);
  CHECK(parse_rfc3339("2024-06-01T14:00:00.123456789+02:00") == 1'717'243'200'123'456);
  CHECK(parse_rfc3339("2024-06-01t10:30:00.123456-01:30") == 1'717'243'200'123'456);
  CHECK(parse_rfc3339("2024-02-29T00:00:00Z"));
}

TEST_CASE("what is not a time is none") {
  for (const char* text : {"", "2024", "2024-06-01", "2024-06-01T12:00:00", "2024-06-01T12:00Z",
                           "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-06-01T24:00:00Z",
                           "2024-06-01T12:61:00Z", "2024-06-01T12:00:00.Z", "2024-06-01T12:00:00Zx",
                           "2024-06-01T12:00:00+2:00", "yesterday", "-024-06-01T12:00:00Z",
                           "2024-06-01T12:00:00+24:00", "2024-+6-01T12:00:00Z"}) {
    CHECK_FALSE_MESSAGE(parse_rfc3339(text).has_value(), text);
  }
}

TEST_CASE("a JSON page says when its files were uploaded and nonsense counts as nothing") {
  CollectedReport report;
  const auto page = index::parse_json_page(
      R"({"meta": {"api-version": "1.1"}, "name": "demo", "files": [
        {"filename": "demo-1-py3-none-any.whl", "url": "a.whl", "hashes": {},
         "upload-time": "1970-01-01T00:00:01Z"},
        {"filename": "demo-2-py3-none-any.whl", "url": "b.whl", "hashes": {}, "upload-time": 7},
        {"filename": "demo-3-py3-none-any.whl", "url": "c.whl", "hashes": {}, "upload-time": null},
        {"filename": "demo-4-py3-none-any.whl", "url": "d.whl", "hashes": {}}]})",
      "https://index.test/demo/", report);
  REQUIRE(page);
  REQUIRE(page->files.size() == 4);
  CHECK(page->files[0].uploaded == 1'000'000);
  for (std::size_t i = 1; i < 4; ++i) CHECK_FALSE(page->files[i].uploaded.has_value());
}

TEST_CASE("an http link without a hash is open on a page that came by https, and only there") {
  const auto exposed = [](const std::string& page_url, const std::string& link) {
    CollectedReport report;
    const auto page = index::parse_html_page(
        "<!DOCTYPE html><html><head><title>Links for demo"
        "</title></head><body><a href=\"" +
            link + "\">x</a></body></html>",
        page_url, report);
    REQUIRE(page);
    REQUIRE(page->files.size() == 1);
    return page->files[0].exposed;
  };
  const std::string link = "http://files.test/demo-1-py3-none-any.whl";
  CHECK(exposed("https://index.test/demo/", link));
  CHECK(exposed("HTTPS://index.test/demo/", "HTTP://files.test/demo-1-py3-none-any.whl"));
  CHECK_FALSE(exposed("http://index.test/demo/", link));
  CHECK_FALSE(exposed("https://index.test/demo/", "demo-1-py3-none-any.whl"));
  CHECK_FALSE(exposed("https://index.test/demo/", "https://f.test/demo-1-py3-none-any.whl"));
  CHECK_FALSE(exposed("https://index.test/demo/", link + "#sha256=" + std::string(64, 'a')));
  CHECK_FALSE(exposed("https://index.test/demo/", link + "#sha512=" + std::string(128, 'a')));
}
