#include "wheel/hash/listed_hash.h"

#include <doctest/doctest.h>

#include "wheel/hash/blake2b.h"
#include "wheel/hash/expected_hash.h"

namespace {

using namespace axle;
using namespace axle::wheel;

const std::string a(64, 'a');
const std::string b(64, 'b');

std::string blake2b(std::string_view text, std::size_t times = 1) {
  Blake2b256 hash;
  for (std::size_t i = 0; i < times; ++i) hash.update(std::as_bytes(std::span(text)));
  return hash.finish();
}

}  // namespace

TEST_CASE("hashes that pip and uv take are read") {
  const auto hash = parse_listed_hash("sha256:" + std::string(64, 'A'));
  REQUIRE(hash);
  CHECK(*hash == ListedHash{"sha256", a});
  CHECK(parse_listed_hash("sha384:" + std::string(96, '0')));
  CHECK(parse_listed_hash("sha512:" + std::string(128, '0')));
  CHECK(parse_listed_hash("blake2b:" + a));
  REQUIRE(parse_listed_hash("md5:" + std::string(32, '0')));
  CHECK(is_weak(*parse_listed_hash("md5:" + std::string(32, '0'))));
  CHECK_FALSE(is_weak(*hash));
}

TEST_CASE("what is not a hash is refused with what is wrong") {
  for (const std::string& text :
       {std::string("00"), "sha1:" + std::string(40, '0'), "sha224:" + std::string(56, '0'),
        std::string("foo:00"), std::string("sha256:abcd"), "sha256:" + std::string(64, 'g'),
        "blake2b:" + std::string(128, '0'), std::string("sha256:"), std::string(), "SHA256:" + a,
        "Sha256:" + a}) {
    const auto hash = parse_listed_hash(text);
    REQUIRE_FALSE_MESSAGE(hash.has_value(), text);
    CHECK(hash.error().kind == ErrorKind::malformed);
  }
}

TEST_CASE("a file may be listed unless every listed algorithm says another digest") {
  const ListedHash sha_a{"sha256", a};
  const ListedHash sha_b{"sha256", b};
  const ListedHash sha512{"sha512", std::string(128, 'c')};
  const auto may = [](std::vector<ListedHash> known, std::vector<ListedHash> listed) {
    return may_be_listed(known, listed);
  };
  CHECK(may({sha_a}, {}));
  CHECK(may({}, {sha_a}));
  CHECK(may({sha_a}, {sha_b, sha_a}));
  CHECK_FALSE(may({sha_a}, {sha_b}));
  CHECK(may({sha_a}, {sha512}));  // only the download will tell
  CHECK(may({sha_a}, {sha_b, sha512}));
  CHECK_FALSE(may({sha_a, {"sha512", std::string(128, 'd')}}, {sha_b, sha512}));
}

// The digests are those of Python's hashlib.blake2b(…, digest_size=32).
TEST_CASE("BLAKE2b of 256 bits") {
  CHECK(blake2b("") == "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  CHECK(blake2b("abc") == "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  CHECK(blake2b("0123456789abcdef", 8) ==
        "4413634ab84fd41826173c8468b13a6777c16b3d5ad36a751e8d8a8f139e4334");
  CHECK(blake2b("0123456789abcdef", 9) ==
        "ebd3a879b9579c42e9445378dd173b69ccfc91753da859bbc1c09d32cea735ff");
  CHECK(blake2b("0123456789abc", 10007) ==
        "3a10740636d25e21fe100ec496e09f157cbb1c9bcd4b8672e790cd8654f24394");
}

TEST_CASE("an expected hash: what it is compared by, and what it says beside listed ones") {
  using axle::wheel::ExpectedHash;
  const ExpectedHash none;
  CHECK(none.empty());
  CHECK_FALSE(none.is_checkable());
  CHECK(none.as_listed().empty());
  const ExpectedHash sha256 = axle::wheel::expected_sha256(std::string(64, 'a'));
  CHECK(sha256.is_checkable());
  CHECK(sha256.sha256() == std::string(64, 'a'));
  REQUIRE(sha256.as_listed().size() == 1);
  CHECK(sha256.as_listed()[0].algorithm == "sha256");
  const ExpectedHash sha512{"sha512", std::string(128, 'b')};
  CHECK(sha512.is_checkable());
  CHECK(sha512.sha256().empty());
  CHECK(sha512.as_listed().size() == 1);
  // Whoever lists only the other one knows the file by it.
  ExpectedHash both = sha256;
  both.beside = {{"sha512", std::string(128, 'b')}, {"md5", std::string(32, 'c')}};
  REQUIRE(both.as_listed().size() == 2);
  CHECK(both.as_listed()[1].algorithm == "sha512");
  // MD5 can be computed and proves nothing; of others nothing is known.
  CHECK(ExpectedHash{"md5", std::string(32, 'c')}.is_checkable());
  CHECK(ExpectedHash{"md5", std::string(32, 'c')}.as_listed().empty());
  CHECK_FALSE(ExpectedHash{"crc32", "12"}.is_checkable());
  CHECK(ExpectedHash{"crc32", "12"}.as_listed().empty());
}
