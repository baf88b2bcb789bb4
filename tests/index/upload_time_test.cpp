#include <doctest/doctest.h>

#include "index/pages/page.h"

using namespace axle;

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
