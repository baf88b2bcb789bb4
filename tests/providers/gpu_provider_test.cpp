// The lists of the GPU namespaces, restated value by value.

#include <doctest/doctest.h>

#include "providers/provider.h"
#include "providers/rocm_bootstrap.h"
#include "tests/providers/machines.h"

namespace axle::providers {
namespace {

using detect::GpuVendor;
using detect::Machine;
using detect::Presence;
using testing::nvidia_machine;
using testing::working_driver;
using testing::working_gpu;

using Values = std::vector<std::string>;

const GpuPolicy any{GpuRule::any, {}};

Features supported(std::string_view ns, const Machine& machine, const GpuPolicy& policy = {}) {
  return find_provider(ns)->supported(machine, policy);
}

std::string fact(std::string_view ns, const Machine& machine, std::string_view feature,
                 std::string_view value) {
  return render_facts(find_provider(ns)->facts(machine, {}, feature, value));
}

TEST_CASE("nvidia: a driver for CUDA 12.7 and an H100 give the published lists") {
  const Features features = supported("nvidia", nvidia_machine("12.7", {"9.0"}));
  REQUIRE(features.size() == 3);
  CHECK(features[0] ==
        Feature{"cuda_version_lower_bound",
                false,
                {"12.7",  "12.6",  "12.5",  "12.4",  "12.3",  "12.2",  "12.1",  "12.0",
                 "12",    "11.20", "11.19", "11.18", "11.17", "11.16", "11.15", "11.14",
                 "11.13", "11.12", "11.11", "11.10", "11.9",  "11.8",  "11.7",  "11.6",
                 "11.5",  "11.4",  "11.3",  "11.2",  "11.1",  "11.0",  "11"}});
  CHECK(features[1] ==
        Feature{"cuda_version_upper_bound",
                false,
                {"15.20", "15.19", "15.18", "15.17", "15.16", "15.15", "15.14", "15.13", "15.12",
                 "15.11", "15.10", "15.9",  "15.8",  "15.7",  "15.6",  "15.5",  "15.4",  "15.3",
                 "15.2",  "15.1",  "15.0",  "15",    "14.20", "14.19", "14.18", "14.17", "14.16",
                 "14.15", "14.14", "14.13", "14.12", "14.11", "14.10", "14.9",  "14.8",  "14.7",
                 "14.6",  "14.5",  "14.4",  "14.3",  "14.2",  "14.1",  "14.0",  "14",    "13.20",
                 "13.19", "13.18", "13.17", "13.16", "13.15", "13.14", "13.13", "13.12", "13.11",
                 "13.10", "13.9",  "13.8",  "13.7",  "13.6",  "13.5",  "13.4",  "13.3",  "13.2",
                 "13.1",  "13.0",  "13",    "12.20", "12.19", "12.18", "12.17", "12.16", "12.15",
                 "12.14", "12.13", "12.12", "12.11", "12.10", "12.9",  "12.8"}});
  CHECK(features[2] == Feature{"sm_arch", true, {"90_real", "90_virtual"}});
}

TEST_CASE("nvidia: the edges of the known CUDA versions") {
  CHECK(supported("nvidia", nvidia_machine("10.2", {"9.0"})).empty());
  CHECK(supported("nvidia", nvidia_machine("", {"9.0"})).empty());

  const Features first = supported("nvidia", nvidia_machine("11.0", {"9.0"}));
  CHECK(first.at(0).values == Values{"11.0", "11"});
  CHECK(first.at(1).values.back() == "11.1");

  // With the last version nothing is above the driver, and a feature without values is left out.
  const Features last = supported("nvidia", nvidia_machine("15.20", {"9.0"}));
  REQUIRE(last.size() == 2);
  CHECK(last[0].values.size() == 5 * 22);
  CHECK(last[1].name == "sm_arch");
}

TEST_CASE("nvidia: a driver newer than the list still runs what the list has") {
  const Features features = supported("nvidia", nvidia_machine("16.1", {"9.0"}));
  REQUIRE(features.size() == 2);
  CHECK(features[0].values.size() == 3 + 5 * 22);
  CHECK(Values(features[0].values.begin(), features[0].values.begin() + 4) ==
        Values{"16.1", "16.0", "16", "15.20"});
  CHECK(features[1].name == "sm_arch");
  CHECK(supported("nvidia", nvidia_machine("15.21", {"9.0"})).at(0).values.at(1) == "15.20");
  CHECK(supported("nvidia", nvidia_machine("100.0", {"9.0"})).empty());
  CHECK(supported("nvidia", nvidia_machine("12.100", {"9.0"})).empty());
  CHECK(fact("nvidia", nvidia_machine("10.2", {"9.0"}), "cuda_version_lower_bound", "11.8") ==
        "driver 550.54 runs CUDA up to 10.2, but the provider only knows 11.0 and newer");
}

TEST_CASE("nvidia: with different GPUs what runs on all of them, in the order of the newest") {
  CHECK(supported("nvidia", nvidia_machine("12.8", {"12.0", "7.5"})).size() == 2);
  const Values ampere{"86_real", "85_real", "84_real", "83_real",
                      "82_real", "81_real", "80_real", "80_virtual"};
  CHECK(supported("nvidia", nvidia_machine("12.8", {"8.9", "8.6"})).at(2).values == ampere);
  CHECK(supported("nvidia", nvidia_machine("12.8", {"8.6", "8.9"})).at(2).values == ampere);
  CHECK(supported("nvidia", nvidia_machine("12.8", {"7.5", "12.0"}), any).at(2).values ==
        Values{"120_real", "120_virtual", "75_real", "74_real", "73_real", "72_real", "71_real",
               "70_real", "70_virtual"});
  CHECK(fact("nvidia", nvidia_machine("12.8", {"7.5", "12.0"}), "sm_arch", "75_real") ==
        "the GPUs have compute capability 12.0 and 7.5 (every GPU must run it), and the build has "
        "compiled code for 7.5");
}

TEST_CASE("nvidia: code of one GPU") {
  CHECK(supported("nvidia", nvidia_machine("12.8", {"8.9"})).at(2).values ==
        Values{"89_real", "88_real", "87_real", "86_real", "85_real", "84_real", "83_real",
               "82_real", "81_real", "80_real", "80_virtual"});
  CHECK(supported("nvidia", nvidia_machine("12.8", {"6.1"})).at(2).values ==
        Values{"61_real", "60_real", "60_virtual"});
}

TEST_CASE("nvidia: a Kepler GPU has CUDA versions but no architecture of the list") {
  const Features features = supported("nvidia", nvidia_machine("11.4", {"3.5"}));
  REQUIRE(features.size() == 2);
  CHECK(features[1].name == "cuda_version_upper_bound");
}

TEST_CASE("nvidia: a working driver without a device gives CUDA versions and no architecture") {
  const Features features = supported("nvidia", nvidia_machine("12.7", {}));
  REQUIRE(features.size() == 2);
  CHECK(features[0].values.front() == "12.7");
}

TEST_CASE("nvidia: GPUs that are broken, masked or not known to work give nothing") {
  Machine machine = nvidia_machine("12.7", {"9.0"});
  machine.gpus[0].usable = Presence::blocked;
  machine.gpus[0].reason = "no device nodes";
  CHECK(supported("nvidia", machine).empty());
  CHECK(fact("nvidia", machine, "sm_arch", "90_real") ==
        "NVIDIA GPU present but not usable: no device nodes");
  machine.gpus[0].usable = Presence::unknown;
  CHECK(supported("nvidia", machine).empty());
  CHECK(fact("nvidia", machine, "sm_arch", "90_real") ==
        "it is unknown whether the NVIDIA GPU is usable");
  machine.gpus[0].usable = Presence::present;
  machine.gpus[0].masked = true;
  CHECK(supported("nvidia", machine).empty());
  CHECK(fact("nvidia", machine, "cuda_version_lower_bound", "12.0") ==
        "NVIDIA GPU present but hidden from programs by a device mask");
  machine.gpus.push_back(working_gpu(GpuVendor::nvidia, "7.5"));
  CHECK(supported("nvidia", machine).at(2).values.front() == "75_real");
}

TEST_CASE("nvidia: facts name the driver and the GPU") {
  const Machine machine = nvidia_machine("12.4", {"9.0"});
  CHECK(fact("nvidia", machine, "cuda_version_lower_bound", "12.8") ==
        "driver 550.54 runs CUDA up to 12.4, and the build needs 12.8");
  CHECK(fact("nvidia", machine, "cuda_version_upper_bound", "12.2") ==
        "driver 550.54 runs CUDA up to 12.4, and the build is for drivers below 12.2");
  CHECK(fact("nvidia", machine, "sm_arch", "100_real") ==
        "the GPU has compute capability 9.0, and the build has compiled code for 10.0");
  CHECK(fact("nvidia", machine, "sm_arch", "80_virtual") ==
        "the GPU has compute capability 9.0, and the build has PTX for 8.0");
  CHECK(fact("nvidia", Machine{}, "sm_arch", "90_real") == "no NVIDIA GPU");
  CHECK(fact("nvidia", machine, "colour", "red") ==
        "the provider of nvidia does not know the property nvidia :: colour :: red");
}

TEST_CASE("amd: every GPU counts separately, cards before integrated GPUs") {
  Machine machine;
  machine.drivers.push_back(working_driver(GpuVendor::amd, "6.10.5", "6.4.1"));
  machine.gpus.push_back(working_gpu(GpuVendor::amd, "gfx1036"));
  machine.gpus[0].integrated = true;
  machine.gpus.push_back(working_gpu(GpuVendor::amd, "gfx90a:sramecc+:xnack-"));
  machine.gpus.push_back(working_gpu(GpuVendor::amd, "gfx942"));
  machine.gpus.push_back(working_gpu(GpuVendor::amd, "gfx1100"));
  machine.gpus.push_back(working_gpu(GpuVendor::amd, "gfx942"));
  const Features features = supported("amd", machine, any);
  REQUIRE(features.size() == 2);
  CHECK(features[0] == Feature{"gfx_arch", true, {"gfx1100", "gfx942", "gfx90a", "gfx1036"}});
  CHECK(supported("amd", machine).size() == 1);
  CHECK(features[1] == Feature{"rocm_version", false, {"6.4"}});
  CHECK(fact("amd", machine, "rocm_version", "6.3") ==
        "the system has ROCm 6.4, and the build is for 6.3");
  CHECK(fact("amd", machine, "gfx_arch", "gfx950") ==
        "the GPUs are gfx1100, gfx942 and gfx90a (every GPU must run it; the integrated GPU next "
        "to it, gfx1036, does not count), and the build has code for gfx950");
}

TEST_CASE("amd: no working GPU means no ROCm either") {
  Machine machine;
  machine.drivers.push_back(working_driver(GpuVendor::amd, "6.10.5", "6.4"));
  CHECK(supported("amd", machine).empty());
  CHECK(fact("amd", machine, "rocm_version", "6.4") == "no AMD GPU");
  machine.gpus.push_back(working_gpu(GpuVendor::amd, "gfx942"));
  machine.drivers.clear();
  const Features features = supported("amd", machine);
  REQUIRE(features.size() == 1);
  CHECK(features[0].values == Values{"gfx942"});
}

TEST_CASE("intel: each device is followed by the platform whose code it also runs") {
  Machine machine;
  for (const char* ip : {"12.57.0", "20.2.0", "20.1.0", "12.60.7"}) {
    machine.gpus.push_back(working_gpu(GpuVendor::intel, ip));
  }
  CHECK(supported("intel", machine).empty());
  const Features features = supported("intel", machine, any);
  REQUIRE(features.size() == 1);
  CHECK(features[0] ==
        Feature{"device_ip", true, {"20.2.0", "20.1.0", "12.60.7", "12.57.0", "12.55.8"}});
  CHECK(fact("intel", machine, "device_ip", "30.0.4") ==
        "the GPUs run code for device IP 20.2.0 (20.1.0), 20.1.0, 12.60.7 and 12.57.0 (12.55.8) "
        "(every GPU must run it), and the build has 30.0.4");
  machine.gpus.erase(machine.gpus.begin(), machine.gpus.begin() + 1);
  machine.gpus.pop_back();
  CHECK(supported("intel", machine).at(0).values == Values{"20.1.0"});
}

TEST_CASE("intel: a device that the table does not know keeps its own IP") {
  Machine machine;
  machine.gpus.push_back(working_gpu(GpuVendor::intel, "40.1.2"));
  CHECK(supported("intel", machine).at(0).values == Values{"40.1.2"});
  machine.gpus[0].arch = "not an ip";
  CHECK(supported("intel", machine).empty());
  CHECK(fact("intel", machine, "device_ip", "20.1.0") == "the device IP of the GPU is unknown");
}

TEST_CASE("rocm-bootstrap: every GPU that works, by the kernel's own target, or none at all") {
  Machine machine;
  CHECK(rocm_bootstrap_answer(machine).targets.empty());
  machine.gpus = {working_gpu(GpuVendor::amd, "gfx1151")};
  CHECK(rocm_bootstrap_answer(machine).targets == Values{"gfx1151"});
  CHECK(supported("amd", machine).at(0).values == Values{"gfx1151"});
  machine.gpus = {working_gpu(GpuVendor::amd, "gfx1100"), working_gpu(GpuVendor::amd, "gfx1036"),
                  working_gpu(GpuVendor::amd, "gfx1100"), working_gpu(GpuVendor::nvidia, "9.0")};
  CHECK(rocm_bootstrap_answer(machine).targets == Values{"gfx1100", "gfx1036"});
  machine.gpus[1].masked = true;
  CHECK(rocm_bootstrap_answer(machine).targets == Values{"gfx1100"});
  machine.gpus[0].reason_code = "gfx-override";
  machine.gpus[0].reason = "gfx1103 taken as gfx1100 by HSA_OVERRIDE_GFX_VERSION";
  CHECK(rocm_bootstrap_answer(machine).targets == Values{"gfx1103", "gfx1100"});
  machine.gpus[2].arch = "gfx1399";
  CHECK(rocm_bootstrap_answer(machine).targets.empty());
  CHECK(rocm_bootstrap_answer(machine).unknown == "gfx1399");
}

TEST_CASE("the lists of all values have the published sizes and ends") {
  const Features nvidia = find_provider("nvidia")->all();
  REQUIRE(nvidia.size() == 3);
  CHECK(nvidia[0].values.size() == 5 * 22);
  CHECK(nvidia[0].values.front() == "15.20");
  CHECK(nvidia[0].values.back() == "11");
  CHECK(nvidia[1].values == nvidia[0].values);
  CHECK(nvidia[2].values.size() == 160);
  CHECK(nvidia[2].values.front() == "129_real");
  CHECK(nvidia[2].values.back() == "50_virtual");
  const Features amd = find_provider("amd")->all();
  CHECK(amd.at(0).values.at(4) == "7.10");
  CHECK(amd.at(0).values.back() == "6.0");
  CHECK(amd.at(1).values.front() == "gfx900");
  CHECK(find_provider("intel")->all().at(0).values.size() == 23);
}

}  // namespace
}  // namespace axle::providers
