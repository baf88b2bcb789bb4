// The lists of the published providers, restated from their sources (wheelnext's repositories; uv
// 0.13.8 for tpu): all nine namespaces, values and order. What is ours alone stands behind them.
// The published Python packages themselves are asked by
// tests/e2e/published/published_providers_test.py.

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "providers/provider.h"
#include "tests/providers/machines.h"

namespace axle::providers {
namespace {

using Values = std::vector<std::string>;

Values words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

Features flags(const std::string& text) {
  Features features;
  for (const std::string& name : words(text)) features.push_back({name, false, {"on"}});
  return features;
}

Features all_of(std::string_view ns) { return find_provider(ns)->all(); }

TEST_CASE("nvidia: versions 15.20 to 11.0, each major behind its minors, and code of 5.0 to 12.9") {
  Values versions;
  for (int major = 15; major >= 11; --major) {
    for (int minor = 20; minor >= 0; --minor)
      versions.push_back(std::to_string(major) + "." + std::to_string(minor));
    versions.push_back(std::to_string(major));
  }
  Values code;
  for (const char* kind : {"_real", "_virtual"}) {
    for (int major = 12; major >= 5; --major) {
      for (int minor = 9; minor >= 0; --minor)
        code.push_back(std::to_string(major) + std::to_string(minor) + kind);
    }
  }
  CHECK(all_of("nvidia") == Features{{"cuda_version_lower_bound", false, versions},
                                     {"cuda_version_upper_bound", false, versions},
                                     {"sm_arch", true, code}});
}

TEST_CASE("nvidia: a driver of CUDA 12.7 and a GPU of 8.9, as published") {
  const Features held =
      find_provider("nvidia")->supported(testing::nvidia_machine("12.7", {"8.9"}), {});
  Values lower;
  Values upper;
  for (int minor = 7; minor >= 0; --minor) lower.push_back("12." + std::to_string(minor));
  lower.push_back("12");
  for (int minor = 20; minor >= 0; --minor) lower.push_back("11." + std::to_string(minor));
  lower.push_back("11");
  for (int major = 15; major >= 13; --major) {
    for (int minor = 20; minor >= 0; --minor)
      upper.push_back(std::to_string(major) + "." + std::to_string(minor));
    upper.push_back(std::to_string(major));
  }
  for (int minor = 20; minor >= 8; --minor) upper.push_back("12." + std::to_string(minor));
  CHECK(held == Features{{"cuda_version_lower_bound", false, lower},
                         {"cuda_version_upper_bound", false, upper},
                         {"sm_arch", true,
                          words("89_real 88_real 87_real 86_real 85_real 84_real 83_real 82_real "
                                "81_real 80_real 80_virtual")}});
}

TEST_CASE("amd: ROCm, then targets, and what AMD builds for since") {
  const Features held = all_of("amd");
  REQUIRE(held.size() == 2);
  CHECK(held[0].name == "rocm_version");
  CHECK_FALSE(held[0].multi_value);
  const Values rocm = words("7.10 7.9 7.8 7.7 7.6 7.5 7.4 7.3 7.2 7.1 7.0 6.4 6.3");
  const auto from = std::ranges::find(held[0].values, rocm.front());
  REQUIRE(std::distance(from, held[0].values.end()) >= std::ssize(rocm));
  CHECK(Values(from, from + std::ssize(rocm)) == rocm);
  CHECK(held[1].name == "gfx_arch");
  CHECK(held[1].multi_value);
  const Values targets =
      words("gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201");
  REQUIRE(held[1].values.size() >= targets.size());
  CHECK(Values(held[1].values.begin(), held[1].values.begin() + std::ssize(targets)) == targets);
}

TEST_CASE("intel: 23 devices, each with the platform whose code it also runs") {
  const std::pair<const char*, const char*> published[] = {
      {"35.11.0", ""},      {"35.10.4", ""},      {"30.5.4", "30.0.4"},   {"30.4.4", "30.0.4"},
      {"30.3.1", "30.0.4"}, {"30.1.0", "30.0.4"}, {"30.0.4", ""},         {"20.4.4", "20.1.0"},
      {"20.2.0", "20.1.0"}, {"20.1.0", ""},       {"12.74.4", ""},        {"12.71.4", "12.70.4"},
      {"12.70.4", ""},      {"12.60.7", ""},      {"12.57.0", "12.55.8"}, {"12.56.5", "12.55.8"},
      {"12.55.8", ""},      {"12.10.0", ""},      {"12.4.0", ""},         {"12.3.0", ""},
      {"12.2.0", ""},       {"12.1.0", ""},       {"12.0.0", ""},
  };
  Values ips;
  for (const auto& [ip, base] : published) {
    ips.emplace_back(ip);
    detect::Machine machine;
    machine.gpus = {testing::working_gpu(detect::GpuVendor::intel, ip)};
    Values expected{ip};
    if (*base != '\0') expected.emplace_back(base);
    CHECK(find_provider("intel")->supported(machine, {}) ==
          Features{{"device_ip", true, expected}});
  }
  CHECK(all_of("intel") == Features{{"device_ip", true, ips}});
}

TEST_CASE("x86_64: levels, then 56 flags") {
  Features published = flags(
      "avx_vnni cppc ibrs_enhanced tsc_adjust flush_l1d movdir64b movdiri avx512_bf16 "
      "avx512_bitalg avx512_vbmi2 avx512_vnni avx512_vp2intersect avx512_vpopcntdq avx512ifma "
      "avx512vbmi rdpid sha_ni vaes vpclmulqdq clwb clzero avx512bw avx512cd avx512dq avx512f "
      "avx512vl clflushopt gfni rdseed xsavec xsaveopt adx avx2 avx bmi2 bmi1 abm f16c fma movbe "
      "xsave rdrand aes pclmulqdq sse4a fsgsbase sse4_2 sse4_1 ssse3 sse3 cx16 lahf_lm popcnt sse2 "
      "sse mmx");
  REQUIRE(published.size() == 56);
  published.insert(published.begin(), {"level", false, words("v4 v3 v2 v1")});
  CHECK(all_of("x86_64") == published);
}

TEST_CASE("aarch64: versions, then 38 flags, without two names run together") {
  Features published = flags(
      "sve2 flagm2 frint sb btiecv paca pacg ssbs asimdfhm bf16 dcpodp dgh dit flagm i8mm ilrcpc "
      "jscvt rng sha3 sha512 svebf16 svei8mm uscat asimddp lrcpc asimdhp dcpop fcma fphp sve "
      "asimdrdmatomics aes asimd cpuid crc32 evtstrm fp pmull sha1 sha2");
  REQUIRE(published.size() == 40);
  std::erase_if(published, [](const Feature& feature) {
    return feature.name == "btiecv" || feature.name == "asimdrdmatomics";
  });
  published.insert(published.begin(),
                   {"version", false, words("9.0a 8.5a 8.4a 8.3a 8.2a 8.1a 8a")});
  CHECK(all_of("aarch64") == published);
}

TEST_CASE("ascend: three features in the published order, their kinds by the published names") {
  detect::Machine machine;
  detect::Npu& npu = machine.npus.emplace_back();
  npu.type = "310p";
  npu.driver_version = "24.1.rc3";
  npu.toolkit_version = "8.0.0";
  npu.usable = detect::Presence::present;
  CHECK(find_provider("ascend")->supported(machine, {}) ==
        Features{{"npu_type", false, {"310p"}},
                 {"driver_version", false, {"24.1.rc3"}},
                 {"cann_version", false, {"8.0.0"}}});
  for (const char* type : {"a3", "910b", "310p"})
    CHECK(std::ranges::count(all_of("ascend").at(0).values, type) == 1);
}

TEST_CASE("tpu, blas_lapack and openmp: one feature each") {
  CHECK(all_of("tpu") == Features{{"present", false, {"true", "false"}}});
  CHECK(all_of("blas_lapack") == Features{{"provider", false, {"accelerate", "openblas", "mkl"}}});
  CHECK(all_of("openmp") == Features{{"provider", false, {"gnu", "intel", "llvm"}}});
}

}  // namespace
}  // namespace axle::providers
