// What properties guarantee, also those that no machine has.

#include "binaries/declared_properties.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace axle::binaries {
namespace {

wheel::VariantProperties properties(const std::vector<std::string>& texts) {
  wheel::VariantProperties all;
  for (const std::string& text : texts) all.insert(*wheel::parse_property(text));
  return all;
}

TEST_CASE("declared: a level that is none is the baseline") {
  const auto baseline = declared_capabilities({}, detect::Arch::x86_64);
  for (const char* value : {"v_", "vx", "v.", "v0", "3", "44"}) {
    CAPTURE(value);
    const auto has = declared_capabilities(
        properties({fmt::format("x86_64 :: level :: {}", value)}), detect::Arch::x86_64);
    CHECK(has == baseline);
  }
  CHECK(declared_capabilities(properties({"x86_64 :: level :: v3"}), detect::Arch::x86_64)
            .contains(detect::Capability::avx2));
}

TEST_CASE("declared: properties of another architecture") {
  const auto all = properties({"x86_64 :: level :: v3", "aarch64 :: version :: 8.2a",
                               "axle :: amx_int8 :: on", "nvidia :: sm_arch :: 90_real"});
  CHECK(properties_of_others(all, detect::Arch::x86_64) ==
        std::vector<std::string>{"aarch64 :: version :: 8.2a"});
  CHECK(properties_of_others(all, detect::Arch::aarch64) ==
        std::vector<std::string>{"axle :: amx_int8 :: on", "x86_64 :: level :: v3"});
  // One that is not known here is still of that architecture.
  CHECK(properties_of_others(properties({"aarch64 :: later :: on"}), detect::Arch::x86_64).size() ==
        1);
}

TEST_CASE("declared: the oldest CUDA of several") {
  CHECK(declared_cuda({}).empty());
  CHECK(declared_cuda(properties({"nvidia :: cuda_version_lower_bound :: 12.9",
                                  "nvidia :: cuda_version_lower_bound :: 12.10"})) == "12.9");
  CHECK(declared_cuda(properties({"nvidia :: cuda_version_lower_bound :: 99999999999999.9"}))
            .empty());
}

TEST_CASE("declared: more digits than any GPU's architecture has are none") {
  const std::string many(300, '9');
  CHECK(declared_gpus(properties({"nvidia :: sm_arch :: " + many + "_virtual"})).empty());
  CHECK(declared_gpus(properties({"nvidia :: sm_arch :: 120_virtual"})).size() == 1);
}

}  // namespace
}  // namespace axle::binaries
