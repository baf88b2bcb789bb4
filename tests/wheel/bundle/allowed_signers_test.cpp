#include "wheel/bundle/allowed_signers.h"

#include <ctime>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "foundation/text/base64.h"
#include "tests/wheel/bundle/signed_samples.h"
#include "wheel/bundle/ssh_signature.h"

namespace {

using namespace axle::wheel;

const std::string key(testing::signed_sample("ed25519").key);
const std::string other_key(testing::signed_sample("ecdsa_p256").key);

std::string decoded(const std::string& of) {
  return axle::text::decode_base64(of.substr(of.find(' ') + 1)).value();
}

/// The only signer of a text that is good.
AllowedSigner signer_of(const std::string& text) {
  CAPTURE(text);
  const auto signers = parse_allowed_signers(text, "signers");
  REQUIRE_MESSAGE(signers.has_value(), signers.error().message);
  REQUIRE(signers->size() == 1);
  return signers->front();
}

/// Why the key may not sign for `name_space` at `now`; empty: it may.
std::string refusal(const std::string& text, std::string_view name_space = "axle-bundle",
                    std::int64_t now = 1'800'000'000, const std::string& whose = key) {
  const auto signers = parse_allowed_signers(text, "signers");
  REQUIRE_MESSAGE(signers.has_value(), signers.error().message);
  const auto found = find_allowed_signer(*signers, decoded(whose), name_space, now);
  if (found) {
    CHECK((*found)->key == decoded(whose));
    return {};
  }
  CHECK(found.error().kind == axle::ErrorKind::mismatch);
  return found.error().message;
}

const std::string named =
    "the key " + std::string(testing::signed_sample("ed25519").fingerprint) + " ";

}  // namespace

TEST_CASE("allowed signers are read line by line, without comments and empty lines") {
  const auto signers = parse_allowed_signers(
      "# whom we trust\n\n  \t \n  # indented\na@example.com " + key +
          " the comment # of it\r\n\tb,c " + other_key + "\n\"d e\" \t " + key,
      "signers");
  REQUIRE_MESSAGE(signers.has_value(), signers.error().message);
  REQUIRE(signers->size() == 3);
  CHECK((*signers)[0].principals == "a@example.com");
  CHECK((*signers)[0].key == decoded(key));
  CHECK_FALSE((*signers)[0].namespaces);
  CHECK_FALSE((*signers)[0].valid_after);
  CHECK_FALSE((*signers)[0].valid_before);
  CHECK_FALSE((*signers)[0].authority);
  CHECK((*signers)[1].principals == "b,c");
  CHECK((*signers)[1].key == decoded(other_key));
  CHECK((*signers)[2].principals == "d e");
  for (const char* empty : {"", "\n", "\r\n\r\n", "#", "# a\n#b"})
    CHECK(parse_allowed_signers(empty, "signers")->empty());
}

TEST_CASE("every kind of key that ssh-keygen makes is read") {
  for (const testing::SignedSample& sample : testing::signed_samples())
    CHECK(signer_of("a " + std::string(sample.key)).key == decoded(std::string(sample.key)));
}

TEST_CASE("the options of a signer are read in any order and case") {
  const AllowedSigner all = signer_of(
      "a "
      "Valid-Before=\"20270101Z\",cert-authority,NAMESPACES=\"git,axle-*\",valid-after="
      "\"20260101Z\" " +
      key);
  CHECK(all.namespaces == "git,axle-*");
  CHECK(all.valid_after == 1'767'225'600);
  CHECK(all.valid_before == 1'798'761'600);
  CHECK(all.authority);
  CHECK(signer_of("a namespaces=\"a b\" " + key).namespaces == "a b");
  CHECK(signer_of("a CERT-AUTHORITY " + key).authority);
}

TEST_CASE("a time of a signer is that of the calendar") {
  const auto after = [](const std::string& text) {
    return signer_of("a valid-after=\"" + text + "\" " + key).valid_after;
  };
  CHECK(after("19700101Z") == 0);
  CHECK(after("197001010001Z") == 60);
  CHECK(after("19700101000001z") == 1);
  CHECK(after("19691231235959Z") == -1);
  CHECK(after("20240229Z") == 1'709'164'800);
  CHECK(after("20380119031408Z") == 2'147'483'648);
  CHECK(after("99991231235959Z") == 253'402'300'799);
  std::tm local = {};
  local.tm_year = 126;
  local.tm_mon = 5;
  local.tm_mday = 30;
  local.tm_hour = 12;
  local.tm_min = 34;
  local.tm_sec = 56;
  local.tm_isdst = -1;
  CHECK(after("20260630123456") == std::mktime(&local));
  for (const std::string bad : {"",
                                "Z",
                                "2026",
                                "202601",
                                "2026010",
                                "2026010112",
                                "20260101123",
                                "2026010112345",
                                "202601011234567",
                                "20260001",
                                "20261301",
                                "20260100",
                                "20260132",
                                "20260431",
                                "20260229",
                                "20250229",
                                "202601012400",
                                "202601011260",
                                "20260101123460",
                                "2026-01-01",
                                "2026010a",
                                "+2026010",
                                "20260101ZZ",
                                " 20260101",
                                "20260101 "}) {
    CAPTURE(bad);
    const auto signers = parse_allowed_signers("a valid-before=\"" + bad + "\" " + key, "signers");
    REQUIRE_FALSE(signers.has_value());
    CHECK(signers.error().message == "signers:1: \"" + bad + "\" is not a time");
  }
}

TEST_CASE("a line that is no signer's is refused with its number") {
  struct Case {
    std::string line;
    std::string message;
  };
  const std::string shape = "this is not PRINCIPALS [OPTIONS] KEYTYPE KEY";
  const std::string encoded = key.substr(key.find(' ') + 1);
  const Case cases[] = {
      {"a", shape},
      {"a@example.com ", shape},
      {"a ssh-ed25519", shape},
      {key, "\"" + encoded + "\" is not an option of a signer"},
      {"\"\" " + key, shape},
      {"a ssh-ed25519 " + encoded.substr(1), shape},
      {"a ssh-ed25519 " + encoded + "=", shape},
      {"a ssh-ed25519 !" + encoded.substr(1), shape},
      {"a ssh-rsa " + encoded, shape},
      {"a SSH-ED25519 " + encoded, "\"SSH-ED25519\" is not an option of a signer"},
      {"a ssh- AAAA", shape},
      {"a namespaces=\"git\"", shape},
      {"a namespaces=\"git\" " + encoded, shape},
      {"a namespaces=\"git\" cert-authority " + key, shape},
      {"a namespaces=\"git " + key, "the value of \"namespaces\" is not in double quotes"},
      {"a namespaces=git " + key, "the value of \"namespaces\" is not in double quotes"},
      {"\"a " + key, shape},
      {"a namespaces=\"\" " + key, "\"namespaces=\\\"\\\"\" is not an option of a signer"},
      {"a namespaces " + key, "the value of \"namespaces\" is not in double quotes"},
      {"a cert-authority=yes " + key, "\"cert-authority=yes\" is not an option of a signer"},
      {"a cert-authority, " + key, "\"\" is not an option of a signer"},
      {"a ,cert-authority " + key, "\"\" is not an option of a signer"},
      {"a no-touch-required " + key, "\"no-touch-required\" is not an option of a signer"},
      {"a valid-after " + key, "the value of \"valid-after\" is not in double quotes"},
      {"a valid-after=\"20260101\",valid-after=\"20270101\" " + key,
       "\"valid-after\" is given twice"},
      {"a valid-before=\"20260101\",VALID-BEFORE=\"20270101\" " + key,
       "\"valid-before\" is given twice"},
      {"a namespaces=\"git\",namespaces=\"axle-bundle\" " + key, "\"namespaces\" is given twice"},
  };
  for (const Case& bad : cases) {
    for (const std::string& before : {std::string(), "# a comment\n\nb " + key + "\n"}) {
      CAPTURE(bad.line);
      const auto signers = parse_allowed_signers(before + bad.line + "\nc " + key, "signers");
      REQUIRE_FALSE(signers.has_value());
      CHECK(signers.error().kind == axle::ErrorKind::malformed);
      CHECK(signers.error().message ==
            (before.empty() ? "signers:1: " : "signers:4: ") + bad.message);
      CHECK(signers.error().hint == "ssh-keygen(1) has the format under ALLOWED SIGNERS");
    }
  }
}

TEST_CASE("who is found has the key and may sign") {
  CHECK(refusal("a " + key).empty());
  CHECK(refusal("") == named + "is not among them");
  CHECK(refusal("a " + other_key) == named + "is not among them");
  CHECK(refusal("a " + other_key, "axle-bundle", 0, other_key).empty());
  CHECK(refusal("a cert-authority " + key) == named + "signs only certificates (cert-authority)");
  const auto signers = parse_allowed_signers("first " + other_key + "\nsecond namespaces=\"git\" " +
                                                 key + "\nthird " + key + "\nfourth " + key,
                                             "signers");
  REQUIRE(signers.has_value());
  CHECK((*find_allowed_signer(*signers, decoded(key), "axle-bundle", 0))->principals == "third");
  CHECK((*find_allowed_signer(*signers, decoded(key), "git", 0))->principals == "second");
  CHECK(refusal("a cert-authority " + key + "\nb namespaces=\"git\" " + key) ==
        named + "signs only for the namespaces git");
}

TEST_CASE("the two times of a signer belong to its time") {
  const std::string text =
      "a valid-after=\"19700101000100Z\",valid-before=\"19700101000200Z\" " + key;
  CHECK(refusal(text, "axle-bundle", 59) == named + "is not valid yet (valid-after)");
  CHECK(refusal(text, "axle-bundle", 60).empty());
  CHECK(refusal(text, "axle-bundle", 120).empty());
  CHECK(refusal(text, "axle-bundle", 121) == named + "is not valid any more (valid-before)");
}

TEST_CASE("patterns of namespaces are those of ssh_config(5)") {
  const auto may = [](const std::string& patterns, std::string_view name_space) {
    return refusal("a namespaces=\"" + patterns + "\" " + key, name_space).empty();
  };
  for (const char* good :
       {"axle-bundle", "*", "axle-*", "*-bundle", "a*e", "a*b*e", "**", "axle?bundle",
        "???????????", "axle-bundle*", "git,axle-bundle", "axle-bundle,git", "*,!git", "!git,*",
        "a*e-*le", ",axle-bundle", "*x*e-bundle", "*-b*d*e"})
    CHECK_MESSAGE(may(good, "axle-bundle"), good);
  for (const char* bad :
       {"axle", "axle-bundle2", "bundle", "AXLE-BUNDLE", "axle-bundle?", "??????????", "a*d", "git",
        "!axle-bundle", "*,!axle-*", "!axle-*,*", "!git", "axle-bundle,!axle-bundle", ",", "!",
        "a*e-*lf", "axle-bundle ", "[a]xle-bundle"})
    CHECK_MESSAGE(!may(bad, "axle-bundle"), bad);
  CHECK(refusal("a namespaces=\"git,!axle-*\" " + key) ==
        named + "signs only for the namespaces git,!axle-*");
  // Backtracking of every star would take longer than the universe has been there.
  std::string stars = "*";
  for (int i = 0; i < 60; ++i) stars += "a*";
  CHECK_FALSE(may(stars + "b", std::string(5000, 'a')));
}
