#include <string>

#include <doctest/doctest.h>

#include "index/pages/page.h"
#include "index/pages/page_entry.h"

using namespace axle::index;
using axle::CollectedReport;
using axle::ErrorKind;

namespace {

constexpr const char* page_url = "https://index.example/simple/x/";
const std::string digest(64, 'a');

ProjectPage page_of(const std::string& body, const char* url = page_url) {
  CollectedReport report;
  auto page = parse_html_page(body, url, report);
  REQUIRE(page);
  return *page;
}

PublishedFile only(const std::string& anchor) {
  const ProjectPage page = page_of("<!DOCTYPE html><html><body>" + anchor + "</body></html>");
  REQUIRE(page.files.size() == 1);
  return page.files[0];
}

}  // namespace

TEST_CASE("an HTML page gives every field of a file") {
  const PublishedFile file =
      only("<a href=\"../../p/x-1.0%2Bcu128-py3-none-any.whl#sha256=" + digest +
           "\" data-requires-python=\"&gt;=3.9,&lt;4\" data-yanked=\"a &amp; b\""
           " data-core-metadata=\"sha256=" +
           std::string(64, 'B') + "\" data-gpg-sig=\"true\">another text</a>");
  CHECK(file.filename == "x-1.0+cu128-py3-none-any.whl");
  CHECK(file.url == "https://index.example/p/x-1.0%2Bcu128-py3-none-any.whl");
  CHECK(file.hash.sha256() == digest);
  CHECK(file.requires_python == ">=3.9,<4");
  CHECK(file.yanked);
  CHECK(file.yanked_reason == "a & b");
  CHECK(file.has_metadata);
  CHECK(file.metadata_sha256 == std::string(64, 'b'));
}

TEST_CASE("metadata marks of an HTML page in all their forms") {
  const auto mark = [](const std::string& attributes) {
    return only("<a href=x-1.tar.gz " + attributes + ">x</a>");
  };
  CHECK(mark("data-core-metadata=true").has_metadata);
  CHECK(mark("data-dist-info-metadata=true").has_metadata);
  CHECK(mark("data-dist-info-metadata=\"sha256=" + digest + "\"").metadata_sha256 == digest);
  CHECK(!mark("data-core-metadata=false data-dist-info-metadata=true").has_metadata);
  CHECK(!mark("").has_metadata);
  CHECK(mark("data-yanked").yanked);
  CHECK(mark("data-yanked=''").yanked_reason.empty());
}

TEST_CASE("a hash of the metadata is never taken for the file's") {
  const PublishedFile marked =
      only("<a href='x-1.tar.gz' data-dist-info-metadata='sha256=" + digest + "'>x</a>");
  CHECK(marked.hash.sha256().empty());
  CHECK(marked.metadata_sha256 == digest);

  const std::string other(64, 'b');
  std::string body;
  for (const std::string& hash : {digest, digest, other}) {
    body +=
        "<a href='x-1.tar.gz#sha256=" + hash + "' data-core-metadata='sha256=" + digest + "'>x</a>";
  }
  CollectedReport report;
  const auto page = parse_html_page(body, page_url, report);
  REQUIRE(page);
  REQUIRE(page->files.size() == 3);
  CHECK(page->files[0].hash.sha256().empty());
  CHECK(page->files[0].metadata_sha256 == digest);
  CHECK(page->files[2].hash.sha256() == other);
  REQUIRE(report.remarks.size() == 1);
  CHECK(report.remarks[0].message.find(page_url) != std::string::npos);
  CHECK(report.remarks[0].message.find("x-1.tar.gz and 1 more") != std::string::npos);
}

TEST_CASE("a base element moves the links of an HTML page") {
  const auto url_with = [](const std::string& base) {
    return page_of("<head><base href='" + base + "'></head><a href='x-1.tar.gz'>x</a>")
        .files[0]
        .url;
  };
  CHECK(url_with("https://cdn.example/files/") == "https://cdn.example/files/x-1.tar.gz");
  CHECK(url_with("/files/") == "https://index.example/files/x-1.tar.gz");
  CHECK(url_with("../") == "https://index.example/simple/x-1.tar.gz");
}

TEST_CASE("a hash may stand among other things in a link") {
  CHECK(only("<a href='x-1.tar.gz#egg=x&amp;sha256=" + digest + "'>x</a>").hash.sha256() == digest);
  CHECK(only("<a href='x-1.tar.gz#md5=1'>x</a>").hash.sha256().empty());
  CHECK(only("<a href=' x-1.tar.gz?token=1\n'>x</a>").url ==
        "https://index.example/simple/x/x-1.tar.gz?token=1");
}

TEST_CASE("links that are no distributions are passed over in silence") {
  CollectedReport report;
  const auto page = parse_html_page(
      "<a>no link</a><a href='..'>up</a><a href='?C=N;O=D'>Name</a><a "
      "href=x-1.whl.asc>signature</a>"
      "<a href='x-1.0-py3-none-any.whl'>x</a><a href='x-1.0-variants.json'>v</a>",
      page_url, report);
  REQUIRE(page);
  REQUIRE(page->files.size() == 2);
  CHECK(page->files[1].filename == "x-1.0-variants.json");
  CHECK(report.remarks.empty());
}

TEST_CASE("broken links of an HTML page are left out with a warning each") {
  for (const char* href : {"x-1.0.tar.gz#sha256=abc", "file:///srv/x-1.0.tar.gz",
                           "ftp://h/x-1.0.tar.gz", "a%2F..%2Fx-1.0.tar.gz", "a%0Ax-1.0.tar.gz"}) {
    CAPTURE(href);
    CollectedReport report;
    const auto page = parse_html_page(
        "<a href='y-1.tar.gz'>y</a><a href='" + std::string(href) + "'>x</a>", page_url, report);
    REQUIRE(page);
    CHECK(page->files.size() == 1);
    CHECK(report.remarks.size() == 1);
  }
}

TEST_CASE("a page on disk may link to files on disk") {
  const ProjectPage page = page_of("<a href='x-1.tar.gz'>x</a>", "file:///srv/simple/x/index.html");
  CHECK(page.files[0].url == "file:///srv/simple/x/x-1.tar.gz");
}

TEST_CASE("HTML that is not a project page is malformed") {
  CollectedReport report;
  for (const char* body :
       {"", "hello", "<html><title>Sign in</title><form></form><a href=/help>Help</a></html>",
        "{\"files\": []}"}) {
    CAPTURE(body);
    const auto page = parse_html_page(body, page_url, report);
    REQUIRE(!page);
    CHECK(page.error().kind == ErrorKind::malformed);
    CHECK(page.error().message.find(page_url) != std::string::npos);
    CHECK(parse_link_page(body, page_url, report));  // find-links pages need not be project pages
  }
}

TEST_CASE("an HTML page that says what it is may be empty") {
  CHECK(page_of("<meta name='pypi:repository-version' content='1.1'>").files.empty());
  CHECK(page_of("<h1>Links for x</h1>").files.empty());
  CollectedReport report;
  CHECK(parse_html_page("<meta name='pypi:repository-version' content='2.0'>", page_url, report)
            .error()
            .kind == ErrorKind::unsupported);
}

TEST_CASE("ten thousand tags inside each other are no danger") {
  std::string body;
  for (int i = 0; i < 10'000; ++i) body += "<div><b>";
  const ProjectPage page = page_of(body + "<a href='x-1.tar.gz'>x</a>");
  CHECK(page.files.size() == 1);
}

TEST_CASE("PEP 740: where the provenance of a file is, in HTML") {
  CHECK(
      only(R"(<a href="x-1.0.tar.gz" data-provenance="https://index.example/p?a=1&amp;b=2">x</a>)")
          .provenance == "https://index.example/p?a=1&b=2");
  CHECK(only(R"(<a href="x-1.0.tar.gz">x</a>)").provenance.empty());
}
