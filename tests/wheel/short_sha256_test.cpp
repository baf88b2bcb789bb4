#include "wheel/hash/short_sha256.h"

#include <cstddef>
#include <span>
#include <string>

#include <doctest/doctest.h>

#include "wheel/hash/sha256.h"

using axle::wheel::longest_by_instructions;
using axle::wheel::longest_short_text;
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
  for (const std::size_t length :
       {longest_short_text, longest_short_text + 1, longest_by_instructions,
        longest_by_instructions + 1, std::size_t{1} << 20}) {
    CAPTURE(length);
    const std::string text = some_text(length);
    CHECK(render_hex(short_sha256(text)) == of_openssl(text));
    CHECK(render_hex(sha256(text)) == of_openssl(text));
  }
}
