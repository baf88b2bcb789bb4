// The chain of evidence is what was asked, in its order, and for people.
#include "machines/evidence.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "detect/probe.h"
#include "machines/profile.h"
#include "machines/shipped_profiles.h"

namespace axle::machines {
namespace {

std::vector<Observation> evidence_of(std::string_view machine, std::string_view ns) {
  for (const ShippedProfile& each : shipped_profiles()) {
    if (each.name != machine) continue;
    const auto profile = parse_profile(each.json, machine);
    REQUIRE(profile.has_value());
    detect::ReplayHost replay(*profile->recording);
    detect::RecordingHost asked(replay);
    (void)detect::probe_machine(asked);
    return find_evidence(ns, asked.questions());
  }
  FAIL("no shipped profile is called " << machine);
  return {};
}

const Observation* find(const std::vector<Observation>& evidence, std::string_view asked) {
  const auto found = std::ranges::find_if(evidence, [&](const Observation& each) {
    return each.asked.find(asked) != std::string::npos;
  });
  return found == evidence.end() ? nullptr : &*found;
}

void check_answer(const std::vector<Observation>& evidence, std::string_view asked,
                  std::string_view answer) {
  const Observation* found = find(evidence, asked);
  REQUIRE_MESSAGE(found != nullptr, asked);
  REQUIRE_MESSAGE(found->answer.has_value(), asked);
  CHECK_MESSAGE(found->answer->find(answer) != std::string::npos, *found->answer);
}

void check_missing(const std::vector<Observation>& evidence, std::string_view asked) {
  const Observation* found = find(evidence, asked);
  REQUIRE_MESSAGE(found != nullptr, asked);
  CHECK_FALSE_MESSAGE(found->answer.has_value(), asked);
}

}  // namespace

TEST_CASE("the evidence for a container without devices: the module, no node, no library") {
  const auto evidence = evidence_of("docker-without-gpus", "nvidia");
  check_answer(evidence, "list /sys/bus/pci/devices", "of this vendor: 1");
  check_answer(evidence, "0000:10:00.0/modalias", "v000010DE");
  check_answer(evidence, "read /sys/module/nvidia/version", "570.86.15");
  check_missing(evidence, "look for /dev/nvidiactl");
  check_missing(evidence, "look for libcuda.so.1 in 14 folders");
  check_answer(evidence, "environment variable CUDA_VISIBLE_DEVICES", "not set");
  CHECK(find(evidence, "kfd") == nullptr);
  CHECK(find(evidence, "CPUID") == nullptr);
}

TEST_CASE("the evidence of a driver that hangs: what the child said before") {
  const auto evidence = evidence_of("nvml-hangs", "nvidia");
  check_answer(evidence, "query the libraries of nvidia", "what it said");
  check_answer(evidence, "the child: cuda.version", "12080");
  check_answer(evidence, "the child: end", "timed out");
}

TEST_CASE("the evidence for a CPU: its leaves and what the kernel saves") {
  const auto evidence = evidence_of("sapphire-rapids-linux515", "x86_64");
  check_answer(evidence, "CPUID 7:0", "eax 00000001");
  check_answer(evidence, "XCR0", "0x2e7");
  CHECK(find(evidence, "nvidia") == nullptr);
}

TEST_CASE("nothing is asked twice in the evidence, and other vendors' devices stay out") {
  const auto evidence = evidence_of("arc-a770-rtx3060", "intel");
  check_answer(evidence, "list /sys/bus/pci/devices", "devices: 2, of this vendor: 1");
  CHECK(find(evidence, "0000:0a:00.0") == nullptr);
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    if (evidence[i].asked.starts_with("the child")) continue;
    for (std::size_t j = i + 1; j < evidence.size(); ++j) {
      CHECK_MESSAGE(evidence[i].asked != evidence[j].asked, evidence[i].asked);
    }
  }
}

TEST_CASE("a namespace of which no fact speaks has no evidence") {
  CHECK(evidence_of("haswell", "openmp").empty());
  CHECK(find_evidence("nvidia", {}).empty());
}

TEST_CASE("terminal control characters do not get into evidence") {
  using Kind = detect::Question::Kind;
  const std::vector<detect::Question> questions{{"nvidia", Kind::file, "/sys/module/nvidia/version",
                                                 "\x1b[31m570\r\n" + std::string(500, 'x')}};
  const auto evidence = find_evidence("nvidia", questions);
  REQUIRE(evidence.size() == 2);
  CHECK(evidence[1].answer->find('\x1b') == std::string::npos);
  CHECK(evidence[1].answer->size() < 200);
}

}  // namespace axle::machines
