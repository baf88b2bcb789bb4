// Prints what detection says of the CPU it runs on, one fact a line, for cross_test.py.
#include <cstdio>
#include <string>

#include "detect/cpu/aarch64_versions.h"
#include "detect/probe.h"

using namespace axle::detect;

namespace {

void print(const char* key, const std::string& value) {
  std::printf("%s=%s\n", key, value.c_str());
}

std::string names(const CapabilityFacts& facts, Presence presence, Arch arch) {
  std::string text;
  for (const CapabilityRow& row : capabilities()) {
    if (row.arch != arch || facts.of(row.id) != presence) continue;
    text += text.empty() ? "" : " ";
    text += row.name;
  }
  return text;
}

/// Every compiler flag of the table with the first GCC that has it: "-mavx2@0".
std::string flags(Arch arch) {
  std::string text;
  for (const CapabilityRow& row : capabilities()) {
    if (row.arch != arch || row.gcc_flag.empty()) continue;
    text += text.empty() ? "" : " ";
    text += std::string(row.gcc_flag) + '@' + std::to_string(row.first_gcc);
  }
  return text;
}

std::string versions(const CapabilityFacts& facts, VersionRule rule) {
  std::string text;
  for (const std::string_view each : held_aarch64_architectures(facts, rule)) {
    text += text.empty() ? "" : " ";
    text += each;
  }
  return text;
}

}  // namespace

int main() {
  const auto host = make_real_host();
  const Machine machine = probe_machine(*host, {.gpus = false});
  const Cpu& cpu = machine.cpu;
  print("arch", std::string(render_arch(cpu.arch)));
  print("machine", cpu.machine);
  print("vendor", cpu.vendor);
  print("model", cpu.model);
  print("hypervisor", cpu.hypervisor);
  print("libc", machine.libc.family);
  for (const Presence presence :
       {Presence::present, Presence::absent, Presence::blocked, Presence::unknown}) {
    print(std::string(render_presence(presence)).c_str(),
          names(cpu.capabilities, presence, cpu.arch));
  }
  print("level", std::to_string(highest_x86_64_level(cpu.capabilities)));
  print("versions", versions(cpu.capabilities, VersionRule::soft));
  print("sve", std::to_string(cpu.sve_vector_bytes.value_or(0)));
  print("sme", std::to_string(cpu.sme_vector_bytes.value_or(0)));
  print("flags", flags(cpu.arch));
  for (const auto& [fact, source] : cpu.sources) print(("source." + fact).c_str(), source);
  return 0;
}
