// The real prober in a real process, with stand-ins for the vendors' libraries on LD_LIBRARY_PATH.
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

namespace {

/// What detect_print_facts says with that folder of stand-ins on the path and that behaviour.
std::string facts(const std::string& folder, const std::string& mode, const std::string& more = "",
                  const std::string& environment = "") {
  const std::string command = "env " + environment + " LD_LIBRARY_PATH='" STUBS_FOLDER "/" +
                              folder + "' AXLE_STUB=" + mode + " '" PRINT_FACTS "' " +
                              (more.empty() ? "20000" : more);
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text = "\n";
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof(buffer), pipe))
    text.append(buffer, got);
  CHECK_MESSAGE(::pclose(pipe) == 0, command);
  return text;
}

bool says(const std::string& text, const std::string& line) {
  const bool found = text.find("\n" + line + "\n") != std::string::npos;
  if (!found) MESSAGE("no line \"" << line << "\" in:" << text);
  return found;
}

std::size_t count(const std::string& text, std::string_view line) {
  std::size_t found = 0;
  for (std::size_t at = text.find(line); at != std::string::npos; at = text.find(line, at + 1)) {
    ++found;
  }
  return found;
}

/// Makes `name` in a folder of stand-ins of its own, and gives the folder's name.
std::string broken_file(const std::string& folder, const std::string& name,
                        const std::string& how) {
  const std::string path = std::string(STUBS_FOLDER) + '/' + folder;
  const std::string command = "mkdir -p '" + path + "' && cd '" + path + "' && rm -f '" + name +
                              "' && " + how + " > '" + name + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  return folder;
}

bool exists(const std::string& path) {
  if (std::FILE* const file = std::fopen(path.c_str(), "r")) {
    std::fclose(file);
    return true;
  }
  return false;
}

/// Skips nothing: a machine with a real GPU of that vendor answers differently only beside the
/// stub's.
bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a working NVIDIA driver on the path is asked though no PCI device exists") {
  const std::string text = facts("nvidia", "ok");
  CHECK(says(text, "driver=nvidia"));
  CHECK(says(text, "driver.library=570.124.06"));
  CHECK(says(text, "driver.api=12.8"));
  CHECK(says(text, "driver.usable=present"));
  CHECK(says(text, "gpu.name=Stub H100"));
  CHECK(says(text, "gpu.address=0000:65:00.0"));
  CHECK(says(text, "gpu.arch=9.0"));
  CHECK(says(text, "gpu.memory=85899345920"));
  CHECK(says(text, "gpu.usable=present"));
  CHECK_FALSE(mentions(text, "problem="));
  // The stand-in talks to stdout and stderr; neither is ours.
  CHECK_FALSE(mentions(text, "a driver library talks"));
}

TEST_CASE("without NVML the CUDA driver API tells the devices") {
  const std::string text = facts("cuda", "ok");
  CHECK(says(text, "gpu.arch=9.0"));
  CHECK(says(text, "gpu.usable=present"));
  // Control characters of a driver's strings do not reach a terminal; the tab ended no field.
  CHECK(says(text, "gpu.name=Stub?GPU ?[31m"));
}

TEST_CASE("CUDA_VISIBLE_DEVICES hides a device and does not break the driver") {
  const std::string text = facts("nvidia", "ok", "", "CUDA_VISIBLE_DEVICES=");
  CHECK(says(text, "driver.usable=present"));
  CHECK(says(text, "gpu.usable=present"));
  CHECK(says(text, "gpu.masked=yes"));
  CHECK(says(facts("nvidia", "ok", "", "CUDA_VISIBLE_DEVICES=0"), "gpu.masked=no"));
  CHECK(says(facts("nvidia", "ok", "", "CUDA_VISIBLE_DEVICES=GPU-0123"), "gpu.masked=no"));
}

TEST_CASE("a driver without devices on a machine without the hardware is no problem") {
  const std::string text = facts("nvidia", "none");
  CHECK(says(text, "driver.api=12.8"));
  CHECK(says(text, "driver.usable=absent"));
  CHECK(says(text, "driver.reason=no-device"));
  CHECK_FALSE(mentions(text, "gpu=nvidia"));
  CHECK_FALSE(mentions(text, "problem=nvidia"));
}

TEST_CASE("a driver that returns an error is reported with its code") {
  const std::string text = facts("nvidia", "error:18");
  CHECK(says(text, "problem=nvidia.driver-mismatch"));
  CHECK(says(text, "driver.usable=blocked"));
  CHECK(says(text, "driver.api=12.8"));
  CHECK(says(facts("cuda", "error:999"), "problem=nvidia.driver-error"));
}

TEST_CASE("a driver that hangs is killed and its earlier lines are kept") {
  const std::string text = facts("nvidia", "hang", "400");
  CHECK(says(text, "driver.usable=blocked"));
  CHECK(says(text, "driver.reason=driver-hangs"));
  CHECK(says(text, "driver.api=12.8"));
  CHECK(says(text, "problem=nvidia.driver-hangs"));
  CHECK(mentions(text, "in nvmlInit"));
  CHECK(mentions(facts("cuda", "hang", "400"), "in cuInit"));
}

TEST_CASE("a driver that crashes is reported with the signal and the call") {
  const std::string text = facts("nvidia", "crash");
  CHECK(says(text, "driver.reason=driver-crashed"));
  CHECK(says(text, "driver.api=12.8"));
  CHECK(mentions(text, "in nvmlInit (SIGSEGV)"));
}

TEST_CASE("a driver that ends the process is a crash") {
  const std::string text = facts("nvidia", "exit");
  CHECK(says(text, "driver.reason=driver-crashed"));
  CHECK(mentions(text, "it exited the process"));
}

TEST_CASE("a driver without its entry points is reported with the missing symbol") {
  const std::string text = facts("cuda-old", "ok");
  CHECK(says(text, "driver.reason=missing-symbol"));
  CHECK(says(text, "driver.api=12.8"));
}

TEST_CASE("Level Zero is asked through zeInit and through zeInitDrivers") {
  for (const char* folder : {"intel", "intel-new"}) {
    CAPTURE(folder);
    const std::string text = facts(folder, "ok");
    CHECK(says(text, "driver=intel"));
    CHECK(says(text, "driver.api=1.3"));
    CHECK(says(text, "driver.library=1.6.33578"));
    CHECK(says(text, "gpu.name=Stub Arc B580"));
    CHECK(says(text, "gpu.address=0000:03:00.0"));
    CHECK(says(text, "gpu.arch=20.1.0"));
    CHECK(says(text, "gpu.memory=12884901888"));
    CHECK(says(text, "gpu.usable=present"));
  }
}

TEST_CASE("a Level Zero that fails, hangs, crashes or lacks symbols stops nothing") {
  CHECK_FALSE(mentions(facts("intel", "error:0x78000001"), "gpu=intel"));
  CHECK_FALSE(mentions(facts("intel", "none"), "gpu=intel"));
  CHECK_FALSE(mentions(facts("intel-old", "ok"), "gpu=intel"));
  CHECK(says(facts("intel", "hang", "400"), "problem=intel.driver-hangs"));
  CHECK(says(facts("intel-new", "hang", "400"), "problem=intel.driver-hangs"));
  CHECK(says(facts("intel", "crash"), "problem=intel.driver-crashed"));
}

TEST_CASE("ROCm SMI is asked for names and memory") {
  const std::string text = facts("amd", "ok", "20000 amd");
  CHECK(says(text, "end=finished"));
  CHECK(says(text, "smi.driver\t6.8.5"));
  CHECK(says(text, "smi.device\t0\t0000:c1:00.0\t206158430208\tStub MI300X"));
  CHECK(says(facts("amd", "error:8", "20000 amd"), "smi.init\t8"));
}

TEST_CASE("a ROCm SMI that hangs or crashes stops nothing") {
  CHECK(says(facts("amd", "hang", "400"), "problem=amd.driver-hangs"));
  CHECK(says(facts("amd", "crash"), "problem=amd.driver-crashed"));
  CHECK_FALSE(mentions(facts("amd", "ok"), "problem=amd"));
}

TEST_CASE("files that are not libraries of this machine are reported with the loader's error") {
  const std::pair<const char*, std::string> files[] = {
      {"broken", "echo nonsense"},
      {"empty", "true"},
      // The class byte says 32 bits.
      {"elf32", "{ printf '\\177ELF\\001'; tail -c +6 '" STUBS_FOLDER "/cuda/libcuda.so.1'; }"},
  };
  for (const auto& [folder, how] : files) {
    CAPTURE(folder);
    const std::string text = facts(broken_file(folder, "libcuda.so.1", how), "ok", "20000 nvidia");
    CHECK(says(text, "end=finished"));
    CHECK(mentions(text, "cuda.missing\t"));
    // Without the hardware a broken file is nothing to complain about.
    CHECK_FALSE(mentions(facts(folder, "ok"), "problem=nvidia"));
  }
}

TEST_CASE("a truncated library only crashes its child") {
  broken_file("cut", "libcuda.so.1", "head -c 4000 '" STUBS_FOLDER "/cuda/libcuda.so.1'");
  const std::string text = facts("cut", "ok", "20000 nvidia");
  // The loader may refuse it, or touch a page that is not there.
  const bool refused = mentions(text, "end=finished") && mentions(text, "cuda.missing");
  const bool fell = mentions(text, "end=crashed") && mentions(text, "loading libcuda.so.1");
  CHECK((refused || fell));
}

TEST_CASE("each error code of the CUDA driver API has its verdict") {
  const std::pair<const char*, const char*> codes[] = {
      {"error:803", "driver-mismatch"}, {"error:802", "not-ready"},
      {"error:999", "driver-error"},    {"error:804", "compat-not-supported"},
      {"error:12345", "driver-error"},
  };
  for (const auto& [mode, code] : codes) {
    CAPTURE(mode);
    const std::string text = facts("cuda", mode);
    CHECK(says(text, std::string("problem=nvidia.") + code));
    CHECK(says(text, "driver.usable=blocked"));
    CHECK(says(text, "driver.api=12.8"));
  }
  for (const char* mode : {"error:100", "error:101"}) {
    const std::string text = facts("cuda", mode);
    CHECK(says(text, "driver.usable=absent"));
    CHECK(says(text, "driver.reason=no-device"));
    CHECK_FALSE(mentions(text, "problem=nvidia"));
  }
  CHECK(says(facts("cuda", "version_error:34"), "driver.reason=stub-library"));
}

TEST_CASE("each error code of NVML has its verdict") {
  const std::pair<const char*, const char*> codes[] = {
      {"error:4", "no-permission"},    {"error:12", "no-user-driver"},
      {"error:15", "gpu-lost"},        {"error:17", "driver-error"},
      {"error:18", "driver-mismatch"}, {"error:9", "driver-not-loaded"},
  };
  for (const auto& [mode, code] : codes) {
    CAPTURE(mode);
    CHECK(says(facts("nvidia", mode), std::string("driver.reason=") + code));
  }
}

TEST_CASE("several different devices are all reported, in the order of the bus") {
  const std::string text = facts("nvidia", "mixed");
  CHECK(count(text, "\ngpu=nvidia\n") == 2);
  CHECK(mentions(text, "gpu.address=0000:64:00.0\ngpu.arch=7.5\n"));
  CHECK(mentions(text, "gpu.address=0000:65:00.0\ngpu.arch=9.0\n"));
  CHECK(text.find("0000:64:00.0") < text.find("0000:65:00.0"));
  CHECK(says(text, "gpu.pci_id=10de:2330"));
  // CUDA counts them otherwise, and is asked where a mask makes that count.
  const std::string masked = facts("nvidia", "mixed", "", "CUDA_VISIBLE_DEVICES=0");
  CHECK(mentions(masked, "gpu.arch=9.0"));
  CHECK(count(masked, "gpu.masked=yes") == 1);
}

TEST_CASE("MIG is told by NVML") {
  CHECK(says(facts("nvidia", "mig"), "gpu.mig=yes"));
  CHECK(says(facts("nvidia", "mig"), "gpu.usable=present"));
  CHECK(says(facts("nvidia", "mig-empty"), "gpu.reason=no-mig-instance"));
  CHECK(says(facts("nvidia", "ok"), "gpu.mig=no"));
}

TEST_CASE("if no GPU supports a forward-compatibility library, the driver's own is used") {
  const std::string both = "forward/compat:" STUBS_FOLDER "/forward/own";
  const std::string text = facts(both, "ok");
  CHECK(says(text, "driver.usable=present"));
  CHECK(says(text, "driver.api=12.8"));
  CHECK(says(text, "driver.api_source=libcuda"));
  CHECK(says(text, "driver.compat=12.9"));
  CHECK(says(text, "gpu.usable=present"));
  CHECK(says(text, "problem=nvidia.compat-not-supported"));
  const std::string lines = facts(both, "ok", "20000 nvidia");
  CHECK(says(lines, "cuda.compat\t12.9\t535,550,570"));
  CHECK(says(lines, "cuda.init\t804"));
  CHECK(mentions(lines, "cuda.retry\t"));
  CHECK(says(lines, "cuda.init\t0"));
}

TEST_CASE("a forward-compatibility library without another one blocks the GPU") {
  const std::string text = facts("forward/compat", "ok");
  if (exists("/usr/lib/x86_64-linux-gnu/libcuda.so.1")) {
    MESSAGE("SKIPPED: this machine has a libcuda of its own");
    return;
  }
  CHECK(says(text, "driver.reason=compat-not-supported"));
  CHECK(says(text, "driver.compat=12.9"));
}

TEST_CASE("GPUs behind NVSwitch that wait for the fabric manager make CUDA worth asking") {
  const std::string text = facts("nvidia", "error:802", "", "AXLE_STUB_FABRIC=1");
  CHECK(says(text, "gpu.usable=present"));
  CHECK(says(text, "problem=nvidia.not-ready"));
}

TEST_CASE("a driver that floods its streams, aborts, or takes its time") {
  const std::string flood = facts("nvidia", "flood");
  CHECK(says(flood, "gpu.usable=present"));
  CHECK_FALSE(mentions(flood, "a driver library talks"));
  const std::string aborted = facts("nvidia", "abort");
  CHECK(mentions(aborted, "in nvmlInit (SIGABRT)"));
  CHECK(says(aborted, "driver.api=12.8"));
  CHECK(says(facts("nvidia", "ok", "", "AXLE_STUB_DELAY=50"), "gpu.usable=present"));
  CHECK(says(facts("nvidia", "ok", "50", "AXLE_STUB_DELAY=20000"), "driver.reason=driver-hangs"));
}

TEST_CASE("a driver that leaves a process behind still counts as having answered") {
  const std::string lines = facts("nvidia", "daemon", "20000 nvidia");
  CHECK(says(lines, "end=finished"));
  CHECK(says(facts("nvidia", "daemon"), "gpu.usable=present"));
}

TEST_CASE("two ROCm SMIs are never in one process") {
  const std::string log = std::string(STUBS_FOLDER) + "/amd-both.log";
  std::remove(log.c_str());
  const std::string text = facts("amd-both", "none", "20000 amd", "AXLE_STUB_LOG='" + log + "'");
  CHECK(says(text, "end=finished"));
  std::FILE* const file = std::fopen(log.c_str(), "r");
  REQUIRE(file != nullptr);
  int lines = 0;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) lines += c == '\n' ? 1 : 0;
  std::fclose(file);
  // One line for the load, one for rsmi_init.
  CHECK(lines == 2);
}

TEST_CASE("Debian's Level Zero loader with a driver behind it") {
  if (!exists("/usr/lib/x86_64-linux-gnu/libze_loader.so.1")) {
    MESSAGE("SKIPPED: libze1 is not installed");
    return;
  }
  const std::string driver = "ZE_ENABLE_ALT_DRIVERS='" STUBS_FOLDER "/ze-driver/libze_fake.so'";
  const std::string text = facts("none", "ok", "", driver);
  CHECK(says(text, "gpu=intel"));
  CHECK(says(text, "gpu.pci_id=8086:e20b"));
  CHECK(says(text, "gpu.arch=20.1.0"));
  CHECK(says(text, "gpu.address=0000:03:00.0"));
  CHECK(says(text, "gpu.usable=present"));
  CHECK(says(text, "driver.api=1.3"));
  CHECK_FALSE(mentions(text, "a driver library talks"));
  CHECK(says(facts("none", "hang", "400", driver), "problem=intel.driver-hangs"));
  CHECK(says(facts("none", "crash", "", driver), "problem=intel.driver-crashed"));
  CHECK_FALSE(mentions(facts("none", "none", "", driver), "gpu=intel"));
}

TEST_CASE("Debian's ROCm SMI without a GPU throws, prints, and is contained") {
  std::string library = "/usr/lib/librocm_smi64.so.1";
  if (!exists(library)) library = "/usr/lib/x86_64-linux-gnu/librocm_smi64.so.1";
  if (!exists(library)) {
    MESSAGE("SKIPPED: librocm-smi64-1 is not installed");
    return;
  }
  const std::string folder = std::string(STUBS_FOLDER) + "/rocm-smi-debian";
  REQUIRE(std::system(
              ("mkdir -p '" + folder + "' && ln -sf " + library + " '" + folder + "/'").c_str()) ==
          0);
  const std::string lines = facts("rocm-smi-debian", "ok", "20000 amd");
  CHECK(says(lines, "end=finished"));
  CHECK(mentions(lines, "smi.init\t"));
  const std::string text = facts("rocm-smi-debian", "ok");
  CHECK_FALSE(mentions(text, "problem=amd"));
}

TEST_CASE("a machine with a GPU of NVIDIA's own is described by its driver") {
  if (!exists("/dev/nvidiactl")) {
    MESSAGE("SKIPPED: there is no /dev/nvidiactl here, so no NVIDIA GPU to ask");
    return;
  }
  const std::string text = facts("none", "ok");
  CHECK(says(text, "driver=nvidia"));
  CHECK(says(text, "driver.usable=present"));
  CHECK(says(text, "gpu=nvidia"));
  CHECK(mentions(text, "gpu.arch="));
}
