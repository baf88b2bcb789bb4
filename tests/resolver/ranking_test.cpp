#include "resolver/choice/ranking.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/resolver/naive_ranking.h"
#include "tests/resolver/random_release.h"
#include "tests/support/rounds.h"

namespace resolver = axle::resolver;
namespace testing = axle::testing;
namespace wheel = axle::wheel;

namespace {

std::vector<std::string> labels(const std::vector<resolver::RankedVariant>& ranked) {
  std::vector<std::string> result;
  result.reserve(ranked.size());
  for (const auto& variant : ranked) result.push_back(variant.label);
  return result;
}

std::vector<std::string> labels(const std::vector<resolver::RejectedVariant>& rejected) {
  std::vector<std::string> result;
  result.reserve(rejected.size());
  for (const auto& variant : rejected) result.push_back(variant.label);
  return result;
}

wheel::VariantMetadata document(std::vector<std::string> namespaces) {
  wheel::VariantMetadata metadata;
  metadata.schema_version = "0.2.0";
  metadata.namespaces = std::move(namespaces);
  return metadata;
}

}  // namespace

TEST_CASE("ranking agrees with the rule transcribed literally on 40000 random releases") {
  std::mt19937_64 random(20261110);
  std::size_t ties = 0;
  std::size_t compatible = 0;
  std::size_t drafts = 0;
  for (unsigned i = 0; i < axle::tests::rounds(40'000); ++i) {
    testing::ReleaseShape shape;
    shape.values = i % 40 == 0 ? 300 : 5;  // long lists take another way through the code
    shape.features = i % 40 == 1 ? 200 : 4;
    const auto release = testing::random_release(random, shape);
    const auto expected = testing::naive_ranking(release.metadata, release.supported);
    const auto ranking = resolver::rank_variants(release.metadata, release.supported);
    REQUIRE_MESSAGE(labels(ranking.ranked) == expected.ranked, "release ", i);
    REQUIRE_MESSAGE(labels(ranking.rejected) == expected.rejected, "release ", i);
    compatible += ranking.ranked.size();
    drafts += release.metadata.schema_version == "0.0.3" ? 1 : 0;
    for (std::size_t k = 1; k < ranking.ranked.size(); ++k) {
      if (ranking.ranked[k].keys == ranking.ranked[k - 1].keys) ++ties;
    }
  }
  CHECK(compatible > axle::tests::rounds(80'000));
  CHECK(ties > axle::tests::rounds(2'000));
  CHECK(drafts > axle::tests::rounds(10'000));
}

TEST_CASE("what decides a rank is supported, one property a key") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 500; ++i) {
    const auto release = testing::random_release(random, {});
    const auto ranking = resolver::rank_variants(release.metadata, release.supported);
    for (const auto& variant : ranking.ranked) {
      const auto deciding =
          resolver::deciding_properties(release.metadata, variant.label, release.supported);
      const auto supported =
          resolver::supported_properties(release.metadata, variant.label, release.supported);
      REQUIRE(deciding.size() == variant.keys.size());
      for (std::size_t k = 0; k < deciding.size(); ++k) {
        CHECK(supported.contains(deciding[k]));
        CHECK(release.metadata.namespaces[variant.keys[k].ns] == deciding[k].ns);
      }
    }
  }
}

TEST_CASE("a rejection names the feature in the most important namespace") {
  auto metadata = document({"zz", "aa"});
  metadata.variants["both"] = {{"aa", "f", "1"}, {"zz", "g", "2"}, {"zz", "g", "3"}};
  const auto ranking = resolver::rank_variants(metadata, {});
  REQUIRE(ranking.rejected.size() == 1);
  CHECK(ranking.rejected[0].property == wheel::Property{"zz", "g", "2"});
  CHECK(ranking.rejected[0].reason == "zz :: g: none of 2, 3 is supported");
}

TEST_CASE("abi_dependency counts after all namespaces unless the document gives it a place") {
  auto metadata = document({"cpu"});
  metadata.variants["a"] = {{"abi_dependency", "torch", "2.9"}};
  metadata.variants["b"] = {{"cpu", "level", "v1"}};
  const resolver::SupportedProperties supported = {{"abi_dependency", {{"torch", true, {"2.9"}}}},
                                                   {"cpu", {{"level", false, {"v1"}}}}};
  CHECK(labels(resolver::rank_variants(metadata, supported).ranked) ==
        std::vector<std::string>{"b", "a"});
  metadata.namespaces = {"abi_dependency", "cpu"};
  CHECK(labels(resolver::rank_variants(metadata, supported).ranked) ==
        std::vector<std::string>{"a", "b"});
}

TEST_CASE("a namespace without a place in the priorities is unsupported") {
  auto metadata = document({"cpu"});
  metadata.variants["x"] = {{"other", "f", "v"}};
  const auto ranking = resolver::rank_variants(metadata, {{"other", {{"f", false, {"v"}}}}});
  CHECK(ranking.ranked.empty());
  CHECK(labels(ranking.rejected) == std::vector<std::string>{"x"});
}
