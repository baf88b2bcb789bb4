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

  [[nodiscard]] bool warned() const {
    return std::ranges::any_of(remarks, [](const Remark& remark) {
      return remark.message.find("makes no sense: nothing is chosen by it") != std::string::npos;
    });
  }
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
  apply_overrides(machine, overrides, report);
  return {std::move(machine), std::move(report.remarks)};
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
    CHECK_FALSE(forced.warned());
    CHECK(forced.remarks.size() == 2);
  }
  CHECK(force({{force_sm, "9.0"}}, before).machine.gpus.front().vendor == GpuVendor::amd);
}

TEST_CASE("a version may have any parts, as long as uv would list what lies below it") {
  for (const auto& [value, version] : {std::pair{"12", "12.0"},
                                       {"12.8", "12.8"},
                                       {"12.8.1", "12.8.1"},
                                       {"12.8.1.2", "12.8.1.2"},
                                       {"12.60", "12.60"},
                                       {"12.1000", "12.1000"},
                                       {"57.0", "57.0"},
                                       {" 13.0 ", "13.0"},
                                       {"16.0", "16.0"},
                                       {"10.2", "10.2"}}) {
    const Forced forced = force({{force_cuda, value}});
    CHECK(forced.driver(GpuVendor::nvidia).api_version == version);
    CHECK_FALSE(forced.warned());
  }
}

TEST_CASE("a value without sense makes its fact unknown and is warned about") {
  Machine before;
  Gpu& gpu = before.gpus.emplace_back();
  gpu.arch = "12.0";
  gpu.usable = Presence::present;
  Driver& driver = before.drivers.emplace_back();
  driver.api_version = "13.0";
  driver.usable = Presence::present;
  for (const char* value : {"x", "12.x", "12.", ".8", "-1.0", "12.1001", "58.0", "999999.0",
                            "4294967307.0", "1e3", "12,8", "12.8rc1"}) {
    CAPTURE(value);
    const Forced forced = force({{force_cuda, value}}, before);
    CHECK(forced.warned());
    CHECK(forced.driver(GpuVendor::nvidia).api_version.empty());
    CHECK(forced.driver(GpuVendor::nvidia).usable == Presence::unknown);
  }
  for (const char* value : {"9", "9.0a", "sm_90", "9.0.0", "9.10", "90"}) {
    CAPTURE(value);
    const Forced forced = force({{force_cuda, "12.8"}, {force_sm, value}}, before);
    CHECK(forced.warned());
    CHECK(forced.archs(GpuVendor::nvidia).empty());
    CHECK(forced.driver(GpuVendor::nvidia).usable == Presence::unknown);
  }
}

TEST_CASE("AMD: a list of targets and a ROCm version") {
  const Forced forced = force({{force_gfx, "gfx942, gfx1100;gfx90a"}, {force_rocm, "6.4.1"}});
  CHECK(forced.archs(GpuVendor::amd) == Strings{"gfx942", "gfx1100", "gfx90a"});
  CHECK(forced.driver(GpuVendor::amd).api_version == "6.4.1");
  for (const char* value : {"gfx942,all", "942", "gfx", ",", "GFX942"}) {
    CAPTURE(value);
    const Forced bad = force({{force_gfx, value}});
    CHECK(bad.warned());
    CHECK(bad.archs(GpuVendor::amd).empty());
  }
  CHECK(force({{force_rocm, "six"}}).warned());
}

TEST_CASE("Intel: device IPs") {
  CHECK(force({{force_ip, "30.0.4"}}).archs(GpuVendor::intel) == Strings{"30.0.4"});
  CHECK(force({{force_ip, "20.1.0,12.60.7"}}).archs(GpuVendor::intel) ==
        Strings{"20.1.0", "12.60.7"});
  for (const char* value : {"30.0", "bmg", "30.0.4.1", "30.0.4,x"}) {
    const Forced bad = force({{force_ip, value}});
    CHECK(bad.warned());
    CHECK(bad.archs(GpuVendor::intel).empty());
  }
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
  const Forced bad = force({{"ASCEND_VARIANT_PROVIDER_FORCE_NPU_TYPE", "Ascend 910B"}});
  CHECK(bad.warned());
  CHECK(bad.machine.npus.front().type.empty());
}

TEST_CASE("TPU: 1, true and yes say that there is one, everything else that there is none") {
  Machine with;
  with.npus.emplace_back().kind = NpuKind::tpu;
  for (const char* value : {"1", "true", "yes", "TRUE", "Yes"}) {
    const Forced forced = force({{force_tpu, value}});
    REQUIRE(forced.machine.npus.size() == 1);
    CHECK(forced.machine.npus.front().usable == Presence::present);
    CHECK_FALSE(forced.warned());
  }
  for (const char* value : {"0", "false", "no"}) {
    const Forced forced = force({{force_tpu, value}}, with);
    CHECK(forced.machine.npus.empty());
    CHECK_FALSE(forced.warned());
  }
  for (const char* value : {"on", "2", "truest"}) {
    const Forced forced = force({{force_tpu, value}}, with);
    CHECK(forced.machine.npus.empty());
    CHECK(forced.warned());
  }
}

TEST_CASE("uv's and conda's variables, which those of the providers outdo") {
  const Forced uv =
      force({{"UV_CUDA_DRIVER_VERSION", "570.26"}, {"UV_AMD_GPU_ARCHITECTURE", "gfx1151"}});
  CHECK(uv.driver(GpuVendor::nvidia).kernel_version == "570.26");
  CHECK(uv.driver(GpuVendor::nvidia).api_version == "12.8");
  CHECK(uv.archs(GpuVendor::amd) == Strings{"gfx1151"});
  CHECK(force({{"UV_CUDA_DRIVER_VERSION", "new"}}).warned());
  CHECK(force({{"UV_CUDA_DRIVER_VERSION", "12.8"}}).warned());  // no driver, a CUDA version
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
  CHECK(names.size() == 12);
}

}  // namespace
}  // namespace axle::machines
