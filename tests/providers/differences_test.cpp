// Where our answer is not the published provider's: each difference of docs/providers.md is shown
// here, and each that is shown here stands there.

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "machines/overrides.h"
#include "providers/provider.h"
#include "tests/providers/machines.h"

namespace axle::providers {
namespace {

using detect::Arch;
using detect::Capability;
using detect::GpuVendor;
using detect::Machine;
using detect::Npu;
using detect::NpuKind;
using detect::Presence;
using testing::nvidia_machine;
using testing::working_driver;
using testing::working_gpu;

using Values = std::vector<std::string>;

Values values(std::string_view ns, const Machine& machine, std::string_view feature,
              const GpuPolicy& policy = {}) {
  for (const Feature& each : find_provider(ns)->supported(machine, policy)) {
    if (each.name == feature) return each.values;
  }
  return {};
}

bool holds(const Values& list, std::string_view value) {
  return std::ranges::find(list, value) != list.end();
}

Machine gpus_of(GpuVendor vendor, const std::vector<std::string_view>& archs,
                std::string_view api = "6.4") {
  Machine machine;
  machine.drivers = {working_driver(vendor, "1", api)};
  for (const std::string_view arch : archs) machine.gpus.push_back(working_gpu(vendor, arch));
  return machine;
}

/// The words of `capabilities` present, all others absent.
Machine arm_with(const std::vector<Capability>& capabilities) {
  Machine machine = testing::x86_machine(0);
  machine.cpu.arch = Arch::aarch64;
  for (const Capability each : capabilities) machine.cpu.capabilities.set(each, Presence::present);
  return machine;
}

void nvidia_unlike_gpus() {
  const Machine machine = nvidia_machine("12.8", {"12.0", "7.5"});
  CHECK(values("nvidia", machine, "sm_arch").empty());
  CHECK(values("nvidia", machine, "sm_arch", {GpuRule::named, {"0"}}) ==
        Values{"120_real", "120_virtual"});
}

void nvidia_no_device() {
  const Machine machine = nvidia_machine("12.8", {});
  CHECK(values("nvidia", machine, "cuda_version_lower_bound").front() == "12.8");
  CHECK(values("nvidia", machine, "sm_arch").empty());
}

void nvidia_masked() {
  Machine machine = nvidia_machine("12.8", {"12.0", "7.5"});
  machine.gpus[0].masked = true;
  CHECK(values("nvidia", machine, "sm_arch").front() == "75_real");
}

void nvidia_unusable() {
  Machine machine = nvidia_machine("12.8", {"9.0"});
  machine.drivers[0].usable = Presence::blocked;
  machine.gpus[0].usable = Presence::blocked;
  machine.gpus[0].reason = "no device nodes";
  CHECK(find_provider("nvidia")->supported(machine, {}).empty());
  CHECK(render_facts(find_provider("nvidia")->facts(machine, {}, "sm_arch", "90_real")) ==
        "NVIDIA GPU present but not usable: no device nodes");
}

void nvidia_newer_driver() {
  const Machine machine = nvidia_machine("16.0", {"9.0"});
  CHECK(values("nvidia", machine, "cuda_version_lower_bound").at(2) == "15.20");
  CHECK(values("nvidia", machine, "sm_arch").front() == "90_real");
}

Machine forced(const std::vector<machines::Override>& overrides) {
  Machine machine;
  CollectedReport report;
  CHECK(machines::apply_overrides(machine, overrides, report).has_value());
  return machine;
}

void nvidia_forced_nonsense() {
  const auto refused = [](const std::vector<machines::Override>& overrides) {
    Machine machine;
    CollectedReport report;
    return !machines::apply_overrides(machine, overrides, report);
  };
  for (const char* version : {"12.8rc1", "v12.8", "1!12.8", "12.8+x", "12.60", "57.0"})
    CHECK(refused({{"NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION", version}}));
  for (const char* capability : {"9.10", "130.0", "+9.0"})
    CHECK(refused({{"NV_VARIANT_PROVIDER_FORCE_SM_ARCH", capability}}));
}

void intel_forced_base() {
  const Machine machine = forced({{"INTEL_VARIANT_PROVIDER_FORCE_DEVICE_IP", "20.2.0"}});
  CHECK(values("intel", machine, "device_ip") == Values{"20.2.0", "20.1.0"});
}

void amd_each_for_itself() {
  const Machine machine = gpus_of(GpuVendor::amd, {"gfx1036", "gfx1100"});
  CHECK(values("amd", machine, "gfx_arch") == Values{"gfx1100"});
  CHECK(values("amd", machine, "gfx_arch", {GpuRule::any, {}}) == Values{"gfx1100", "gfx1036"});
}

void amd_unlike_gpus() {
  const Machine machine = gpus_of(GpuVendor::amd, {"gfx942", "gfx90a"});
  CHECK(values("amd", machine, "gfx_arch").empty());
  // The newest first, where the published list is sorted as text.
  CHECK(values("amd", machine, "gfx_arch", {GpuRule::any, {}}) == Values{"gfx942", "gfx90a"});
}

void amd_newer_targets() {
  const Features all = find_provider("amd")->all();
  const Values& rocm = all.at(0).values;
  const Values& targets = all.at(1).values;
  for (const char* newer : {"7.11", "7.14", "6.2", "6.0"}) CHECK(holds(rocm, newer));
  for (const char* newer : {"gfx950", "gfx1151"}) CHECK(holds(targets, newer));
  // The published ones in their order, ours behind them.
  const auto from = std::ranges::find(rocm, "7.10");
  const Values published{"7.10", "7.9", "7.8", "7.7", "7.6", "7.5", "7.4",
                         "7.3",  "7.2", "7.1", "7.0", "6.4", "6.3"};
  CHECK(std::equal(published.begin(), published.end(), from));
}

void amd_rocm_needs_gpu() {
  CHECK(find_provider("amd")->supported(gpus_of(GpuVendor::amd, {}), {}).empty());
}

void intel_unknown_device() {
  CHECK(values("intel", gpus_of(GpuVendor::intel, {"40.1.2"}), "device_ip") == Values{"40.1.2"});
}

void intel_unlike_gpus() {
  const Machine machine = gpus_of(GpuVendor::intel, {"20.1.0", "12.60.7"});
  CHECK(values("intel", machine, "device_ip").empty());
  CHECK(values("intel", machine, "device_ip", {GpuRule::any, {}}) == Values{"20.1.0", "12.60.7"});
}

void x86_flags_not_names() {
  Machine machine = testing::x86_machine(4);
  machine.cpu.brand = "Intel(R) Core(TM)2 Duo";
  machine.cpu.capabilities.set(Capability::avx512_bf16, Presence::present);
  CHECK(values("x86_64", machine, "level").front() == "v4");
  CHECK(values("x86_64", machine, "avx512_bf16") == Values{"on"});
}

void x86_os_state() {
  Machine machine = testing::x86_machine(4);
  machine.cpu.capabilities.set(Capability::avx512f, Presence::blocked);
  CHECK(values("x86_64", machine, "level").front() == "v3");
  CHECK(values("x86_64", machine, "avx512f").empty());
}

void x86_nothing_known() {
  Machine machine;
  machine.cpu.arch = Arch::x86_64;
  CHECK(find_provider("x86_64")->supported(machine, {}).empty());
}

void aarch64_run_together() {
  const Machine machine =
      arm_with({Capability::arm_fp, Capability::arm_asimd, Capability::arm_bti, Capability::arm_ecv,
                Capability::arm_asimdrdm, Capability::arm_atomics});
  for (const Feature& feature : find_provider("aarch64")->all()) {
    CHECK(feature.name != "btiecv");
    CHECK(feature.name != "asimdrdmatomics");
  }
  for (const char* flag : {"arm_bti", "arm_ecv", "arm_asimdrdm", "arm_atomics"})
    CHECK(values("axle", machine, flag) == Values{"on"});
}

void aarch64_flags_not_names() {
  Machine machine = arm_with({Capability::arm_fp, Capability::arm_asimd, Capability::arm_crc32,
                              Capability::arm_atomics, Capability::arm_asimdrdm});
  machine.cpu.vendor = "0xff";
  CHECK(values("aarch64", machine, "version") == Values{"8.1a", "8a"});
}

Npu ascend(std::string_view type, std::string_view driver) {
  Npu npu;
  npu.type = type;
  npu.driver_version = driver;
  npu.usable = Presence::present;
  return npu;
}

void ascend_no_empty_feature() {
  Machine machine;
  CHECK(find_provider("ascend")->supported(machine, {}).empty());
  machine.npus = {ascend("910b", "")};
  CHECK(find_provider("ascend")->supported(machine, {}).size() == 1);
}

void ascend_all_agree() {
  Machine machine;
  machine.npus = {ascend("910b", "24.1"), ascend("910b", "24.1")};
  CHECK(values("ascend", machine, "npu_type") == Values{"910b"});
  CHECK(values("ascend", machine, "driver_version") == Values{"24.1"});
  machine.npus = {ascend("910b", "24.1"), ascend("310p", "23.0")};
  CHECK(find_provider("ascend")->supported(machine, {}).empty());
}

void tpu_must_work() {
  Machine machine;
  machine.os.system = "Linux";
  Npu& npu = machine.npus.emplace_back();
  npu.kind = NpuKind::tpu;
  npu.usable = Presence::blocked;
  CHECK(values("tpu", machine, "present") == Values{"false"});
  npu.usable = Presence::unknown;
  CHECK(values("tpu", machine, "present").empty());
}

struct Difference {
  const char* id;
  void (*show)();
};

constexpr Difference differences[] = {
    {"nvidia-unlike-gpus", nvidia_unlike_gpus},
    {"nvidia-no-device", nvidia_no_device},
    {"nvidia-masked", nvidia_masked},
    {"nvidia-unusable", nvidia_unusable},
    {"nvidia-newer-driver", nvidia_newer_driver},
    {"nvidia-forced-nonsense", nvidia_forced_nonsense},
    {"amd-each-for-itself", amd_each_for_itself},
    {"amd-unlike-gpus", amd_unlike_gpus},
    {"amd-newer-targets", amd_newer_targets},
    {"amd-rocm-needs-gpu", amd_rocm_needs_gpu},
    {"intel-unknown-device", intel_unknown_device},
    {"intel-unlike-gpus", intel_unlike_gpus},
    {"intel-forced-base", intel_forced_base},
    {"x86-flags-not-names", x86_flags_not_names},
    {"x86-os-state", x86_os_state},
    {"x86-nothing-known", x86_nothing_known},
    {"aarch64-run-together", aarch64_run_together},
    {"aarch64-flags-not-names", aarch64_flags_not_names},
    {"ascend-no-empty-feature", ascend_no_empty_feature},
    {"ascend-all-agree", ascend_all_agree},
    {"tpu-must-work", tpu_must_work},
};

TEST_CASE("each difference from a published provider is what the page says") {
  for (const Difference& difference : differences) {
    CAPTURE(difference.id);
    difference.show();
  }
}

TEST_CASE("the page lists the differences that are shown, and no others") {
  std::ifstream page(AXLE_SOURCE_DIR "/docs/providers.md");
  std::set<std::string> listed;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) inside = line == "## Differences";
    if (!inside || !line.starts_with("| `")) continue;
    CHECK_MESSAGE(std::ranges::count(line, '|') == 5, line);
    const std::string id = line.substr(3, line.find('`', 3) - 3);
    CHECK_MESSAGE(listed.insert(id).second, id);
  }
  std::set<std::string> shown;
  for (const Difference& difference : differences) shown.insert(difference.id);
  CHECK(listed == shown);
}

}  // namespace
}  // namespace axle::providers
