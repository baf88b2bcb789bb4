#include "builder/compilation.h"

#include <string>

#include <doctest/doctest.h>

namespace axle::builder {
namespace {

Compilation made(std::initializer_list<const char*> properties, const RowSettings& settings = {}) {
  wheel::VariantProperties parsed;
  for (const char* text : properties) parsed.insert(wheel::parse_property(text).value());
  return compilation_of(parsed, settings);
}

TEST_CASE("GPU properties are the targets of their compilers") {
  const Compilation nvidia =
      made({"nvidia :: sm_arch :: 100_real", "nvidia :: sm_arch :: 80_real",
            "nvidia :: sm_arch :: 90_virtual", "nvidia :: cuda_version_lower_bound :: 12.8"});
  CHECK(join_targets(nvidia.cuda, ';') == "80-real;90-virtual;100-real");
  CHECK(nvidia.cuda[0].property == "nvidia :: sm_arch :: 80_real");
  CHECK(torch_arch_list(nvidia.cuda) == "8.0;9.0+PTX;10.0");
  CHECK(nvidia.host_flags().empty());
  const Compilation exact =
      made({"axle :: cuda_code :: 90a_real", "axle :: cuda_code :: 100f_real"});
  CHECK(join_targets(exact.cuda, ';') == "90a-real;100f-real");
  CHECK(torch_arch_list(exact.cuda) == "9.0a;10.0f");
  CHECK(made({"axle :: cuda_code_or_jit :: 12.8"}).cuda.empty());

  const Compilation amd = made({"amd :: gfx_arch :: gfx942", "axle :: gfx_code :: gfx9_4_generic",
                                "amd :: rocm_version :: 6.4"});
  CHECK(join_targets(amd.hip, ';') == "gfx942;gfx9-4-generic");
  CHECK(amd.cuda.empty());

  const Compilation intel =
      made({"intel :: device_ip :: 20.1.0", "axle :: intel_platform :: bmg_g31"});
  CHECK(join_targets(intel.sycl, ',') == "intel_gpu_bmg_g31,intel_gpu_20_1_0");
}

TEST_CASE("processors with tiles are tuned for, all others are the choice of -march") {
  CHECK(made({"x86_64 :: level :: v4", "axle :: amx_int8 :: on"}).host_flags() ==
        "-march=x86-64-v4 -mamx-int8 -mtune=sapphirerapids");
  CHECK(made({"x86_64 :: level :: v3"}).host_flags() == "-march=x86-64-v3");
}

TEST_CASE("a row says other than its properties") {
  RowSettings settings;
  settings.tune = "znver5";
  CHECK(made({"x86_64 :: level :: v4", "axle :: amx_int8 :: on"}, settings).host_flags() ==
        "-mtune=znver5 -march=x86-64-v4 -mamx-int8");
  settings.tune = "";
  settings.march = "icelake-server";
  settings.compile_args = {"-O3", "-fno-math-errno"};
  const Compilation changed =
      made({"x86_64 :: level :: v4", "x86_64 :: avx512_vnni :: on"}, settings);
  CHECK(changed.host_flags() == "-march=icelake-server -mavx512vnni -O3 -fno-math-errno");
  CHECK(changed.flags[0].property == "march");
  settings = {};
  settings.flags = false;
  settings.cuda_architectures = {{"90a-real", "100-virtual"}};
  settings.hip_architectures.emplace();
  const Compilation other =
      made({"x86_64 :: level :: v4", "nvidia :: sm_arch :: 80_real", "amd :: gfx_arch :: gfx942"},
           settings);
  CHECK(other.host_flags().empty());
  CHECK(join_targets(other.cuda, ';') == "90a-real;100-virtual");
  CHECK(other.hip.empty());
}

}  // namespace
}  // namespace axle::builder
