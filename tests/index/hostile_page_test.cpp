// Small pages that once took minutes or gigabytes. Time is not asserted here: a page whose cost is
// not linear does not come back within the limit of the test, and the memory is counted by what the
// page keeps.
#include <string>

#include <doctest/doctest.h>

#include "index/pages/html_reader.h"
#include "index/pages/page.h"

using namespace axle::index;
using axle::CollectedReport;
using axle::ErrorKind;

namespace {

constexpr const char* page_url = "https://index.example/simple/x/";

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::size_t files_of(const std::string& body) {
  CollectedReport report;
  const auto page = parse_html_page(body, page_url, report);
  REQUIRE(page);
  return page->files.size();
}

void check_refused(const axle::Result<ProjectPage>& page) {
  REQUIRE(!page);
  CHECK(page.error().kind == ErrorKind::malformed);
  CHECK(page.error().message.find(page_url) != std::string::npos);
  CHECK(page.error().message.find("far too long for its size") != std::string::npos);
}

}  // namespace

TEST_CASE("nesting, misnesting and reopened elements cost nothing") {
  constexpr std::size_t times = 2'000'000;
  const std::string link = "<a href='x-1.tar.gz'>x</a>";
  for (const char* pattern :
       {"<div>", "<p><font size=1>", "<b></p>", "<table><td>", "</div>", "<!--", "<a href='",
        "<title>", "<a", "<", "</", "<!", "&#x41", "<svg><title>", "--!"}) {
    CAPTURE(pattern);
    CHECK(files_of(link + repeated(pattern, times)) >= 1);
  }
  CHECK(files_of(repeated("<div>", times) + link) == 1);
}

TEST_CASE("an element with a million attributes is read like any other") {
  std::string attributes;
  for (int i = 0; i < 1'000'000; ++i) attributes += " a" + std::to_string(i);
  CHECK(files_of("<a" + attributes + " href='x-1.tar.gz'>x</a>") == 1);
  CHECK(files_of("<a href='x-1.tar.gz'" + repeated(" href=y", 1'000'000) + ">x</a>") == 1);
}

TEST_CASE("a base of a megabyte is not copied into every link") {
  const std::string body =
      "<base href='/" + std::string(1 << 20, 'b') + "/'>" + repeated("<a href=x-1.tar.gz>", 10'000);
  CollectedReport report;
  check_refused(parse_html_page(body, page_url, report));
}

TEST_CASE("a page of millions of tiny entries is refused before it fills the memory") {
  CollectedReport report;
  check_refused(parse_html_page(repeated("<a href=.whl>", 4'000'000), page_url, report));
  check_refused(parse_json_page(R"({"meta":{"api-version":"1.0"},"files":[)" +
                                    repeated(R"({"url":"a","filename":"a"},)", 2'000'000) +
                                    R"({"url":"a","filename":"a"}]})",
                                page_url, report));
}

TEST_CASE("names that stand for hundreds of tags each are refused before they are made") {
  const auto page = [](int files) {
    std::string text = R"({"meta":{"api-version":"1.0"},"files":[)";
    for (int i = 0; i < files; ++i) {
      text += R"({"url":"a","filename":"x-)" + std::to_string(i) +
              R"(.0-0.1.2.3.4.5.6.7.8.9-a.b.c.d.e.f.g.h.i.j-p.q.r.s.t.u.v.w.x.y.whl"},)";
    }
    return text + R"({"url":"a","filename":"x-1.tar.gz"}]})";
  };
  CollectedReport report;
  CHECK(parse_json_page(page(100), page_url, report)->files.size() == 101);
  check_refused(parse_json_page(page(1000), page_url, report));
}

TEST_CASE("entries that are left out take no memory and say so a few times only") {
  CollectedReport report;
  const auto page = parse_json_page(
      R"({"meta":{"api-version":"1.0"},"files":[)" + repeated("{},", 2'000'000) + "{}]}", page_url,
      report);
  REQUIRE(page);
  CHECK(page->files.empty());
  CHECK(page->files.capacity() < 100'000);
  CHECK(report.remarks.size() == 6);
}

TEST_CASE("a <base> counts wherever it stands") {
  CollectedReport report;
  const auto page = parse_html_page(
      "<a href='x-1.tar.gz'>x</a><BASE HREF='/files/'><base href='/no/'>", page_url, report);
  REQUIRE(page);
  REQUIRE(page->files.size() == 1);
  CHECK(page->files[0].url == "https://index.example/files/x-1.tar.gz");
}

TEST_CASE("character references") {
  CHECK(resolve_references("a&amp;b&lt;&gt;&quot;&apos;&#43;&#x2B;") == "a&b<>\"'++");
  CHECK(resolve_references("&lt=&amp1&gt ") == "&lt=&amp1> ");
  CHECK(resolve_references("&#;&#x;&;&nbsp;&#99999999999999;&#xd800;&#0;") ==
        "&#;&#x;&;&nbsp;\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(resolve_references("&#233;&#8364;&#128512;&#150;") ==
        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xe2\x80\x93");
}
