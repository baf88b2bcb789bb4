// Forms beside cached bodies: whoever reads one gets what was kept, or nothing.
#include "index/http/kept_form.h"

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "index/http/cache_store.h"
#include "index/pages/remote_wheel.h"
#include "index/pages/source.h"
#include "tests/index/sample_wheels.h"
#include "tests/support/index_server.h"
#include "wheel/hash/sha256.h"

using namespace axle::index;
using axle::CollectedReport;
using axle::test::IndexServer;
using axle::test::TemporaryFolder;

namespace {

std::string hash_of(std::string_view text) {
  return axle::wheel::render_hex(axle::wheel::sha256(text));
}

AnswerHead answer() {
  AnswerHead head;
  head.response.status = 200;
  head.response.url = "https://index.example/simple/x/";
  head.response.content_type = "text/html";
  head.response.etag = "\"1\"";
  head.response.cache_control = "max-age=600";
  head.sha256 = hash_of("body");
  head.body_size = 4;
  return head;
}

/// A wheel whose METADATA is published, long, and in a cache.
struct Published {
  explicit Published(std::string text) : server(folder.path()), metadata(std::move(text)) {
    file.filename = "x-1.0-py3-none-any.whl";
    file.url = server.url("/" + file.filename);
    file.has_metadata = true;
    file.metadata_sha256 = hash_of(metadata);
    axle::test::write_file(folder / (file.filename + ".metadata"), metadata);
  }
  axle::Result<std::string> text() const {
    CollectedReport report;
    TransportOptions options;
    options.retries = 0;
    const auto transport =
        make_caching_transport(make_transport(options), {.folder = cache.path()});
    auto got = fetch_metadata(file, *axle::wheel::parse_wheel_name(file.filename), "the index",
                              *transport, report);
    CHECK(report.remarks.empty());
    return got;
  }
  std::string path(bool form) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(cache.path())) {
      const std::string found = entry.path();
      if (entry.is_regular_file() && found.ends_with(".form") == form) return found;
    }
    return {};
  }

  TemporaryFolder folder;
  TemporaryFolder cache;
  IndexServer server;
  std::string metadata;
  PublishedFile file;
};

const std::string essential = "Metadata-Version: 2.1\nName: x\nVersion: 1.0\nRequires-Dist: y>=2\n";
const std::string whole = essential + "Author: somebody\n\n" + std::string(5000, 'd');

}  // namespace

TEST_CASE("the head of a form says what was answered") {
  const std::string bytes = encode_form_head(hash_of("key"), hash_of("identity"), answer());
  const auto head = decode_form_head(bytes + "the form", hash_of("key"));
  REQUIRE(head);
  CHECK(head->length == bytes.size());
  CHECK(head->identity == hash_of("identity"));
  CHECK(head->answer.sha256 == answer().sha256);
  CHECK(head->answer.body_size == 4);
  const HttpResponse& response = head->answer.response;
  CHECK(response.status == 200);
  CHECK(response.url == answer().response.url);
  CHECK(response.content_type == "text/html");
  CHECK(response.etag == "\"1\"");
  CHECK(response.last_modified.empty());
  CHECK(response.cache_control == "max-age=600");
}

TEST_CASE("a head that is damaged, cut, of another key or of another version is none") {
  const std::string key = hash_of("key");
  const std::string bytes = encode_form_head(key, hash_of("identity"), answer());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    CAPTURE(at);
    CHECK(!decode_form_head(bytes.substr(0, at), key));
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    CHECK(!decode_form_head(damaged, key));
  }
  CHECK(!decode_form_head(bytes, hash_of("other key")));
  std::string newer = bytes;
  newer.replace(newer.find('1'), 1, "2");
  CHECK(!decode_form_head(newer, key));
}

TEST_CASE("METADATA that is used again is kept without what nobody reads") {
  const Published wheel(whole);
  CHECK(wheel.text().value() == whole);
  CHECK(wheel.path(true).empty());
  CHECK(wheel.text().value() == whole);
  CHECK(!wheel.path(true).empty());
  CHECK(wheel.text().value() == essential);
  CHECK(wheel.server.seen().size() == 1);
  // It answers alone.
  std::filesystem::remove(wheel.path(false));
  CHECK(wheel.text().value() == essential);
  CHECK(wheel.server.seen().size() == 1);
}

TEST_CASE("METADATA that something is wrong with is read as it is, each time") {
  const std::string odd = essential + "Requires-Python: >=3.*\n\nbody";
  const Published wheel(odd);
  for (int time = 0; time < 3; ++time) CHECK(wheel.text().value() == odd);
  CHECK(wheel.path(true).empty());
}

TEST_CASE("a damaged form of METADATA is made again") {
  const Published wheel(whole);
  for (int time = 0; time < 2; ++time) CHECK(wheel.text());
  const std::string path = wheel.path(true);
  const std::string form = axle::test::read_file(path);
  const auto check = [&](const std::string& bytes) {
    axle::test::write_file(path, bytes);
    CHECK(wheel.text().value() == whole);
    CHECK(axle::test::read_file(path) == form);
    CHECK(wheel.text().value() == essential);
  };
  for (std::size_t at = 0; at < form.size(); at += 3) {
    CAPTURE(at);
    std::string damaged = form;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    check(damaged);
    check(form.substr(0, at));
  }
  check(form + "more");
  std::string newer = form;
  newer.replace(newer.find("metadata 1"), 10, "metadata 2");
  check(newer);
  CHECK(wheel.server.seen().size() == 1);
}

TEST_CASE("the form of another wheel is not taken") {
  const Published wheel(whole);
  const Published other(whole + "other");
  for (const Published* one : {&wheel, &other}) {
    for (int time = 0; time < 2; ++time) CHECK(one->text());
  }
  axle::test::write_file(wheel.path(true), axle::test::read_file(other.path(true)));
  CHECK(wheel.text().value() == whole);
}

TEST_CASE("METADATA with another hash than the form's is asked for again") {
  Published wheel(whole);
  for (int time = 0; time < 2; ++time) CHECK(wheel.text());
  const std::string other = essential + "Summary: of a file that was replaced\n";
  axle::test::write_file(wheel.folder / (wheel.file.filename + ".metadata"), other);
  wheel.file.metadata_sha256 = hash_of(other);
  CHECK(wheel.text().value() == other);
  CHECK(wheel.text().value() == other);
}

TEST_CASE("a new entry does not keep the form of the one before") {
  const TemporaryFolder folder;
  const CacheStore store(folder.path());
  HttpResponse response;
  response.status = 200;
  response.body = "first";
  const FormPlace place = store.write("key", response, 1000);
  REQUIRE(store.write_form(place, "form of the first"));
  const auto has_form = [](const KeptForm&) { return true; };
  const auto read = store.read_form("key", has_form);
  REQUIRE(read);
  CHECK(read->confirmed_at == 1000);
  CHECK(!store.read_form("other", has_form));
  response.body = "second";
  store.write("key", response, 2000);
  CHECK(!store.read_form("key", has_form));
  CHECK(store.read("key", has_form)->response.body == "second");
}

TEST_CASE("several writers and readers of one form: whatever is read is whole") {
  const TemporaryFolder folder;
  const CacheStore store(folder.path());
  std::atomic<bool> torn = false;
  std::atomic<int> read = 0;
  const auto whole_form = [&](const KeptForm& form) {
    const auto bytes = read_whole_form(form);
    const bool sound = bytes && bytes->size() == 1000 &&
                       bytes->find_first_not_of(bytes->front()) == std::string::npos;
    torn = torn || !sound;
    ++read;
    return true;
  };
  std::vector<std::thread> threads;
  for (const char letter : {'a', 'b', 'c'}) {
    threads.emplace_back([&, letter] {
      HttpResponse own;
      own.status = 200;
      own.body = std::string(100, letter);
      for (int i = 0; i < 60; ++i) {
        const FormPlace place = store.write("key", own, 1000);
        if (!store.write_form(place, std::string(1000, letter))) torn = true;
        (void)store.read_form("key", whole_form);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(!torn);
  CHECK(read > 0);
}
