// What must hold of every machine, whatever its facts: properties never shrink as a machine gains,
// and never depend on what is not a fact.
#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "detect/probe.h"
#include "machines/profile.h"
#include "machines/shipped_profiles.h"
#include "providers/provider.h"
#include "tests/support/shuffling_host.h"

namespace axle::machines {
namespace {

using detect::CapabilityRow;
using detect::CpuidLeaf;
using detect::CpuidRegister;
using detect::Machine;
using detect::Recording;

struct Named {
  std::string name;
  Recording recording;
};

const std::vector<Named>& recordings() {
  static const std::vector<Named> all = [] {
    std::vector<Named> found;
    for (const ShippedProfile& shipped : shipped_profiles()) {
      auto profile = parse_profile(shipped.json, shipped.name);
      if (profile && profile->recording) {
        found.push_back({std::string(shipped.name), std::move(*profile->recording)});
      }
    }
    return found;
  }();
  return all;
}

Machine replay(const Recording& recording) {
  detect::ReplayHost host(recording);
  return detect::probe_machine(host);
}

std::set<std::string> properties_of(const Machine& machine) {
  std::set<std::string> all;
  for (const providers::Provider& provider : providers::builtin_providers()) {
    for (const providers::Feature& feature : provider.supported(machine, {})) {
      for (const std::string& value : feature.values) {
        all.insert(std::string(provider.ns) + " :: " + feature.name + " :: " + value);
      }
    }
  }
  return all;
}

std::vector<std::string> missing_from(const std::set<std::string>& whole,
                                      const std::set<std::string>& part) {
  std::vector<std::string> missing;
  std::ranges::set_difference(part, whole, std::back_inserter(missing));
  return missing;
}

std::uint32_t& register_of(CpuidLeaf& leaf, CpuidRegister reg) {
  return reg == CpuidRegister::eax   ? leaf.eax
         : reg == CpuidRegister::ebx ? leaf.ebx
         : reg == CpuidRegister::ecx ? leaf.ecx
                                     : leaf.edx;
}

/// Sets the bit on every CPU of the machine, without raising what CPUID says of its bounds.
void add_bit(Recording& recording, const CapabilityRow& row) {
  std::vector<detect::CpuidAnswers*> all{&recording.leaves};
  for (auto& [cpu, leaves] : recording.leaves_of_cpu) all.push_back(&leaves);
  for (detect::CpuidAnswers* leaves : all) {
    CpuidLeaf& leaf = (*leaves)[{row.leaf, row.subleaf}];
    if (row.leaf == 0x24 && row.bit < 8) {
      leaf.ebx = std::max<std::uint32_t>(leaf.ebx & 0xFFU, row.bit) | (leaf.ebx & ~0xFFU);
    } else {
      register_of(leaf, row.reg) |= 1U << row.bit;
    }
  }
}

/// Sets the bit in the word that the kernel tells it in.
void add_word_bit(Recording& recording, const CapabilityRow& row) {
  const std::uint64_t bit = std::uint64_t{1} << row.bit;
  if (row.arch == detect::Arch::riscv64) {
    recording.hwprobe[row.word] |= bit;
    return;
  }
  constexpr unsigned long words[] = {0, 16, 26, 29};  // AT_HWCAP, AT_HWCAP2, AT_HWCAP3
  recording.auxiliary_values[words[row.word]] |= bit;
}

}  // namespace

TEST_CASE("adding a CPUID bit never takes a property away") {
  for (const auto& [name, recording] : recordings()) {
    if (recording.architecture != detect::Arch::x86_64) continue;
    const auto before = properties_of(replay(recording));
    // No features, and yet bits of the processor: a hypervisor, cores of several kinds.
    for (const auto& [leaf, reg, bit] :
         {std::tuple(1U, CpuidRegister::ecx, 31U), std::tuple(7U, CpuidRegister::edx, 15U)}) {
      Recording more = recording;
      register_of(more.leaves[{leaf, 0}], reg) |= 1U << bit;
      const auto missing = missing_from(properties_of(replay(more)), before);
      CHECK_MESSAGE(missing.empty(), name << " + leaf " << leaf << " bit " << bit << " loses "
                                          << (missing.empty() ? "" : missing.front()));
    }
    for (const CapabilityRow& row : detect::capabilities()) {
      if (row.arch != detect::Arch::x86_64) continue;
      Recording more = recording;
      add_bit(more, row);
      const auto missing = missing_from(properties_of(replay(more)), before);
      CHECK_MESSAGE(missing.empty(), name << " + " << row.name << " loses "
                                          << (missing.empty() ? "" : missing.front()));
    }
  }
}

TEST_CASE("a feature more in the kernel's words never takes a property away") {
  unsigned tried = 0;
  for (const auto& [name, recording] : recordings()) {
    const auto before = properties_of(replay(recording));
    for (const CapabilityRow& row : detect::capabilities()) {
      if (row.arch != recording.architecture || row.arch == detect::Arch::x86_64) continue;
      Recording more = recording;
      add_word_bit(more, row);
      const auto missing = missing_from(properties_of(replay(more)), before);
      CHECK_MESSAGE(missing.empty(), name << " + " << row.name << " loses "
                                          << (missing.empty() ? "" : missing.front()));
      ++tried;
    }
  }
  CHECK(tried > 1000);
}

TEST_CASE("a machine whose device nodes are withheld never gains a property") {
  for (const auto& [name, recording] : recordings()) {
    const auto before = properties_of(replay(recording));
    for (const bool there : {false, true}) {
      Recording less = recording;
      for (const auto& [path, access] : recording.nodes) {
        if (!path.starts_with("/dev/")) continue;
        if (there) {
          less.nodes[path] = detect::Access::exists;
        } else {
          less.nodes.erase(path);
        }
      }
      const auto extra = missing_from(before, properties_of(replay(less)));
      // This namespace also says that there is none.
      const bool none =
          extra.empty() || extra == std::vector<std::string>{"tpu :: present :: false"};
      CHECK_MESSAGE(none, name << " gains " << (extra.empty() ? "" : extra.front()));
    }
  }
}

TEST_CASE("a kernel that saves fewer registers never adds a property") {
  for (const auto& [name, recording] : recordings()) {
    const auto before = properties_of(replay(recording));
    const auto check_subset = [&](const Recording& less, const std::string& what) {
      const auto extra = missing_from(before, properties_of(replay(less)));
      CHECK_MESSAGE(extra.empty(),
                    name << " - " << what << " gains " << (extra.empty() ? "" : extra.front()));
    };
    for (unsigned bit = 0; bit < 64; ++bit) {
      if ((recording.xcr0_value >> bit & 1U) == 0) continue;
      Recording less = recording;
      less.xcr0_value &= ~(std::uint64_t{1} << bit);
      check_subset(less, "XCR0 bit " + std::to_string(bit));
    }
    Recording refused = recording;
    refused.xcomp_supported.reset();
    refused.xcomp_permitted.reset();
    check_subset(refused, "arch_prctl");
    for (const auto& [type, word] : recording.auxiliary_values) {
      for (unsigned bit = 0; bit < 64; ++bit) {
        if ((word >> bit & 1U) == 0) continue;
        Recording less = recording;
        less.auxiliary_values[type] &= ~(std::uint64_t{1} << bit);
        check_subset(less,
                     "auxiliary word " + std::to_string(type) + " bit " + std::to_string(bit));
      }
    }
    for (const auto& [key, word] : recording.hwprobe) {
      for (unsigned bit = 0; bit < 64; ++bit) {
        if ((word >> bit & 1U) == 0) continue;
        Recording less = recording;
        less.hwprobe[key] &= ~(std::uint64_t{1} << bit);
        check_subset(less, "hwprobe " + std::to_string(key) + " bit " + std::to_string(bit));
      }
    }
  }
}

TEST_CASE("the order in which folders and drivers list devices changes nothing") {
  for (const auto& [name, recording] : recordings()) {
    const Machine machine = replay(recording);
    for (unsigned seed = 0; seed < 8; ++seed) {
      detect::ReplayHost host(recording);
      testing::ShufflingHost shuffling(host, seed);
      CHECK_MESSAGE(detect::probe_machine(shuffling) == machine, name);
    }
  }
}

TEST_CASE("a recording that is cut anywhere is refused or read, never a crash") {
  for (const ShippedProfile& shipped : shipped_profiles()) {
    for (std::size_t length = 0; length + 2 < shipped.json.size(); length += 97) {
      const auto profile = parse_profile(shipped.json.substr(0, length), shipped.name);
      CHECK_FALSE(profile.has_value());
    }
  }
}

TEST_CASE("a recording with any bytes changed is refused or read, never a crash") {
  std::mt19937 random(3);
  std::size_t read = 0;
  for (const ShippedProfile& shipped : shipped_profiles()) {
    for (unsigned round = 0; round < 24; ++round) {
      std::string text(shipped.json);
      for (unsigned change = 0; change < 1 + round % 4; ++change) {
        text[random() % text.size()] = static_cast<char>(' ' + random() % 95);
      }
      const auto profile = parse_profile(text, shipped.name);
      if (!profile) continue;
      ++read;
      (void)properties_of(replay_profile(*profile));
    }
  }
  CHECK(read > 0);
}

TEST_CASE("what a machine lacks is missed without harm: any one answer taken away") {
  for (const auto& [name, recording] : recordings()) {
    for (const auto& [path, content] : recording.files) {
      Recording less = recording;
      less.files.erase(path);
      (void)properties_of(replay(less));
      less.files[path] = content.substr(0, content.size() / 2);
      (void)properties_of(replay(less));
    }
    for (const auto& [path, access] : recording.nodes) {
      Recording less = recording;
      less.nodes.erase(path);
      (void)properties_of(replay(less));
    }
    for (const auto& [vendor, answer] : recording.answers) {
      for (std::size_t length = 0; length <= answer.lines.size(); length += 37) {
        Recording less = recording;
        less.answers[vendor].lines.resize(length);
        (void)properties_of(replay(less));
      }
    }
  }
}

}  // namespace axle::machines
