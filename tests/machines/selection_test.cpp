#include "machines/selection.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <stdlib.h>

#include "machines/gpu_models.h"
#include "machines/profile.h"

namespace axle::machines {
namespace {

namespace fs = std::filesystem;

using detect::Arch;
using detect::Capability;
using detect::GpuVendor;
using detect::Machine;
using detect::Presence;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "axle-machines-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(at(name), std::ios::binary) << text;
  }

 private:
  fs::path path_;
};

Machine select_one(const std::string& what) {
  CollectedReport report;
  auto machines = select_machines(what, report);
  REQUIRE_MESSAGE(machines.has_value(), machines.error().message);
  REQUIRE(machines->size() == 1);
  CHECK(machines->front().name == what);
  return machines->front().machine;
}

void check_unknown(const std::string& what, std::string_view message, std::string_view hint) {
  CollectedReport report;
  const auto machines = select_machines(what, report);
  REQUIRE_FALSE(machines.has_value());
  CHECK(machines.error().kind == ErrorKind::not_found);
  CHECK_MESSAGE(machines.error().message.find(message) != std::string::npos,
                machines.error().message);
  CHECK_MESSAGE(machines.error().hint.find(hint) != std::string::npos, machines.error().hint);
}

std::string remarks_of(const std::string& what) {
  CollectedReport report;
  REQUIRE(select_machines(what, report).has_value());
  std::string text;
  for (const Remark& remark : report.remarks) text += remark.message + "\n";
  return text;
}

TEST_CASE("a shipped name is its GPU and nothing of the host") {
  const Machine machine = select_one("h100");
  REQUIRE(machine.gpus.size() == 1);
  CHECK(machine.gpus[0].vendor == GpuVendor::nvidia);
  CHECK(machine.gpus[0].arch == "9.0");
  CHECK(machine.gpus[0].usable == Presence::present);
  CHECK(machine.os.system == "Linux");
  CHECK(machine.cpu.arch == Arch::x86_64);
  const std::string assumed(detect::assumed);
  CHECK(machine.libc == detect::Libc{"glibc", 2, 28, {{"family", assumed}, {"version", assumed}}});
  CHECK(machine.cpu.sources.at("arch") == assumed);
  CHECK(machine.cpu.capabilities.has(Capability::sse2));
  CHECK(machine.cpu.capabilities.of(Capability::sse4_2) == Presence::unknown);
  CHECK(machine.cpu.capabilities.of(Capability::avx2) == Presence::unknown);
  const detect::Driver* driver = detect::find_driver(machine, GpuVendor::nvidia);
  REQUIRE(driver != nullptr);
  CHECK(driver->kernel_version == "580.65.06");
  CHECK(driver->api_version == "13.0");
  CHECK(driver->usable == Presence::present);
}

TEST_CASE("defaults are reported, stated facts are not") {
  CHECK(remarks_of("h100") ==
        "h100: assuming Linux, x86_64, glibc 2.28, which is not stated\nh100: NVIDIA driver "
        "580.65.06 (CUDA 13.0) is assumed, the minimum of the newest backend; specify another with "
        "nvidia:driver=…\n");
  CHECK(
      remarks_of("h100;nvidia:driver=550.54;libc:glibc=2.36;x86_64:v3") ==
      "h100;nvidia:driver=550.54;libc:glibc=2.36;x86_64:v3: assuming Linux, which is not stated\n");
  CHECK(remarks_of("none") == "none: assuming Linux, x86_64, glibc 2.28, which is not stated\n");
  CHECK(remarks_of("mi300x").find("ROCm 7.2 are assumed") != std::string::npos);
  CHECK(remarks_of("b580").find("a working Intel GPU driver is assumed") != std::string::npos);
}

TEST_CASE("a GPU that has a CPU of its own brings the architecture") {
  CHECK(select_one("thor").cpu.arch == Arch::aarch64);
  CHECK(select_one("thor").cpu.machine == "aarch64");
  CHECK(select_one("thor").cpu.capabilities.has(Capability::arm_asimd));
  CHECK(select_one("nvidia:gpu=gb10").cpu.arch == Arch::aarch64);
  CHECK(select_one("h100;nvidia:gpu=gh200").cpu.arch == Arch::aarch64);
  CHECK(select_one("b300").cpu.arch == Arch::x86_64);
  CHECK(
      remarks_of("gh200").starts_with("gh200: assuming Linux, aarch64 (as with every NVIDIA "
                                      "GH200), glibc 2.28, which is not stated\n"));
  CHECK(remarks_of("gh200;aarch64:sve2").starts_with("gh200;aarch64:sve2: assuming Linux, glibc"));
  for (const char* name :
       {"xavier", "orin", "orinnano", "thor", "gh200", "gb200", "gb300", "gb10"}) {
    CHECK_MESSAGE(select_one(name).cpu.arch == Arch::aarch64, name);
  }
  // Stated by its architecture alone: where all the models that have it agree.
  CHECK(select_one("nvidia:sm=87").cpu.arch == Arch::aarch64);
  CHECK(select_one("nvidia:sm=121").cpu.arch == Arch::aarch64);
  CHECK(select_one("nvidia:sm=90").cpu.arch == Arch::x86_64);
  CHECK(select_one("nvidia:sm=100").cpu.arch == Arch::x86_64);
  CHECK(remarks_of("nvidia:sm=110")
            .starts_with("nvidia:sm=110: assuming Linux, aarch64 (as with "
                         "every NVIDIA Jetson Thor), glibc 2.28"));
}

TEST_CASE("Windows and macOS are stated like any other fact") {
  const Machine windows = select_one("windows;x86_64:v3;nvidia:sm=120,driver=581.29");
  CHECK(windows.os.system == "Windows");
  CHECK(windows.libc.family.empty());
  CHECK(windows.gpus.front().arch == "12.0");
  CHECK(detect::find_driver(windows, GpuVendor::nvidia)->api_version == "13.0");
  CHECK(select_one("x86_64:v3;windows").os.system == "Windows");
  CHECK(select_one("rtx4090;windows").os.system == "Windows");
  CHECK(select_one("windows;aarch64").cpu.arch == Arch::aarch64);
  const Machine mac = select_one("macos:15");
  CHECK(mac.os.system == "Darwin");
  CHECK(mac.cpu.arch == Arch::aarch64);
  CHECK(detect::macos_version(mac.os) == detect::MacosVersion{15, 0});
  CHECK(detect::macos_version(select_one("macos:14.6").os) == detect::MacosVersion{14, 6});
  CHECK(select_one("macos:10.15;x86_64:v3").cpu.arch == Arch::x86_64);
  CHECK(select_one("linux").libc.family == "glibc");
  CHECK(remarks_of("windows") == "windows: assuming x86_64, which is not stated\n");
  CHECK(remarks_of("macos") == "macos: assuming macOS 13.0, aarch64, which is not stated\n");
  CHECK(remarks_of("macos:15;aarch64").empty());
}

TEST_CASE("facts of a system that contradict each other are refused") {
  for (const auto& [what, words] : std::vector<std::pair<std::string, std::string>>{
           {"windows;libc:glibc=2.28", "Windows has no glibc"},
           {"macos:15;libc:musl=1.2", "macOS has no musl"},
           {"windows;macos:15", "runs Windows, so it cannot run macOS too"},
           {"windows;aarch64;x86_64:avx512f", "cannot be x86_64 too"},
           {"macos:10.15;aarch64", "macOS 10.15 runs on x86_64 alone"},
           {"macos:15;nvidia:sm=90", "macOS has no driver of nvidia"},
           {"macos:17", "macos:17: no machine has that"},
           {"macos:fifteen", "macos:fifteen is not valid"},
           {"macos:10.3", "no machine has that"},
           {"power9;windows", "runs Linux"}}) {
    CAPTURE(what);
    CollectedReport report;
    const auto refused = select_machines(what, report);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().kind == ErrorKind::not_found);
    CHECK_MESSAGE(refused.error().message.contains(words), refused.error().message);
    CHECK_FALSE(refused.error().hint.empty());
  }
}

TEST_CASE("what systems and other programs call a machine is taken, or the own name is said") {
  CHECK(select_one("arm64").cpu.arch == Arch::aarch64);
  CHECK(select_one("windows;AMD64").cpu.arch == Arch::x86_64);
  CHECK(select_one("amd64:v3;linux").cpu.capabilities.has(Capability::avx2));
  CHECK(select_one("windows:11").os.name == "Windows 11");
  CHECK(select_one("windows:10;windows").os.name == "Windows 10");
  CHECK(select_one("nvidia:sm=90,driver=570.26,;x86_64:v3,;").gpus.size() == 1);
  for (const auto& [name, hint] : std::vector<std::pair<const char*, const char*>>{
           {"m1", "did you mean macos13-m1?"},
           {"m4", "did you mean macos15-m4?"},
           {"Apple M4 Pro", "did you mean macos15-m4?"},
           {"macos15-m5", "Macs with an Apple M5 began with macOS 26: did you mean macos26-m5?"},
           {"macos26-m4", "did you mean 'macos15-m4;macos:26'?"},
           {"macos12-m1", "did you mean macos13-m1, or macos:12 without the processor's name?"},
           {"wsl", "did you mean wsl-rtx4090? WSL is a Linux"},
           {"WSL2", "did you mean wsl-rtx4090?"},
           {"darwin", "did you mean macos?"},
           {"osx", "did you mean macos?"},
           {"win11", "did you mean windows:11?"},
           {"Windows 11", "did you mean windows:11?"},
           {"snapdragon", "did you mean windows-snapdragon-x?"},
           {"win32", "--platform win32"},
           {"Windows-RTX5090", "did you mean windows-rtx5090?"}})
    check_unknown(name, "no machine, file or folder is called", hint);
  check_unknown("rtx4090;win11", "\"win11\" is not a fact", "did you mean windows:11?");
  check_unknown("osx:15", "unknown namespace of facts \"osx\"", "did you mean macos?");
  check_unknown("windows:7", "windows:7: no Python of today runs there", "nearest known: 10, 11");
  check_unknown("windows:2022", "windows:2022 is no version that is told apart here",
                "Windows Server from 2016 on runs what 10 runs");
  check_unknown("windows:8.1;x86_64", "no Python of today", "10, 11");
  check_unknown("nvidia:sm=90,,driver=570.26", "nothing is stated between two commas", "one comma");
  check_unknown("x86_64:v3,,avx2", "nothing is stated between two commas", "one comma");
}

TEST_CASE("none is a plain x86-64 machine") {
  const Machine machine = select_one("none");
  CHECK(machine.gpus.empty());
  CHECK(machine.drivers.empty());
  CHECK(machine.cpu.capabilities.has(Capability::sse2));
  CHECK(machine.cpu.capabilities.of(Capability::avx512f) == Presence::unknown);
}

TEST_CASE("every shipped name can be selected, and a file agrees with the GPU table") {
  const std::vector<std::string> names = shipped_names();
  CHECK(std::ranges::is_sorted(names));
  CHECK(std::ranges::adjacent_find(names) == names.end());
  for (const char* wanted : {"none", "h100", "gtx1080ti", "mi300x", "a100", "b580"}) {
    CHECK_MESSAGE(std::ranges::count(names, wanted) == 1, wanted);
  }
  for (const std::string& name : names) {
    CAPTURE(name);
    CollectedReport report;
    const auto selected = select_machines(name, report);
    REQUIRE(selected.has_value());
    // A recording states all there is of its machine, and takes no name of a GPU.
    if (selected->front().recording) {
      CHECK(report.remarks.empty());
      CHECK(find_gpu_model(name) == nullptr);
      continue;
    }
    const Machine& machine = selected->front().machine;
    if (name == "none") continue;
    // These state all there is of theirs, too.
    if (machine.os.system == "Windows") {
      CHECK(report.remarks.empty());
      CHECK(name.starts_with("windows-"));
      continue;
    }
    REQUIRE(machine.gpus.size() == 1);
    const GpuModel* model = find_gpu_model(name);
    REQUIRE_MESSAGE(model != nullptr, name);
    CHECK_MESSAGE(machine.gpus[0] == make_gpu(*model), name);
    CHECK(machine.drivers.size() == 1);
  }
}

TEST_CASE("inline facts: the example of the manual") {
  const Machine machine = select_one("nvidia:sm=90,driver=570.26;x86_64:v4");
  REQUIRE(machine.gpus.size() == 1);
  CHECK(machine.gpus[0].arch == "9.0");
  CHECK(machine.gpus[0].name.empty());
  REQUIRE(machine.drivers.size() == 1);
  CHECK(machine.drivers[0].kernel_version == "570.26");
  CHECK(machine.drivers[0].api_version == "12.8");
  for (unsigned level = 1; level <= 4; ++level) {
    for (const Capability capability : detect::x86_64_level(level)) {
      CHECK(machine.cpu.capabilities.has(capability));
    }
  }
  CHECK(machine.cpu.capabilities.of(Capability::avx512_vnni) == Presence::unknown);
  CHECK(machine.cpu.capabilities.of(Capability::xsave) == Presence::unknown);
}

TEST_CASE("inline facts: spellings of GPUs") {
  CHECK(select_one("nvidia:sm=9.0").gpus[0].arch == "9.0");
  CHECK(select_one("nvidia:sm=120").gpus[0].arch == "12.0");
  CHECK(select_one("nvidia:l40s").gpus[0].name == "NVIDIA L40S");
  CHECK(select_one("nvidia:gpu=h100,sm=89").gpus[0].arch == "8.9");
  CHECK(select_one("nvidia:sm=90;nvidia:sm=75").gpus.size() == 2);
  CHECK(select_one("amd:gfx=gfx942").gpus[0].arch == "gfx942");
  CHECK(select_one("amd:gfx=90a").gpus[0].arch == "gfx90a");
  CHECK(select_one("intel:gpu=bmg").gpus[0].arch == "20.1.0");
  CHECK(select_one("intel:ip=30.0.4").gpus[0].arch == "30.0.4");
  CHECK(select_one("amd:gfx=gfx942,rocm=6.4").drivers[0].api_version == "6.4");
  CHECK(select_one("amd:gfx=gfx942,driver=6.12.12").drivers[0].kernel_version == "6.12.12");
  CHECK(select_one("intel:gpu=pvc,driver=i915").drivers[0].kernel_version == "i915");
}

TEST_CASE(
    "inline facts: drivers stand for CUDA versions by their branch, and the other way round") {
  const auto cuda_of = [](const std::string& driver) {
    return select_one("nvidia:driver=" + driver).drivers.at(0).api_version;
  };
  CHECK(cuda_of("450.80.02") == "11.0");
  CHECK(cuda_of("525") == "12.0");
  CHECK(cuda_of("550.54") == "12.4");
  CHECK(cuda_of("572.16") == "12.8");
  CHECK(cuda_of("580.65.06") == "13.0");
  CHECK(cuda_of("340.108").empty());
  const Machine machine = select_one("nvidia:sm=75,cuda=12.6");
  CHECK(machine.drivers.at(0).kernel_version == "560.28.03");
  CHECK(machine.drivers.at(0).api_version == "12.6");
  CHECK(select_one("nvidia:cuda=12.9,driver=550.54").drivers.at(0).api_version == "12.9");
}

TEST_CASE("inline facts: flags of CPUs") {
  for (const char* what : {"x86_64:v3,avx512_vnni,amx_int8", "x86_64:v3+avx512_vnni+amx_int8",
                           "x86_64:v3,avx512_vnni;axle:amx_int8"}) {
    const detect::CapabilityFacts facts = select_one(what).cpu.capabilities;
    CHECK(facts.has(Capability::avx512_vnni));
    CHECK(facts.has(Capability::amx_int8));
    CHECK(facts.of(Capability::amx_tile) == Presence::unknown);
    CHECK(facts.of(Capability::avx512f) == Presence::unknown);
  }
  const Machine arm = select_one("aarch64:8.2a,i8mm;axle:arm_sme2;libc:musl=1.2");
  CHECK(arm.cpu.arch == Arch::aarch64);
  CHECK(arm.cpu.machine == "aarch64");
  CHECK(arm.libc == detect::Libc{"musl", 1, 2});
  CHECK(arm.cpu.capabilities.has(Capability::arm_atomics));
  CHECK(arm.cpu.capabilities.has(Capability::arm_i8mm));
  CHECK(arm.cpu.capabilities.has(Capability::arm_sme2));
  CHECK(arm.cpu.capabilities.of(Capability::arm_sve) == Presence::unknown);
  CHECK(select_one("aarch64").cpu.capabilities.has(Capability::arm_asimd));
  CHECK(select_one("x86_64").cpu.capabilities.has(Capability::sse2));
  const detect::CapabilityFacts newer = select_one("aarch64:9.2a").cpu.capabilities;
  CHECK(newer.has(Capability::arm_sve2));
  CHECK(newer.has(Capability::arm_wfxt));
  CHECK(newer.has(Capability::arm_bti));
  CHECK(newer.of(Capability::arm_cssc) == Presence::unknown);
  const Machine power = select_one("axle:power_mma,power_vsx");
  CHECK(power.cpu.arch == Arch::ppc64le);
  CHECK(power.cpu.capabilities.has(Capability::power_mma));
  CHECK(select_one("axle:riscv_v").cpu.arch == Arch::riscv64);
  CHECK(select_one("axle:s390_vxe2").cpu.machine == "s390x");
}

TEST_CASE("facts are added to a name, and the stated driver replaces the assumed one") {
  const Machine machine = select_one("h100;nvidia:driver=550.54");
  REQUIRE(machine.gpus.size() == 1);
  REQUIRE(machine.drivers.size() == 1);
  CHECK(machine.drivers[0].kernel_version == "550.54");
  CHECK(machine.drivers[0].api_version == "12.4");
  CHECK(select_one("h100;nvidia:sm=75").gpus.size() == 2);
  CHECK(select_one("h100;aarch64:sve2").cpu.arch == Arch::aarch64);
}

TEST_CASE("what is unknown is refused with the nearest known words") {
  check_unknown("h1000", "no machine, file or folder is called \"h1000\"", "h100");
  check_unknown("H100", "\"H100\"", "did you mean h100?");
  check_unknown("RTX 4090", "\"RTX 4090\"", "did you mean rtx4090?");
  check_unknown("NVIDIA GeForce GTX 1080 Ti", "no machine", "did you mean gtx1080ti?");
  check_unknown("NVIDIA A100-SXM4-80GB", "no machine", "did you mean a100?");
  check_unknown("Tesla T4", "no machine", "did you mean t4?");
  check_unknown("zzzzz", "no machine", "nearest known names: ");
  check_unknown("machines/n 7.json", "no machine", "detect --profile 'machines/n 7.json'");
  check_unknown("", "no machine, file or folder is called \"\"", "state facts");
  check_unknown("nvdia:sm=90", "unknown namespace of facts \"nvdia\"", "nvidia");
  check_unknown("nvidia:sn=90", "unknown fact of nvidia \"sn\"", "sm");
  check_unknown("nvidia:gpu=l40", "unknown nvidia GPU \"l40\"", "l40s");
  check_unknown("nvidia:gpu=mi300x", "unknown nvidia GPU \"mi300x\"", "nearest known");
  check_unknown("amd:gfx942", "\"gfx942\" is an architecture", "amd:gfx=gfx942");
  check_unknown("h100;nvidia:sm_90", "\"sm_90\" is an architecture", "nvidia:sm=90");
  check_unknown("nvidia:gfx942", "\"gfx942\" is an architecture", "amd:gfx=gfx942");
  check_unknown("intel:20.1.0", "\"20.1.0\" is an architecture", "intel:ip=20.1.0");
  check_unknown("gfx942", "no machine, file or folder is called \"gfx942\"", "amd:gfx=gfx942");
  check_unknown("amd:gfxabc", "unknown amd GPU \"gfxabc\"", "nearest known");
  check_unknown("nvidia:sm=ninety", "nvidia:sm=ninety is not valid", "nvidia:sm=90");
  check_unknown("nvidia:sm=9", "nvidia:sm=9 is not valid", "sm=90");
  check_unknown("nvidia:sm=9.0.1", "is not valid", "sm=90");
  check_unknown("nvidia:sm=", "nvidia:sm= is not valid", "sm=VALUE");
  check_unknown("nvidia:sm=90,sm=80", "states sm twice", "");
  check_unknown("nvidia:driver=new", "nvidia:driver=new is not valid", "driver=570.26");
  check_unknown("nvidia:driver=1.2.3.4.5", "is not valid", "driver=570.26");
  check_unknown("nvidia:cuda=12", "nvidia:cuda=12 is not valid", "cuda=12.8");
  check_unknown("nvidia:", "\"nvidia:\" is not a fact", "namespace:fact");
  check_unknown("nvidia:sm=90;;x86_64:v3", "\"\" is not a fact", "namespace:fact");
  check_unknown("amd:gfx=xyz", "amd:gfx=xyz is not valid", "gfx=gfx942");
  check_unknown("amd:rocm=6", "is not valid", "rocm=6.4");
  check_unknown("intel:ip=20.1", "is not valid", "ip=20.1.0");
  check_unknown("x86_64:v5", "unknown fact of x86_64 \"v5\"", "v1");
  check_unknown("x86_64:v3,avx512vnni", "unknown fact of x86_64 \"avx512vnni\"", "avx512_vnni");
  check_unknown("x86_64:arm_sve", "unknown fact of x86_64", "");
  check_unknown("aarch64:smve", "unknown fact of aarch64 \"smve\"", "sve");
  check_unknown("x86_64:v3;aarch64:sve", "so it cannot be aarch64 too", "x86_64 or aarch64");
  check_unknown("libc:glibc", "unknown fact of libc \"glibc\"", "glibc");
  check_unknown("libc:glibc=2", "is not valid", "glibc=2.28");
  check_unknown("libc:glibc=2.28,musl=1.2", "states two C libraries", "");
  check_unknown("h100;b580", "\"b580\" after \";\" is not a fact", "intel:gpu=b580");
  check_unknown("h100;nonsense", "\"nonsense\" is not a fact", "namespace:fact");
}

TEST_CASE("a profile file, as it is and with facts added") {
  const TemporaryFolder folder;
  Profile profile{{}, {"captured", "test", "2026-11-21"}};
  profile.machine = select_one("gtx1080ti;x86_64:v3");
  profile.machine.os.kernel = "6.1.0";
  profile.machine.gpus[0].usable = Presence::blocked;
  profile.machine.drivers.clear();
  folder.write("box.json", render_profile(profile));
  CollectedReport report;
  const auto recorded = select_machines(folder.at("box.json"), report);
  REQUIRE(recorded.has_value());
  CHECK(recorded->front().machine == profile.machine);
  CHECK(report.remarks.empty());

  const Machine changed = select_one(folder.at("box.json") + ";nvidia:driver=535.54.03");
  CHECK(changed.drivers.at(0).api_version == "12.2");
  CHECK(changed.gpus == profile.machine.gpus);
}

TEST_CASE("a folder of profiles is a fleet in the order of the file names") {
  const TemporaryFolder folder;
  for (const char* name : {"h100", "gtx1080ti"}) {
    Profile profile{{}, {"captured", "test", "2026-11-21"}};
    profile.machine = select_one(name);
    folder.write(std::string("zz-") + name + ".json", render_profile(profile));
  }
  folder.write("notes.txt", "not a profile");
  CollectedReport report;
  const auto fleet = select_machines(folder.at(""), report);
  REQUIRE(fleet.has_value());
  REQUIRE(fleet->size() == 2);
  CHECK((*fleet)[0].name.ends_with("zz-gtx1080ti.json"));
  CHECK((*fleet)[1].machine.gpus[0].arch == "9.0");

  folder.write("aa.json", "{}");
  const auto broken = select_machines(folder.at(""), report);
  REQUIRE_FALSE(broken.has_value());
  CHECK(broken.error().kind == ErrorKind::malformed);
  CHECK(broken.error().message.find("aa.json: is not a machine profile") != std::string::npos);
}

TEST_CASE("an empty folder is not a fleet") {
  const TemporaryFolder folder;
  check_unknown(folder.at(""), "the folder has no machine profile", "--profile");
}

TEST_CASE("a stated platform adds what a machine does not state, and contradicts the rest") {
  const auto select = [](const std::string& what, const PlatformFacts& facts) {
    CollectedReport report;
    auto machines = select_machines(what, report, &facts);
    if (machines) REQUIRE(machines->size() == 1);
    return machines;
  };
  const PlatformFacts arm{"aarch64", {"glibc", 2, 34, {}}};
  const PlatformFacts x86{"x86_64", {"glibc", 2, 17, {}}};
  const auto h100 = select("h100", arm);
  REQUIRE(h100);
  CHECK(h100->front().machine.cpu.arch == Arch::aarch64);
  CHECK(h100->front().machine.libc.minor == 34);
  CHECK(select("gh200", arm));
  CHECK(select("gh200", x86).error().message.find("aarch64, as every") != std::string::npos);
  // A newer C library runs what was made for an older one, and that is asked for.
  const auto newer = select("x86_64:v3;libc:glibc=2.31", x86);
  REQUIRE(newer);
  CHECK(newer->front().machine.libc.minor == 17);
  for (const auto& [what, facts] :
       {std::pair("x86_64:v3", arm), std::pair("x86_64;libc:glibc=2.5", x86),
        std::pair("x86_64;libc:musl=1.2", x86), std::pair("graviton3", x86)}) {
    const auto refused = select(what, facts);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::conflict);
  }
  const PlatformFacts windows{"x86_64", {}, "Windows"};
  CHECK(select("none", windows)->front().machine.os.system == "Windows");
  CHECK(select("none", windows)->front().machine.libc.family.empty());
  CHECK(select("macos:15", windows).error().kind == ErrorKind::conflict);
  const PlatformFacts sonoma{"aarch64", {}, "Darwin", detect::MacosVersion{14, 0}};
  CHECK(select("macos:13", sonoma).error().message.contains("has macOS 13.0"));
  CHECK(detect::macos_version(select("macos:15", sonoma)->front().machine.os) ==
        detect::MacosVersion{14, 0});
  const auto other = select("none", {"i686", {}});
  REQUIRE(other);
  CHECK(other->front().machine.cpu.arch == Arch::other);
  CHECK(other->front().machine.cpu.machine == "i686");
}

}  // namespace
}  // namespace axle::machines
