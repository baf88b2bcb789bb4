#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index/http/cache_store.h"
#include "index/http/transport.h"
#include "index/pages/source.h"
#include "tests/index/sample_wheels.h"
#include "tests/support/index_server.h"
#include "wheel/hash/sha256.h"

using namespace axle::index;
using axle::Result;
using axle::test::IndexServer;
using axle::test::TemporaryFolder;

namespace {

struct Setup {
  Setup() : server(folder.path()) {
    axle::test::write_file(folder / "page.html", "first");
    options.retries = 0;
    options.timeout_seconds = 30;
  }

  std::unique_ptr<Transport> transport(bool offline = false) const {
    return make_caching_transport(make_transport(options), {cache.path(), offline});
  }
  Result<HttpResponse> fetch(const std::string& path, bool offline = false) const {
    HttpRequest request;
    request.url = server.url(path);
    return transport(offline)->fetch(request);
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(cache.path())) {
      if (entry.is_regular_file()) found.push_back(entry.path());
    }
    return found;
  }

  TemporaryFolder folder;
  TemporaryFolder cache;
  IndexServer server;
  TransportOptions options;
};

}  // namespace

TEST_CASE("a cached page is asked for again and answered with 304") {
  const Setup setup;
  CHECK(setup.fetch("/page.html")->body == "first");
  const auto again = setup.fetch("/page.html");
  REQUIRE(again);
  CHECK(again->status == 200);
  CHECK(again->body == "first");
  CHECK(again->content_type == "text/html; charset=utf-8");
  const auto seen = setup.server.seen();
  REQUIRE(seen.size() == 2);
  CHECK(!seen[0].headers.contains("if-none-match"));
  CHECK(seen[1].headers.contains("if-none-match"));
}

TEST_CASE("a page that changed replaces its cached copy") {
  const Setup setup;
  CHECK(setup.fetch("/page.html")->body == "first");
  axle::test::write_file(setup.folder / "page.html", "second");
  CHECK(setup.fetch("/page.html")->body == "second");
  CHECK(setup.fetch("/page.html", true)->body == "second");
  CHECK(setup.entries().size() == 1);
}

TEST_CASE("a page that came compressed is kept so, and is the same page") {
  const Setup setup;
  const std::string page(100'000, 'x');
  axle::test::write_file(setup.folder / "page.html", page);
  CHECK(setup.fetch("/-gzip/page.html")->body == page);
  REQUIRE(setup.entries().size() == 1);
  CHECK(std::filesystem::file_size(setup.entries().front()) < 10'000);
  CHECK(setup.fetch("/-gzip/page.html", true)->body == page);
  CHECK(setup.fetch("/-gzip/page.html")->body == page);
  CHECK(setup.server.seen().back().headers.contains("if-none-match"));
  // A part of it is none.
  const std::string path = setup.entries().front();
  const std::string entry = axle::test::read_file(path);
  for (const std::string& other : {entry.substr(0, entry.size() - 1), entry + "x"}) {
    axle::test::write_file(path, other);
    CHECK(!setup.fetch("/-gzip/page.html", true));
  }
}

TEST_CASE("while the server calls a page fresh nobody is asked") {
  const Setup setup;
  for (int i = 0; i < 3; ++i) CHECK(setup.fetch("/-fresh/page.html")->body == "first");
  CHECK(setup.server.seen().size() == 1);
  // Eleven minutes later the ten that it was given are over.
  for (const std::string& path : setup.entries()) {
    std::filesystem::last_write_time(
        path, std::filesystem::last_write_time(path) - std::chrono::minutes(11));
  }
  CHECK(setup.fetch("/-fresh/page.html")->body == "first");
  CHECK(setup.server.seen().size() == 2);
  CHECK(setup.fetch("/-fresh/page.html")->body == "first");  // the 304 made it fresh again
  CHECK(setup.server.seen().size() == 2);
}

TEST_CASE(
    "a server that promises a year is believed for ten minutes, and not where it is asked again") {
  Setup setup;
  for (int i = 0; i < 2; ++i) CHECK(setup.fetch("/-fresh-year/page.html")->body == "first");
  CHECK(setup.server.seen().size() == 1);
  HttpRequest request;
  request.url = setup.server.url("/-fresh-year/page.html");
  const auto asking = make_caching_transport(make_transport(setup.options),
                                             {setup.cache.path(), false, /*refresh=*/true});
  CHECK(asking->fetch(request)->body == "first");
  CHECK(setup.server.seen().size() == 2);
  CHECK(setup.server.seen()[1].headers.at("cache-control") == "max-age=0");
  for (const std::string& path : setup.entries()) {
    std::filesystem::last_write_time(
        path, std::filesystem::last_write_time(path) - std::chrono::minutes(11));
  }
  CHECK(setup.fetch("/-fresh-year/page.html")->body == "first");
  CHECK(setup.server.seen().size() == 3);
}

TEST_CASE("a token in a URL is not kept") {
  const Setup setup;
  CHECK(setup.fetch("/page.html?token=secret")->body == "first");
  for (const std::string& path : setup.entries())
    CHECK(axle::test::read_file(path).find("secret") == std::string::npos);
  CHECK(setup.fetch("/page.html?token=secret", true)->body == "first");
}

TEST_CASE("what the server does not want kept is not kept") {
  const Setup setup;
  CHECK(setup.fetch("/-no-store/page.html")->body == "first");
  CHECK(setup.entries().empty());
}

TEST_CASE("offline the cache answers, and absence is known too") {
  const Setup setup;
  CHECK(setup.fetch("/page.html")->body == "first");
  CHECK(setup.fetch("/absent.html")->status == 404);
  CHECK(setup.server.seen().size() == 2);
  CHECK(setup.fetch("/page.html", true)->body == "first");
  CHECK(setup.fetch("/absent.html", true)->status == 404);
  const auto unknown = setup.fetch("/other.html", true);
  REQUIRE(!unknown);
  CHECK(unknown.error().message.find("/other.html is not in the cache") != std::string::npos);
  CHECK(!unknown.error().hint.empty());
  CHECK(setup.server.seen().size() == 2);
}

TEST_CASE("a corrupt cache entry counts as absent and is written anew") {
  const Setup setup;
  const std::string whole = [&] {
    CHECK(setup.fetch("/page.html")->body == "first");
    return axle::test::read_file(setup.entries().at(0));
  }();
  const std::string path = setup.entries().at(0);
  std::vector<std::string> damages = {"", "x", whole + "x", "axle http cache 1\n{}\n\n"};
  for (const double part : {0.1, 0.5, 0.9}) {
    damages.push_back(
        whole.substr(0, static_cast<std::size_t>(part * static_cast<double>(whole.size()))));
  }
  for (std::size_t i = 0; i < whole.size(); i += 7) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 4);
    damages.push_back(flipped);
  }
  for (const std::string& damage : damages) {
    axle::test::write_file(path, damage);
    const std::size_t before = setup.server.seen().size();
    CHECK(setup.fetch("/page.html")->body == "first");
    const auto seen = setup.server.seen();
    REQUIRE(seen.size() == before + 1);
    CHECK(!seen.back().headers.contains("if-none-match"));
    CHECK(axle::test::read_file(path) == whole);
  }
}

TEST_CASE("content named by its hash is asked for once") {
  const Setup setup;
  HttpRequest request;
  request.url = setup.server.url("/page.html");
  request.sha256 = axle::wheel::render_hex(axle::wheel::sha256("first"));
  for (int i = 0; i < 3; ++i) CHECK(setup.transport()->fetch(request)->body == "first");
  CHECK(setup.server.seen().size() == 1);

  // Another hash under the same name: the copy will not do, and a wrong answer is not kept.
  axle::test::write_file(setup.folder / "page.html", "second");
  request.sha256 = axle::wheel::render_hex(axle::wheel::sha256("third"));
  CHECK(setup.transport()->fetch(request)->body == "second");
  CHECK(setup.transport()->fetch(request)->body == "second");
  CHECK(setup.server.seen().size() == 3);
}

TEST_CASE("pages are kept by what was accepted") {
  const Setup setup;
  axle::test::write_file(setup.folder / "x/index.json", "{}");
  axle::test::write_file(setup.folder / "x/index.html", "<p>");
  HttpRequest request;
  request.url = setup.server.url("/x/");
  request.accept = "application/vnd.pypi.simple.v1+json";
  CHECK(setup.transport()->fetch(request)->body == "{}");
  request.accept = "text/html";
  CHECK(setup.transport()->fetch(request)->body == "<p>");
  CHECK(setup.entries().size() == 2);
}

TEST_CASE("the cache holds no secrets in the open and is for its owner only") {
  const Setup setup;
  HttpRequest request;
  request.url = setup.server.url("/page.html");
  request.url.insert(7, "user:topsecret@");
  CHECK(setup.transport()->fetch(request)->body == "first");
  REQUIRE(setup.entries().size() == 1);
  CHECK(axle::test::read_file(setup.entries()[0]).find("topsecret") == std::string::npos);
  struct stat status = {};
  CHECK(::stat((setup.cache / "http-2").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("ranges and downloads pass the cache by") {
  const Setup setup;
  HttpRequest request;
  request.url = setup.server.url("/page.html");
  request.range = ByteRange{1, 2};
  CHECK(setup.transport()->fetch(request)->body == "ir");
  CHECK(setup.entries().empty());
  CHECK(!setup.transport(true)->fetch(request));
  CHECK(!setup.transport(true)->download(
      request, [](std::span<const std::byte>) -> Result<void> { return {}; }));
}

TEST_CASE("several writers of one cache entry leave a whole one") {
  const TemporaryFolder folder;
  const CacheStore store(folder.path());
  HttpResponse response;
  response.status = 200;
  std::vector<std::thread> threads;
  for (char letter : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&store, letter] {
      HttpResponse own;
      own.status = 200;
      own.body = std::string(50'000, letter);
      for (int i = 0; i < 50; ++i) {
        store.write("key", own, 1000);
        const auto read = store.read("key");
        if (!read ||
            read->response.body.find_first_not_of(read->response.body[0]) != std::string::npos) {
          FAIL_CHECK("a torn entry was read");
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto read = store.read("key");
  REQUIRE(read.has_value());
  CHECK(read->response.body.size() == 50'000);
  CHECK(read->confirmed_at == 1000);
}

TEST_CASE("a cache that cannot be written stops nothing") {
  const Setup setup;
  axle::test::write_file(setup.cache / "http-2", "a file where a folder should be");
  CHECK(setup.fetch("/page.html")->body == "first");
  CHECK(setup.fetch("/page.html")->body == "first");
}

TEST_CASE("an entry that cannot be read is not taken for absent, and stops no page") {
  const Setup setup;
  const auto transport = setup.transport();
  CHECK(transport->recall("first").value() == std::nullopt);
  REQUIRE(transport->keep("first", "what counts"));
  const auto entries = setup.entries();
  REQUIRE(entries.size() == 1);
  const std::string aside = setup.cache / "aside";
  std::filesystem::rename(entries[0], aside);
  std::filesystem::create_symlink(entries[0], entries[0]);  // ELOOP, whoever reads it
  const auto unreadable = transport->recall("first");
  REQUIRE(!unreadable);
  CHECK(unreadable.error().kind == axle::ErrorKind::io);
  CHECK(unreadable.error().message.find(entries[0]) != std::string::npos);
  std::filesystem::rename(aside, entries[0]);
  CHECK(transport->recall("first").value() == "what counts");

  CHECK(setup.fetch("/page.html")->body == "first");
  for (const std::string& path : setup.entries()) {
    std::filesystem::remove(path);
    std::filesystem::create_symlink(path, path);
  }
  CHECK(setup.fetch("/page.html")->body == "first");
}

TEST_CASE("what a killed writer left is removed by the next one, what is being written is not") {
  const TemporaryFolder folder;
  const std::string drafts = folder / "http-2/drafts";
  std::filesystem::create_directories(drafts);
  axle::test::write_file(drafts + "/killed", "half");
  axle::test::write_file(drafts + "/living", "half");
  const int living = ::open((drafts + "/living").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(::flock(living, LOCK_EX | LOCK_NB) == 0);
  HttpResponse response;
  response.status = 200;
  CHECK(!CacheStore(folder.path()).write("key", response, 1000).path.empty());
  CHECK(!std::filesystem::exists(drafts + "/killed"));
  CHECK(std::filesystem::exists(drafts + "/living"));
  ::close(living);
}
