// Requests that are sent ahead: many at once, each answer for the one who asks next, and nothing
// waits for what nobody asks.

#include <any>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "index/http/request_queue.h"
#include "index/http/transport.h"
#include "index/pages/source.h"
#include "tests/index/sample_wheels.h"
#include "tests/support/index_server.h"
#include "wheel/hash/sha256.h"

using namespace axle::index;
using axle::ErrorKind;
using axle::Result;
using axle::test::IndexServer;
using axle::test::TemporaryFolder;

namespace {

using Clock = std::chrono::steady_clock;

std::string sha256_of(std::string_view text) {
  return axle::wheel::render_hex(axle::wheel::sha256(text));
}

struct Setup {
  Setup() : server(folder.path()) {
    axle::test::write_file(folder / "file.bin", content);
    for (int i = 0; i < 30; ++i)
      axle::test::write_file(folder / fmt::format("{}.bin", i), fmt::format("content {}", i));
    options.timeout_seconds = 30;
    options.retries = 1;
    options.retry_pause_ms = 1;
  }

  HttpRequest asks(const std::string& path) const {
    HttpRequest request;
    request.url = server.url(path);
    return request;
  }
  /// What is on its way arrives before long.
  void wait_for(std::size_t requests) const {
    while (server.seen().size() < requests)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  TemporaryFolder folder;
  std::string content = "content";
  IndexServer server;
  TransportOptions options;
};

}  // namespace

TEST_CASE("requests sent ahead travel at the same time") {
  const Setup setup;
  const auto transport = make_transport(setup.options);
  const auto begin = Clock::now();
  for (int i = 0; i < 30; ++i) transport->prefetch(setup.asks(fmt::format("/-late/{}.bin", i)));
  for (int i = 0; i < 30; ++i) {
    const auto response = transport->fetch(setup.asks(fmt::format("/-late/{}.bin", i)));
    REQUIRE(response);
    CHECK(response->body == fmt::format("content {}", i));
  }
  CHECK(setup.server.seen().size() == 30);
  CHECK(Clock::now() - begin < std::chrono::seconds(3));  // one after the other: 6 s
}

TEST_CASE("an answer that was sent for ahead is given once") {
  const Setup setup;
  const auto transport = make_transport(setup.options);
  const HttpRequest request = setup.asks("/file.bin");
  transport->prefetch(request);
  transport->prefetch(request);
  CHECK(transport->fetch(request)->body == setup.content);
  CHECK(setup.server.seen().size() == 1);
  CHECK(transport->fetch(request)->body == setup.content);
  CHECK(setup.server.seen().size() == 2);
  transport->prefetch(request);
  HttpRequest other = request;
  other.etag = "\"x\"";
  CHECK(transport->fetch(other)->body == setup.content);
  setup.wait_for(4);
  CHECK(setup.server.seen().size() == 4);
}

TEST_CASE("what goes wrong ahead is said to whoever asks, in the same words") {
  Setup setup;
  const auto transport = make_transport(setup.options);
  for (const char* path :
       {"/-cut/file.bin", "/-redirect-loop/file.bin", "/-redirect-file/file.bin"}) {
    CAPTURE(path);
    const HttpRequest request = setup.asks(path);
    const auto plain = transport->fetch(request);
    const std::size_t seen = setup.server.seen().size();
    transport->prefetch(request);
    const auto ahead = transport->fetch(request);
    CHECK(setup.server.seen().size() == 2 * seen);
    REQUIRE(!plain);
    REQUIRE(!ahead);
    CHECK(ahead.error().message == plain.error().message);
    CHECK(ahead.error().hint == plain.error().hint);
    CHECK(ahead.error().kind == plain.error().kind);
    setup.server.forget();
  }
  transport->prefetch(setup.asks("/-busy-once/file.bin"));
  CHECK(transport->fetch(setup.asks("/-busy-once/file.bin"))->body == setup.content);
  transport->prefetch(setup.asks("/-status-404/file.bin"));
  CHECK(transport->fetch(setup.asks("/-status-404/file.bin"))->status == 404);
}

TEST_CASE("what nobody asks for does not delay the end") {
  const Setup setup;
  auto transport = make_transport(setup.options);
  transport->prefetch(setup.asks("/-hang/file.bin"));
  transport->prefetch(setup.asks("/-status-503/file.bin"));
  CHECK(transport->fetch(setup.asks("/file.bin"))->body == setup.content);
  const auto begin = Clock::now();
  transport.reset();
  CHECK(Clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("what hangs ahead is not in the way of what is waited for") {
  const Setup setup;
  const auto transport = make_transport(setup.options);
  for (std::size_t i = 0; i < RequestQueue::most_requests; ++i)
    transport->prefetch(setup.asks(fmt::format("/-hang/{}.bin", i)));
  const auto begin = Clock::now();
  for (int i = 0; i < 5; ++i) CHECK(transport->fetch(setup.asks("/file.bin"))->status == 200);
  CHECK(Clock::now() - begin < std::chrono::seconds(15));
}

TEST_CASE("one connection serves request after request") {
  const Setup setup;
  const auto transport = make_transport(setup.options);
  for (int i = 0; i < 20; ++i) CHECK(transport->fetch(setup.asks("/file.bin"))->status == 200);
  CHECK(setup.server.connections() == 1);
}

TEST_CASE("a part of a file is sent for ahead once the server has given one") {
  const Setup setup;
  const auto transport = make_transport(setup.options);
  HttpRequest request = setup.asks("/file.bin");
  request.tail = 3;
  transport->prefetch(request);
  CHECK(transport->fetch(request)->body == "ent");
  CHECK(setup.server.seen().size() == 1);
  request.tail = 4;
  transport->prefetch(request);
  setup.wait_for(2);
  CHECK(transport->fetch(request)->body == "tent");
  CHECK(setup.server.seen().size() == 2);
}

TEST_CASE("the keyring is asked when somebody needs the answer") {
  Setup setup;
  int asked = 0;
  setup.options.keyring = [&](const std::string&,
                              const std::string& user) -> Result<std::optional<std::string>> {
    ++asked;
    return user == "user" ? std::optional<std::string>("secret") : std::nullopt;
  };
  const auto transport = make_transport(setup.options);
  std::string url = setup.server.url("/-auth/");
  transport->remember_credentials(url.insert(7, "user@"));
  const HttpRequest request = setup.asks("/-auth/file.bin");
  transport->prefetch(request);
  setup.wait_for(1);
  CHECK(asked == 0);
  CHECK(transport->fetch(request)->body == setup.content);
  CHECK(asked == 1);
  CHECK(setup.server.seen().size() == 2);
}

TEST_CASE("offline nothing is sent ahead") {
  Setup setup;
  setup.options.offline = true;
  const TemporaryFolder cache;
  for (const bool cached : {false, true}) {
    auto transport = make_transport(setup.options);
    if (cached)
      transport =
          make_caching_transport(std::move(transport), {cache.path().string(), /*offline=*/true});
    transport->prefetch(setup.asks("/file.bin"));
    CHECK(!transport->fetch(setup.asks("/file.bin")));
  }
  CHECK(setup.server.seen().empty());
}

TEST_CASE("what the cache answers is not sent for ahead, and what it cannot is asked once") {
  Setup setup;
  const TemporaryFolder cache;
  const auto transport = [&] {
    return make_caching_transport(make_transport(setup.options), {cache.path().string()});
  };
  const auto ask = [&](const HttpRequest& request, int status, std::size_t requests) {
    setup.server.forget();
    const auto fresh = transport();
    fresh->prefetch(request);
    CHECK(fresh->fetch(request)->status == status);
    CHECK(setup.server.seen().size() == requests);
  };
  ask(setup.asks("/-fresh/file.bin"), 200, 1);
  ask(setup.asks("/-fresh/file.bin"), 200, 0);

  ask(setup.asks("/file.bin"), 200, 1);
  ask(setup.asks("/file.bin"), 200, 1);
  CHECK(setup.server.seen().front().headers.contains("if-none-match"));

  HttpRequest known = setup.asks("/0.bin");
  known.sha256 = sha256_of("content 0");
  ask(known, 200, 1);
  ask(known, 200, 0);
  // Other content by the same name.
  known.sha256 = sha256_of("content 1");
  ask(known, 200, 1);

  ask(setup.asks("/none.bin"), 404, 1);
  ask(setup.asks("/none.bin"), 404, 1);
}

TEST_CASE("an entry of the cache that is damaged is replaced although it was asked about ahead") {
  Setup setup;
  const TemporaryFolder cache;
  const HttpRequest request = setup.asks("/file.bin");
  (void)make_caching_transport(make_transport(setup.options), {cache.path().string()})
      ->fetch(request);
  for (const auto& file : std::filesystem::recursive_directory_iterator(cache.path())) {
    if (!file.is_regular_file()) continue;
    std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(-1, std::ios::end);
    bytes.put('?');
  }
  const auto transport =
      make_caching_transport(make_transport(setup.options), {cache.path().string()});
  transport->prefetch(request);
  CHECK(transport->fetch(request)->body == setup.content);
}

TEST_CASE("an answer is prepared once, whether anybody waits for it or not") {
  const Setup setup;
  std::atomic<int> prepared = 0;
  const auto transport = make_transport(setup.options);
  const auto prepare = [&](HttpResponse& response) {
    ++prepared;
    response.made = "made of " + std::exchange(response.body, {});
  };
  const HttpRequest request = setup.asks("/-gzip/file.bin");
  transport->prefetch(request, prepare);
  const auto begin = Clock::now();
  while (prepared == 0 && Clock::now() - begin < std::chrono::seconds(20))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(prepared == 1);
  const auto response = transport->fetch(request);
  REQUIRE(response);
  CHECK(std::any_cast<std::string>(response->made) == "made of content");
  CHECK(response->body.empty());
  CHECK(prepared == 1);
  // Nobody else's answer.
  CHECK(!transport->fetch(request)->made.has_value());
  for (int i = 0; i < 30; ++i)
    transport->prefetch(setup.asks(fmt::format("/-late/{}.bin", i)), prepare);
  for (int i = 29; i >= 0; --i) {
    const auto one = transport->fetch(setup.asks(fmt::format("/-late/{}.bin", i)));
    REQUIRE(one);
    CHECK(std::any_cast<std::string>(one->made) == fmt::format("made of content {}", i));
  }
  CHECK(prepared == 31);
}

TEST_CASE("an error is not prepared, and one in the preparation is the request's") {
  const Setup setup;
  const auto transport = make_transport(setup.options);
  const auto fails = [](HttpResponse&) { throw std::runtime_error("no room"); };
  transport->prefetch(setup.asks("/-cut/file.bin"), fails);
  const auto cut = transport->fetch(setup.asks("/-cut/file.bin"));
  REQUIRE(!cut);
  CHECK(cut.error().message.find("no room") == std::string::npos);
  transport->prefetch(setup.asks("/file.bin"), fails);
  const auto failed = transport->fetch(setup.asks("/file.bin"));
  REQUIRE(!failed);
  CHECK(failed.error().kind == ErrorKind::io);
  CHECK(failed.error().message.find("no room") != std::string::npos);
}

TEST_CASE("a page sent for ahead is in the cache and read when it is asked for, and asked once") {
  Setup setup;
  const TemporaryFolder cache;
  axle::test::write_file(
      setup.folder / "simple/x/index.html",
      "<html><a href='x-1.0-py3-none-any.whl'>x-1.0-py3-none-any.whl</a></html>");
  for (const char* way : {"/-gzip/simple", "/-gzip/-fresh/simple"}) {
    for (const bool is_new : {true, false}) {
      CAPTURE(way);
      CAPTURE(is_new);
      axle::CollectedReport report;
      const auto transport =
          make_caching_transport(make_transport(setup.options), {cache.path().string()});
      const auto source = make_simple_source(setup.server.url(way), *transport, report);
      setup.server.forget();
      source->prefetch("x");
      source->prefetch("missing");
      const bool is_asked = is_new || !std::string_view(way).contains("fresh");
      const auto begin = Clock::now();
      while (is_asked && !(source->has_arrived("x") && source->has_arrived("missing")) &&
             Clock::now() - begin < std::chrono::seconds(20)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      CHECK(source->has_arrived("x") == is_asked);
      const auto listed = source->listing("x");
      REQUIRE(listed);
      REQUIRE(listed->release_count() == 1);
      CHECK(listed->files(0).wheels.front().filename == "x-1.0-py3-none-any.whl");
      CHECK(source->listing("missing")->absent());
      CHECK(setup.server.seen().size() == (is_asked ? 2 : 1));
    }
  }
}

TEST_CASE("a page that there is something to say of says it where it is asked for") {
  Setup setup;
  axle::test::write_file(setup.folder / "simple/x/index.json",
                         R"({"meta":{"api-version":"1.1"},"name":"x","files":[{"filename":"x"}]})");
  axle::CollectedReport report;
  const auto transport = make_transport(setup.options);
  const auto source = make_simple_source(setup.server.url("/simple"), *transport, report);
  source->prefetch("x");
  source->prefetch("y");
  CHECK(source->listing("y")->absent());
  CHECK(report.remarks.empty());
  REQUIRE(source->listing("x"));
  CHECK(!source->has_arrived("x"));
  CHECK(report.remarks.size() == 1);
}
