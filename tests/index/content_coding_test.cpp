#include "index/http/content_coding.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/support/http_message.h"

using axle::ErrorKind;
using axle::index::decode_body;

namespace {

std::string links(int count) {
  std::string page;
  for (int i = 0; i < count; ++i) {
    page += "<a href=\"sample-" + std::to_string(i) + ".0-py3-none-any.whl\">sample</a>\n";
  }
  return page;
}

/// "ab\n" in the format of RFC 1950, which `Content-Encoding: deflate` means.
const std::string small_zlib("\x78\x9c\x4b\x4c\xe2\x02\x00\x01\xf4\x00\xce", 11);

}  // namespace

TEST_CASE("a compressed body is unpacked") {
  const std::string page = links(5000);
  CHECK(decode_body(axle::test::gzip(page), "gzip", 1 << 20, "a page") == page);
  CHECK(decode_body(axle::test::gzip(page), "x-gzip", 1 << 20, "a page") == page);
  CHECK(decode_body(small_zlib, "deflate", 10, "a page") == "ab\n");
  CHECK(decode_body(page, "", 1, "a page") == page);
  CHECK(decode_body(page, "identity", 1, "a page") == page);
}

TEST_CASE("a compressed body that ends early is not taken for a whole page") {
  const std::string packed = axle::test::gzip(links(50));
  for (std::size_t length = 1; length < packed.size(); ++length) {
    CAPTURE(length);
    const auto text = decode_body(packed.substr(0, length), "gzip", 1 << 20, "a page");
    REQUIRE(!text);
    CHECK(text.error().kind == ErrorKind::malformed);
    CHECK(text.error().message.find("a page") != std::string::npos);
  }
  for (std::size_t length = 1; length < small_zlib.size(); ++length) {
    CHECK(!decode_body(small_zlib.substr(0, length), "deflate", 10, "a page"));
  }
}

TEST_CASE("a compressed body that is damaged or too long is refused") {
  const std::string packed = axle::test::gzip(links(50));
  CHECK(!decode_body(packed + "x", "gzip", 1 << 20, "a page"));
  CHECK(!decode_body(packed + packed, "gzip", 1 << 20, "a page"));
  for (const std::size_t place : {std::size_t{0}, packed.size() / 2, packed.size() - 6}) {
    std::string bent = packed;
    bent[place] = static_cast<char>(bent[place] ^ 0x5a);
    CHECK(!decode_body(bent, "gzip", 1 << 20, "a page"));
  }
  const auto large =
      decode_body(axle::test::gzip(std::string(1 << 20, ' ')), "gzip", 1000, "a page");
  REQUIRE(!large);
  CHECK(large.error().kind == ErrorKind::io);
  CHECK(decode_body("xx", "br", 10, "a page").error().kind == ErrorKind::unsupported);
}
