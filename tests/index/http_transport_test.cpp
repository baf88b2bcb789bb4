#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "index/http/curl_loader.h"
#include "index/http/transport.h"
#include "tests/index/sample_wheels.h"
#include "tests/support/index_server.h"

using namespace axle::index;
using axle::ErrorKind;
using axle::Result;
using axle::test::IndexServer;
using axle::test::TemporaryFolder;

namespace {

/// A server with one file, and a transport that does not wait long before it tries again.
struct Setup {
  Setup() : content(100'000, 'x'), server(folder.path()) {
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>('a' + i % 23);
    axle::test::write_file(folder / "file.bin", content);
    options.timeout_seconds = 30;  // far beyond what a busy machine needs
    options.retries = 2;
    options.retry_pause_ms = 1;
  }

  HttpRequest asks(const std::string& path) const {
    HttpRequest request;
    request.url = server.url(path);
    return request;
  }
  Result<HttpResponse> fetch(const HttpRequest& request) const {
    return make_transport(options)->fetch(request);
  }
  Result<HttpResponse> fetch(const std::string& path) const { return fetch(asks(path)); }

  TemporaryFolder folder;
  std::string content;
  IndexServer server;
  TransportOptions options;
};

std::string error_of(const Result<HttpResponse>& response) {
  REQUIRE(!response);
  CHECK(!response.error().message.empty());
  return response.error().message;
}

}  // namespace

TEST_CASE("a file comes over HTTP as it is") {
  const Setup setup;
  const auto response = setup.fetch("/file.bin");
  REQUIRE(response);
  CHECK(response->status == 200);
  CHECK(response->body == setup.content);
  CHECK(response->total_size == setup.content.size());
  CHECK(!response->etag.empty());
}

TEST_CASE("any status is an answer and its page is not kept") {
  const Setup setup;
  for (const int status : {403, 404, 410, 501}) {
    const auto response = setup.fetch("/-status-" + std::to_string(status) + "/file.bin");
    REQUIRE(response);
    CHECK(response->status == status);
    CHECK(response->body.empty());
  }
  CHECK(setup.server.seen().size() == 4);
}

TEST_CASE("compressed pages are unpacked, downloads never ask for compression") {
  const Setup setup;
  CHECK(setup.fetch("/-gzip/file.bin")->body == setup.content);
  std::string received;
  const auto response =
      make_transport(setup.options)
          ->download(setup.asks("/-gzip/file.bin"),
                     [&](std::span<const std::byte> bytes) -> Result<void> {
                       received.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                       return {};
                     });
  REQUIRE(response);
  CHECK(received == setup.content);
  CHECK(response->body.empty());
  const auto seen = setup.server.seen();
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].headers.at("accept-encoding") == "gzip, deflate");
  CHECK(!seen[1].headers.contains("accept-encoding"));
}

TEST_CASE("busy and failing servers are asked again, and not for ever") {
  const Setup setup;
  CHECK(setup.fetch("/-busy-once/file.bin")->body == setup.content);
  CHECK(setup.server.seen().size() == 2);
  const Setup other;
  CHECK(other.fetch("/-fail-twice/file.bin")->body == other.content);
  CHECK(other.server.seen().size() == 3);
  const Setup down;
  CHECK(down.fetch("/-status-503/file.bin")->status == 503);
  CHECK(down.server.seen().size() == 3);
}

TEST_CASE("a connection that breaks off is tried again, then reported with the URL") {
  const Setup setup;
  CHECK(setup.fetch("/-cut-once/file.bin")->body == setup.content);
  CHECK(setup.server.seen().size() == 2);
  const std::string message = error_of(setup.fetch("/-cut/file.bin"));
  CHECK(message.find(setup.server.url("/-cut/file.bin")) != std::string::npos);
  CHECK(message.find("interrupted") != std::string::npos);
  CHECK(setup.server.seen().size() == 5);
}

TEST_CASE("a download is not repeated once bytes were given out") {
  const Setup setup;
  std::size_t received = 0;
  const auto response = make_transport(setup.options)
                            ->download(setup.asks("/-cut/file.bin"),
                                       [&](std::span<const std::byte> bytes) -> Result<void> {
                                         received += bytes.size();
                                         return {};
                                       });
  CHECK(!response);
  CHECK(received == setup.content.size() / 2);
  CHECK(setup.server.seen().size() == 1);
}

TEST_CASE("an error of the receiver ends a download and is given back") {
  const Setup setup;
  const auto response =
      make_transport(setup.options)
          ->download(setup.asks("/file.bin"), [](std::span<const std::byte>) -> Result<void> {
            return axle::fail(ErrorKind::io, "the disk is full");
          });
  CHECK(error_of(response) == "the disk is full");
  CHECK(setup.server.seen().size() == 1);
}

TEST_CASE("servers that never answer or stop in the middle run into the time limit") {
  Setup setup;
  setup.options.retries = 0;
  setup.options.timeout_seconds = 1;
  for (const char* path : {"/-hang/file.bin", "/-stall/file.bin"}) {
    CAPTURE(path);
    const auto response = setup.fetch(path);
    CHECK(error_of(response).find("no response for 1 second") != std::string::npos);
    CHECK(!response.error().hint.empty());
  }
}

TEST_CASE("a slow server is not a stalled one") {
  Setup setup;
  setup.options.retries = 0;
  CHECK(setup.fetch("/-slow/file.bin")->body == setup.content);
}

TEST_CASE("a transfer below the lowest speed ends, and is not repeated") {
  Setup setup;
  setup.options.slow_seconds = 1;
  setup.options.slow_bytes_per_second = 100'000'000;
  for (int i = 0; i < 5; ++i) setup.content += setup.content;
  axle::test::write_file(setup.folder / "file.bin", setup.content);
  const auto response = setup.fetch("/-drip/file.bin");
  CHECK(error_of(response).find("less than 100000000 bytes per second for 1 second") !=
        std::string::npos);
  CHECK(!response.error().hint.empty());
  CHECK(setup.server.seen().size() == 1);
  setup.options.slow_bytes_per_second = 1;
  CHECK(setup.fetch("/file.bin")->body == setup.content);
}

TEST_CASE("bodies beyond the limit end the transfer") {
  const Setup setup;
  for (const char* path : {"/file.bin", "/-huge/file.bin", "/-bomb/file.bin"}) {
    CAPTURE(path);
    HttpRequest request = setup.asks(path);
    request.max_bytes = 50'000;
    CHECK(error_of(setup.fetch(request)).find("50000 bytes allowed") != std::string::npos);
  }
  CHECK(setup.server.seen().size() == 3);
}

TEST_CASE("parts of a file come exactly as asked for") {
  const Setup setup;
  HttpRequest request = setup.asks("/file.bin");
  request.range = ByteRange{10, 20};
  const auto part = setup.fetch(request);
  REQUIRE(part);
  CHECK(part->status == 206);
  CHECK(part->body == setup.content.substr(10, 20));
  CHECK(part->total_size == setup.content.size());
  request.range.reset();
  request.tail = 30;
  CHECK(setup.fetch(request)->body == setup.content.substr(setup.content.size() - 30));
  request.tail = setup.content.size() * 2;
  CHECK(setup.fetch(request)->body == setup.content);
}

TEST_CASE("a server that ignores ranges is told by status 200, and its body is not read") {
  const Setup setup;
  HttpRequest request = setup.asks("/-no-range/-huge/file.bin");
  request.range = ByteRange{10, 20};
  const auto response = setup.fetch(request);
  REQUIRE(response);
  CHECK(response->status == 200);
  CHECK(response->body.empty());
}

TEST_CASE("a server that lies about ranges is found out") {
  const Setup setup;
  for (const char* path : {"/-bad-range/file.bin", "/-short-range/file.bin"}) {
    for (const bool tail : {false, true}) {
      CAPTURE(path);
      CAPTURE(tail);
      HttpRequest request = setup.asks(path);
      if (tail) {
        request.tail = 20;
      } else {
        request.range = ByteRange{10, 20};
      }
      const auto response = setup.fetch(request);
      REQUIRE(!response);
      CHECK(response.error().kind == ErrorKind::unsupported);
      CHECK(response.error().message.find(path) != std::string::npos);
    }
  }
}

TEST_CASE("redirects are followed to their end and no further than they may") {
  const Setup setup;
  const auto response = setup.fetch("/-redirect/file.bin");
  REQUIRE(response);
  CHECK(response->body == setup.content);
  CHECK(response->url == setup.server.url("/file.bin"));
  CHECK(error_of(setup.fetch("/-redirect-loop/file.bin")).find("more than 10 times") !=
        std::string::npos);
  CHECK(setup.server.seen().size() == 2 + 11);
  CHECK(error_of(setup.fetch("/-redirect-file/file.bin")).find("file:///etc/hostname") !=
        std::string::npos);
}

TEST_CASE("user name and password go to their own server only, and into no message") {
  const Setup setup;
  HttpRequest request = setup.asks("/-auth/-redirect/-auth/file.bin");
  request.url.insert(7, "user:secret@");
  const auto response = setup.fetch(request);
  REQUIRE(response);
  CHECK(response->status == 200);
  CHECK(response->url.find("secret") == std::string::npos);

  request = setup.asks("/-redirect-host/file.bin");
  request.url.insert(7, "user:secret@");
  CHECK(setup.fetch(request)->status == 200);
  const auto seen = setup.server.seen();
  REQUIRE(seen.size() == 4);
  CHECK(seen[1].headers.contains("authorization"));
  CHECK(seen[2].headers.contains("authorization"));
  CHECK(!seen[3].headers.contains("authorization"));

  request = setup.asks("/-cut/file.bin");
  request.url.insert(7, "user:secret@");
  CHECK(error_of(setup.fetch(request)).find("secret") == std::string::npos);
}

TEST_CASE("credentials that were given once serve later requests to the same server") {
  const Setup setup;
  const auto transport = make_transport(setup.options);
  CHECK(transport->fetch(setup.asks("/-auth/file.bin"))->status == 401);
  std::string url = setup.server.url("/-auth/");
  transport->remember_credentials(url.insert(7, "user:secret@"));
  CHECK(transport->fetch(setup.asks("/-auth/file.bin"))->status == 200);
}

TEST_CASE("nobody listening, unknown hosts and odd URLs are named with a fix") {
  Setup setup;
  setup.options.retries = 1;
  HttpRequest request;
  {
    const Setup gone;
    request.url = gone.server.url("/x");
  }
  for (const std::string& url : {request.url, std::string("http://name.invalid/x"),
                                 std::string("ftp://host/x"), std::string("no url at all")}) {
    CAPTURE(url);
    request.url = url;
    const auto response = setup.fetch(request);
    CHECK(error_of(response).find(url) != std::string::npos);
    CHECK(!response.error().hint.empty());
  }
}

TEST_CASE("offline nothing is asked") {
  Setup setup;
  setup.options.offline = true;
  CHECK(error_of(setup.fetch("/file.bin")).find("offline") != std::string::npos);
  CHECK(setup.server.seen().empty());
}

TEST_CASE("conditional requests are passed on as they are") {
  const Setup setup;
  HttpRequest request = setup.asks("/file.bin");
  request.accept = "text/x-test";
  request.etag = setup.fetch("/file.bin")->etag;
  request.last_modified = "Thu, 01 Jan 1970 00:00:00 GMT";
  const auto response = setup.fetch(request);
  REQUIRE(response);
  CHECK(response->status == 304);
  const auto seen = setup.server.seen();
  CHECK(seen[1].headers.at("accept") == "text/x-test");
  CHECK(seen[1].headers.at("if-modified-since") == request.last_modified);
  CHECK(seen[1].headers.at("user-agent") == "axle");
}

TEST_CASE("one transport serves many threads") {
  const Setup setup;
  const auto transport = make_transport(setup.options);
  std::atomic<unsigned> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 5; ++k) {
        const auto response = transport->fetch(setup.asks("/file.bin"));
        if (response && response->body == setup.content) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 40);
}

TEST_CASE("a missing or foreign network module is said so, with the fix") {
  const TemporaryFolder folder;
  const auto missing = load_curl({folder / "libaxle_curl.so", folder / "lib/libaxle_curl.so"});
  REQUIRE(!missing);
  CHECK(missing.error().message.find(folder / "lib/libaxle_curl.so") != std::string::npos);
  CHECK(missing.error().hint.find("install") != std::string::npos);

  axle::test::write_file(folder / "libaxle_curl.so", "not a library");
  const auto broken = load_curl({folder / "libaxle_curl.so"});
  REQUIRE(!broken);
  CHECK(broken.error().message.find("cannot be opened") != std::string::npos);

  const auto own = load_curl(module_paths(curl_module));
  REQUIRE(own);
  CHECK((*own)->version == axle_curl_api_version);
}
