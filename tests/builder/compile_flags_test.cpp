#include "builder/compile_flags.h"

#include <string>

#include <doctest/doctest.h>

#include "detect/capability.h"

namespace axle::builder {
namespace {

std::string flags(std::initializer_list<const char*> properties) {
  wheel::VariantProperties parsed;
  for (const char* text : properties) parsed.insert(wheel::parse_property(text).value());
  return join_flags(compile_flags(parsed));
}

TEST_CASE("properties become the flags of the capability table") {
  CHECK(flags({}).empty());
  CHECK(flags({"x86_64 :: level :: v1"}) == "-march=x86-64");
  CHECK(flags({"x86_64 :: level :: v3"}) == "-march=x86-64-v3");
  CHECK(flags({"x86_64 :: level :: v4", "x86_64 :: avx512_vnni :: on"}) ==
        "-march=x86-64-v4 -mavx512vnni");
  CHECK(flags({"axle :: amx_tile :: on", "axle :: amx_int8 :: on", "x86_64 :: level :: v4"}) ==
        "-march=x86-64-v4 -mamx-tile -mamx-int8");
  CHECK(flags({"x86_64 :: sse3 :: on", "x86_64 :: abm :: on"}) == "-msse3 -mlzcnt");
  CHECK(flags({"nvidia :: sm_arch :: 90_real", "x86_64 :: cppc :: on"}).empty());
}

TEST_CASE("aarch64 has one -march for all") {
  CHECK(flags({"aarch64 :: version :: 8a"}) == "-march=armv8-a");
  CHECK(flags({"aarch64 :: version :: 9.0a"}) == "-march=armv9-a");
  CHECK(flags({"axle :: arm_version :: 9.2a", "axle :: arm_sme :: on"}) == "-march=armv9.2-a+sme");
  CHECK(flags({"aarch64 :: version :: 8.2a", "aarch64 :: i8mm :: on",
               "aarch64 :: asimddp :: on"}) == "-march=armv8.2-a+dotprod+i8mm");
  CHECK(flags({"aarch64 :: sve :: on", "aarch64 :: svei8mm :: on", "aarch64 :: i8mm :: on"}) ==
        "-march=armv8-a+sve+i8mm");
}

TEST_CASE("every flag of the table is asked for by its own property") {
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.property.empty() || row.gcc_flag.empty() || row.arch == detect::Arch::aarch64) continue;
    const auto made = compile_flags({wheel::parse_property(row.property).value()});
    REQUIRE(made.size() == 1);
    CHECK(made[0].flag == row.gcc_flag);
    CHECK(made[0].first_gcc == row.first_gcc);
  }
}

}  // namespace
}  // namespace axle::builder
