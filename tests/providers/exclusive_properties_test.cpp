#include "providers/exclusive_properties.h"

#include <doctest/doctest.h>

namespace axle::providers {
namespace {

TEST_CASE("properties that no machine has together") {
  const auto why = [](std::vector<PropertyText> properties) {
    return contradiction_of(properties);
  };
  const PropertyText from13{"nvidia", "cuda_version_lower_bound", "13.0"};
  const PropertyText below12{"nvidia", "cuda_version_upper_bound", "12"};
  CHECK(
      why({from13, below12}) ==
      "\"nvidia :: cuda_version_lower_bound :: 13.0\" and \"nvidia :: cuda_version_upper_bound :: "
      "12\" exclude each other");
  // Alternatives: a machine needs one of them.
  const PropertyText from11{"nvidia", "cuda_version_lower_bound", "11.8"};
  CHECK(why({from11, from13, below12}).empty());
  CHECK(why({from13, {"amd", "cuda_version_upper_bound", "12"}}).empty());
  CHECK(why({from13, {"nvidia", "cuda_version_upper_bound", "?"}}).empty());
  CHECK(why({{"x86_64", "level", "v3"}, {"x86_64", "level", "v4"}, from13}).empty());
  CHECK(why({{"x86_64", "level", "v3"}, {"aarch64", "version", "8.2a"}}) ==
        "\"x86_64 :: level :: v3\" is of x86_64, \"aarch64 :: version :: 8.2a\" of aarch64");
  CHECK(why({}).empty());
}

}  // namespace
}  // namespace axle::providers
