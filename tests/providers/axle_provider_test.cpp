// Namespace `axle` beyond flags and NVIDIA code: vector lengths, AMD code, platforms.

#include <algorithm>

#include <doctest/doctest.h>

#include "detect/os/macos.h"
#include "providers/gfx_code.h"
#include "providers/intel_gpus.h"
#include "providers/provider.h"
#include "tests/providers/machines.h"

namespace axle::providers {
namespace {

using detect::Arch;
using detect::Capability;
using detect::GpuVendor;
using detect::Machine;
using detect::Presence;
using testing::nvidia_machine;
using testing::working_driver;
using testing::working_gpu;

using Values = std::vector<std::string>;

Values values(const Machine& machine, std::string_view feature, const GpuPolicy& policy = {}) {
  for (const Feature& each : find_provider("axle")->supported(machine, policy)) {
    if (each.name == feature) return each.values;
  }
  return {};
}

std::string fact(const Machine& machine, std::string_view feature, std::string_view value) {
  return render_facts(find_provider("axle")->facts(machine, {}, feature, value));
}

TEST_CASE("AVX10: its versions and vector lengths") {
  Machine machine = testing::x86_machine(4);
  CHECK(values(machine, "avx10_version").empty());
  for (const Capability each :
       {Capability::avx10_1, Capability::avx10_512, Capability::avx10_256, Capability::avx10_128}) {
    machine.cpu.capabilities.set(each, Presence::present);
  }
  CHECK(values(machine, "avx10_version") == Values{"1"});
  CHECK(values(machine, "avx10_bits") == Values{"512", "256", "128"});
  CHECK(fact(machine, "avx10_version", "2") == "the CPU lacks avx10_2");
  machine.cpu.capabilities.set(Capability::avx10_2, Presence::present);
  CHECK(values(machine, "avx10_version") == Values{"2", "1"});
  machine.cpu.capabilities.set(Capability::avx10_512, Presence::blocked);
  CHECK(values(machine, "avx10_bits") == Values{"256", "128"});
  CHECK(fact(machine, "avx10_bits", "1024") ==
        "the provider of axle does not know the property axle :: avx10_bits :: 1024");
  machine.cpu.arch = Arch::aarch64;
  CHECK(fact(machine, "avx10_version", "1") == "the CPU is aarch64, not x86_64");
  CHECK(values(machine, "avx10_version").empty());
}

TEST_CASE("SVE: code for one length needs that length, code for any length a minimum") {
  Machine machine;
  machine.cpu.arch = Arch::aarch64;
  machine.cpu.sve_vector_bytes = 32;
  CHECK(values(machine, "sve_bytes").empty());
  machine.cpu.capabilities.set(Capability::arm_sve, Presence::present);
  CHECK(values(machine, "sve_bytes") == Values{"32"});
  CHECK(values(machine, "sve_bytes_lower_bound") == Values{"32", "16"});
  CHECK(fact(machine, "sve_bytes", "16") ==
        "the SVE vectors are 32 bytes long, and the build needs exactly 16");
  CHECK(fact(machine, "sve_bytes_lower_bound", "64") ==
        "the SVE vectors are 32 bytes long, and the build needs at least 64");
  machine.cpu.sve_vector_bytes = 48;  // older designs may be no power of two
  CHECK(values(machine, "sve_bytes").empty());
  CHECK(values(machine, "sve_bytes_lower_bound") == Values{"32", "16"});
  machine.cpu.sve_vector_bytes.reset();
  CHECK(values(machine, "sve_bytes_lower_bound").empty());
  CHECK(fact(machine, "sve_bytes", "16") == "the length of the SVE vectors is unknown");
  CHECK(values(machine, "sme_bytes").empty());
  machine.cpu.capabilities.set(Capability::arm_sme, Presence::present);
  machine.cpu.sme_vector_bytes = 64;
  CHECK(values(machine, "sme_bytes") == Values{"64"});
  CHECK(values(machine, "sme_bytes_lower_bound") == Values{"64", "32", "16"});
}

TEST_CASE("AMD: a GPU's own code and that of its generic target") {
  Machine machine;
  machine.gpus = {working_gpu(GpuVendor::amd, "gfx942:sramecc+:xnack-")};
  CHECK(values(machine, "gfx_code") == Values{"gfx942", "gfx9_4_generic"});
  machine.gpus = {working_gpu(GpuVendor::amd, "gfx90a")};
  CHECK(values(machine, "gfx_code") == Values{"gfx90a"});
  machine.gpus = {working_gpu(GpuVendor::amd, "gfx1100"), working_gpu(GpuVendor::amd, "gfx1102")};
  CHECK(values(machine, "gfx_code") == Values{"gfx11_generic"});
  CHECK(values(machine, "gfx_code", {GpuRule::any, {}}) ==
        Values{"gfx1102", "gfx11_generic", "gfx1100"});
  CHECK(fact(machine, "gfx_code", "gfx1100") ==
        "the GPUs are gfx1102 (gfx11_generic) and gfx1100 (gfx11_generic) (every GPU must run it), "
        "and the build has code for gfx1100");
}

TEST_CASE("the members of the generic targets are those that LLVM documents") {
  // LLVM, "User Guide for AMDGPU Backend", table of generic processors.
  const std::pair<const char*, std::vector<const char*>> documented[] = {
      {"gfx9_generic", {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}},
      {"gfx9_4_generic", {"gfx942", "gfx950"}},
      {"gfx10_1_generic", {"gfx1010", "gfx1011", "gfx1012", "gfx1013"}},
      {"gfx10_3_generic",
       {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"}},
      {"gfx11_generic",
       {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"}},
      {"gfx12_generic", {"gfx1200", "gfx1201"}},
      {"gfx12_5_generic", {"gfx1250", "gfx1251"}},
  };
  for (const auto& [generic, members] : documented) {
    for (const char* member : members) CHECK(generic_gfx(member) == generic);
  }
  for (const char* none : {"gfx908", "gfx90a", "gfx803", "gfx1310", ""})
    CHECK(generic_gfx(none).empty());
}

TEST_CASE("ROCm: at least this version, where an AMD GPU counts") {
  Machine machine;
  machine.drivers = {working_driver(GpuVendor::amd, "6.10", "6.1.2")};
  CHECK(values(machine, "rocm_version_lower_bound").empty());
  machine.gpus = {working_gpu(GpuVendor::amd, "gfx942")};
  const Values held = values(machine, "rocm_version_lower_bound");
  REQUIRE(held.size() == 3 + 22);
  CHECK(Values(held.begin(), held.begin() + 4) == Values{"6.1", "6.0", "6", "5.20"});
  CHECK(held.back() == "5");
  CHECK(fact(machine, "rocm_version_lower_bound", "6.4") ==
        "the system has ROCm 6.1, and the build needs 6.4");
  machine.drivers[0].api_version = "4.5";
  CHECK(values(machine, "rocm_version_lower_bound").empty());
}

TEST_CASE("Tegra is not SBSA, but for Thor with the servers' drivers") {
  Machine machine;
  machine.cpu.arch = Arch::aarch64;
  CHECK(values(machine, "aarch64_platform").empty());
  machine.os.system = "Linux";
  CHECK(values(machine, "aarch64_platform") == Values{"sbsa"});
  machine.os.tegra_release = "36.4.3";
  CHECK(values(machine, "aarch64_platform") == Values{"tegra"});
  CHECK(fact(machine, "aarch64_platform", "sbsa") ==
        "the machine is a Jetson (Jetson Linux 36.4.3), and the build is for sbsa");
  machine.os.tegra_release.clear();
  machine.gpus = {working_gpu(GpuVendor::nvidia, "8.7")};
  CHECK(values(machine, "aarch64_platform") == Values{"tegra"});
  machine.gpus[0].arch = "11.0";
  CHECK(values(machine, "aarch64_platform") == Values{"tegra"});
  machine.os.tegra_release = "38.2";
  CHECK(values(machine, "aarch64_platform") == Values{"tegra", "sbsa"});
  machine.gpus[0].arch = "9.0";
  machine.os.tegra_release.clear();
  CHECK(values(machine, "aarch64_platform") == Values{"sbsa"});
  machine.cpu.arch = Arch::x86_64;
  CHECK(values(machine, "aarch64_platform").empty());
  CHECK(fact(machine, "aarch64_platform", "sbsa") == "the CPU is x86_64, not aarch64");
}

TEST_CASE("Macs and Windows on Arm are no servers") {
  Machine machine;
  machine.cpu.arch = Arch::aarch64;
  for (const char* system : {"Darwin", "Windows"}) {
    machine.os.system = system;
    CHECK(values(machine, "aarch64_platform").empty());
    CHECK(fact(machine, "aarch64_platform", "sbsa") ==
          std::string("the machine is ") + system + ", and the build is for sbsa");
  }
}

TEST_CASE("MPS: by the macOS that a wheel needs") {
  Machine machine;
  CHECK(values(machine, "mps").empty());
  CHECK(fact(machine, "mps", "14") == "the operating system is unknown");
  machine.os.system = "Linux";
  CHECK(fact(machine, "mps", "14") ==
        "the machine is Linux, and the build is for macOS on Apple's processors");
  machine.cpu.arch = Arch::aarch64;
  machine.os.system = "Darwin";
  for (const auto& [version, wanted] :
       {std::pair("macOS 26.2", Values{"26", "15", "14", "13", "12.3"}),
        std::pair("macOS 27.0", Values{"27", "26", "15", "14", "13", "12.3"}),
        std::pair("macOS 15.3", Values{"15", "14", "13", "12.3"}),
        std::pair("macOS 12.6", Values{"12.3"}), std::pair("macOS 12.2", Values{})}) {
    CAPTURE(version);
    machine.os.name = version;
    machine.mps = detect::judge_mps(machine.os, machine.cpu);
    CHECK(values(machine, "mps") == wanted);
  }
  CHECK(fact(machine, "mps", "14") == "the system has macOS 12.2, and the build needs 14");
  machine.cpu.arch = Arch::x86_64;
  machine.os.name = "macOS 15.3";
  machine.mps = detect::judge_mps(machine.os, machine.cpu);
  CHECK(values(machine, "mps").empty());
  CHECK(fact(machine, "mps", "14") == "the GPU of this Mac is unknown");
}

TEST_CASE("Intel: the compiler's names, the GPU's own and its base platform's") {
  Machine machine;
  machine.gpus = {working_gpu(GpuVendor::intel, "20.2.0")};
  CHECK(values(machine, "intel_platform") == Values{"bmg_g31", "bmg"});
  machine.gpus.push_back(working_gpu(GpuVendor::intel, "20.1.0"));
  CHECK(values(machine, "intel_platform") == Values{"bmg"});
  machine.gpus = {working_gpu(GpuVendor::intel, "12.60.7")};
  CHECK(values(machine, "intel_platform") == Values{"pvc"});
  CHECK(fact(machine, "intel_platform", "bmg") == "the GPU is pvc, and the build has code for bmg");
  machine.gpus[0].arch = "40.1.0";
  CHECK(values(machine, "intel_platform").empty());
  for (const KnownIntelGpu& device : known_intel_gpus()) {
    if (device.base.empty()) continue;
    const KnownIntelGpu* base = find_known_intel_gpu(device.base);
    REQUIRE(base != nullptr);
    CHECK(base->base_name == device.base_name);
    CHECK(base->base.empty());
  }
}

TEST_CASE("NVIDIA: code that is bound to one architecture or to a family") {
  const auto has = [](const char* device, const char* value) {
    const Values held = values(nvidia_machine("13.0", {device}), "cuda_code");
    return std::ranges::find(held, value) != held.end();
  };
  CHECK(has("9.0", "90a_real"));
  CHECK(has("9.0", "90a_virtual"));
  CHECK_FALSE(has("9.0", "90f_real"));
  CHECK_FALSE(has("10.0", "90a_real"));
  CHECK_FALSE(has("10.0", "90a_virtual"));
  CHECK_FALSE(has("8.9", "89a_real"));
  // A family goes on with later minor numbers (nvcc, "GPU feature list").
  CHECK(has("10.0", "100f_real"));
  CHECK(has("10.3", "100f_real"));
  CHECK(has("10.3", "100f_virtual"));
  CHECK(has("10.3", "103f_real"));
  CHECK_FALSE(has("10.0", "103f_real"));
  CHECK_FALSE(has("10.3", "100a_real"));
  CHECK(has("12.1", "120f_real"));
  CHECK_FALSE(has("12.0", "121f_real"));
  CHECK_FALSE(has("12.0", "100f_real"));
  // Thor is a family of its own, under two numbers.
  CHECK(has("11.0", "110f_real"));
  CHECK(has("11.0", "101a_real"));
  CHECK_FALSE(has("11.0", "100f_real"));
  CHECK_FALSE(has("10.3", "101f_real"));
  // What belongs to a family is known of known architectures only.
  CHECK(has("10.7", "100_real"));
  CHECK(has("10.7", "107_real"));
  CHECK(has("10.7", "107a_real"));
  CHECK_FALSE(has("10.7", "100f_real"));
  const Values hopper = values(nvidia_machine("13.0", {"9.0"}), "cuda_code");
  CHECK(Values(hopper.begin(), hopper.begin() + 4) ==
        Values{"90a_real", "90_real", "90a_virtual", "90_virtual"});
  CHECK(fact(nvidia_machine("13.0", {"10.0"}), "cuda_code", "90a_real") ==
        "the GPU has compute capability 10.0, and the build has compiled code for 9.0 alone");
  CHECK(fact(nvidia_machine("13.0", {"10.0"}), "cuda_code", "103f_virtual") ==
        "the GPU has compute capability 10.0, and the build has PTX for 10.3 and later ones of its "
        "family");
}

TEST_CASE("compressed code needs a driver for CUDA 12.4") {
  CHECK(values(nvidia_machine("12.4", {"9.0"}), "cuda_compressed_code") == Values{"on"});
  CHECK(values(nvidia_machine("12.3", {"9.0"}), "cuda_compressed_code").empty());
  CHECK(values(nvidia_machine("", {"9.0"}), "cuda_compressed_code").empty());
  // It is the driver's, as the bounds of namespace nvidia are: no GPU is needed, of any vendor.
  CHECK(values(nvidia_machine("12.4", {}), "cuda_compressed_code") == Values{"on"});
  CHECK(fact(nvidia_machine("12.2", {"9.0"}), "cuda_compressed_code", "on") ==
        "driver 550.54 runs CUDA up to 12.2, and compressed code needs a driver for CUDA 12.4");
}

}  // namespace
}  // namespace axle::providers
