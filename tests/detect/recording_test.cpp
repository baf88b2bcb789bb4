// What a RecordingHost notes, a ReplayHost answers.
#include "detect/record/recording.h"

#include <doctest/doctest.h>

#include "detect/probe.h"
#include "detect/survey.h"
#include "tests/support/recorded_host.h"

using axle::testing::RecordedHost;
using namespace axle::detect;

namespace {

RecordedHost busy_machine() {
  RecordedHost host;
  host.give_level(4);
  host.xcr0_value = 0x600E7;
  host.leaves[{0x80000000, 0}].eax = 0x80000004;
  host.leaves[{0x80000002, 0}] = {0x50432041, 0x00000055, 0, 0};  // "A CPU"
  host.plug("0000:65:00.0", 0x10DE, 0x2330, "nvidia");
  host.files["/sys/module/nvidia/version"] = "570.26\n";
  host.add_node("/dev/nvidiactl");
  host.add_node("/dev/nvidia0");
  host.nodes["/usr/lib/x86_64-linux-gnu/libcuda.so.1"] = Access::read;
  host.variables["CUDA_VISIBLE_DEVICES"] = "0";
  host.say(GpuVendor::nvidia,
           "cuda.version\t12080\ncuda.init\t0\ncuda.device\t0\t9.0\t0000:65:00.0\t85899345920\t0\t"
           "NVIDIA H100\n");
  return host;
}

}  // namespace

TEST_CASE("a machine that was recorded reads the same when it is replayed") {
  RecordedHost host = busy_machine();
  RecordingHost recorder(host);
  const Machine seen = probe_machine(recorder);
  CHECK(seen.gpus.size() == 1);
  ReplayHost replay(recorder.recording());
  CHECK(probe_machine(replay) == seen);
}

TEST_CASE("this machine reads the same when it is replayed") {
  const auto host = make_real_host();
  RecordingHost recorder(*host);
  const Machine seen = probe_machine(recorder);
  survey_machine(recorder);
  ReplayHost replay(recorder.recording());
  CHECK(probe_machine(replay) == seen);
}

TEST_CASE("what is recorded for later keeps to the bounds of CPUID") {
  RecordedHost host = busy_machine();
  const CpuidLeaf nonsense{~0U, ~0U, ~0U, ~0U};
  host.leaves[{0, 0}].eax = 0x1E;
  host.leaves[{0x1D, 0}].eax = 1;
  for (const auto& beyond : std::initializer_list<std::pair<std::uint32_t, std::uint32_t>>{
           {0x1D, 2}, {0x1E, 1}, {0x24, 0}, {0x29, 0}, {0x40000000, 0}, {0x80000021, 0}}) {
    host.leaves[beyond] = nonsense;
  }
  RecordingHost recorder(host);
  survey_machine(recorder);
  CHECK(recorder.recording().leaves.contains({0x1D, 1}));
  for (const auto& [leaf, answer] : recorder.recording().leaves) {
    CAPTURE(leaf.first);
    CAPTURE(leaf.second);
    CHECK(answer != nonsense);
  }
  host.leaves[{1, 0}].ecx |= 1U << 31U;
  host.leaves[{0x40000000, 0}] = {0x40000001, 0x4B4D564B, 0x564B4D56, 0x0000004D};
  host.leaves[{0x40000001, 0}] = {1, 0, 0, 0};
  survey_machine(recorder);
  CHECK(recorder.recording().leaves.contains({0x40000001, 0}));
}

TEST_CASE("recording changes no answer") {
  RecordedHost host = busy_machine();
  const Machine bare = probe_machine(host);
  RecordingHost recorder(host);
  CHECK(probe_machine(recorder) == bare);
}

TEST_CASE("questions stand in their order, under their topic, with what is missing") {
  RecordedHost host = busy_machine();
  RecordingHost recorder(host);
  (void)probe_machine(recorder);
  const auto& questions = recorder.questions();
  const auto find = [&](Question::Kind kind, std::string_view subject) -> const Question* {
    for (const Question& question : questions) {
      if (question.kind == kind && question.subject == subject) return &question;
    }
    return nullptr;
  };
  const Question* version = find(Question::Kind::file, "/sys/module/nvidia/version");
  REQUIRE(version != nullptr);
  CHECK(version->topic == "nvidia");
  CHECK(version->answer == "570.26\n");
  const Question* dxg = find(Question::Kind::access, "/dev/dxg");
  REQUIRE(dxg != nullptr);
  CHECK_FALSE(dxg->answer.has_value());
  const Question* said = find(Question::Kind::library, "nvidia");
  REQUIRE(said != nullptr);
  CHECK(said->answer->ends_with("end\tfinished"));
  CHECK(find(Question::Kind::cpuid, "7:0")->topic == "cpu");
}

TEST_CASE("the leaves of a hybrid machine's CPUs are kept apart") {
  RecordedHost host;
  host.give_level(3);
  host.xcr0_value = 7;
  host.leaves[{7, 0}].edx |= 1U << 15U;
  host.leaves_of_cpu[4] = host.leaves;
  host.leaves_of_cpu[4][{7, 0}].ebx &= ~(1U << 5U);
  host.files["/sys/devices/cpu_atom/cpus"] = "4-5\n";
  RecordingHost recorder(host);
  const Machine seen = probe_machine(recorder);
  CHECK(seen.cpu.capabilities.of(Capability::avx2) == Presence::blocked);
  CHECK(recorder.recording().leaves_of_cpu.contains(4));
  ReplayHost replay(recorder.recording());
  CHECK(probe_machine(replay) == seen);
}

TEST_CASE("an empty recording is a machine of which nothing is known") {
  const Recording nothing;
  ReplayHost host(nothing);
  const Machine machine = probe_machine(host);
  CHECK(machine.gpus.empty());
  CHECK(machine.drivers.empty());
  CHECK(machine.problems.empty());
  CHECK(machine.cpu.arch == Arch::other);
  CHECK_FALSE(host.accessible("/", Access::exists));
  CHECK(host.list_folder("/").empty());
}

TEST_CASE("permissions of paths are recorded, and folders are derived from paths") {
  Recording recording;
  recording.nodes["/dev/kfd"] = Access::exists;
  recording.nodes["/dev/dri/renderD128"] = Access::read_write;
  recording.files["/etc/os-release"] = "NAME=x\n";
  ReplayHost host(recording);
  CHECK(host.accessible("/dev/kfd", Access::exists));
  CHECK_FALSE(host.accessible("/dev/kfd", Access::read));
  CHECK(host.accessible("/dev/dri/renderD128", Access::read_write));
  CHECK(host.accessible("/etc/os-release", Access::read));
  CHECK_FALSE(host.accessible("/etc/os-release", Access::read_write));
  CHECK(host.accessible("/etc", Access::exists));
  CHECK_FALSE(host.accessible("/et", Access::exists));
  CHECK(host.list_folder("/dev") == std::vector<std::string>{"dri", "kfd"});
  CHECK(host.list_folder("/dev/dri/") == std::vector<std::string>{"renderD128"});
  recording.files["/dev//odd"] = "";
  CHECK(host.list_folder("/dev") == std::vector<std::string>{"dri", "kfd"});
}
