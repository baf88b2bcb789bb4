// Facts that no machine has at once: in what --for states, and in profiles that state facts.
#include "machines/contradictions.h"

#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "machines/profile.h"
#include "machines/selection.h"

namespace axle::machines {
namespace {

Result<std::vector<NamedMachine>> select(const std::string& what) {
  CollectedReport untold;
  return select_machines(what, untold);
}

std::string profile_with(const std::string& facts, const std::string& kind = "synthesised") {
  return R"({"schema_version": 2, "origin": {"kind": ")" + kind +
         R"(", "source": "a test", "date": "2026-11-28"}, )" + facts + "}";
}

}  // namespace

TEST_CASE("facts that contradict each other are refused, with the nearest that can be") {
  for (const auto& [what, why, nearest] :
       std::vector<std::tuple<const char*, const char*, const char*>>{
           {"windows;mps", "Windows has no MPS", "macos:14"},
           {"mps;windows", "Windows has no MPS", "macos:14"},
           {"linux;mps", "Linux has no MPS", "macos:14"},
           {"macos:12.1;mps", "MPS began with macOS 12.3", "macos:14"},
           {"mps;macos:11", "MPS began with macOS 12.3", "macos:14"},
           {"mps;nvidia:sm=90", "macOS has no driver of nvidia", "linux or windows"},
           {"nvidia:sm=120,driver=470.57.02", "driver 470.57.02 knows no GPU of 12.0",
            "nvidia:driver=570.26"},
           {"rtx5090;nvidia:driver=470.57.02", "knows no GPU of 12.0", "nvidia:driver=570.26"},
           {"windows;nvidia:gpu=rtx4090,driver=471.11", "knows no GPU of 8.9",
            "nvidia:driver=520.06"},
           {"windows;nvidia:sm=86,cuda=13.0,driver=471.11", "runs CUDA up to 11.4, and not 13.0",
            "nvidia:driver=580"},
           {"nvidia:sm=86,cuda=13.0,driver=470.57.02", "runs CUDA up to 11.4, and not 13.0",
            "nvidia:driver=580.65.06"},
           {"amd:gfx=gfx950,rocm=5.0", "ROCm 5.0 knows no GPU of gfx950", "amd:rocm=6.4"},
           {"amd:gfx=gfx1201,rocm=5.7.1", "ROCm 5.7.1 knows no GPU of gfx1201", "amd:rocm=6.2"},
           {"amd:gfx=gfx942,rocm=5.6", "ROCm 5.6 knows no GPU of gfx942", "amd:rocm=5.7"},
           {"amd:gfx=gfx1151,rocm=6.0", "ROCm 6.0 knows no GPU of gfx1151", "amd:rocm=6.1"},
           {"mi210;amd:rocm=4.2", "ROCm 4.2 knows no GPU of gfx90a", "amd:rocm=4.3"},
           {"rx7900xtx;amd:rocm=5.2", "ROCm 5.2 knows no GPU of gfx1100", "amd:rocm=5.3"},
           {"nvidia:driver=470.57.02,cuda=13.0", "runs CUDA up to 11.4, and not 13.0",
            "nvidia:driver=580.65.06"},
           {"rtx5090;nvidia:sm=35", "no driver is for all of its GPUs", "in a machine of its own"},
           {"nvidia:sm=89;nvidia:sm=21,driver=570.26", "no driver is for all of its GPUs",
            "in a machine of its own"},
           {"rtx4090;nvidia:driver=535.54.03,cuda=13.0", "runs CUDA up to 12.2, and not 13.0",
            "nvidia:driver=580.65.06"},
           {"h100;nvidia:driver=35.3.1", "driver 35.3.1 knows no GPU of 9.0",
            "nvidia:driver=520.61.05"},
           {"nvidia:sm=87;x86_64:v3", "every GPU of 8.7 comes with a CPU of aarch64",
            "aarch64 with it"},
           {"nvidia:sm=121;x86_64:v3", "every NVIDIA GB10 comes with a CPU of aarch64",
            "aarch64 with it"},
           {"aarch64;amd:gfx=gfx1103", "every AMD Radeon 780M comes with a CPU of x86_64",
            "x86_64 with it"},
           {"windows;x86_64;amd:gfx=gfx942", "every GPU of gfx942 is of servers that do not run",
            "linux with it"},
           {"mi300x;windows", "servers that do not run Windows", "linux with it"},
           {"windows;amd:gpu=mi300a", "servers that do not run Windows", "linux with it"},
           {"max1550;windows", "servers that do not run Windows", "linux with it"},
           {"windows;aarch64;amd:gfx=gfx1100", "Windows on Arm has no driver of amd",
            "windows with x86_64"},
           {"windows;aarch64;intel:ip=20.1.0", "Windows on Arm has no driver of intel",
            "windows with x86_64"},
           {"orin;windows", "part of a Jetson, which does not run Windows", "linux"},
           {"windows;nvidia:sm=110", "part of a Jetson, which does not run Windows", "linux"},
           {"thor;nvidia:driver=575.51.03", "knows no GPU of 11.0", "nvidia:driver=580.65.06"},
           {"windows;aarch64;x86_64:v4", "is aarch64, so it cannot be x86_64 too",
            "aarch64 or x86_64"},
           {"windows-snapdragon-x;x86_64:v4", "Windows 11 has no avx512", "x86_64:v3"},
           {"macos15-m4;x86_64:v4", "which Rosetta 2 translates", "x86_64:v3"},
           {"macos14-m2;x86_64:v3", "which Rosetta 2 translates",
            "x86_64:v2 here, x86_64:v3 from macos:15 on"},
           {"macos15-intel;aarch64", "is x86_64", "x86_64 or aarch64"},
           {"macos15-m4;nvidia:sm=90", "macOS has no driver of nvidia", "a Mac without it"},
           {"macos15-m4;windows", "runs macOS, so it cannot run Windows too", "macOS or Windows"},
           {"macos15-m4;macos:14", "Macs with an Apple M4 began with macOS 15", "macos:15"},
           {"macos26-m5;macos:15", "Macs with an Apple M5 began with macOS 26", "macos:26"},
           {"macos15-intel;macos:27", "macOS 26 is the last for Intel", "macos:26"},
           {"macos:10.15;aarch64", "began with macOS 11", "macos:11"},
           {"windows;libc:glibc=2.28", "Windows has no glibc", "linux"},
           {"gtx1080;nvidia:driver=590.44.01",
            "knows no GPU of 6.1 any more: branch 580 is the last", "nvidia:driver=580.65.06"},
           {"nvidia:driver=595.71;nvidia:gpu=v100", "knows no GPU of 7.0 any more",
            "nvidia:driver=580.65.06"},
           {"windows-gtx1080;nvidia:driver=591.44", "branch 580 is the last", "nvidia:driver=580"},
           {"nvidia:sm=52,cuda=13.1", "driver 590.44.01 knows no GPU of 5.2 any more",
            "nvidia:driver=580.65.06"},
           {"nvidia:sm=37,driver=535.54.03", "branch 470 is the last", "nvidia:driver=470.256.02"},
           {"windows;nvidia:sm=35,driver=512.15", "branch 470 is the last", "nvidia:driver=475.14"},
           {"nvidia:sm=2.1,driver=470.57.02", "branch 390 is the last", "nvidia:driver=390.157"},
           {"orin;x86_64", "every NVIDIA Jetson AGX Orin comes with a CPU of aarch64",
            "aarch64 with it"},
           {"gb10;x86_64:v3", "every NVIDIA GB10 comes with a CPU of aarch64", "aarch64 with it"},
           {"gb200;x86_64", "every NVIDIA GB200 comes with", "aarch64 with it"},
           {"gh200;x86_64:v3", "every NVIDIA GH200 comes with", "aarch64 with it"},
           {"windows;x86_64;nvidia:gpu=gh200", "every NVIDIA GH200 comes with", "aarch64 with it"},
           {"8060s;aarch64", "every AMD Radeon 8060S comes with a CPU of x86_64", "x86_64 with it"},
           {"gb200;windows", "servers that do not run Windows", "linux with it"},
           {"gh200;windows", "servers that do not run Windows", "linux with it"},
           {"windows;aarch64;nvidia:gpu=gb300", "servers that do not run Windows", "linux"},
           {"macos:15;aarch64:sve2", "Apple's processors have no SVE", "aarch64:8.6a"},
           {"macos15-m4;aarch64:9.2a", "Apple's processors have no SVE", "aarch64:8.6a"},
           {"macos15-intel;macos:10.9", "it has macOS 15.3, and macOS 10.9 is older", "macos:15"},
           {"macos13-m1;macos:12.1", "it has macOS 13.6, and macOS 12.1 is older", "macos:13"},
           {"macos:28;x86_64", "macOS 27 is the last with Rosetta 2", "macos:27"},
           {"macos:15;macos:14", "macos is stated twice: 15 and 14", "macos with 15 or with 14"},
           {"windows:11;windows:10", "windows is stated twice", "windows with 11 or with 10"},
           {"libc:glibc=2.28;libc:glibc=2.36", "libc is stated twice: glibc=2.28 and glibc=2.36",
            "libc with"},
           {"h100;nvidia:driver=550.54;nvidia:driver=570.26", "nvidia:driver is stated twice",
            "nvidia:driver with 550.54 or with 570.26"},
           {"nvidia:sm=90,cuda=12.4;nvidia:driver=570.26",
            "stated in two parts: cuda=12.4 and driver", "nvidia:cuda=12.4,driver=570.26"},
           {"wsl-rtx4090;windows", "runs Linux, so it cannot run Windows too", "Linux or Windows"},
       }) {
    CAPTURE(what);
    const auto refused = select(what);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().kind == ErrorKind::not_found);
    CHECK_MESSAGE(refused.error().message.contains(why), refused.error().message);
    CHECK_MESSAGE(refused.error().hint.contains("nearest that can be"), refused.error().hint);
    CHECK_MESSAGE(refused.error().hint.contains(nearest), refused.error().hint);
  }
}

TEST_CASE("what is nearest can be") {
  for (const char* what : {"mps",
                           "macos:14;mps",
                           "mps;macos:12.3",
                           "nvidia:sm=120,driver=570.26",
                           "windows;nvidia:gpu=rtx4090,driver=522.06",
                           "nvidia:gpu=a100,cuda=12.8,driver=470.57.02",
                           "windows;x86_64;nvidia:sm=86,driver=527.41,cuda=12.0",
                           "amd:gfx=gfx950,rocm=6.4",
                           "amd:gfx=gfx1201,rocm=6.3.1",
                           "thor;nvidia:driver=580.65.06",
                           "orin;nvidia:driver=540.4.0",
                           "orin;nvidia:driver=35.3.1",
                           "gtx1080;nvidia:gpu=rtx4090",
                           "h100;nvidia:driver=535.54.03,cuda=12.8",
                           "nvidia:sm=61,driver=470.57.02",
                           "macos15-m4;macos:15",
                           "macos15-m4;macos:26",
                           "macos15-intel;macos:26",
                           "gh200;aarch64",
                           "l40s;aarch64",
                           "gtx1080;nvidia:driver=580.65.06",
                           "windows-gtx1080;nvidia:driver=581.29",
                           "nvidia:sm=75,driver=595.71.05",
                           "nvidia:sm=37",
                           "nvidia:sm=37,driver=470.256.02",
                           "gb10;windows",
                           "xavier;nvidia:driver=515.65.01",
                           "macos:15;aarch64:sme",
                           "macos15-m4;macos:15",
                           "macos14-m2;macos:15;x86_64:v3",
                           "macos15-intel;macos:15.0",
                           "macos:27;x86_64",
                           "windows-rtx3060;nvidia:driver=550.54",
                           "macos:15;macos",
                           "windows;windows:11",
                           "windows;aarch64",
                           "windows;x86_64:v4",
                           "rtx4090;windows",
                           "windows;intel:gpu=bmg"}) {
    const auto selected = select(what);
    CHECK_MESSAGE(selected.has_value(), what, ": ", selected ? "" : selected.error().message);
  }
}

TEST_CASE("profiles that state such facts are refused, with the file and the place") {
  for (
      const auto& [facts, place] : std::vector<std::pair<const char*, const char*>>{
          {R"("os": {"system": "Windows"}, "mps": {"usable": "present"})", "mps.usable"},
          {R"("os": {"system": "Darwin", "name": "macOS 12.0"}, "cpu": {"arch": "aarch64"}, "mps": {"usable": "present"})",
           "mps.usable"},
          {R"("gpus": [{"vendor": "nvidia", "arch": "12.0", "usable": "present"}], "drivers": {"nvidia": {"kernel_version": "470.57.02"}})",
           "drivers.nvidia.kernel_version"},
          {R"("os": {"system": "Windows"}, "cpu": {"arch": "aarch64", "capabilities": {"avx512f": "present"}})",
           "cpu.capabilities.avx512f"},
          {R"("cpu": {"arch": "x86_64", "sve_vector_bytes": 32})", "cpu.sve_vector_bytes"},
          {R"("cpu": {"arch": "aarch64", "ace_version": 1})", "cpu.ace_version"},
          {R"("os": {"system": "Darwin", "name": "macOS 15.1"}, "gpus": [{"vendor": "nvidia", "usable": "present"}])",
           "gpus[0].usable"},
          {R"("os": {"system": "Darwin", "name": "macOS 13.6"}, "cpu": {"arch": "aarch64", "brand": "Apple M4"})",
           "os.name"},
          {R"("os": {"system": "Windows"}, "npus": [{"kind": "ascend", "usable": "present"}])",
           "npus[0].usable"},
          {R"("os": {"system": "Windows", "wsl": true})", "os.wsl"},
          {R"("os": {"system": "Windows", "name": "macOS 15.1"})", "os.name"},
          {R"("os": {"system": "Darwin", "name": "Windows 11"})", "os.name"},
          {R"("os": {"system": "Windows", "name": "Windows 7"})", "os.name"},
          {R"("cpu": {"arch": "x86_64", "machine": "aarch64"})", "cpu.machine"},
          {R"("cpu": {"arch": "aarch64", "machine": "AMD64"})", "cpu.machine"}}) {
    CAPTURE(facts);
    const auto read = parse_profile(profile_with(facts), "fleet/node7.json");
    REQUIRE_FALSE(read.has_value());
    CHECK_MESSAGE(read.error().message.starts_with(std::string("fleet/node7.json: ") + place),
                  read.error().message);
    CHECK_MESSAGE(read.error().hint.contains("nearest that can be"), read.error().hint);
  }
  // What is broken is no contradiction, nor is what was found.
  for (
      const char* facts :
      {R"("gpus": [{"vendor": "nvidia", "arch": "12.0", "usable": "blocked"}], "drivers": {"nvidia": {"kernel_version": "470.57.02"}})",
       R"("os": {"system": "Windows"}, "npus": [{"kind": "intel_npu", "usable": "present"}])",
       R"("cpu": {"arch": "aarch64", "machine": "arm64"})",
       R"("os": {"system": "Darwin", "name": "macOS 15.1"}, "gpus": [{"vendor": "amd", "usable": "absent"}])"})
    CHECK_MESSAGE(parse_profile(profile_with(facts), "node8.json").has_value(), facts);
  CHECK(parse_profile(
      profile_with(R"("os": {"system": "Windows"}, "mps": {"usable": "present"})", "captured"),
      "node9.json"));
}

TEST_CASE("the kernel of a Mac is that of its macOS") {
  CHECK_FALSE(select("macos15-m4")->at(0).machine.os.kernel.empty());
  CHECK(
      select("macos15-m4;macos:26")->at(0).machine.os.kernel.empty());  // an update brings another
}

TEST_CASE("a Mac's version may have a patch level, and says which processors can be meant") {
  for (const auto& [what, name, arch] :
       std::vector<std::tuple<const char*, const char*, detect::Arch>>{
           {"macos:15.6.1", "macOS 15.6", detect::Arch::aarch64},
           {"macos:10.15.7", "macOS 10.15", detect::Arch::x86_64},
           {"macos:11", "macOS 11.0", detect::Arch::aarch64},
           {"macos:10.15", "macOS 10.15", detect::Arch::x86_64}}) {
    CAPTURE(what);
    const auto found = select(what);
    REQUIRE_MESSAGE(found.has_value(), found.error().message);
    CHECK(found->front().machine.os.name == name);
    CHECK(found->front().machine.cpu.arch == arch);
  }
}

TEST_CASE("a Python for x86-64 on a processor of Arm sees the x86-64 that its system translates") {
  for (const auto& [what, system] :
       {std::pair("macos15-m4;x86_64", "Darwin"), std::pair("macos14-m2;x86_64:v2", "Darwin"),
        std::pair("macos15-m4;amd64:v3", "Darwin"),
        std::pair("windows-snapdragon-x;x86_64", "Windows")}) {
    CAPTURE(what);
    CollectedReport report;
    const auto selected = select_machines(what, report);
    REQUIRE_MESSAGE(selected.has_value(), selected.error().message);
    const detect::Machine& machine = selected->front().machine;
    CHECK(machine.os.system == system);
    CHECK(machine.cpu.arch == detect::Arch::x86_64);
    CHECK(machine.cpu.machine == "x86_64");
    CHECK(machine.cpu.capabilities.has(detect::Capability::sse4_2));
    CHECK(machine.cpu.capabilities.of(detect::Capability::avx512f) == detect::Presence::unknown);
    CHECK_FALSE(machine.cpu.capabilities.has(detect::Capability::arm_asimd));
    REQUIRE(report.remarks.size() == 1);
    CHECK(report.remarks.front().message.contains("programs for x86_64, which"));
  }
  // The platform of the Python says it as well; Windows also runs 32-bit programs.
  for (const auto& [what, facts, machine] :
       std::vector<std::tuple<const char*, PlatformFacts, const char*>>{
           {"macos15-m4", {"x86_64", {}, "Darwin", detect::MacosVersion{15, 0}}, "x86_64"},
           {"windows;aarch64", {"x86_64", {}, "Windows"}, "x86_64"},
           {"windows-snapdragon-x", {"i686", {}, "Windows"}, "i686"},
           {"windows-rtx5090", {"i686", {}, "Windows"}, "i686"}}) {
    CAPTURE(what);
    CollectedReport untold;
    const auto selected = select_machines(what, untold, &facts);
    REQUIRE_MESSAGE(selected.has_value(), selected.error().message);
    CHECK(selected->front().machine.cpu.machine == machine);
  }
  CollectedReport untold;
  const PlatformFacts arm{"aarch64", {}, "Windows"};
  CHECK_FALSE(select_machines("windows-rtx5090", untold, &arm).has_value());
}

TEST_CASE("a GPU that no current driver serves is assumed to have the last one that does") {
  for (const auto& [what, driver, cuda] :
       {std::tuple("nvidia:sm=37", "470.256.02", "11.4"),
        std::tuple("windows;nvidia:sm=35", "475.14", "11.4"),
        std::tuple("nvidia:sm=1.3", "340.108", ""), std::tuple("gtx1080", "580.65.06", "13.0")}) {
    CAPTURE(what);
    const auto selected = select(what);
    REQUIRE(selected.has_value());
    CHECK(selected->front().machine.drivers.front().kernel_version == driver);
    CHECK(selected->front().machine.drivers.front().api_version == cuda);
  }
}

TEST_CASE("a profile of a newer schema is refused with the place and the schema that can be read") {
  const auto read = parse_profile(
      R"({"schema_version": 3, "origin": {"kind": "synthesised", "source": "a test", "date": "2026-11-28"}})",
      "node7.json");
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().kind == ErrorKind::unsupported);
  CHECK(read.error().message ==
        "node7.json: schema_version: 3 is newer than this version of Axle, which reads profiles up "
        "to 2");
  CHECK(read.error().hint.contains("nearest that can be: 2"));
}

TEST_CASE(
    "a driver for Windows is judged by NVIDIA's table for Windows, wherever the system is stated") {
  for (const auto& [what, cuda] :
       {std::pair("windows;nvidia:gpu=rtx3060,driver=528.33", "12.0"),
        std::pair("windows;nvidia:gpu=rtx3060,driver=527.41", "11.8"),
        std::pair("nvidia:gpu=rtx3060,driver=527.41;windows", "11.8"),
        std::pair("nvidia:gpu=rtx3060,driver=527.41", "12.0"), std::pair("windows-rtx3060", "12.4"),
        std::pair("windows-rtx3060;nvidia:driver=527.41", "11.8")}) {
    CAPTURE(what);
    const auto selected = select(what);
    REQUIRE(selected.has_value());
    CHECK(selected->front().machine.drivers.front().api_version == cuda);
  }
  for (const auto& [what, driver] : {std::pair("windows;nvidia:gpu=rtx3060,cuda=12.6", "560.76"),
                                     std::pair("nvidia:gpu=rtx3060,cuda=12.6;windows", "560.76"),
                                     std::pair("nvidia:gpu=rtx3060,cuda=12.6", "560.28.03"),
                                     std::pair("rtx5090;windows", "580")}) {
    CAPTURE(what);
    const auto selected = select(what);
    REQUIRE(selected.has_value());
    CHECK(selected->front().machine.drivers.front().kernel_version == driver);
  }
}

TEST_CASE("MPS of a stated Mac follows its macOS, and mps alone states such a Mac") {
  for (const auto& [what, usable] : {std::pair("macos:15", detect::Presence::present),
                                     std::pair("mps", detect::Presence::present),
                                     std::pair("macos:12.1", detect::Presence::absent),
                                     std::pair("macos15-m4;x86_64", detect::Presence::unknown),
                                     std::pair("macos:15;x86_64", detect::Presence::unknown)}) {
    CAPTURE(what);
    const auto selected = select(what);
    REQUIRE(selected.has_value());
    const detect::Machine& machine = selected->front().machine;
    REQUIRE(machine.mps.has_value());
    CHECK(machine.mps->usable == usable);
    CHECK(machine.os.system == "Darwin");
  }
  CHECK_FALSE(select("windows-rtx5090")->front().machine.mps.has_value());
}

}  // namespace axle::machines
