// A recording that leaves the machine names neither it nor its people, and still reads the same.
#include "detect/record/scrub.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "detect/probe.h"
#include "tests/support/recorded_host.h"

using axle::testing::RecordedHost;
using namespace axle::detect;

namespace {

const std::string uuid_a = "GPU-8f3c1b2a-77aa-4e5d-9c0d-0123456789ab";
const std::string uuid_b = "GPU-8f3c9999-1111-2222-3333-444455556666";

Identity somebody() { return {"wintermute", {"", "molly"}, "/srv/people/molly"}; }

/// Everything of the recording as one text.
std::string flatten(const Recording& recording) {
  std::string text = recording.name.release + '\n';
  for (const auto* map : {&recording.files, &recording.links, &recording.programs,
                          &recording.stamps, &recording.variables}) {
    for (const auto& [key, value] : *map) text += key + '=' + value + '\n';
  }
  for (const auto& [path, access] : recording.nodes) text += path + '\n';
  for (const auto& [path, names] : recording.folders) {
    text += path + '\n';
    for (const std::string& name : names) text += name + '\n';
  }
  for (const auto& [vendor, answer] : recording.answers) text += answer.lines;
  return text;
}

/// Two GPUs, told by UUID in a mask and by serial wherever serials stand.
RecordedHost secretive_machine() {
  RecordedHost host;
  host.give_level(3);
  host.xcr0_value = 7;
  host.leaves[{1, 0}].ebx = 0x1C100800;
  host.leaves[{3, 0}] = {0, 0, 0x11223344, 0x55667788};
  host.plug("0000:65:00.0", 0x10DE, 0x2330, "nvidia");
  host.plug("0000:66:00.0", 0x10DE, 0x2330, "nvidia");
  host.plug("0000:c1:00.0", 0x1002, 0x74A1, "amdgpu");
  for (const char* address : {"0000:65:00.0", "0000:66:00.0"}) {
    host.files[std::string("/proc/driver/nvidia/gpus/") + address + "/information"] =
        "Model: \t\t NVIDIA H100\nIRQ:   \t\t 112\nGPU UUID: \t " + uuid_a +
        "\nVideo BIOS: \t 96.00\nSerial Number: SN4711\n";
  }
  host.files["/proc/driver/nvidia/version"] =
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.26  Release Build  "
      "(molly@wintermute)  Thu\n";
  host.files["/etc/os-release"] =
      "PRETTY_NAME=\"A Linux\"\nHOME_URL=\"https://wintermute.example\"\n";
  host.files["/etc/machine-id"] = "0123456789abcdef0123456789abcdef\n";
  host.files["/sys/class/dmi/id/product_serial"] = "SN4711\n";
  host.files["/proc/sys/kernel/random/boot_id"] = "3b241101-e2bb-4255-8caf-4136c566a962\n";
  host.files["/proc/self/cgroup"] =
      "0::/kubepods-pod3b241101_e2bb_4255_8caf_4136c566a962.slice/cri-" + std::string(64, 'a') +
      "\n";
  host.files["/sys/class/net/eth0/address"] = "52:54:00:12:34:56\n";
  host.files["/proc/notes"] = "hello molly, mail root@wintermute from 52:54:00:12:34:56\n";
  host.files["/sys/class/kfd/kfd/topology/nodes/1/properties"] =
      "simd_count 304\nvendor_id 4098\ndevice_id 29857\nlocation_id 49408\ndomain 0\n"
      "drm_render_minor 128\ngfx_target_version 90402\nunique_id 4711471147114711\n";
  host.files["/sys/class/kfd/kfd/topology/nodes/1/gpu_id"] = "51110\n";
  host.nodes["/dev/kfd"] = Access::read_write;
  host.nodes["/dev/dri/renderD128"] = Access::read_write;
  host.nodes["/dev/nvidiactl"] = Access::read_write;
  host.nodes["/dev/nvidia0"] = Access::read_write;
  host.nodes["/srv/people/molly/lib/libcuda.so.1"] = Access::read;
  host.nodes["/home/molly/cuda/libnvidia-ml.so.1"] = Access::read;
  host.folders["/dev"] = {"molly-disk", "nvidia0", "nvidiactl", "vg-wintermute"};
  host.folders["/opt"] = {"molly-secrets"};
  host.variables["LD_LIBRARY_PATH"] = "/home/molly/private:/home/molly/cuda:/srv/people/molly/lib";
  host.variables["CUDA_VISIBLE_DEVICES"] = "GPU-8f3c9";
  host.variables["ROCR_VISIBLE_DEVICES"] = "0";
  host.variables["KUBERNETES_SERVICE_HOST"] = "10.96.0.1";
  host.files["/proc/1/cgroup"] = "0::/lxc/mollys-box\n";
  host.files["/run/.containerenv"] = "engine=\"podman-4.3.1\"\nname=\"mollys-box\"\nid=\"4711\"\n";
  host.variables["HOME"] = "/srv/people/molly";
  host.variables["USER"] = "molly";
  host.say(GpuVendor::nvidia,
           "cuda.file\t/srv/people/molly/lib/libcuda.so.570.26\ncuda.version\t12080\ncuda.init\t0\n"
           "nvml.init\t0\nnvml.count\t2\n"
           "nvml.device\t0\t9.0\t0000:65:00.0\t85899345920\t" +
               uuid_a +
               "\tNVIDIA H100\n"
               "nvml.device\t1\t9.0\t0000:66:00.0\t85899345920\t" +
               uuid_b +
               "\tNVIDIA H100\n"
               "cuda.device\t0\t9.0\t0000:65:00.0\t85899345920\t0\tNVIDIA H100\n"
               "cuda.device\t1\t9.0\t0000:66:00.0\t85899345920\t0\tNVIDIA H100\n");
  return host;
}

Recording record(RecordedHost& host) {
  RecordingHost recorder(host);
  (void)probe_machine(recorder);
  // What a later detection may ask on top.
  for (const auto& [path, content] : host.files) (void)recorder.read_file(path, 4096);
  for (const auto& [path, names] : host.folders) (void)recorder.list_folder(path);
  for (const auto& [name, value] : host.variables) (void)recorder.environment(name);
  for (std::uint32_t leaf = 0; leaf < 8; ++leaf) (void)recorder.cpuid(leaf, 0);
  return recorder.recording();
}

}  // namespace

TEST_CASE("serials, names, addresses and homes do not get into a recording") {
  RecordedHost host = secretive_machine();
  const Recording clean = scrub(record(host), somebody());
  const std::string text = flatten(clean);
  for (const char* secret :
       {"wintermute", "molly", "8f3c", "SN4711", "4711471147114711", "0123456789abcdef", "3b241101",
        "aaaaaaaa", "52:54:00", "private", "10.96", "mollys-box", "/srv/people", "HOME="}) {
    CAPTURE(secret);
    CHECK(text.find(secret) == std::string::npos);
  }
  CHECK_FALSE(clean.leaves.contains({3, 0}));
  CHECK(clean.leaves.at({1, 0}).ebx == 0x00100800);
  CHECK(clean.folders.at("/dev") == std::vector<std::string>{"dri", "kfd", "nvidia0", "nvidiactl"});
}

TEST_CASE("names do not get in by folders, libraries, images, kernels or boards either") {
  RecordedHost host = secretive_machine();
  host.name.release = "6.8.0-wintermute.lan.example";
  host.files["/etc/os-release"] =
      "PRETTY_NAME=\"Golden image by molly on wintermute.lan.example\"\nVERSION=\"12 (case's)\"\n";
  host.files["/proc/self/mountinfo"] = "1 2 0:1 / / rw - nfs4 files.lan.example:/export rw\n";
  host.files["/proc/1/cmdline"] = "init root=UUID=1 hostname=box\n";
  host.files["/proc/driver/nvidia/gpus/0000:65:00.0/information"] = "Model: H100 of molly\n";
  host.files["/etc/ld.so.cache"] =
      std::string("libcuda.so.1\0/home/case/libcuda.so.1\0/data/molly/libcuda.so.1\0", 62);
  host.nodes["/data/molly/wintermute-12/libcuda.so.1"] = Access::read;
  host.files["/data/case/toolkit/x86_64-linux/ascend_toolkit_install.info"] = "version=8.0\n";
  host.links["/data/current"] = "/data/molly/wintermute-12";
  host.folders["/data"] = {"molly"};
  host.variables["LD_LIBRARY_PATH"] = "/data/molly/wintermute-12:/data/molly/private";
  host.variables["ASCEND_TOOLKIT_HOME"] = "/data/case/toolkit";
  host.variables["container"] = "molly";
  host.say(GpuVendor::nvidia,
           "cuda.file\t/data/molly/wintermute-12/libcuda.so.570.26\ncuda.version\t12080\n"
           "cuda.init\t0\ncuda.device\t0\t9.0\t0000:65:00.0\t1\t0\tH100 of case");
  const Machine seen = probe_machine(host);
  RecordingHost recorder(host);
  (void)probe_machine(recorder);
  for (const auto& [path, content] : host.files) (void)recorder.read_file(path, 4096);
  (void)recorder.read_link("/data/current");
  (void)recorder.list_folder("/data");
  (void)recorder.environment("ASCEND_TOOLKIT_HOME");
  const Identity identity{"wintermute", {"molly", "case"}, "/root"};
  const Recording clean = scrub(recorder.recording(), identity);
  const std::string text = flatten(clean);
  for (const char* secret : {"wintermute", "molly", "case", "lan.example", "private", "hostname"}) {
    CAPTURE(secret);
    CHECK(text.find(secret) == std::string::npos);
  }
  CHECK(clean.variables.at("LD_LIBRARY_PATH") == "/data/user/host-12");
  CHECK(clean.nodes.contains("/data/user/host-12/libcuda.so.1"));
  CHECK(clean.links.at("/data/current") == "/data/user/host-12");
  CHECK(clean.variables.at("ASCEND_TOOLKIT_HOME") == "/data/user/toolkit");
  CHECK(clean.files.contains("/data/user/toolkit/x86_64-linux/ascend_toolkit_install.info"));
  CHECK(clean.files.at("/etc/ld.so.cache") ==
        std::string("\0/home/user/libcuda.so.1\0/data/user/libcuda.so.1\0", 49));
  ReplayHost replay(clean);
  const Machine again = probe_machine(replay);
  CHECK(again.drivers == seen.drivers);
  CHECK(again.gpus.size() == seen.gpus.size());
}

TEST_CASE("a scrubbed recording reads as the machine did") {
  RecordedHost host = secretive_machine();
  const Machine seen = probe_machine(host);
  REQUIRE(seen.gpus.size() == 3);
  CHECK(seen.gpus[0].masked);
  CHECK_FALSE(seen.gpus[1].masked);
  const Recording clean = scrub(record(host), somebody());
  ReplayHost replay(clean);
  CHECK(probe_machine(replay) == seen);
  CHECK(clean.variables.at("CUDA_VISIBLE_DEVICES") == "GPU-1");
  CHECK(clean.variables.at("LD_LIBRARY_PATH") == "/home/user/lib");
}

TEST_CASE("a user or host named like one of the system's own words removes nothing else") {
  for (const Identity& identity :
       {Identity{"nvidia", {"nvidia"}, "/home/nvidia"}, Identity{"driver", {"sys"}, "/sys"},
        Identity{"pci", {"dev"}, "/usr"}, Identity{"H100", {"modalias"}, "/dev/shm"},
        Identity{"lib", {"x86_64"}, "/usr/lib"}, Identity{"init", {"count", "opt"}, "/"}}) {
    CAPTURE(identity.host_name);
    RecordedHost host = secretive_machine();
    const Machine seen = probe_machine(host);
    const Recording clean = scrub(record(host), identity);
    ReplayHost replay(clean);
    const Machine again = probe_machine(replay);
    CHECK(again.gpus.size() == seen.gpus.size());
    CHECK(again.drivers == seen.drivers);
    CHECK(again.gpus[0].usable == seen.gpus[0].usable);
    CHECK(again.gpus[0].pci_address == seen.gpus[0].pci_address);
  }
}

TEST_CASE("scrubbing twice changes nothing more") {
  RecordedHost host = secretive_machine();
  const Recording clean = scrub(record(host), somebody());
  ReplayHost replay(clean);
  RecordingHost recorder(replay);
  const Machine once = probe_machine(recorder);
  ReplayHost again(clean);
  CHECK(probe_machine(again) == once);
  const std::string text = flatten(scrub(clean, somebody()));
  CHECK(text.find("GPU-unknown") == std::string::npos);
}

TEST_CASE("a mask with a GPU that is not here remains one that matches none") {
  RecordedHost host = secretive_machine();
  host.variables["CUDA_VISIBLE_DEVICES"] = "GPU-ffff";
  const Machine seen = probe_machine(host);
  CHECK(seen.gpus[0].masked);
  CHECK(seen.gpus[1].masked);
  const Recording clean = scrub(record(host), somebody());
  ReplayHost replay(clean);
  CHECK(probe_machine(replay) == seen);
}

TEST_CASE("system folders that are named after people are scrubbed") {
  RecordedHost host;
  host.variables["LD_LIBRARY_PATH"] = "/run/media/molly/lib:/etc/profiles/per-user/molly/lib";
  host.files["/run/media/molly/lib/libcuda.so.1"] = "";
  CHECK(flatten(scrub(record(host), somebody())).find("molly") == std::string::npos);
}

TEST_CASE("of the loader's cache the drivers' libraries stay") {
  Recording raw;
  raw.files["/etc/ld.so.cache"] = std::string(
      "glibc-ld.so.cache1.1\0libmolly.so.1\0/home/molly/libmolly.so.1\0libcuda.so.1\0"
      "/usr/lib/libcuda.so.1\0",
      96);
  const Recording clean = scrub(raw, somebody());
  CHECK(clean.files.at("/etc/ld.so.cache") == std::string("\0/usr/lib/libcuda.so.1\0", 23));
}

TEST_CASE("what kind of container it is stays, its name goes") {
  for (const auto& [content, kept] : std::vector<std::pair<std::string, std::string>>{
           {"12:pids:/lxc/mollys-box\n0::/lxc/mollys-box/init\n", "0::/lxc/\n"},
           {"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-2.scope\n", "0::/kubepods\n"},
           {"0::/user.slice/user-1000.slice/session-3.scope\n", "0::/\n"}}) {
    Recording raw;
    raw.files["/proc/1/cgroup"] = content;
    CHECK(scrub(raw, {}).files.at("/proc/1/cgroup") == kept);
  }
}

TEST_CASE("what only looks like an identity is kept") {
  Recording raw;
  raw.files["/sys/module/amdgpu/srcversion"] = "0123456789ABCDEF01234567\n";
  raw.files["/sys/bus/pci/devices/0000:65:00.0/modalias"] =
      "pci:v000010DEd00002330sv000010DEsd000016C1bc03sc02i00\n";
  raw.links["/sys/bus/pci/devices/0000:65:00.0/driver"] = "../../../../bus/pci/drivers/nvidia";
  raw.files["/usr/lib/os-release"] = "NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\n";
  Identity debian{"debian", {"root"}, "/root"};
  CHECK(scrub(raw, debian) == raw);
}
