// The GPU features of namespace `axle`: what the published namespaces cannot say.

#include <algorithm>

#include <doctest/doctest.h>

#include "providers/cuda_code.h"
#include "tests/providers/machines.h"

namespace axle::providers {
namespace {

using detect::GpuVendor;
using detect::Machine;
using testing::nvidia_machine;
using testing::working_gpu;

bool supports(const Machine& machine, std::string_view feature, std::string_view value) {
  const Features features = supported_gpu_code(machine, {});
  const auto found = std::ranges::find(features, feature, &Feature::name);
  return found != features.end() && std::ranges::find(found->values, value) != found->values.end();
}

TEST_CASE("compiled code of the same generation and at most the GPU's number runs") {
  const Machine ada = nvidia_machine("12.8", {"8.9"});
  CHECK(supports(ada, "cuda_code", "80_real"));
  CHECK(supports(ada, "cuda_code", "86_real"));
  CHECK(supports(ada, "cuda_code", "89_real"));
  CHECK_FALSE(supports(ada, "cuda_code", "90_real"));
  CHECK_FALSE(supports(ada, "cuda_code", "75_real"));
  CHECK(supports(nvidia_machine("13.0", {"12.1"}), "cuda_code", "120_real"));
  CHECK(supports(nvidia_machine("11.4", {"3.7"}), "cuda_code", "35_real"));
}

TEST_CASE("integrated GPUs run only what was compiled for them, and others none of that") {
  for (const auto& [device, code] :
       {std::pair{"5.3", "50_real"}, std::pair{"6.2", "60_real"}, std::pair{"7.2", "70_real"},
        std::pair{"8.7", "80_real"}, std::pair{"8.7", "86_real"}, std::pair{"10.1", "100_real"}}) {
    CHECK_FALSE_MESSAGE(supports(nvidia_machine("13.0", {device}), "cuda_code", code), device);
  }
  CHECK(supports(nvidia_machine("12.6", {"8.7"}), "cuda_code", "87_real"));
  CHECK_FALSE(supports(nvidia_machine("12.6", {"8.9"}), "cuda_code", "87_real"));
}

TEST_CASE("Thor is one chip with two numbers") {
  CHECK(supports(nvidia_machine("13.0", {"11.0"}), "cuda_code", "101_real"));
  CHECK(supports(nvidia_machine("12.9", {"10.1"}), "cuda_code", "110_real"));
}

TEST_CASE("PTX of any older generation, but only with the toolkit's driver") {
  const Machine hopper = nvidia_machine("12.8", {"9.0"});
  CHECK(supports(hopper, "cuda_code", "52_virtual"));
  CHECK(supports(hopper, "cuda_code", "90_virtual"));
  CHECK_FALSE(supports(hopper, "cuda_code", "100_virtual"));
  CHECK(supports(hopper, "cuda_code_or_jit", "12.8"));
  CHECK(supports(hopper, "cuda_code_or_jit", "11.0"));
  CHECK(supports(hopper, "cuda_code_or_jit", "90_real"));
  CHECK_FALSE(supports(hopper, "cuda_code_or_jit", "12.9"));
  CHECK_FALSE(supports(hopper, "cuda_code_or_jit", "90_virtual"));
  CHECK(supports(nvidia_machine("", {"9.0"}), "cuda_code_or_jit", "90_real"));
  CHECK_FALSE(supports(nvidia_machine("", {"9.0"}), "cuda_code_or_jit", "11.0"));
}

TEST_CASE("a GPU and a driver newer than the tables run their own code and what the tables have") {
  const Machine newer = nvidia_machine("16.1", {"13.0"});
  for (const char* code : {"130_real", "130_virtual", "130a_real", "120_virtual", "52_virtual"})
    CHECK_MESSAGE(supports(newer, "cuda_code", code), code);
  for (const char* code : {"120_real", "130f_real", "121a_real", "120f_virtual"})
    CHECK_FALSE_MESSAGE(supports(newer, "cuda_code", code), code);
  CHECK(supports(newer, "cuda_code_or_jit", "15.20"));
  CHECK_FALSE(supports(newer, "cuda_code_or_jit", "16.0"));
  CHECK(supports(newer, "cuda_compressed_code", "on"));
}

TEST_CASE("what is not a valid version of CUDA says nothing, as in namespace nvidia") {
  for (const char* version : {"100.0", "12.100", "10.2"}) {
    const Machine machine = nvidia_machine(version, {"9.0"});
    CAPTURE(version);
    CHECK(supports(machine, "cuda_code", "90_real"));
    CHECK_FALSE(supports(machine, "cuda_code_or_jit", "11.0"));
    CHECK_FALSE(supports(machine, "cuda_compressed_code", "on"));
  }
}

TEST_CASE("a GPU counts when it works and is not masked") {
  Machine machine;
  CHECK(supported_gpu_code(machine, {}).empty());
  machine.gpus = {working_gpu(GpuVendor::intel, "20.1.0"), working_gpu(GpuVendor::amd, "gfx942")};
  CHECK(supports(machine, "gpu", "amd"));
  CHECK(supports(machine, "gpu", "intel"));
  CHECK_FALSE(supports(machine, "gpu", "nvidia"));
  machine.gpus[0].masked = true;
  machine.gpus[1].usable = detect::Presence::unknown;
  CHECK(supported_gpu_code(machine, {}).empty());
}

TEST_CASE("every value that a GPU of ours has is known, and every feature has a fact") {
  const Features known = known_gpu_code();
  for (const char* capability : {"5.0", "7.2", "8.7", "9.0", "10.1", "11.0", "12.1"}) {
    const Machine machine = nvidia_machine("13.0", {capability});
    for (const Feature& feature : supported_gpu_code(machine, {})) {
      const auto all = std::ranges::find(known, feature.name, &Feature::name);
      REQUIRE(all != known.end());
      for (const std::string& value : feature.values) {
        CHECK_MESSAGE(std::ranges::find(all->values, value) != all->values.end(), value);
        CHECK_FALSE(gpu_code_facts(machine, {}, feature.name, value).empty());
      }
    }
  }
}

TEST_CASE("facts say what the GPU is and what the build has") {
  CHECK(render_facts(gpu_code_facts(nvidia_machine("12.8", {"6.1"}), {}, "cuda_code", "75_real")) ==
        "the GPU has compute capability 6.1, and the build has compiled code for 7.5");
  CHECK(render_facts(gpu_code_facts(nvidia_machine("12.8", {"8.7"}), {}, "cuda_code", "80_real")) ==
        "the GPU has compute capability 8.7 (integrated GPU: only code compiled for it runs), and "
        "the build has compiled code for 8.0");
  CHECK(render_facts(
            gpu_code_facts(nvidia_machine("12.8", {"9.0"}), {}, "cuda_code_or_jit", "12.9")) ==
        "driver 550.54 compiles PTX up to CUDA 12.8, and the build has PTX from CUDA 12.9");
  CHECK(render_facts(gpu_code_facts(Machine{}, {}, "gpu", "amd")) == "no AMD GPU");
  CHECK(render_facts(gpu_code_facts(Machine{}, {}, "gpu", "acme")) ==
        "the provider of axle does not know the property axle :: gpu :: acme");
}

}  // namespace
}  // namespace axle::providers
