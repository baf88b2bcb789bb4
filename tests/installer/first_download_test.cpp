// Wheels for which the index gives no hash, as seen by the installer: the first download counts.
#include "index/http/first_download.h"

#include <map>
#include <string>

#include <doctest/doctest.h>

#include "installer/store/store.h"
#include "tests/installer/sandbox.h"

using namespace axle::installer;
using axle::CollectedReport;
using axle::ErrorKind;
using axle::Result;
using axle::index::HttpRequest;
using axle::index::HttpResponse;

namespace {

/// One file, a memory, and a server that can be told what to say.
class KeepingTransport final : public axle::index::Transport {
 public:
  Result<HttpResponse> fetch(const HttpRequest& request) override {
    ++questions;
    HttpResponse response;
    response.url = request.url;
    response.status = status;
    response.etag = etag;
    response.total_size = file.size();
    return response;
  }
  Result<HttpResponse> download(const HttpRequest& request,
                                const axle::index::BodySink& sink) override {
    ++downloads;
    if (auto taken = sink(std::as_bytes(std::span(file))); !taken) {
      return std::unexpected(taken.error());
    }
    HttpResponse response;
    response.url = request.url;
    response.status = 200;
    response.etag = etag;
    return response;
  }
  Result<std::optional<std::string>> recall(std::string_view key) override {
    if (disk_error) return axle::fail(ErrorKind::io, "cannot read the entry: Input/output error");
    const auto found = kept.find(key);
    return found == kept.end() ? std::nullopt : std::optional(found->second);
  }
  bool keep(std::string_view key, std::string_view text) override {
    kept.insert_or_assign(std::string(key), std::string(text));
    return true;
  }

  std::string file;
  std::string etag = "\"one\"";
  int status = 206;
  bool disk_error = false;  ///< of every entry
  int questions = 0;
  int downloads = 0;
  std::map<std::string, std::string, std::less<>> kept;
};

constexpr const char* url = "https://index.example/demo-1.0-py3-none-any.whl";

struct Workplace {
  Workplace() {
    const std::string path = make_wheel(folder / "dist", "demo", "1.0", {{"demo.py", "x = 1\n"}});
    transport.file = read_text(path);
    package = package_of(path);
    package.url = url;
    package.source = "https://index.example/simple";
    digest = package.hash.sha256();
    package.hash = {};
    package.size.reset();
  }
  /// As the resolver has it: with the hash of the first download, once there was one.
  Result<WheelContents> acquire() {
    if (auto first = axle::index::first_sha256(url, transport)) {
      package.hash = axle::wheel::expected_sha256(*first, axle::wheel::HashSource::first_download);
    }
    return acquire_wheel(
        folder / "store", package, transport,
        [](const Manifest&, std::string_view) -> Result<void> { return {}; },
        EntryCheck::size_and_time, report);
  }

  Sandbox folder;
  KeepingTransport transport;
  axle::plan::ResolvedPackage package;
  std::string digest;
  CollectedReport report;
};

}  // namespace

TEST_CASE(
    "a first download without a hash is remembered, said once, and then taken from the store") {
  Workplace work;
  REQUIRE(work.acquire());
  REQUIRE(work.report.remarks.size() == 1);
  CHECK(work.report.remarks[0].severity == axle::Severity::note);
  CHECK(work.report.remarks[0].message.find("gives no hash for demo-1.0") != std::string::npos);
  CHECK(axle::index::first_sha256(url, work.transport) == work.digest);
  REQUIRE(work.acquire());
  CHECK(work.transport.downloads == 1);
  CHECK(work.transport.questions == 1);
  CHECK(work.report.remarks.size() == 1);
}

TEST_CASE("another ETag causes a new download, and the same content is not a change") {
  Workplace work;
  REQUIRE(work.acquire());
  work.transport.etag = "\"two\"";
  REQUIRE(work.acquire());
  CHECK(work.transport.downloads == 2);
  REQUIRE(work.acquire());
  CHECK(work.transport.downloads == 2);
  CHECK(work.report.remarks.size() == 1);
}

TEST_CASE("another file than at the first download is a mismatch that says what counts and why") {
  Workplace work;
  REQUIRE(work.acquire());
  work.transport.file += "x";
  const auto refused = work.acquire();
  REQUIRE(!refused);
  CHECK(refused.error().kind == ErrorKind::mismatch);
  CHECK(refused.error().message.find("first download") != std::string::npos);
  CHECK(refused.error().message.find(work.digest) != std::string::npos);
  CHECK(refused.error().hint.find("--no-cache") != std::string::npos);
  CHECK(axle::index::first_sha256(url, work.transport) == work.digest);
}

TEST_CASE("a first download that could not be read when it was asked for is not forgotten") {
  Workplace work;
  REQUIRE(work.acquire());
  work.transport.file =
      read_text(make_wheel(work.folder / "other", "demo", "1.0", {{"demo.py", "x = 2\n"}}));
  work.package.hash = {};
  const auto refused = acquire_wheel(
      work.folder / "store", work.package, work.transport,
      [](const Manifest&, std::string_view) -> Result<void> { return {}; },
      EntryCheck::size_and_time, work.report);
  REQUIRE(!refused);
  CHECK(refused.error().kind == ErrorKind::mismatch);
  CHECK(axle::index::first_sha256(url, work.transport) == work.digest);
}

TEST_CASE("a first download that cannot be read at all is not compared, which is said, and stays") {
  Workplace work;
  REQUIRE(work.acquire());
  const auto kept = work.transport.kept;
  work.transport.disk_error = true;
  work.transport.file =
      read_text(make_wheel(work.folder / "other", "demo", "1.0", {{"demo.py", "x = 2\n"}}));
  work.package.hash = {};
  work.report.remarks.clear();
  REQUIRE(work.acquire());
  CHECK(work.transport.kept == kept);
  REQUIRE(work.report.remarks.size() == 1);
  CHECK(work.report.remarks[0].severity == axle::Severity::warning);
  CHECK(work.report.remarks[0].message.find("not compared") != std::string::npos);
  CHECK(work.report.remarks[0].message.find("Input/output error") != std::string::npos);
  work.transport.disk_error = false;
  const auto refused = work.acquire();
  REQUIRE(!refused);
  CHECK(refused.error().kind == ErrorKind::mismatch);
}

TEST_CASE("a server that cannot be reached does not invalidate a downloaded file") {
  Workplace work;
  REQUIRE(work.acquire());
  work.transport.etag = "\"two\"";
  work.transport.status = 503;
  REQUIRE(work.acquire());
  CHECK(work.transport.downloads == 1);
}

TEST_CASE("a file with a hash that can be checked needs no first download") {
  Workplace work;
  work.package.hash = {"sha512", std::string(128, '0')};
  CHECK(!work.acquire());
  CHECK(work.transport.kept.empty());
  work.package.hash = axle::wheel::expected_sha256(work.digest);
  REQUIRE(work.acquire());
  CHECK(work.transport.kept.empty());
  CHECK(work.report.remarks.empty());
}

TEST_CASE("what was kept of a first download is believed only when it is whole") {
  KeepingTransport transport;
  CHECK(!axle::index::first_sha256(url, transport));
  CHECK(axle::index::keep_first_download(url, {std::string(64, 'a'), 5, "e"}, transport));
  CHECK(!axle::index::keep_first_download("file:///x.whl", {std::string(64, 'a'), 5, "e"},
                                          transport));
  CHECK(axle::index::first_sha256(url, transport) == std::string(64, 'a'));
  for (const std::string& damage : {std::string(), std::string(64, 'a'), std::string("abc\n5 e")}) {
    transport.kept.begin()->second = damage;
    CHECK(!axle::index::first_sha256(url, transport));
    CHECK(axle::index::seems_changed(url, transport));
  }
}
