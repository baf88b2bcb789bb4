// Documents of the wheels of one release, combined.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "wheel/variant/variant_metadata.h"

namespace {

using namespace axle::wheel;

VariantMetadata document(std::vector<std::string> namespaces, const std::string& label,
                         VariantProperties properties) {
  VariantMetadata metadata;
  metadata.schema_version = "0.2.0";
  metadata.namespaces = std::move(namespaces);
  for (const std::string& ns : metadata.namespaces) {
    metadata.providers[ns].requires_ = {"provider-" + ns};
  }
  metadata.variants[label] = std::move(properties);
  return metadata;
}

axle::Result<VariantMetadata> merge(const VariantMetadata& left, const VariantMetadata& right) {
  return merge_variant_metadata(left, "left.whl", right, "right.whl");
}

void check_conflict(const VariantMetadata& left, const VariantMetadata& right,
                    const std::string& message) {
  const auto merged = merge(left, right);
  REQUIRE_FALSE(merged.has_value());
  CHECK(merged.error().kind == axle::ErrorKind::mismatch);
  CHECK(merged.error().message == message);
}

}  // namespace

TEST_CASE("merging joins labels and takes the longer namespace list, whichever side has it") {
  const auto left = document({"a", "b"}, "x", {{"a", "f", "1"}});
  const auto right = document({"a", "b", "c"}, "y", {{"c", "f", "1"}});
  const auto merged = merge(left, right);
  REQUIRE_MESSAGE(merged.has_value(), merged.error().message);
  CHECK(merged->namespaces == std::vector<std::string>{"a", "b", "c"});
  CHECK(merged->providers.size() == 3);
  CHECK(merged->variants.size() == 2);
  const auto swapped = merge(right, left);
  REQUIRE(swapped.has_value());
  CHECK(*swapped == *merged);
}

TEST_CASE("merging a document with itself changes nothing") {
  const auto metadata = document({"a"}, "x", {{"a", "f", "1"}, {"a", "f", "2"}});
  const auto merged = merge(metadata, metadata);
  REQUIRE(merged.has_value());
  CHECK(*merged == metadata);
}

TEST_CASE("namespace lists in different orders cannot be merged") {
  check_conflict(document({"a", "b"}, "x", {{"a", "f", "1"}}),
                 document({"b", "a"}, "y", {{"a", "f", "1"}}),
                 "the order of namespaces differs: left.whl has [a, b], right.whl has [b, a]");
}

TEST_CASE("one label cannot mean two property sets") {
  check_conflict(document({"a"}, "x", {{"a", "f", "1"}}),
                 document({"a"}, "x", {{"a", "f", "1"}, {"a", "g", "2"}}),
                 "the label \"x\" differs: left.whl has a :: f :: 1, right.whl has a :: f :: 1, a "
                 ":: g :: 2");
  check_conflict(document({"a"}, "x", {}), document({"a"}, "x", {{"a", "f", "1"}}),
                 "the label \"x\" differs: left.whl has no properties, right.whl has a :: f :: 1");
}

TEST_CASE("one namespace cannot have two providers") {
  const auto left = document({"a"}, "x", {{"a", "f", "1"}});
  auto right = left;
  right.providers["a"].requires_ = {"other"};
  check_conflict(left, right,
                 "the provider \"a\" differs: left.whl has (requires [provider-a]), right.whl has "
                 "(requires [other])");
  right = left;
  right.providers["a"].optional = true;
  CHECK_FALSE(merge(left, right).has_value());
  right = left;
  right.providers["a"] = {};
  right.providers["a"].static_properties = {{"f", {"1", "2"}}, {"g", {"1"}}};
  check_conflict(left, right,
                 "the provider \"a\" differs: left.whl has (requires [provider-a]), right.whl has "
                 "(static-properties {f [1, 2], g [1]})");
  auto reordered = right;
  reordered.providers["a"].static_properties = {{"g", {"1"}}, {"f", {"1", "2"}}};
  CHECK_FALSE(merge(right, reordered).has_value());
}

TEST_CASE("versions of one family merge to the newer, drafts and others do not mix") {
  auto left = document({"a"}, "x", {{"a", "f", "1"}});
  auto right = document({"a"}, "y", {{"a", "f", "2"}});
  left.schema_version = "0.1.1";
  left.providers.clear();
  auto merged = merge(left, right);
  REQUIRE(merged.has_value());
  CHECK(merged->schema_version == "0.2.0");
  CHECK(merged->providers.size() == 1);
  left.schema_version = "0.0.3";
  check_conflict(left, right,
                 "the version of the metadata differs: left.whl has 0.0.3, right.whl has 0.2.0");
}

TEST_CASE("priority tables of 0.0.x must agree where both know the namespace") {
  auto left = document({"a"}, "x", {{"a", "f", "1"}});
  auto right = document({"a", "b"}, "y", {{"a", "f", "2"}});
  left.schema_version = "0.0.2";
  right.schema_version = "0.0.3";
  right.feature_priorities["b"] = {"f"};
  right.property_priorities["b"] = {{"f", {"1"}}};
  const auto merged = merge(left, right);
  REQUIRE_MESSAGE(merged.has_value(), merged.error().message);
  CHECK(merged->schema_version == "0.0.3");
  CHECK(merged->feature_priorities.size() == 1);
  CHECK(merged->property_priorities.size() == 1);
  right.feature_priorities["a"] = {"f", "g"};
  check_conflict(left, right,
                 "the feature order of \"a\" differs: left.whl has [], right.whl has [f, g]");
  right.feature_priorities.clear();
  right.property_priorities["a"] = {{"f", {"2", "1"}}};
  left.property_priorities["a"] = {{"f", {"1", "2"}}};
  check_conflict(left, right,
                 "the property order of \"a\" differs: left.whl has {f [1, 2]}, right.whl has {f "
                 "[2, 1]}");
}
