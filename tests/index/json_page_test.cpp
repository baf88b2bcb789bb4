#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "index/pages/page.h"

using namespace axle::index;
using axle::CollectedReport;
using axle::ErrorKind;

namespace {

constexpr const char* page_url = "https://index.example/simple/x/";
const std::string digest(64, 'a');

std::string page_with(const std::string& files) {
  return R"({"meta":{"api-version":"1.1"},"name":"x","versions":[],"files":[)" + files + "]}";
}

axle::Result<ProjectPage> parse(const std::string& body) {
  CollectedReport report;
  return parse_json_page(body, page_url, report);
}

/// The one file of a page that holds only this entry.
PublishedFile only(const std::string& entry) {
  auto page = parse(page_with(entry));
  REQUIRE(page);
  REQUIRE(page->files.size() == 1);
  return page->files[0];
}

std::string entry_with(const std::string& more) {
  return R"({"filename":"x-1.0-py3-none-any.whl","url":"x-1.0-py3-none-any.whl","hashes":{})" +
         more + "}";
}

}  // namespace

TEST_CASE("a JSON page gives every field of a file") {
  const PublishedFile file = only(
      R"({"filename":"x-1.0-py3-none-any.whl","url":"../../packages/x-1.0-py3-none-any.whl#frag",)"
      R"("hashes":{"md5":"0","sha256":")" +
      std::string(64, 'B') +
      R"("},"requires-python":">=3.9","size":1234,"upload-time":"2026-01-02T03:04:05.678901Z",)"
      R"("yanked":"broken \"build\"","core-metadata":{"sha256":")" +
      digest + R"("},"provenance":null,"gpg-sig":true,"_private":[{"a":[1,2,{}]}]})");
  CHECK(file.filename == "x-1.0-py3-none-any.whl");
  CHECK(file.url == "https://index.example/packages/x-1.0-py3-none-any.whl");
  CHECK(file.hash.sha256() == std::string(64, 'b'));
  CHECK(file.requires_python == ">=3.9");
  CHECK(file.size == 1234);
  CHECK(file.yanked);
  CHECK(file.yanked_reason == "broken \"build\"");
  CHECK(file.has_metadata);
  CHECK(file.metadata_sha256 == digest);
}

TEST_CASE("of other hashes the strongest that can be computed is kept") {
  const auto noted = [](const std::string& hashes) {
    const auto hash =
        only(R"({"filename":"x-1.0-py3-none-any.whl","url":"x","hashes":)" + hashes + "}").hash;
    return hash.empty() ? std::string() : hash.algorithm + "=" + hash.digits;
  };
  CHECK(noted(R"({"md5":"AB","sha512":"CD","sha1":"ef"})") == "sha512=cd");
  CHECK(noted(R"({"crc32":"12"})") == "crc32=12");
  CHECK(noted(R"({"crc32":"12","md5":"34"})") == "md5=34");
  CHECK(noted(R"({"md5":"34","crc32":"12"})") == "md5=34");
  CHECK(noted(R"({"sha512":"CD","sha256":")" + digest + R"("})") == "sha256=" + digest);
  CHECK(noted(R"({"sha256":")" + digest + R"(","sha512":"CD"})") == "sha256=" + digest);
  CHECK(noted("{}").empty());
}

TEST_CASE("beside a sha256 one other is kept, for those who list only that") {
  const auto listed = [](const std::string& hashes) {
    const auto hash =
        only(R"({"filename":"x-1.0-py3-none-any.whl","url":"x","hashes":)" + hashes + "}").hash;
    std::string names;
    for (const auto& one : hash.as_listed()) names += one.algorithm + " ";
    return names;
  };
  const std::string sha256 = R"("sha256":")" + digest + '"';
  const std::string sha512 = R"("sha512":")" + std::string(128, 'C') + '"';
  CHECK(listed("{" + sha256 + "," + sha512 + "}") == "sha256 sha512 ");
  CHECK(listed("{" + sha512 + "," + sha256 + "}") == "sha256 sha512 ");
  CHECK(listed("{" + sha512 + R"(,"md5":"34",)" + sha256 + "}") == "sha256 sha512 ");
  CHECK(listed("{" + sha256 + R"(,"crc32":"12"})") == "sha256 ");
}

TEST_CASE("what a JSON page leaves out stays empty") {
  const PublishedFile file = only(entry_with(R"(,"requires-python":null,"yanked":false)"));
  CHECK(file.hash.sha256().empty());
  CHECK(!file.size.has_value());
  CHECK(file.requires_python.empty());
  CHECK(!file.yanked);
  CHECK(!file.has_metadata);
}

TEST_CASE("core-metadata wins over its older name wherever it stands") {
  const std::string old_name = R"(,"dist-info-metadata":{"sha256":")" + digest + R"("})";
  CHECK(only(entry_with(old_name)).metadata_sha256 == digest);
  CHECK(!only(entry_with(old_name + R"(,"core-metadata":false)")).has_metadata);
  const PublishedFile plain = only(entry_with(R"(,"core-metadata":true)" + old_name));
  CHECK(plain.has_metadata);
  CHECK(plain.metadata_sha256.empty());
}

TEST_CASE("a hash of the metadata is never taken for the file's in JSON either") {
  const std::string hash = R"({"sha256":")" + digest + R"("})";
  CHECK(only(entry_with(R"(,"core-metadata":)" + hash)).hash.sha256().empty());
  CollectedReport report;
  const auto page =
      parse_json_page(page_with(R"({"filename":"x-1.tar.gz","url":"x-1.tar.gz","hashes":)" + hash +
                                R"(,"dist-info-metadata":)" + hash + "}"),
                      page_url, report);
  REQUIRE(page);
  REQUIRE(page->files.size() == 1);
  CHECK(page->files[0].hash.sha256().empty());
  CHECK(page->files[0].metadata_sha256 == digest);
  CHECK(report.remarks.size() == 1);
}

TEST_CASE("links of a JSON page become absolute") {
  const auto url_of = [](const std::string& link) {
    return only(R"({"filename":"x-1.0.tar.gz","hashes":{},"url":")" + link + "\"}").url;
  };
  CHECK(url_of("x-1.0.tar.gz") == "https://index.example/simple/x/x-1.0.tar.gz");
  CHECK(url_of("/p/x-1.0.tar.gz") == "https://index.example/p/x-1.0.tar.gz");
  CHECK(url_of("//cdn.example/x-1.0.tar.gz") == "https://cdn.example/x-1.0.tar.gz");
  CHECK(url_of("http://cdn.example/a/../x%2B1.tar.gz") == "http://cdn.example/x%2B1.tar.gz");
  CHECK(url_of("a b\\r\\nX: y\\u00e4") == "https://index.example/simple/x/a%20b%0D%0AX:%20y%C3%A4");
}

TEST_CASE("broken entries of a JSON page are left out with a warning each, the rest stays") {
  const std::string good = entry_with("");
  for (const std::string& broken :
       {std::string("3"), std::string("null"), std::string("{}"), entry_with(R"(,"url":7)"),
        entry_with(R"(,"filename":["a"])"), entry_with(R"(,"filename":"../evil.whl")"),
        entry_with(R"(,"filename":"a\u0000b")"), entry_with(R"(,"hashes":{"sha256":"abc"})"),
        entry_with(R"(,"hashes":{"sha256":12})"), entry_with(R"(,"hashes":[])"),
        entry_with(R"(,"size":-1)"), entry_with(R"(,"size":1.5)"), entry_with(R"(,"size":"1")"),
        entry_with(R"(,"size":99999999999999999999999)"), entry_with(R"(,"yanked":[])"),
        entry_with(R"(,"url":"javascript:x")"), entry_with(R"(,"url":"file:///etc/passwd")"),
        entry_with(R"(,"core-metadata":{"sha256":"zz"})"),
        entry_with(R"(,"requires-python":[])")}) {
    CAPTURE(broken);
    CollectedReport report;
    const auto page =
        parse_json_page(page_with(good + "," + broken + "," + good), page_url, report);
    REQUIRE(page);
    CHECK(page->files.size() == 2);
    REQUIRE(report.remarks.size() == 1);
    CHECK(report.remarks[0].message.find(page_url) != std::string::npos);
  }
}

TEST_CASE("many broken entries give a few warnings and a sum") {
  std::string files = entry_with("");
  for (int i = 0; i < 100; ++i) files += ",{}";
  CollectedReport report;
  const auto page = parse_json_page(page_with(files), page_url, report);
  REQUIRE(page);
  CHECK(page->files.size() == 1);
  CHECK(report.remarks.size() == 6);
  CHECK(report.remarks.back().message.find("95 more") != std::string::npos);
}

TEST_CASE("JSON that is not a project page is malformed") {
  const std::string whole = page_with(entry_with(""));
  for (const std::string& body :
       {std::string(), std::string("null"), std::string("[]"), std::string("{}"),
        std::string(R"({"files":{}})"), std::string(R"({"projects":[]})"), std::string("<html>"),
        whole + "x", whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 1),
        page_with(entry_with("") + "}"), std::string("{\"files\":[\"\xff\"]}"),
        std::string(R"({"meta":{"api-version":"one"},"files":[]})")}) {
    CAPTURE(body);
    const auto page = parse(body);
    REQUIRE(!page);
    CHECK(page.error().kind == ErrorKind::malformed);
    CHECK(page.error().message.find(page_url) != std::string::npos);
  }
}

TEST_CASE("every truncation of a JSON page is an error and never a shorter page") {
  const std::string whole =
      page_with(entry_with(R"(,"size":12,"yanked":true)") + "," + entry_with(""));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK(!parse(whole.substr(0, length)));
  }
}

TEST_CASE("the version of the simple API decides whether a page is read") {
  const auto page_of = [](const char* version) {
    return parse(fmt::format(R"({{"files":[],"meta":{{"api-version":"{}"}}}})", version));
  };
  CHECK(page_of("1.0"));
  CHECK(page_of("1.99"));
  CHECK(page_of("2.0").error().kind == ErrorKind::unsupported);
  CHECK(page_of("10.1").error().kind == ErrorKind::unsupported);
  CHECK(parse(R"({"files":[]})"));
}

TEST_CASE("deep nesting in a JSON page is no danger") {
  const std::string deep(100'000, '[');
  CHECK(!parse(page_with(entry_with(",\"_x\":" + deep))));
  CHECK(!parse(deep));
}

TEST_CASE("the content type decides how a page is read") {
  CollectedReport report;
  const std::string body = page_with("");
  const auto as = [&](const char* type) { return parse_page(body, type, page_url, report); };
  CHECK(as("application/vnd.pypi.simple.v1+json; charset=UTF-8"));
  CHECK(as("Application/JSON"));
  CHECK(as("application/vnd.pypi.simple.v2+json").error().kind == ErrorKind::unsupported);
  CHECK(as("text/plain").error().kind == ErrorKind::malformed);
  CHECK(as("").error().kind == ErrorKind::malformed);
  CHECK(as("text/html").error().kind == ErrorKind::malformed);  // JSON text is not HTML page
}

TEST_CASE("PEP 740: where the provenance of a file is, in JSON") {
  CHECK(only(entry_with(R"(,"provenance":"https://index.example/integrity/x/provenance")"))
            .provenance == "https://index.example/integrity/x/provenance");
  CHECK(only(entry_with(R"(,"provenance":"/integrity/x")")).provenance ==
        "https://index.example/integrity/x");
  CHECK(only(entry_with(R"(,"provenance":null)")).provenance.empty());
  CHECK(only(entry_with("")).provenance.empty());
}

TEST_CASE("a page from the network names no provenance on this machine") {
  CollectedReport report;
  const auto page = parse_json_page(page_with(entry_with(R"(,"provenance":"file:///etc/passwd")")),
                                    page_url, report);
  REQUIRE(page);
  REQUIRE(page->files.size() == 1);
  CHECK(page->files[0].provenance.empty());
  REQUIRE(report.remarks.size() == 1);
  CHECK(report.remarks[0].message.contains("the provenance of x-1.0-py3-none-any.whl is ignored"));
}
