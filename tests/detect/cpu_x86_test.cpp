#include <random>

#include <doctest/doctest.h>

#include "detect/cpu/x86.h"
#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;

namespace {

constexpr std::uint64_t xcr0_avx = 0x7;
constexpr std::uint64_t xcr0_avx512 = 0xE7;

Cpu probe(Host& host) {
  Cpu cpu;
  probe_x86(host, cpu);
  return cpu;
}

bool has_level(const Cpu& cpu, unsigned level) {
  for (unsigned each = 1; each <= level; ++each) {
    for (const Capability capability : x86_64_level(each)) {
      if (!cpu.capabilities.has(capability)) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("each capability is read from its own bit") {
  for (const CapabilityRow& each : capabilities()) {
    if (each.arch != Arch::x86_64) continue;
    CAPTURE(each.name);
    RecordedHost host;
    host.give(Capability::osxsave);
    host.give(each.id);
    host.xcr0_value = ~std::uint64_t{0};
    host.xcomp_supported = ~std::uint64_t{0};
    const Cpu cpu = probe(host);
    CHECK(cpu.capabilities.has(each.id));
    for (const CapabilityRow& other : capabilities()) {
      if (other.arch != Arch::x86_64) continue;
      const bool older = other.leaf == 0x24 && each.leaf == 0x24 && each.bit < 8;
      const bool implied = other.id == Capability::osxsave || (older && other.bit <= each.bit);
      if (other.id == each.id || implied) continue;
      CAPTURE(other.name);
      CHECK(cpu.capabilities.of(other.id) == Presence::absent);
    }
  }
}

TEST_CASE("leaves beyond the bounds are never read") {
  RecordedHost host;
  host.leaves[{0, 0}] = {.eax = 7};
  host.leaves[{0x80000000, 0}] = {.eax = 0x80000001};
  // What an Intel CPU does out of range: the data of another leaf.
  const CpuidLeaf nonsense{~0U, ~0U, ~0U, ~0U};
  for (const std::uint32_t leaf : {0xDU, 0x1DU, 0x1EU, 0x24U, 0x29U, 0x80000008U, 0x80000021U}) {
    host.leaves[{leaf, 0}] = nonsense;
    host.leaves[{leaf, 1}] = nonsense;
  }
  host.leaves[{7, 1}] = nonsense;
  host.xcr0_value = ~std::uint64_t{0};
  const Cpu cpu = probe(host);
  for (const CapabilityRow& each : capabilities()) {
    if (each.arch != Arch::x86_64) continue;
    CAPTURE(each.name);
    CHECK(cpu.capabilities.of(each.id) == Presence::absent);
  }
  for (const auto& [leaf, subleaf] : host.leaves_read) {
    CAPTURE(leaf);
    CHECK((leaf <= 7 || (leaf >= 0x80000000 && leaf <= 0x80000001)));
    CHECK(subleaf == 0);
  }
}

TEST_CASE("a processor without extended leaves has none") {
  RecordedHost host;
  host.leaves[{0, 0}] = {.eax = 1};
  host.leaves[{0x80000000, 0}] = {.eax = 1};
  CHECK(probe(host).capabilities.of(Capability::lahf_lm) == Presence::absent);
}

TEST_CASE("the levels need the operating system's registers") {
  RecordedHost host;
  host.give_level(4);
  host.xcr0_value = xcr0_avx512;
  CHECK(has_level(probe(host), 4));
  host.xcr0_value = xcr0_avx;
  CHECK(has_level(probe(host), 3));
  CHECK_FALSE(has_level(probe(host), 4));
  CHECK(probe(host).capabilities.of(Capability::avx512f) == Presence::blocked);
  host.xcr0_value = 0x3;
  CHECK(has_level(probe(host), 2));
  CHECK_FALSE(has_level(probe(host), 3));
  CHECK(probe(host).capabilities.of(Capability::avx2) == Presence::blocked);
  CHECK(probe(host).capabilities.has(Capability::bmi2));
}

TEST_CASE("without OSXSAVE there is no AVX whatever XCR0 would say") {
  RecordedHost host;
  host.give_level(4);
  host.give(Capability::xsave);
  host.take(Capability::osxsave);
  host.xcr0_value = ~std::uint64_t{0};
  const Cpu cpu = probe(host);
  CHECK(has_level(cpu, 2));
  CHECK(cpu.capabilities.of(Capability::avx) == Presence::blocked);
  CHECK(cpu.capabilities.of(Capability::xsave) == Presence::blocked);
}

TEST_CASE("a level lacks what one of its flags lacks") {
  for (unsigned level = 1; level <= 4; ++level) {
    for (const Capability missing : x86_64_level(level)) {
      CAPTURE(row(missing).name);
      RecordedHost host;
      host.give_level(4);
      host.take(missing);
      host.xcr0_value = xcr0_avx512;
      const Cpu cpu = probe(host);
      CHECK_FALSE(has_level(cpu, level));
      if (missing != Capability::osxsave) CHECK(has_level(cpu, level - 1));
    }
  }
}

TEST_CASE("FSGSBASE must be enabled by the kernel") {
  RecordedHost host;
  host.give(Capability::fsgsbase);
  CHECK(probe(host).capabilities.has(Capability::fsgsbase));
  host.auxiliary_values[26] = 0;
  CHECK(probe(host).capabilities.of(Capability::fsgsbase) == Presence::blocked);
  host.auxiliary_values[26] = 2;
  CHECK(probe(host).capabilities.has(Capability::fsgsbase));
}

TEST_CASE("enhanced IBRS comes from the kernel where CPUID has no bit") {
  RecordedHost host;
  CHECK_FALSE(probe(host).capabilities.has(Capability::ibrs_enhanced));
  host.files["/sys/devices/system/cpu/vulnerabilities/spectre_v2"] =
      "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional\n";
  CHECK(probe(host).capabilities.has(Capability::ibrs_enhanced));
}

TEST_CASE("a hybrid CPU has what all its kinds of core have") {
  RecordedHost host;
  host.give_level(4);
  host.leaves[{7, 0}].edx |= 1U << 15U;
  host.xcr0_value = xcr0_avx512;
  RecordedHost atom;
  atom.give_level(3);
  host.files["/sys/devices/cpu_core/cpus"] = "0-3\n";
  host.files["/sys/devices/cpu_atom/cpus"] = "4-7\n";
  host.leaves_of_cpu[0] = host.leaves;
  host.leaves_of_cpu[5] = atom.leaves;  // CPU 4 is not ours to run on
  const Cpu cpu = probe(host);
  CHECK(has_level(cpu, 3));
  CHECK(cpu.capabilities.of(Capability::avx512f) == Presence::blocked);
  CHECK(cpu.capabilities.of(Capability::avx512_vnni) == Presence::absent);
  CHECK(cpu.sources.at("capabilities") == "cpuid");
  // Nobody says which cores are of which kind.
  host.files.clear();
  CHECK(probe(host).sources.at("capabilities") == "cpuid-of-one-core");
}

TEST_CASE("the third kind of core of a hybrid CPU counts as the other two") {
  RecordedHost host;
  host.give_level(4);
  host.leaves[{7, 0}].edx |= 1U << 15U;
  host.xcr0_value = xcr0_avx512;
  RecordedHost low_power;
  low_power.give_level(2);
  host.files["/sys/devices/cpu_core/cpus"] = "0\n";
  host.files["/sys/devices/cpu_atom/cpus"] = "1\n";
  host.files["/sys/devices/cpu_lowpower/cpus"] = "2\n";
  host.leaves_of_cpu = {{0, host.leaves}, {1, host.leaves}, {2, low_power.leaves}};
  const Cpu cpu = probe(host);
  CHECK(has_level(cpu, 2));
  CHECK(cpu.capabilities.of(Capability::avx) == Presence::blocked);
  CHECK(cpu.sources.at("avx2") == "other-cores");
}

TEST_CASE("a CPU that is not hybrid is asked once") {
  RecordedHost host;
  host.give_level(3);
  host.xcr0_value = xcr0_avx;
  host.files["/sys/devices/cpu_core/cpus"] = "0\n";
  host.leaves_of_cpu[0] = {};
  CHECK(has_level(probe(host), 3));
}

TEST_CASE("taking state from XCR0 never adds a capability, adding a bit never removes one") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    RecordedHost host;
    for (const CapabilityRow& each : capabilities()) {
      if (each.arch == Arch::x86_64 && random() % 2 == 0) host.give(each.id);
    }
    host.xcr0_value = random() % 0x100000;
    host.xcomp_supported = host.xcr0_value;
    const Cpu before = probe(host);
    RecordedHost poorer = host;
    poorer.xcr0_value &= random();
    const Cpu less = probe(poorer);
    RecordedHost richer = host;
    const auto added = capabilities()[random() % capability_count].id;
    if (row(added).arch == Arch::x86_64) richer.give(added);
    const Cpu more = probe(richer);
    for (const CapabilityRow& each : capabilities()) {
      CAPTURE(each.name);
      if (less.capabilities.has(each.id)) CHECK(before.capabilities.has(each.id));
      if (before.capabilities.has(each.id)) CHECK(more.capabilities.has(each.id));
    }
  }
}

TEST_CASE("the vendor is three registers of text") {
  RecordedHost host;
  host.leaves[{0, 0}] = {.eax = 1, .ebx = 0x756E6547, .ecx = 0x6C65746E, .edx = 0x49656E69};
  CHECK(probe(host).vendor == "GenuineIntel");
}

TEST_CASE("lists of CPUs as the kernel writes them") {
  CHECK(parse_cpu_list("0-3,8,10-11\n") == std::vector<unsigned>{0, 1, 2, 3, 8, 10, 11});
  CHECK(parse_cpu_list("").empty());
  CHECK(parse_cpu_list("x,2").size() == 1);
  CHECK(parse_cpu_list("3-1").empty());
  CHECK(parse_cpu_list("0-4294967295").size() == 4096);
  CHECK(parse_cpu_list("4294967295").size() == 1);
  CHECK(parse_cpu_list("4294967294-4294967295,7").size() == 3);
}

namespace {

class CountingHost : public RecordedHost {
 public:
  std::map<std::pair<std::uint32_t, std::uint32_t>, unsigned> calls;
  std::optional<CpuidLeaf> cpuid(std::uint32_t leaf, std::uint32_t subleaf) override {
    ++calls[{leaf, subleaf}];
    return RecordedHost::cpuid(leaf, subleaf);
  }
};

/// Four registers of a leaf, as text of 16 bytes.
CpuidLeaf leaf_of(std::string_view text) {
  std::uint32_t words[4] = {};
  for (std::size_t i = 0; i < text.size() && i < 16; ++i) {
    words[i / 4] |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])) << i % 4 * 8;
  }
  return {words[0], words[1], words[2], words[3]};
}

}  // namespace

TEST_CASE("CPUID is asked for each leaf once, since a hypervisor traps every call") {
  CountingHost host;
  for (const CapabilityRow& each : capabilities()) {
    if (each.arch == Arch::x86_64) host.give(each.id);
  }
  host.leaves[{1, 0}].ecx |= 1U << 31U;
  host.leaves[{7, 0}].edx &= ~(1U << 15U);
  host.xcr0_value = ~std::uint64_t{0};
  host.xcomp_supported = ~std::uint64_t{0};
  const Cpu cpu = probe(host);
  CHECK(cpu.capabilities.has(Capability::amx_fp8));
  for (const auto& [leaf, count] : host.calls) {
    CAPTURE(leaf.first);
    CAPTURE(leaf.second);
    CHECK(count == 1);
  }
  // 10 us each: a quarter of a millisecond.
  CHECK(host.calls.size() <= 25);
}

TEST_CASE("brand, model and hypervisor as CPUID spells them") {
  RecordedHost host;
  host.leaves[{0, 0}] = {.eax = 1, .ebx = 0x756E6547, .ecx = 0x6C65746E, .edx = 0x49656E69};
  host.leaves[{1, 0}] = {.eax = 0x000806F8, .ecx = 1U << 31U};
  host.leaves[{0x40000000, 0}] = {0x40000001, 0x4B4D564B, 0x564B4D56, 0x0000004D};
  host.leaves[{0x80000000, 0}] = {.eax = 0x80000004};
  host.leaves[{0x80000002, 0}] = leaf_of("      Intel(R) X");
  host.leaves[{0x80000003, 0}] = leaf_of("eon(R) 8480+\x1b[1m");
  host.leaves[{0x80000004, 0}] = leaf_of("  ");
  const Cpu cpu = probe(host);
  CHECK(cpu.brand == "Intel(R) Xeon(R) 8480+?[1m");
  CHECK(cpu.model == "6-143-8");
  CHECK(cpu.hypervisor == "KVMKVMKVM");
  CHECK(cpu.sources.at("hypervisor") == "cpuid");
  host.leaves[{1, 0}].ecx = 0;
  CHECK(probe(host).hypervisor.empty());
}

TEST_CASE("models of AMD count their extended family") {
  RecordedHost host;
  host.leaves[{0, 0}] = {.eax = 1};
  host.leaves[{1, 0}].eax = 0x00A60F12;
  CHECK(probe(host).model == "25-97-2");
  host.leaves[{1, 0}].eax = 0x00000F4A;
  CHECK(probe(host).model == "15-4-10");
  host.leaves[{1, 0}].eax = 0x00000543;
  CHECK(probe(host).model == "5-4-3");
  // Zhaoxin KX-6000
  host.leaves[{1, 0}].eax = 0x000307B0;
  CHECK(probe(host).model == "7-59-0");
}

TEST_CASE("without a brand in range there is none") {
  RecordedHost host;
  host.leaves[{0x80000000, 0}] = {.eax = 0x80000001};
  host.leaves[{0x80000002, 0}] = leaf_of("never read");
  CHECK(probe(host).brand.empty());
}

TEST_CASE("Rosetta is recognised") {
  RecordedHost host;
  host.give_level(2);
  const CpuidLeaf name = leaf_of("VirtualApple");
  host.leaves[{0, 0}].ebx = name.eax;
  host.leaves[{0, 0}].edx = name.ebx;
  host.leaves[{0, 0}].ecx = name.ecx;
  const Cpu cpu = probe(host);
  CHECK(cpu.hypervisor == "VirtualApple");
  CHECK(has_level(cpu, 2));
}

TEST_CASE("a virtual CPU that ends at leaf 4 has what leaf 1 tells and nothing of leaf 7") {
  RecordedHost host;
  host.give_level(4);
  host.leaves[{0, 0}].eax = 4;
  host.xcr0_value = xcr0_avx512;
  const Cpu cpu = probe(host);
  CHECK(has_level(cpu, 2));
  CHECK_FALSE(has_level(cpu, 3));
  CHECK(cpu.capabilities.has(Capability::avx));
  CHECK(cpu.capabilities.has(Capability::fma));
  CHECK(cpu.capabilities.of(Capability::avx2) == Presence::absent);
  CHECK(cpu.capabilities.of(Capability::avx512f) == Presence::absent);
}
