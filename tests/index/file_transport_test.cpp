#include <string>

#include <doctest/doctest.h>

#include "index/http/local_files.h"
#include "index/http/transport.h"
#include "index/http/url.h"
#include "tests/index/sample_wheels.h"

using namespace axle::index;
using axle::ErrorKind;
using axle::Result;
using axle::test::TemporaryFolder;

TEST_CASE("file URLs answer whole files, parts and absence") {
  const TemporaryFolder folder;
  axle::test::write_file(folder / "a b+c.html", "0123456789");
  const auto transport = make_transport({});
  HttpRequest request;
  request.url = file_url(folder / "a b+c.html");
  const auto whole = transport->fetch(request);
  REQUIRE(whole);
  CHECK(whole->status == 200);
  CHECK(whole->body == "0123456789");
  CHECK(whole->content_type == "text/html");
  CHECK(whole->total_size == 10);

  request.range = ByteRange{3, 4};
  CHECK(transport->fetch(request)->body == "3456");
  CHECK(transport->fetch(request)->status == 206);
  request.range = ByteRange{8, 100};
  CHECK(transport->fetch(request)->body == "89");
  request.range.reset();
  request.tail = 4;
  CHECK(transport->fetch(request)->body == "6789");
  request.tail.reset();

  request.max_bytes = 9;
  CHECK(transport->fetch(request).error().kind == ErrorKind::io);
  for (const std::string& absent : {folder / "nothing", folder.path().string()}) {
    request.url = file_url(absent);
    CHECK(transport->fetch(request)->status == 404);
  }
}

TEST_CASE("a file of any size arrives whole") {
  const TemporaryFolder folder;
  HttpRequest request;
  request.url = file_url(folder / "some");
  const auto transport = make_transport({});
  // A short string becomes one of the heap at 16 bytes.
  for (std::size_t size = 0; size < 70; ++size) {
    const std::string content(size, 'a');
    axle::test::write_file(folder / "some", content);
    const auto response = transport->fetch(request);
    REQUIRE(response);
    CHECK(response->body == content);
  }
}

TEST_CASE("a file is streamed to its receiver, whose error ends it") {
  const TemporaryFolder folder;
  const std::string content(700'000, 'z');
  axle::test::write_file(folder / "big", content);
  HttpRequest request;
  request.url = file_url(folder / "big");
  std::string received;
  const auto transport = make_transport({});
  const auto response =
      transport->download(request, [&](std::span<const std::byte> bytes) -> Result<void> {
        received.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return {};
      });
  REQUIRE(response);
  CHECK(received == content);
  CHECK(response->body.empty());
  const auto refused = transport->download(request, [](std::span<const std::byte>) -> Result<void> {
    return axle::fail(ErrorKind::io, "enough");
  });
  CHECK(refused.error().message == "enough");
}

TEST_CASE("a folder lists its distributions by name and nothing else") {
  const TemporaryFolder folder;
  for (const char* name : {"b-1.0.tar.gz", "a-1.0-py3-none-any.whl", "a-1.0-variants.json",
                           "notes.txt", "a-1.0-py3-none-any.whl.metadata", "sub/c-1.0.tar.gz"}) {
    axle::test::write_file(folder / name, "12345");
  }
  const auto files = list_folder(folder.path());
  REQUIRE(files);
  REQUIRE(files->size() == 3);
  CHECK((*files)[0].filename == "a-1.0-py3-none-any.whl");
  CHECK((*files)[0].size == 5);
  CHECK((*files)[2].url == file_url(folder / "b-1.0.tar.gz"));
  CHECK(list_folder(folder / "absent").error().kind == ErrorKind::not_found);
}
