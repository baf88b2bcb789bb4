#include "wheel/hash/short_sha256.h"

#include <cstddef>
#include <span>
#include <string>

#include <doctest/doctest.h>

#include "wheel/hash/sha256.h"

using axle::wheel::most_by_instructions;
using axle::wheel::most_without;
using axle::wheel::render_hex;
using axle::wheel::Sha256;
using axle::wheel::sha256;
using axle::wheel::short_sha256;

namespace {

std::string of_openssl(std::string_view text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  return render_hex(hash.finish());
}

std::string some_text(std::size_t length) {
  std::string text;
  std::uint32_t state = static_cast<std::uint32_t>(length) + 1;
  for (std::size_t i = 0; i < length; ++i) {
    state = state * 1664525 + 1013904223;
    text += static_cast<char>(state >> 24);
  }
  return text;
}

}  // namespace

TEST_CASE("a published vector") {
  // FIPS 180-2, B.1
  CHECK(render_hex(short_sha256("abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("texts of every length have the hash that OpenSSL gives them") {
  for (std::size_t length = 0; length <= 700; ++length) {
    CAPTURE(length);
    const std::string text = some_text(length);
    CHECK(render_hex(short_sha256(text)) == of_openssl(text));
    CHECK(render_hex(short_sha256(text, false)) == of_openssl(text));
  }
  if (!axle::wheel::has_sha_instructions())
    MESSAGE("skipped for instructions of the CPU: it has none for SHA-256");
  for (const std::size_t length : {most_without, most_without + 1, most_by_instructions,
                                   most_by_instructions + 1, std::size_t{1} << 20}) {
    CAPTURE(length);
    const std::string text = some_text(length);
    CHECK(render_hex(short_sha256(text)) == of_openssl(text));
    CHECK(render_hex(sha256(text)) == of_openssl(text));
  }
}

TEST_CASE("a process hashes so much itself, and no more") {
  const std::size_t most =
      axle::wheel::has_sha_instructions() ? most_by_instructions : most_without;
  CHECK_FALSE(axle::wheel::take_as_short(most + 1));
  std::size_t taken = 0;  // other tests of this process may have taken some
  while (axle::wheel::take_as_short(1000)) {
    taken += 1000;
    REQUIRE(taken <= most);
  }
  CHECK_FALSE(axle::wheel::take_as_short(1000));
  CHECK(render_hex(sha256(some_text(1000))) == of_openssl(some_text(1000)));
}
