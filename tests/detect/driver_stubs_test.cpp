// The real prober in a real process, with stand-ins for the vendors' libraries on LD_LIBRARY_PATH.
#include <cstdio>
#include <string>
#include <string_view>

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

TEST_CASE("a driver that returns an error is told with its code") {
  const std::string text = facts("nvidia", "error:18");
  CHECK(says(text, "problem=nvidia.driver-mismatch"));
  CHECK(says(text, "driver.usable=blocked"));
  CHECK(says(text, "driver.api=12.8"));
  CHECK(says(facts("cuda", "error:999"), "problem=nvidia.driver-error"));
}

TEST_CASE("a driver that hangs is killed and keeps what it said before") {
  const std::string text = facts("nvidia", "hang", "400");
  CHECK(says(text, "driver.usable=blocked"));
  CHECK(says(text, "driver.reason=driver-hangs"));
  CHECK(says(text, "driver.api=12.8"));
  CHECK(says(text, "problem=nvidia.driver-hangs"));
  CHECK(mentions(text, "in nvmlInit"));
  CHECK(mentions(facts("cuda", "hang", "400"), "in cuInit"));
}

TEST_CASE("a driver that crashes is told with the signal and the call") {
  const std::string text = facts("nvidia", "crash");
  CHECK(says(text, "driver.reason=driver-crashed"));
  CHECK(says(text, "driver.api=12.8"));
  CHECK(mentions(text, "in nvmlInit (SIGSEGV)"));
}

TEST_CASE("a driver that ends the process is a crash") {
  const std::string text = facts("nvidia", "exit");
  CHECK(says(text, "driver.reason=driver-crashed"));
  CHECK(mentions(text, "it ended the process"));
}

TEST_CASE("a driver without its entry points is told by the missing symbol") {
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

TEST_CASE("a file that is no library is told as the loader tells it") {
  const std::string folder = std::string(STUBS_FOLDER) + "/broken";
  REQUIRE(std::system(("mkdir -p '" + folder + "' && echo nonsense > '" + folder + "/libcuda.so.1'")
                          .c_str()) == 0);
  const std::string text = facts("broken", "ok", "20000 nvidia");
  CHECK(says(text, "end=finished"));
  CHECK(mentions(text, "cuda.missing\t"));
}
