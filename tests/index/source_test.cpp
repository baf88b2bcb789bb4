#include "index/pages/source.h"

#include <algorithm>
#include <memory>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "index/http/url.h"
#include "index/pages/file_project.h"
#include "tests/index/sample_wheels.h"
#include "tests/support/index_server.h"

using namespace axle::index;
using axle::CollectedReport;
using axle::ErrorKind;
using axle::test::IndexServer;
using axle::test::TemporaryFolder;

namespace {

constexpr const char* json_page =
    R"({"meta":{"api-version":"1.1"},"name":"x","files":[{"filename":"x-1.0-py3-none-any.whl",)"
    R"("url":"x-1.0-py3-none-any.whl","hashes":{},"size":3}]})";
constexpr const char* html_page =
    "<a href='x-1.0-py3-none-any.whl'>x</a><a href='x-2.0.tar.gz'>x</a>";

struct Setup {
  Setup() : server(folder.path()) {
    TransportOptions options;
    options.retries = 0;
    options.timeout_seconds = 30;
    transport = make_transport(options);
  }
  std::unique_ptr<Source> simple(const std::string& path) {
    return make_simple_source(server.url(path), *transport, report);
  }

  TemporaryFolder folder;
  IndexServer server;
  CollectedReport report;
  std::unique_ptr<Transport> transport;
};

}  // namespace

TEST_CASE("a simple index is asked by normalised name, for JSON first") {
  Setup setup;
  axle::test::write_file(setup.folder / "simple/x/index.json", json_page);
  axle::test::write_file(setup.folder / "simple/x/index.html", html_page);
  for (const char* base : {"/simple", "/simple/"}) {
    const auto page = setup.simple(base)->project("x");
    REQUIRE(page);
    REQUIRE(page->files.size() == 1);
    CHECK(page->files[0].url == setup.server.url("/simple/x/x-1.0-py3-none-any.whl"));
    CHECK(page->name == "x");
  }
  const auto seen = setup.server.seen();
  CHECK(seen[0].target == "/simple/x/");
  CHECK(seen[0].headers.at("accept").starts_with("application/vnd.pypi.simple.v1+json,"));
}

TEST_CASE("a simple index may speak HTML and redirect") {
  Setup setup;
  axle::test::write_file(setup.folder / "simple/x/index.html", html_page);
  CHECK(setup.simple("/simple")->project("x")->files.size() == 2);
  const auto moved = setup.simple("/-redirect/simple")->project("x");
  REQUIRE(moved);
  CHECK(moved->files[0].url == setup.server.url("/simple/x/x-1.0-py3-none-any.whl"));
}

TEST_CASE("a project that an index does not have is an empty page") {
  Setup setup;
  axle::test::write_file(setup.folder / "simple/x/index.json", json_page);
  CHECK(setup.simple("/simple")->project("absent")->files.empty());
  auto local = make_simple_source(setup.folder / "simple", *setup.transport, setup.report);
  CHECK(local->project("absent")->files.empty());
}

TEST_CASE("names that are not normalised never reach an index") {
  Setup setup;
  for (const char* name : {"", "..", "a/b", "A", "a_b", "a%2e"}) {
    CAPTURE(name);
    CHECK(setup.simple("/simple")->project(name).error().kind == ErrorKind::malformed);
    auto local = make_simple_source(setup.folder.path(), *setup.transport, setup.report);
    CHECK(local->project(name).error().kind == ErrorKind::malformed);
  }
  CHECK(setup.server.seen().empty());
}

TEST_CASE("other statuses name the URL without credentials, the status and a fix") {
  Setup setup;
  for (const int status : {401, 403, 500}) {
    std::string url = setup.server.url(fmt::format("/-status-{}/simple", status));
    auto source =
        make_simple_source(url.insert(7, "user:topsecret@"), *setup.transport, setup.report);
    CHECK(source->description().find("topsecret") == std::string::npos);
    const auto page = source->project("x");
    REQUIRE(!page);
    CHECK(page.error().kind == ErrorKind::io);
    CHECK(page.error().message.find(fmt::format("status {}", status)) != std::string::npos);
    CHECK(page.error().message.find("/simple/x/") != std::string::npos);
    CHECK(page.error().message.find("topsecret") == std::string::npos);
    CHECK(!page.error().hint.empty());
  }
}

TEST_CASE("an index behind a password gives links without it, which still work") {
  Setup setup;
  axle::test::write_file(setup.folder / "simple/x/index.json", json_page);
  axle::test::write_file(setup.folder / "simple/x/x-1.0-py3-none-any.whl", "abc");
  std::string url = setup.server.url("/-auth/simple");
  auto source = make_simple_source(url.insert(7, "user:secret@"), *setup.transport, setup.report);
  const auto page = source->project("x");
  REQUIRE(page);
  REQUIRE(page->files.size() == 1);
  CHECK(page->files[0].url.find("secret") == std::string::npos);
  CHECK(page->url.find("secret") == std::string::npos);
  HttpRequest request;
  request.url = page->files[0].url;
  CHECK(setup.transport->fetch(request)->body == "abc");
}

TEST_CASE("pages that are none are malformed and named") {
  Setup setup;
  axle::test::write_file(setup.folder / "simple/x/index.json", json_page);
  for (const char* mode : {"/-login", "/-other-type", "/-wrong"}) {
    CAPTURE(mode);
    const auto page = setup.simple(std::string(mode) + "/simple")->project("x");
    if (std::string_view(mode) == "/-wrong" && page)
      continue;  // the flipped bit fell into a string
    REQUIRE(!page);
    CHECK(page.error().kind == ErrorKind::malformed);
    CHECK(page.error().message.find(std::string(mode) + "/simple/x/") != std::string::npos);
  }
}

TEST_CASE("a folder serves as simple index by its pages or by its wheels") {
  Setup setup;
  axle::test::write_file(setup.folder / "i/both/index.json", json_page);
  axle::test::write_file(setup.folder / "i/both/index.html", html_page);
  axle::test::write_file(setup.folder / "i/html/index.html", html_page);
  axle::test::write_file(setup.folder / "i/files/y-1.0-py3-none-any.whl", "abc");
  for (const std::string& base : {setup.folder / "i", file_url(setup.folder / "i") + "/"}) {
    auto source = make_simple_source(base, *setup.transport, setup.report);
    CHECK(source->description() == setup.folder / "i");
    const auto both = source->project("both");
    REQUIRE(both);
    REQUIRE(both->files.size() == 1);
    CHECK(both->files[0].url == file_url(setup.folder / "i/both/x-1.0-py3-none-any.whl"));
    CHECK(source->project("html")->files.size() == 2);
    CHECK(source->project("files")->files.size() == 1);
  }
}

TEST_CASE("an index folder that does not exist is an error, not an empty index") {
  Setup setup;
  auto source = make_simple_source(setup.folder / "absent", *setup.transport, setup.report);
  const auto page = source->project("x");
  REQUIRE(!page);
  CHECK(page.error().kind == ErrorKind::io);
  CHECK(page.error().message.find("absent") != std::string::npos);
  auto foreign = make_simple_source("file://server/share", *setup.transport, setup.report);
  CHECK(foreign->project("x").error().kind == ErrorKind::malformed);
  for (const auto& unreadable :
       {make_simple_source("ftp://host/simple", *setup.transport, setup.report),
        make_find_links_source("s3://bucket/wheels", *setup.transport, setup.report)}) {
    CHECK(unreadable->project("x").error().message.contains("is not a supported address"));
  }
}

TEST_CASE("find-links reads a folder or a page, for one project at a time") {
  Setup setup;
  for (const char* name : {"x-1.0-py3-none-any.whl", "x_y-1.0-py3-none-any.whl", "x-y-2.0.tar.gz",
                           "x-1.0-variants.json", "X-3.0.zip"}) {
    axle::test::write_file(setup.folder / ("links/" + std::string(name)), "abc");
  }
  axle::test::write_file(
      setup.folder / "links.html",
      "<a href='links/x-1.0-py3-none-any.whl'>1</a><a href='links/x-y-2.0.tar.gz'>");
  for (const std::string& location : {setup.folder / "links", file_url(setup.folder / "links")}) {
    auto source = make_find_links_source(location, *setup.transport, setup.report);
    CHECK(source->project("x")->files.size() == 3);
    CHECK(source->project("x-y")->files.size() == 2);
    CHECK(source->project("y")->files.empty());
  }
  for (const std::string& location :
       {setup.folder / "links.html", file_url(setup.folder / "links.html"),
        setup.server.url("/links.html")}) {
    CAPTURE(location);
    auto source = make_find_links_source(location, *setup.transport, setup.report);
    CHECK(source->project("x")->files.size() == 1);
    CHECK(source->project("x-y")->files.size() == 1);
  }
  CHECK(setup.server.seen().size() == 1);  // the page was read once
}

TEST_CASE("find-links places that do not exist are errors") {
  Setup setup;
  for (const std::string& location : {setup.folder / "absent", setup.server.url("/absent")}) {
    CAPTURE(location);
    auto source = make_find_links_source(location, *setup.transport, setup.report);
    const auto page = source->project("x");
    REQUIRE(!page);
    CHECK(page.error().kind == ErrorKind::not_found);
    CHECK(page.error().message.find("absent") != std::string::npos);
    CHECK(!page.error().hint.empty());
  }
}

TEST_CASE("file names tell their project") {
  CHECK(belongs_to("My_Pkg-1.0-py3-none-any.whl", "my-pkg"));
  CHECK(belongs_to("my-pkg-1.0.tar.gz", "my-pkg"));
  CHECK(!belongs_to("my-pkg-1.0.tar.gz", "my"));
  CHECK(belongs_to("my-1.0.tar.gz", "my"));
  CHECK(belongs_to("my_pkg-1.0-variants.json", "my-pkg"));
  CHECK(!belongs_to("my-pkg.tar.gz", "my-pkg"));
  CHECK(!belongs_to("readme.txt", "readme.txt"));
}
