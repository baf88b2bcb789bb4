// What of attestations needs no signature; those are in attestation_differential.py.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "foundation/text/base64.h"
#include "wheel/attestation/certificate.h"
#include "wheel/attestation/der.h"
#include "wheel/attestation/log_proof.h"
#include "wheel/attestation/provenance.h"
#include "wheel/attestation/publisher.h"
#include "wheel/attestation/trusted_root.h"
#include "wheel/hash/sha256.h"

using namespace axle;

namespace {

std::string digest(std::string_view bytes) {
  const wheel::Sha256Digest made = wheel::sha256(bytes);
  return {reinterpret_cast<const char*>(made.data()), made.size()};
}

std::string leaf(const std::string& body) { return digest(std::string(1, '\0') + body); }

/// RFC 6962 §2.1 as it is written there.
std::string root_of(const std::vector<std::string>& bodies) {
  if (bodies.size() == 1) return leaf(bodies.front());
  std::size_t split = 1;
  while (2 * split < bodies.size()) split *= 2;
  const auto middle = bodies.begin() + static_cast<std::ptrdiff_t>(split);
  return digest(std::string(1, '\1') + root_of({bodies.begin(), middle}) +
                root_of({middle, bodies.end()}));
}

/// RFC 6962 §2.1.1
std::vector<std::string> path_to(std::size_t index, const std::vector<std::string>& bodies) {
  if (bodies.size() == 1) return {};
  std::size_t split = 1;
  while (2 * split < bodies.size()) split *= 2;
  const auto middle = bodies.begin() + static_cast<std::ptrdiff_t>(split);
  const std::vector<std::string> left(bodies.begin(), middle);
  const std::vector<std::string> right(middle, bodies.end());
  const bool is_left = index < split;
  std::vector<std::string> path = is_left ? path_to(index, left) : path_to(index - split, right);
  path.push_back(root_of(is_left ? right : left));
  return path;
}

}  // namespace

TEST_CASE("every entry of every small log is proved, and no other body") {
  unsigned proofs = 0;
  std::vector<std::string> bodies;
  for (std::size_t size = 1; size <= 33; ++size) {
    bodies.push_back("entry " + std::to_string(size));
    for (std::size_t index = 0; index < size; ++index) {
      wheel::InclusionProof proof{.index = index,
                                  .tree_size = size,
                                  .root_hash = root_of(bodies),
                                  .hashes = path_to(index, bodies),
                                  .checkpoint = {}};
      CHECK(wheel::proved_root(bodies[index], proof) == proof.root_hash);
      CHECK(wheel::proved_root("other", proof) != proof.root_hash);
      proof.hashes.emplace_back(32, 'h');
      CHECK_FALSE(wheel::proved_root(bodies[index], proof).has_value());
      ++proofs;
    }
  }
  CHECK(proofs == 33 * 34 / 2);
}

TEST_CASE("an entry beyond the end of its log is not proved") {
  wheel::InclusionProof proof{
      .index = 1, .tree_size = 1, .root_hash = {}, .hashes = {}, .checkpoint = {}};
  CHECK_FALSE(wheel::proved_root("", proof).has_value());
  proof = {.index = 0, .tree_size = 0, .root_hash = {}, .hashes = {}, .checkpoint = {}};
  CHECK_FALSE(wheel::proved_root("", proof).has_value());
}

TEST_CASE("an expected publisher has all that is stated of it") {
  const wheel::Publisher seen{"GitHub", {{"repository", "Axle/demo"}, {"workflow", "release.yml"}}};
  using Claims = decltype(seen.claims);
  const auto expects = [&](const char* kind, Claims claims) {
    return wheel::is_expected(seen, {kind, std::move(claims)});
  };
  CHECK(expects("GitHub", {{"repository", "axle/Demo"}}));
  CHECK(expects("GitHub", {{"workflow", "release.yml"}}));
  CHECK_FALSE(expects("GitHub", {{"workflow", "Release.yml"}}));
  CHECK_FALSE(expects("GitHub", {{"repository", "axle/demo2"}}));
  CHECK_FALSE(expects("GitHub", {{"repository", "axle/demo"}, {"environment", "pypi"}}));
  CHECK_FALSE(expects("GitLab", {{"repository", "axle/demo"}}));
  CHECK(wheel::render_publisher(seen) == "GitHub, repository Axle/demo, workflow release.yml");
}

TEST_CASE("DER values are read one after the other") {
  const auto content = [](std::string bytes) {
    const auto found = wheel::der_content(bytes, wheel::der_utf8_string);
    return found ? std::string(*found) : std::string("none");
  };
  CHECK(content("\x0c\x02hi") == "hi");
  CHECK(content(std::string("\x0c\x00", 2)).empty());
  CHECK(content("\x0c\x81\x80" + std::string(128, 'x')) == std::string(128, 'x'));
  CHECK(content("\x0c\x02hi!") == "none");     // something follows
  CHECK(content("\x0c\x03hi") == "none");      // too short
  CHECK(content("\x0c\x81\x02hi") == "none");  // a needlessly long length
  CHECK(content("\x0c\x80hi") == "none");      // an indefinite one
  CHECK(content("\x04\x02hi") == "none");      // another tag
  CHECK(content("\x1f\x02hi") == "none");      // a tag of several bytes
  CHECK(content("\x0c") == "none");
}

TEST_CASE("what is no provenance is refused with its place") {
  const auto error = [](const char* text) {
    const auto parsed = wheel::parse_provenance(text, "p");
    return parsed ? std::string() : parsed.error().message;
  };
  CHECK(error(R"({"version": 1, "attestation_bundles": []})").empty());
  CHECK(error(R"({"version": 2, "attestation_bundles": []})").contains("version 2"));
  CHECK(error(R"({"attestation_bundles": []})").contains("\"version\" is missing"));
  CHECK(error(R"({"version": 1})").contains("\"attestation_bundles\" is missing"));
  CHECK(error(R"({"version": 1, "attestation_bundles": [{}]})")
            .contains("attestation_bundles[0]: the key \"publisher\" is missing"));
  CHECK(error(R"({"version": 1, "attestation_bundles": [{"attestations": [],
                  "publisher": {"kind": "GitHub", "repository": "a/b"}}]})")
            .contains("attestation_bundles[0].publisher: the key \"workflow\" is missing"));
  CHECK(error(R"({"version": 1, "version": 1, "attestation_bundles": []})").contains("version"));
}

TEST_CASE("what is no trusted root is refused with its place") {
  const auto error = [](const char* text) {
    const auto parsed = wheel::parse_trusted_root(text, "root.json");
    return parsed ? std::string() : parsed.error().message;
  };
  CHECK(error("[]").contains("root.json"));
  CHECK(error(R"({"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json"})")
            .contains("is not a format of trusted roots"));
  const std::string head =
      R"({"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",)";
  CHECK(error((head + R"("certificateAuthorities": [], "tlogs": [], "ctlogs": []})").c_str())
            .contains("certificateAuthorities: it is empty"));
  CHECK(error((head + R"("certificateAuthorities": [{"certChain": {"certificates":
                         [{"rawBytes": "AAAA"}]}}], "tlogs": [], "ctlogs": []})")
                  .c_str())
            .contains("certificates[0].rawBytes: it is not an X.509 certificate"));
  CHECK(error((head + R"("certificateAuthorities": [{"certChain": {"certificates": []},
                         "validFor": {"start": "today"}}]})")
                  .c_str())
            .contains("\"today\" is not a time"));
}

TEST_CASE("what is no certificate is refused") {
  CHECK_FALSE(wheel::Certificate::parse("").has_value());
  CHECK_FALSE(wheel::Certificate::parse("\x30\x03\x02\x01\x01").has_value());
}
