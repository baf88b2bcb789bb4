// The variables by which users say what their machine shall be taken for.

#include "machines/overrides.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

namespace axle::machines {
namespace {

using detect::Driver;
using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;
using detect::Npu;
using detect::NpuKind;
using detect::Presence;

using Strings = std::vector<std::string>;

struct Forced {
  Machine machine;
  std::vector<Remark> remarks = {};

  [[nodiscard]] Strings archs(GpuVendor vendor) const {
    Strings archs;
    for (const Gpu& gpu : machine.gpus) {
      if (gpu.vendor == vendor && gpu.usable == Presence::present) archs.push_back(gpu.arch);
    }
    return archs;
  }
  [[nodiscard]] const Driver& driver(GpuVendor vendor) const {
    const Driver* driver = detect::find_driver(machine, vendor);
    REQUIRE(driver != nullptr);
    return *driver;
  }
};

Forced force(const std::vector<Override>& overrides, const Machine& before = {}) {
  CollectedReport report;
  Machine machine = before;
  const auto applied = apply_overrides(machine, overrides, report);
  CHECK(applied.has_value());
  return {std::move(machine), std::move(report.remarks)};
}

/// What the refusal says, and what instead; {} where there is none.
std::pair<std::string, std::string> refusal(const std::vector<Override>& overrides) {
  CollectedReport report;
  Machine machine;
  const auto applied = apply_overrides(machine, overrides, report);
  if (applied) return {};
  return {applied.error().message, applied.error().hint};
}

constexpr const char* force_cuda = "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION";
constexpr const char* force_sm = "NV_VARIANT_PROVIDER_FORCE_SM_ARCH";
constexpr const char* force_gfx = "AMD_VARIANT_PROVIDER_FORCE_GFX_ARCH";
constexpr const char* force_rocm = "AMD_VARIANT_PROVIDER_FORCE_ROCM_VERSION";
constexpr const char* force_ip = "INTEL_VARIANT_PROVIDER_FORCE_DEVICE_IP";
constexpr const char* force_tpu = "TPU_VARIANT_PROVIDER_FORCE_PRESENT";

TEST_CASE("nothing given changes nothing") {
  Machine machine;
  machine.gpus.emplace_back().arch = "9.0";
  const Machine before = machine;
  CHECK(force({}, machine).machine == before);
  const Forced unknown =
      force({{"SOMETHING_ELSE", "1"}, {force_sm, ""}, {force_sm, "  "}}, machine);
  CHECK(unknown.machine == before);
  CHECK(unknown.remarks.empty());
}

TEST_CASE("NVIDIA: a GPU and a driver where there were none, or others") {
  Machine before;
  for (const char* arch : {"12.0", "7.5"}) {
    Gpu& gpu = before.gpus.emplace_back();
    gpu.arch = arch;
    gpu.usable = Presence::blocked;
  }
  before.gpus.emplace_back().vendor = GpuVendor::amd;
  for (const Machine& machine : {Machine{}, before}) {
    const Forced forced = force({{force_cuda, "12.8"}, {force_sm, "9.0"}}, machine);
    CHECK(forced.archs(GpuVendor::nvidia) == Strings{"9.0"});
    CHECK(forced.driver(GpuVendor::nvidia).api_version == "12.8");
    CHECK(forced.driver(GpuVendor::nvidia).api_source == "override");
    CHECK(forced.driver(GpuVendor::nvidia).usable == Presence::present);
    CHECK(forced.machine.gpus.back().sources.at("arch") == "override");
    CHECK(forced.remarks.size() == 2);
  }
  CHECK(force({{force_sm, "9.0"}}, before).machine.gpus.front().vendor == GpuVendor::amd);
}

TEST_CASE("a CUDA version may have any parts, as long as there can be one") {
  for (const auto& [value, version] : {std::pair{"12", "12.0"},
                                       {"12.8", "12.8"},
                                       {"12.08", "12.8"},
                                       {"12.8.1", "12.8.1"},
                                       {"12.8.1.2", "12.8.1.2"},
                                       {" 13.0 ", "13.0"},
                                       {"15.0", "15.0"},
                                       {"10.2", "10.2"}}) {
    const Forced forced = force({{force_cuda, value}});
    CHECK(forced.driver(GpuVendor::nvidia).api_version == version);
  }
}

TEST_CASE("what no machine has is refused with the nearest") {
  struct Case {
    const char* variable;
    const char* value;
    const char* nearest;
  };
  for (const auto& [variable, value, nearest] :
       {Case{force_cuda, "999", "13.2, 13.1, 13.0"},
        Case{force_cuda, "12.60", "12.9, "},
        Case{force_cuda, "57.0", "13.2, "},
        Case{force_cuda, "0", "9.0, "},
        Case{"CONDA_OVERRIDE_CUDA", "99.1", "13.2, "},
        Case{force_sm, "999.0", "12.1, 12.0, 11.0"},
        Case{force_sm, "9.10", "9.0, "},
        Case{force_sm, "9.0a", "9.0, "},
        Case{force_sm, "999", "9.0"},
        Case{force_sm, "9.0.0", "9.0, "},
        Case{force_gfx, "gfx999", "gfx90"},
        Case{force_gfx, "gfx942,gfx9999", "gfx90"},
        Case{force_gfx, "GFX942", "gfx"},
        Case{force_gfx, "gfx90a:xnack-", "gfx90a"},
        Case{"UV_AMD_GPU_ARCHITECTURE", "gfx999", "gfx90"},
        Case{force_rocm, "99.0", "7.14, "},
        Case{force_ip, "99.0.0", "30."},
        Case{force_ip, "20.1.0,13.0.0", "12."},
        Case{"UV_CUDA_DRIVER_VERSION", "9999.1", "595.71.05, "},
        Case{"UV_CUDA_DRIVER_VERSION", "12.8", "384.81, "}}) {
    CAPTURE(variable);
    CAPTURE(value);
    const auto [message, hint] = refusal({{variable, value}});
    CHECK(message == std::string(variable) + "=" + value + ": no machine has that");
    CHECK(hint.find("nearest known: " + std::string(nearest)) != std::string::npos);
    CHECK(hint.find("unset it") != std::string::npos);
  }
}

TEST_CASE("a value without the form is refused with an example") {
  for (const auto& [variable, value] : {std::pair{force_cuda, "x"},
                                        {force_cuda, "12.x"},
                                        {force_cuda, "12."},
                                        {force_cuda, ".8"},
                                        {force_cuda, "-1.0"},
                                        {force_cuda, "4294967307.0"},
                                        {force_cuda, "12,8"},
                                        {force_cuda, "12.8rc1"},
                                        {force_cuda, "12.8.99999"},
                                        {force_gfx, ","},
                                        {force_rocm, "six"},
                                        {force_rocm, "6"},
                                        {force_ip, ";"},
                                        {force_tpu, "on"},
                                        {force_tpu, "2"},
                                        {force_tpu, "truest"},
                                        {"ASCEND_VARIANT_PROVIDER_FORCE_NPU_TYPE", "Ascend 910B"},
                                        {"ASCEND_VARIANT_PROVIDER_FORCE_CANN_VERSION", "8,0"}}) {
    CAPTURE(variable);
    CAPTURE(value);
    const auto [message, hint] = refusal({{variable, value}});
    CHECK(message == std::string(variable) + "=" + value + " is not a valid value");
    CHECK(hint.find("write it like " + std::string(variable) + "=") != std::string::npos);
  }
}

TEST_CASE("a later variable does not hide that an earlier one is not valid") {
  CHECK_FALSE(refusal({{force_cuda, "12.8"}, {"CONDA_OVERRIDE_CUDA", "99"}}).first.empty());
  CHECK_FALSE(refusal({{force_sm, "9.0"}, {force_gfx, "gfx999"}}).first.empty());
}

TEST_CASE("AMD: a list of targets and a ROCm version") {
  const Forced forced = force({{force_gfx, "gfx942, gfx1100;gfx90a"}, {force_rocm, "6.4.1"}});
  CHECK(forced.archs(GpuVendor::amd) == Strings{"gfx942", "gfx1100", "gfx90a"});
  CHECK(forced.driver(GpuVendor::amd).api_version == "6.4.1");
}

TEST_CASE("Intel: device IPs") {
  CHECK(force({{force_ip, "30.0.4"}}).archs(GpuVendor::intel) == Strings{"30.0.4"});
  CHECK(force({{force_ip, "20.1.0,12.60.7"}}).archs(GpuVendor::intel) ==
        Strings{"20.1.0", "12.60.7"});
  for (const char* value : {"30.0", "bmg", "30.0.4.1", "30.0.4,x"})
    CHECK_FALSE(refusal({{force_ip, value}}).first.empty());
}

TEST_CASE("Ascend: kind, driver and toolkit of the NPUs that are there, or of one") {
  const std::vector<Override> overrides{
      {"ASCEND_VARIANT_PROVIDER_FORCE_NPU_TYPE", "310p"},
      {"ASCEND_VARIANT_PROVIDER_FORCE_DRIVER_VERSION", "24.1.rc3"},
      {"ASCEND_VARIANT_PROVIDER_FORCE_CANN_VERSION", "8.0.0"}};
  const Forced forced = force(overrides);
  REQUIRE(forced.machine.npus.size() == 1);
  const Npu& npu = forced.machine.npus.front();
  CHECK(npu.kind == NpuKind::ascend);
  CHECK(npu.type == "310p");
  CHECK(npu.driver_version == "24.1.rc3");
  CHECK(npu.toolkit_version == "8.0.0");
  CHECK(npu.usable == Presence::present);
  Machine two;
  two.npus.resize(2);
  CHECK(force(overrides, two).machine.npus.size() == 2);
}

TEST_CASE("TPU: 1, true and yes say that there is one, 0, false and no that there is none") {
  Machine with;
  with.npus.emplace_back().kind = NpuKind::tpu;
  for (const char* value : {"1", "true", "yes", "TRUE", "Yes"}) {
    const Forced forced = force({{force_tpu, value}});
    REQUIRE(forced.machine.npus.size() == 1);
    CHECK(forced.machine.npus.front().usable == Presence::present);
  }
  for (const char* value : {"0", "false", "no"}) {
    const Forced forced = force({{force_tpu, value}}, with);
    CHECK(forced.machine.npus.empty());
  }
}

TEST_CASE("uv's and conda's variables have lower precedence than those of the providers") {
  const Forced uv =
      force({{"UV_CUDA_DRIVER_VERSION", "570.26"}, {"UV_AMD_GPU_ARCHITECTURE", "gfx1151"}});
  CHECK(uv.driver(GpuVendor::nvidia).kernel_version == "570.26");
  CHECK(uv.driver(GpuVendor::nvidia).api_version == "12.8");
  CHECK(uv.archs(GpuVendor::amd) == Strings{"gfx1151"});
  // Possible, but from before the first branch whose CUDA version is known.
  const Forced old = force({{"UV_CUDA_DRIVER_VERSION", "367.57"}});
  CHECK(old.driver(GpuVendor::nvidia).kernel_version == "367.57");
  CHECK(old.driver(GpuVendor::nvidia).usable == Presence::unknown);
  const Forced conda = force({{"CONDA_OVERRIDE_CUDA", "12.4"}});
  CHECK(conda.driver(GpuVendor::nvidia).api_version == "12.4");
  // Whatever their order in the environment.
  const Forced both = force({{force_cuda, "12.8"},
                             {"UV_CUDA_DRIVER_VERSION", "450.80.02"},
                             {"CONDA_OVERRIDE_CUDA", "11.0"}});
  CHECK(both.driver(GpuVendor::nvidia).api_version == "12.8");
}

TEST_CASE("a vendor whose facts are all stated need not be asked") {
  const auto vendors = [](std::initializer_list<Override> overrides) {
    return stated_vendors(std::vector<Override>(overrides));
  };
  const Override sm{"NV_VARIANT_PROVIDER_FORCE_SM_ARCH", "9.0"};
  CHECK(vendors({}).empty());
  CHECK(vendors({sm}).empty());
  CHECK(vendors({{"CONDA_OVERRIDE_CUDA", "12.8"}}).empty());
  CHECK(vendors({sm, {"CONDA_OVERRIDE_CUDA", " "}}).empty());
  for (const char* cuda : {"CONDA_OVERRIDE_CUDA", "UV_CUDA_DRIVER_VERSION",
                           "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"}) {
    CHECK(vendors({sm, {cuda, "12.8"}}) == std::vector{detect::GpuVendor::nvidia});
  }
  CHECK(vendors({{"AMD_VARIANT_PROVIDER_FORCE_GFX_ARCH", "gfx942"},
                 {"AMD_VARIANT_PROVIDER_FORCE_ROCM_VERSION", "6.4"},
                 {"INTEL_VARIANT_PROVIDER_FORCE_DEVICE_IP", "20.1.0"}}) ==
        std::vector{detect::GpuVendor::amd, detect::GpuVendor::intel});
}

TEST_CASE("every variable is there once, with what it means") {
  std::set<std::string_view> names;
  for (const OverrideVariable& row : override_variables()) {
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.meaning.empty());
  }
  CHECK(names.size() > 10);
}

}  // namespace
}  // namespace axle::machines
