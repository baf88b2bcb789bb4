// What drivers said is believed as long as nothing that it depends on has changed.
#include "detect/drivers/driver_cache.h"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include "detect/drivers/driver_fingerprint.h"
#include "detect/drivers/kept_answers.h"
#include "detect/probe.h"
#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;
using End = DriverAnswer::End;

namespace {

constexpr GpuVendor nvidia[] = {GpuVendor::nvidia};
// Ahead of every file that these tests write, however slow the machine (an emulator).
const std::int64_t start = std::time(nullptr) + 600;

const std::string complete =
    "cuda.version\t12040\nnvml.init\t0\nnvml.count\t1\n"
    "nvml.device\t0\t9.0\t00000000:65:00.0\t1\tGPU-a\tH100\n";
const std::string without_capability =
    "cuda.version\t12040\nnvml.init\t0\nnvml.count\t1\n"
    "nvml.device\t0\t\t00000000:65:00.0\t1\tGPU-a\tH100\n";

/// A folder of its own, gone with the test.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/axle-cache-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  [[nodiscard]] std::string path() const { return path_ + "/detect"; }
  [[nodiscard]] std::string only_file() const {
    std::string found;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      CHECK(found.empty());
      found = entry.path();
    }
    return found;
  }

 private:
  std::string path_;
};

RecordedHost machine() {
  RecordedHost host;
  host.plug("0000:65:00.0", 0x10DE, 0x2330, "nvidia");
  host.files["/proc/sys/kernel/random/boot_id"] = "b00t\n";
  host.files["/sys/module/nvidia/version"] = "550.54.14\n";
  host.files["/sys/module/nvidia/srcversion"] = "ABCD\n";
  for (const char* node : {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"})
    host.add_node(node);
  host.files["/usr/lib/x86_64-linux-gnu/libcuda.so.1"] = "library";
  host.files["/opt/x/libcuda.so.1"] = "old";
  host.files["/etc/ld.so.cache"] = std::string("\0/opt/x/libcuda.so.1\0", 21);
  host.files["/proc/self/mountinfo"] = "1 0 0:1 / / rw - overlay a rw\n";
  host.say(GpuVendor::nvidia, complete);
  return host;
}

/// How many children a probe starts `later` seconds after the start.
std::size_t children(RecordedHost& host, const Folder& folder, std::int64_t later = 0,
                     const std::string& program = "1") {
  host.asked.clear();
  DriverCache cache(host, {.folder = folder.path(), .program = program, .now = start + later});
  static_cast<void>(cache.ask_drivers(nvidia, std::chrono::seconds(1)));
  return host.asked.size();
}

}  // namespace

TEST_CASE("the second probe starts no child and knows the same") {
  const Folder folder;
  RecordedHost host = machine();
  DriverCache cache(host, {.folder = folder.path(), .program = "1", .now = start});
  const Machine first = probe_machine(cache);
  CHECK(host.asked.size() == 1);
  const Machine second = probe_machine(cache);
  CHECK(host.asked.size() == 1);
  CHECK(first == second);
  CHECK(first.gpus.at(0).usable == Presence::present);
  struct stat status{};
  REQUIRE(::stat(folder.only_file().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a complete answer lives a day, one without a capability ten minutes") {
  const Folder folder;
  RecordedHost host = machine();
  CHECK(children(host, folder) == 1);
  CHECK(children(host, folder, 24 * 3600 - 1) == 0);
  CHECK(children(host, folder, 24 * 3600) == 1);
  const Folder other;
  host.say(GpuVendor::nvidia, without_capability);
  CHECK(children(host, other) == 1);
  CHECK(children(host, other, 599) == 0);
  CHECK(children(host, other, 600) == 1);
}

TEST_CASE("answers of crashed children, and errors, are not cached") {
  for (const std::string lines :
       {"cuda.version\t12040\nnvml.init\t18\n",
        "cuda.version\t12040\nnvml.init\t9\ncuda.init\t100\n", "cuda.version_error\t34\n"}) {
    const Folder folder;
    RecordedHost host = machine();
    host.say(GpuVendor::nvidia, lines);
    CHECK(children(host, folder) == 1);
    CHECK(children(host, folder) == 1);
  }
  for (const End end : {End::crashed, End::timed_out, End::not_started}) {
    const Folder folder;
    RecordedHost host = machine();
    host.say(GpuVendor::nvidia, end, complete);
    CHECK(children(host, folder) == 1);
    CHECK(children(host, folder) == 1);
  }
}

TEST_CASE("a change of anything that an answer depends on invalidates it") {
  const std::pair<const char*, std::function<void(RecordedHost&)>> changes[] = {
      {"boot", [](RecordedHost& h) { h.files["/proc/sys/kernel/random/boot_id"] = "other\n"; }},
      {"kernel", [](RecordedHost& h) { h.name.release = "6.2.0"; }},
      {"module version", [](RecordedHost& h) { h.files["/sys/module/nvidia/version"] = "570\n"; }},
      {"module source", [](RecordedHost& h) { h.files["/sys/module/nvidia/srcversion"] = "X\n"; }},
      {"module gone",
       [](RecordedHost& h) {
         h.files.erase("/sys/module/nvidia/version");
         h.files.erase("/sys/module/nvidia/srcversion");
       }},
      {"library",
       [](RecordedHost& h) {
         h.files["/usr/lib/x86_64-linux-gnu/libcuda.so.1"] = "another library";
       }},
      {"library that only the loader's cache names",
       [](RecordedHost& h) { h.files["/opt/x/libcuda.so.1"] = "newer"; }},
      {"library elsewhere", [](RecordedHost& h) { h.files["/usr/lib64/libnvidia-ml.so.1"] = ""; }},
      {"loader's cache", [](RecordedHost& h) { h.files["/etc/ld.so.cache"] = "x"; }},
      {"device", [](RecordedHost& h) { h.plug("0000:66:00.0", 0x10DE, 0x2330, "nvidia"); }},
      {"device's driver",
       [](RecordedHost& h) {
         h.links["/sys/bus/pci/devices/0000:65:00.0/driver"] = "../drivers/vfio-pci";
       }},
      {"GPU of the driver",
       [](RecordedHost& h) { h.files["/proc/driver/nvidia/gpus/0000:65:00.0/information"] = ""; }},
      {"node", [](RecordedHost& h) { h.files.erase("/dev/nvidia-uvm"); }},
      {"permission", [](RecordedHost& h) { h.refused.insert("/dev/nvidia0"); }},
      {"MIG",
       [](RecordedHost& h) {
         h.files["/proc/driver/nvidia/capabilities/gpu0/mig/gi1/access"] = "";
       }},
      {"mask", [](RecordedHost& h) { h.variables["CUDA_VISIBLE_DEVICES"] = ""; }},
      {"order", [](RecordedHost& h) { h.variables["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"; }},
      {"path", [](RecordedHost& h) { h.variables["LD_LIBRARY_PATH"] = std::string(300, 'x'); }},
      {"container",
       [](RecordedHost& h) {
         h.files["/proc/self/mountinfo"] =
             "2 1 0:2 / /proc rw - proc proc rw\n1 0 0:1 /@ / rw - overlay b rw\n";
       }},
  };
  for (const auto& [name, change] : changes) {
    CAPTURE(name);
    const Folder folder;
    RecordedHost host = machine();
    CHECK(children(host, folder) == 1);
    const std::string before = fingerprint_drivers(host, nvidia, "1");
    change(host);
    CHECK(fingerprint_drivers(host, nvidia, "1") != before);
    CHECK(children(host, folder) == 1);
    CHECK(children(host, folder) == 0);
  }
  const Folder folder;
  RecordedHost host = machine();
  CHECK(children(host, folder) == 1);
  CHECK(children(host, folder, 0, "2") == 1);
  CHECK(children(host, folder, 0, "1") == 0);
}

TEST_CASE("long values that differ at their end differ") {
  RecordedHost host = machine();
  host.variables["LD_LIBRARY_PATH"] = std::string(300, 'x') + "a";
  const std::string one = fingerprint_drivers(host, nvidia, "1");
  host.variables["LD_LIBRARY_PATH"] = std::string(300, 'x') + "b";
  CHECK(fingerprint_drivers(host, nvidia, "1") != one);
  // A value cannot pass for another fact.
  host.variables["LD_LIBRARY_PATH"] = "x\nCUDA_VISIBLE_DEVICES\t0";
  CHECK(fingerprint_drivers(host, nvidia, "1").find("\nCUDA_VISIBLE_DEVICES") == std::string::npos);
}

TEST_CASE("a vendor that hangs does not cost another its answer") {
  const Folder folder;
  RecordedHost host = machine();
  host.say(GpuVendor::intel, End::timed_out, "step\tzeInit\n");
  const GpuVendor both[] = {GpuVendor::nvidia, GpuVendor::intel};
  for (int run = 0; run < 2; ++run) {
    host.asked.clear();
    DriverCache cache(host, {.folder = folder.path(), .program = "1", .now = start});
    const auto answers = cache.ask_drivers(both, std::chrono::seconds(1));
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].end == End::finished);
    CHECK(answers[0].lines == complete);
    CHECK(answers[1].end == End::timed_out);
    CHECK(host.asked.size() == (run == 0 ? 2U : 1U));
  }
}

TEST_CASE("files from the future, of others, open to others, and links are refused") {
  const std::pair<const char*, std::function<void(const std::string&)>> harms[] = {
      {"future",
       [](const std::string& file) {
         const utimbuf times{start + 3600, start + 3600};
         REQUIRE(::utime(file.c_str(), &times) == 0);
       }},
      {"readable by all",
       [](const std::string& file) { REQUIRE(::chmod(file.c_str(), 0644) == 0); }},
      {"link",
       [](const std::string& file) {
         std::filesystem::rename(file, file + ".real");
         std::filesystem::create_symlink(file + ".real", file);
       }},
      {"cut",
       [](const std::string& file) {
         std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
       }},
      {"garbage", [](const std::string& file) { std::ofstream(file) << "garbage"; }},
      {"folder",
       [](const std::string& file) {
         std::filesystem::remove(file);
         std::filesystem::create_directory(file);
       }},
      {"huge",
       [](const std::string& file) { std::filesystem::resize_file(file, 8 * 1024 * 1024); }},
  };
  for (const auto& [name, harm] : harms) {
    CAPTURE(name);
    const Folder folder;
    RecordedHost host = machine();
    CHECK(children(host, folder) == 1);
    CHECK(children(host, folder) == 0);
    harm(folder.only_file());
    CHECK(children(host, folder) == 1);
  }
  if (::geteuid() != 0) {
    MESSAGE("SKIPPED in part: only root can give a file to another user");
    return;
  }
  const Folder folder;
  RecordedHost host = machine();
  CHECK(children(host, folder) == 1);
  REQUIRE(::chown(folder.only_file().c_str(), 4711, 4711) == 0);
  CHECK(children(host, folder) == 1);
}

TEST_CASE("without a folder, or with one that cannot be made, every probe asks") {
  RecordedHost host = machine();
  for (const char* folder : {"", "/proc/nowhere"}) {
    DriverCache cache(host, {.folder = folder, .program = "1", .now = start});
    host.asked.clear();
    static_cast<void>(probe_machine(cache));
    static_cast<void>(probe_machine(cache));
    CHECK(host.asked.size() == 2);
  }
}

TEST_CASE("where one boot cannot be told from another, every probe asks") {
  for (const char* boot : {"", "\n"}) {
    const Folder folder;
    RecordedHost host = machine();
    host.files["/proc/sys/kernel/random/boot_id"] = boot;
    if (*boot == '\0') host.files.erase("/proc/sys/kernel/random/boot_id");
    CHECK(children(host, folder) == 1);
    CHECK(children(host, folder) == 1);
  }
}

TEST_CASE("files of other boots are swept away when a new one is written") {
  const Folder folder;
  RecordedHost host = machine();
  CHECK(children(host, folder) == 1);
  const std::string old = folder.only_file();
  const utimbuf times{start - 2 * 86400, start - 2 * 86400};
  REQUIRE(::utime(old.c_str(), &times) == 0);
  host.files["/proc/sys/kernel/random/boot_id"] = "next\n";
  CHECK(children(host, folder) == 1);
  CHECK(folder.only_file() != old);
}

TEST_CASE("kept answers are read back as they were written, and nothing else is") {
  const std::vector<KeptAnswer> answers{{"nvidia", 5, "a\tb\n\nend\n"}, {"/bin/x info", 7, ""}};
  const std::string text = render_kept_answers("fact\tvalue\n", answers);
  CHECK(parse_kept_answers(text, "fact\tvalue\n") == answers);
  CHECK_FALSE(parse_kept_answers(text, "fact\tother\n").has_value());
  CHECK_FALSE(parse_kept_answers(text, "").has_value());
  for (std::size_t size = 0; size < text.size(); ++size) {
    CHECK_FALSE(parse_kept_answers(text.substr(0, size), "fact\tvalue\n").has_value());
  }
  CHECK_FALSE(parse_kept_answers(text + "end\n", "fact\tvalue\n").has_value());
}

TEST_CASE("npu-smi is remembered for ten minutes, other programs are not") {
  const Folder folder;
  RecordedHost host;
  host.files["/proc/sys/kernel/random/boot_id"] = "b00t\n";
  host.files["/usr/bin/npu-smi"] = "";
  const std::string table = "| 0     910B3  | OK            | 1 |\n| 0  | 0000:C1:00.0  | 0 |\n";
  host.programs["/usr/bin/npu-smi info"] = table;
  host.programs["/lib/ld-musl-x86_64.so.1"] = "musl";
  const auto ask = [&](const std::string& command, std::int64_t later) {
    DriverCache cache(host, {.folder = folder.path(), .program = "1", .now = start + later});
    return cache.run_program(command, std::chrono::seconds(1)).text;
  };
  CHECK(ask("/usr/bin/npu-smi info", 0) == table);
  CHECK(ask("/lib/ld-musl-x86_64.so.1", 0) == "musl");
  host.programs.clear();
  CHECK(ask("/usr/bin/npu-smi info", 599) == table);
  CHECK(ask("/usr/bin/npu-smi info", 600).empty());
  CHECK(ask("/lib/ld-musl-x86_64.so.1", 0).empty());
}

namespace {

/// A machine whose driver is replaced while its library is being asked.
class ChangingHost : public RecordedHost {
 public:
  explicit ChangingHost(const RecordedHost& host) : RecordedHost(host) {}
  std::vector<DriverAnswer> ask_drivers(std::span<const GpuVendor> vendors,
                                        std::chrono::milliseconds limit) override {
    files["/usr/lib/x86_64-linux-gnu/libcuda.so.1"] += "new";
    return RecordedHost::ask_drivers(vendors, limit);
  }
};

}  // namespace

TEST_CASE("an answer during which the driver was replaced is not kept") {
  const Folder folder;
  ChangingHost host(machine());
  CHECK(children(host, folder) == 1);
  CHECK_FALSE(std::filesystem::exists(folder.path()));
}

TEST_CASE("a table that npu-smi did not finish is not kept") {
  class SlowHost : public RecordedHost {
   public:
    ProgramAnswer run_program(const std::string&, std::chrono::milliseconds) override {
      ++runs;
      return {"| 0     910B3  | OK            | 1 |\n| 0  | 0000:C1:00.0  | 0 |\n", false};
    }
    int runs = 0;
  };
  const Folder folder;
  SlowHost host;
  host.files["/proc/sys/kernel/random/boot_id"] = "b00t\n";
  for (int run = 1; run <= 2; ++run) {
    DriverCache cache(host, {.folder = folder.path(), .program = "1", .now = start});
    static_cast<void>(cache.run_program("/usr/bin/npu-smi info", std::chrono::seconds(1)));
    CHECK(host.runs == run);
  }
}
