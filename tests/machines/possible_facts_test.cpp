// Facts that no machine can have are refused with the nearest that is known; what is known, and
// what the next generation may bring, is taken.

#include "machines/possible_facts.h"

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "detect/nvidia/cuda_drivers.h"
#include "machines/gpu_models.h"
#include "machines/inline_facts.h"
#include "machines/profile.h"
#include "machines/selection.h"

namespace axle::machines {
namespace {

using detect::GpuVendor;

TEST_CASE("whatever the tables have is possible") {
  for (const GpuModel& model : gpu_models())
    CHECK_MESSAGE(!nearest_arch(model.vendor, model.arch), std::string(model.name));
  for (const detect::CudaDriverBranch& row : detect::cuda_driver_branches) {
    CHECK_MESSAGE(!nearest_driver(GpuVendor::nvidia, row.driver), std::string(row.driver));
    CHECK_MESSAGE(!nearest_api(GpuVendor::nvidia, row.cuda), std::string(row.cuda));
  }
}

TEST_CASE("the next generation can be described") {
  for (const char* part : {"nvidia:sm=130", "nvidia:sm=13.5", "nvidia:sm=122", "nvidia:sm=104",
                           "amd:gfx=gfx1252", "amd:gfx=1310", "intel:ip=30.3.4", "intel:ip=35.10.0",
                           "intel:ip=20.2.0", "nvidia:sm=90,driver=620.10", "nvidia:cuda=14.0",
                           "amd:gfx=gfx942,rocm=10.0", "amd:gfx=gfx942,driver=30.40",
                           "nvidia:driver=340.108", "libc:glibc=2.45", "libc:musl=1.3"}) {
    detect::Machine machine;
    const auto added = add_facts(machine, part);
    CHECK_MESSAGE(added.has_value(), part);
  }
}

TEST_CASE("what cannot be is refused with the nearest") {
  for (const auto& [part, nearest] : std::vector<std::pair<const char*, const char*>>{
           {"nvidia:sm=999", "12.1"},        {"nvidia:sm=91", "9.0"},
           {"nvidia:sm=9.1", "9.0"},         {"nvidia:sm=85", "8.6"},
           {"nvidia:sm=140", "12.1"},        {"nvidia:sm=90,driver=9999.99", "595.71.05"},
           {"nvidia:driver=12.8", "384.81"}, {"nvidia:driver=570.9999", "570.26"},
           {"nvidia:cuda=99.9", "13.2"},     {"nvidia:cuda=12.10", "12.9"},
           {"amd:gfx=gfx999", "gfx9"},       {"amd:gfx=gfx943", "gfx942"},
           {"amd:gfx=gfx1402", "gfx1"},      {"amd:gfx=gfx942,rocm=99.0", "7.14"},
           {"amd:driver=999.1", "6.12.12"},  {"intel:ip=999.1.0", "30.0.4"},
           {"intel:ip=13.1.0", "12.74.4"},   {"intel:ip=20.999.0", "20.4.4"},
           {"intel:gpu=b999", "b5"},         {"x86_64:v9", "v1"},
           {"libc:glibc=9.9", "2.36"},       {"libc:glibc=2.999", "2.36"},
           {"libc:musl=2.0", "1.2"}}) {
    detect::Machine machine;
    const auto added = add_facts(machine, part);
    REQUIRE_MESSAGE(!added.has_value(), part);
    CHECK(added.error().kind == ErrorKind::not_found);
    CHECK_MESSAGE(added.error().hint.contains(nearest), added.error().hint);
  }
}

TEST_CASE("the nearest driver for Windows is one for Windows, in NVIDIA's own numbers") {
  for (const auto& [what, nearest, foreign] :
       {std::tuple("windows;nvidia:driver=9999.99", "595, 590, 580", "590.44.01"),
        std::tuple("nvidia:driver=9999.99;windows", "595, 590, 580", "595.71.05"),
        std::tuple("windows;nvidia:sm=90,driver=12.8", "385.54", "384.81"),
        std::tuple("nvidia:driver=9999.99", "595.71.05", "576.02"),
        std::tuple("nvidia:driver=new;windows", "driver=581.29", "570.26"),
        std::tuple("windows;nvidia:sm=120,driver=32.0.15.8129",
                   "581.29, which Windows' Device Manager calls 32.0.15.8129", "580.65.06"),
        std::tuple("windows;nvidia:driver=31.0.15.3742", "537.42,", "580.65.06"),
        std::tuple("windows;nvidia:driver=27.21.14.5671", "456.71,", "456.38"),
        std::tuple("windows;nvidia:driver=32.0.16.12", "600.12,", "595")}) {
    CAPTURE(what);
    CollectedReport untold;
    const auto refused = select_machines(what, untold);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().kind == ErrorKind::not_found);
    CHECK_MESSAGE(refused.error().hint.contains(nearest), refused.error().hint);
    CHECK_MESSAGE(!refused.error().hint.contains(foreign), refused.error().hint);
  }
}

TEST_CASE("only such versions of macOS can be as there were or may come") {
  for (const auto& [major, minor] : {std::pair(10U, 15U), std::pair(11U, 7U), std::pair(14U, 8U),
                                     std::pair(15U, 7U), std::pair(26U, 4U), std::pair(27U, 0U)})
    CHECK_FALSE(nearest_macos({major, minor}).has_value());
  for (const auto& [version, nearest] : {std::pair(detect::MacosVersion{11, 99}, "11.7"),
                                         std::pair(detect::MacosVersion{13, 8}, "13.7"),
                                         std::pair(detect::MacosVersion{15, 12}, "15"),
                                         std::pair(detect::MacosVersion{17, 0}, "15, 26"),
                                         std::pair(detect::MacosVersion{10, 16}, "10.15, 11")})
    CHECK(nearest_macos(version) == nearest);
  detect::Machine machine;
  CHECK_FALSE(add_facts(machine, "macos:15.6.99").has_value());
  CHECK(add_facts(machine, "macos:15.6.1").has_value());
}

std::string profile_with(const std::string& facts, const std::string& kind = "synthesised") {
  return R"({"schema_version": 2, "origin": {"kind": ")" + kind +
         R"(", "source": "a test", "date": "2026-11-22"}, )" + facts + "}";
}

TEST_CASE("a profile may name an AMD target with its features") {
  for (const char* arch : {"gfx942:sramecc+:xnack-", "gfx90a:sramecc-", "gfx906:xnack+"})
    CHECK_MESSAGE(!nearest_arch(GpuVendor::amd, arch), arch);
  for (const char* arch :
       {"gfx943:sramecc+:xnack-", "gfx942:xnack", "gfx942:ecc+", "gfx13zz", "gfx12zz"})
    CHECK_MESSAGE(nearest_arch(GpuVendor::amd, arch).has_value(), arch);
}

TEST_CASE("a profile that states such a fact is refused, with the file and the place") {
  for (
      const auto& [facts, place] : std::vector<std::pair<const char*, const char*>>{
          {R"("gpus": [{"vendor": "nvidia", "arch": "9.0"}, {"vendor": "nvidia", "arch": "99.9"}])",
           "gpus[1].arch"},
          {R"("gpus": [{"vendor": "amd", "arch": "gfx999"}])", "gpus[0].arch"},
          {R"("drivers": {"nvidia": {"kernel_version": "9999.99"}})",
           "drivers.nvidia.kernel_version"},
          {R"("drivers": {"nvidia": {"api_version": "77.0"}})", "drivers.nvidia.api_version"},
          {R"("libc": {"family": "glibc", "version": "9.1"})", "libc.version"}}) {
    const auto read = parse_profile(profile_with(facts), "fleet/node7.json");
    REQUIRE_MESSAGE(!read.has_value(), facts);
    CHECK_MESSAGE(read.error().message.starts_with("fleet/node7.json"), read.error().message);
    CHECK_MESSAGE(read.error().message.contains(place), read.error().message);
    CHECK_MESSAGE(read.error().message.contains("nearest known"), read.error().message);
  }
  // Found on a machine that is newer than this program.
  CHECK(parse_profile(profile_with(R"("gpus": [{"vendor": "nvidia", "arch": "17.0"}])", "captured"),
                      "node8.json"));
}

}  // namespace
}  // namespace axle::machines
