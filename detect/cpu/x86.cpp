#include "detect/cpu/x86.h"

#include <algorithm>
#include <bitset>
#include <charconv>

#include "detect/cpu/cpuid_leaves.h"
#include "detect/cpu/kernel_flags.h"
#include "detect/cpu/x86_os_state.h"

namespace axle::detect {
namespace {

constexpr std::uint32_t leaf_features = 7;
constexpr std::uint32_t leaf_avx10 = 0x24;
constexpr unsigned hybrid_bit = 15;       // CPUID(7,0).EDX
constexpr unsigned avx10_bit = 19;        // CPUID(7,1).EDX
constexpr unsigned first_avx10_flag = 8;  // below it, EBX of leaf 0x24 is the version

using Bits = std::bitset<capability_count>;

std::size_t index_of(Capability capability) { return static_cast<std::size_t>(capability); }

std::uint32_t register_of(const CpuidLeaf& leaf, CpuidRegister reg) {
  switch (reg) {
    case CpuidRegister::eax:
      return leaf.eax;
    case CpuidRegister::ebx:
      return leaf.ebx;
    case CpuidRegister::ecx:
      return leaf.ecx;
    case CpuidRegister::edx:
      return leaf.edx;
  }
  return 0;
}

bool bit_of(std::uint32_t value, unsigned bit) { return (value >> bit & 1U) != 0; }

bool is_enumerated(CpuidLeaves& leaves, const CapabilityRow& row) {
  if (row.leaf != leaf_avx10) {
    return bit_of(register_of(leaves.read(row.leaf, row.subleaf), row.reg), row.bit);
  }
  if (!bit_of(leaves.read(leaf_features, 1).edx, avx10_bit)) return false;
  const std::uint32_t ebx = leaves.read(leaf_avx10, 0).ebx;
  return row.bit < first_avx10_flag ? (ebx & 0xFFU) >= row.bit : bit_of(ebx, row.bit);
}

Bits read_bits(CpuidLeaves& leaves) {
  Bits bits;
  for (const CapabilityRow& row : capabilities()) {
    if (row.arch == Arch::x86_64) bits[index_of(row.id)] = is_enumerated(leaves, row);
  }
  return bits;
}

struct CommonBits {
  Bits bits;
  bool others_asked = false;  ///< false: the kernel lists no kinds of core, or denies access
};

/// What every kind of core has, on a hybrid CPU: a program may run on any of them.
CommonBits read_common_bits(Host& host, const Bits& here) {
  CommonBits common{here};
  // Linux arch/x86/events/intel/core.c, intel_hybrid_pmu_type_map.
  for (const char* kind : {"cpu_core", "cpu_atom", "cpu_lowpower"}) {
    const std::string file = std::string("/sys/devices/") + kind + "/cpus";
    for (const unsigned cpu : parse_cpu_list(host.read_file(file).value_or(""))) {
      const bool ran = host.on_cpu(cpu, [&] {
        CpuidLeaves others(host);
        common.bits &= read_bits(others);
      });
      common.others_asked = common.others_asked || ran;
      if (ran) break;
    }
  }
  return common;
}

void set_capability(Cpu& cpu, const CapabilityRow& row, const OsVerdict& verdict) {
  cpu.capabilities.set(row.id, verdict.presence);
  if (!verdict.evidence.empty()) cpu.sources[std::string(row.name)] = verdict.evidence;
}

/// Fills the capabilities by their bits: `here` on this core, `common` on cores of every kind.
void set_capabilities(const Bits& here, const Bits& common, const X86OsState& os,
                      const std::vector<Capability>& withheld, Cpu& cpu) {
  for (const CapabilityRow& row : capabilities()) {
    if (row.arch != Arch::x86_64) continue;
    if (!here[index_of(row.id)]) {
      set_capability(cpu, row, {Presence::absent, ""});
    } else if (!common[index_of(row.id)]) {
      set_capability(cpu, row, {Presence::blocked, "other-cores"});
    } else if (std::ranges::find(withheld, row.id) != withheld.end()) {
      set_capability(cpu, row, {Presence::blocked, "cpuinfo-without-flag"});
    } else {
      set_capability(cpu, row, judge_os_side(os, row));
    }
  }
}

/// Intel reports enhanced IBRS in a register that only the kernel can read. Its flag tells whether
/// the CPU has it, sysfs whether it is in use; a container may lack either. Empty: neither.
std::string_view kernel_tells_enhanced_ibrs(Host& host, const KernelFlags& flags) {
  if (flags.shows(Capability::ibrs_enhanced)) return "cpuinfo";
  const auto text = host.read_file("/sys/devices/system/cpu/vulnerabilities/spectre_v2");
  return text && text->find("Enhanced") != std::string::npos ? "sysfs" : "";
}

void set_names(CpuidLeaves& leaves, Cpu& cpu) {
  cpu.vendor = leaves.vendor();
  cpu.brand = leaves.brand();
  cpu.model = leaves.model();
  cpu.hypervisor = leaves.hypervisor();
  for (const char* fact : {"vendor", "brand", "model", "hypervisor", "hybrid", "capabilities"}) {
    cpu.sources[fact] = "cpuid";
  }
}

/// The contents of leaf 0x1D: palette 1, which is AMX's, and ACE.
void set_tiles(CpuidLeaves& leaves, const Bits& bits, Cpu& cpu) {
  constexpr std::uint32_t leaf_palettes = 0x1D;
  constexpr std::uint32_t leaf_multiplier = 0x1E;
  if (bits[index_of(Capability::amx_tile)]) {
    const CpuidLeaf palette = leaves.read(leaf_palettes, 1);
    const std::uint32_t multiplier = leaves.read(leaf_multiplier, 0).ebx;
    cpu.amx_tiles = AmxTiles{.total_bytes = palette.eax & 0xFFFFU,
                             .tile_bytes = palette.eax >> 16U,
                             .row_bytes = palette.ebx & 0xFFFFU,
                             .tiles = palette.ebx >> 16U,
                             .rows = palette.ecx & 0xFFFFU,
                             .multiply_k = multiplier & 0xFFU,
                             .multiply_n = multiplier >> 8U & 0xFFFFU};
    cpu.sources["amx_tiles"] = "cpuid";
  }
  if (bits[index_of(Capability::ace)]) {
    cpu.ace_version = leaves.read(leaf_palettes, 2).eax & 0xFFU;
    cpu.sources["ace_version"] = "cpuid";
  }
}

}  // namespace

std::vector<unsigned> parse_cpu_list(std::string_view text) {
  constexpr unsigned most = 4096;
  std::vector<unsigned> cpus;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    unsigned first = 0;
    const char* const end = part.data() + part.size();
    const auto [after, error] = std::from_chars(part.data(), end, first);
    if (error != std::errc{}) continue;
    unsigned last = first;
    if (after != end && *after == '-' && std::from_chars(after + 1, end, last).ec != std::errc{}) {
      continue;
    }
    for (unsigned cpu = first; cpu <= last && cpus.size() < most; ++cpu) {
      cpus.push_back(cpu);
      if (cpu == last) break;  // the largest number has no successor
    }
  }
  return cpus;
}

void probe_x86(Host& host, Cpu& cpu, const SystemName& name) {
  CpuidLeaves leaves(host);
  set_names(leaves, cpu);
  cpu.hybrid = bit_of(leaves.read(leaf_features, 0).edx, hybrid_bit);
  const Bits here = read_bits(leaves);
  const auto [common, others_asked] = cpu.hybrid ? read_common_bits(host, here) : CommonBits{here};
  if (cpu.hybrid && !others_asked) cpu.sources["capabilities"] = "cpuid-of-one-core";
  const X86OsState os = probe_x86_os_state(host, name, common[index_of(Capability::osxsave)]);
  const KernelFlags flags(host, name);
  set_capabilities(here, common, os, flags.withheld(), cpu);
  set_tiles(leaves, common, cpu);
  cpu.amx_permitted = os.tiles_permitted;
  if (common[index_of(Capability::amx_tile)]) {
    const OsVerdict tiles = judge_os_side(os, row(Capability::amx_tile));
    cpu.sources["amx_permitted"] = os.tiles_permitted ? "arch_prctl" : tiles.evidence;
  }
  if (!cpu.capabilities.has(Capability::ibrs_enhanced)) {
    const std::string_view source = kernel_tells_enhanced_ibrs(host, flags);
    if (!source.empty()) {
      set_capability(cpu, row(Capability::ibrs_enhanced), {Presence::present, source});
    }
  }
}

}  // namespace axle::detect
