// `--for WHAT` to properties: what the documented ways to name a machine mean for selection.

#include <sstream>

#include <doctest/doctest.h>

#include "machines/gpu_models.h"
#include "machines/selection.h"
#include "providers/provider.h"

namespace axle::providers {
namespace {

// "level v1; sse2 on; …": the lists of one namespace, values joined by spaces, at most `most` of
// them.
std::string properties(const std::string& what, std::string_view ns, std::size_t most = 3) {
  CollectedReport report;
  const auto machines = machines::select_machines(what, report);
  REQUIRE_MESSAGE(machines.has_value(), machines.error().message);
  std::ostringstream text;
  for (const Feature& feature : find_provider(ns)->supported(machines->front().machine, {})) {
    text << (text.tellp() > 0 ? "; " : "") << feature.name;
    for (std::size_t i = 0; i < feature.values.size() && i < most; ++i)
      text << ' ' << feature.values[i];
  }
  return text.str();
}

TEST_CASE("shipped names mean what their users expect") {
  CHECK(properties("none", "nvidia").empty());
  CHECK(properties("none", "x86_64") == "level v1; sse2 on; sse on; mmx on");
  CHECK(properties("none", "axle").empty());
  CHECK(properties("h100", "nvidia") ==
        "cuda_version_lower_bound 13.0 13 12.20; cuda_version_upper_bound 15.20 15.19 15.18; "
        "sm_arch 90_real 90_virtual");
  CHECK(properties("h100", "x86_64") == "level v1; sse2 on; sse on; mmx on");
  CHECK(properties("gtx1080ti", "nvidia").ends_with("sm_arch 61_real 60_real 60_virtual"));
  CHECK(properties("mi300x", "amd") == "gfx_arch gfx942; rocm_version 7.2");
  CHECK(properties("b580", "intel") == "device_ip 20.1.0");
}

TEST_CASE("every GPU that has a name supports code of its own architecture, the best first") {
  for (const machines::GpuModel& model : machines::gpu_models()) {
    INFO(model.name);
    const std::string name(model.name);
    const std::string arch(model.arch);
    if (model.vendor == detect::GpuVendor::nvidia) {
      const std::size_t dot = arch.find('.');
      const std::string code = arch.substr(0, dot) + arch.substr(dot + 1) + "_real";
      CHECK(properties(name, "nvidia", 1).ends_with("; sm_arch " + code));
    } else if (model.vendor == detect::GpuVendor::amd) {
      CHECK(properties(name, "amd").starts_with("gfx_arch " + arch));
    } else {
      CHECK(properties(name, "intel", 1) == "device_ip " + arch);
    }
  }
}

TEST_CASE("the code of a base platform runs on Intel's later GPUs") {
  CHECK(properties("mtlh", "intel") == "device_ip 12.71.4 12.70.4");
  CHECK(properties("arlh", "intel") == "device_ip 12.74.4");
  CHECK(properties("flex170", "intel") == "device_ip 12.55.8");
}

TEST_CASE("a Grace supports what every aarch64 CPU has") {
  CHECK(properties("gb200", "aarch64").starts_with("version 8a"));
  CHECK(properties("gb200", "x86_64").empty());
}

TEST_CASE("facts that are added narrow what is supported") {
  CHECK(properties("h100;nvidia:driver=550.54", "nvidia")
            .starts_with("cuda_version_lower_bound 12.4 12.3 12.2; "));
  CHECK(properties("nvidia:sm=90,driver=570.26;x86_64:v4", "x86_64", 1).starts_with("level v4; "));
  CHECK(properties("x86_64:v4", "x86_64").starts_with("level v4 v3 v2; avx512bw on; "));
  CHECK(properties("x86_64:v3,avx512_vnni", "x86_64")
            .starts_with("level v3 v2 v1; avx512_vnni on; "));
  CHECK(properties("x86_64:v4,amx_tile,amx_int8", "axle") == "amx_tile on; amx_int8 on");
  CHECK(properties("aarch64:8.2a,i8mm", "aarch64") ==
        "version 8.2a 8.1a 8a; i8mm on; dcpop on; asimd on; crc32 on; fp on");
  CHECK(properties("aarch64:8.2a", "x86_64").empty());
  CHECK(properties("nvidia:sm=50,driver=340.108", "nvidia").empty());
}

}  // namespace
}  // namespace axle::providers
