#include "detect/cpu_x86.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <map>
#include <utility>

#include "detect/driver_lines.h"

namespace axle::detect {
namespace {

constexpr std::uint32_t extended = 0x80000000;
constexpr std::uint32_t leaf_features = 7;
constexpr std::uint32_t leaf_amx = 0x1E;
constexpr std::uint32_t leaf_avx10 = 0x24;
constexpr unsigned hybrid_bit = 15;  // CPUID(7,0).EDX
constexpr unsigned avx10_bit = 19;   // CPUID(7,1).EDX

// XCR0, Intel SDM vol. 1, 13.3.
constexpr std::uint64_t state_ymm = 0x6;
constexpr std::uint64_t state_zmm = 0xE6;
constexpr std::uint64_t state_tile = 0x60000;
constexpr std::uint64_t state_apx = 0x80000;

constexpr unsigned long auxv_hwcap2 = 26;
constexpr std::uint64_t hwcap2_fsgsbase = 0x2;  // Linux uapi asm/hwcap2.h

using Bits = std::bitset<capability_count>;

std::size_t index_of(Capability capability) { return static_cast<std::size_t>(capability); }

/// Reads leaves once each, and never beyond the bounds that CPUID itself states: out of range,
/// Intel answers with the data of the highest leaf.
class Leaves {
 public:
  explicit Leaves(Host& host) : host_(host) {}

  const CpuidLeaf& read(std::uint32_t leaf, std::uint32_t subleaf) {
    static constexpr CpuidLeaf nothing{};
    if (!exists(leaf, subleaf)) return nothing;
    return fetch(leaf, subleaf);
  }

 private:
  const CpuidLeaf& fetch(std::uint32_t leaf, std::uint32_t subleaf) {
    const auto [found, fresh] = seen_.try_emplace({leaf, subleaf});
    if (fresh) found->second = host_.cpuid(leaf, subleaf).value_or(CpuidLeaf{});
    return found->second;
  }

  bool exists(std::uint32_t leaf, std::uint32_t subleaf) {
    const std::uint32_t base = leaf >= extended ? extended : 0;
    const std::uint32_t highest = fetch(base, 0).eax;
    if (leaf > highest || highest < base) return false;
    const bool bounded = leaf == leaf_features || leaf == leaf_amx || leaf == leaf_avx10;
    return subleaf == 0 || !bounded || subleaf <= fetch(leaf, 0).eax;
  }

  Host& host_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidLeaf> seen_;
};

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

bool is_enumerated(Leaves& leaves, const CapabilityRow& row) {
  const CpuidLeaf& leaf = leaves.read(row.leaf, row.subleaf);
  if (row.leaf == leaf_avx10) {
    return bit_of(leaves.read(leaf_features, 1).edx, avx10_bit) && (leaf.ebx & 0xFFU) >= row.bit;
  }
  return bit_of(register_of(leaf, row.reg), row.bit);
}

Bits read_bits(Leaves& leaves) {
  Bits bits;
  for (const CapabilityRow& row : capabilities()) {
    if (row.x86) bits[index_of(row.id)] = is_enumerated(leaves, row);
  }
  return bits;
}

std::string read_vendor(Leaves& leaves) {
  const CpuidLeaf& leaf = leaves.read(0, 0);
  std::string vendor;
  for (const std::uint32_t part : {leaf.ebx, leaf.edx, leaf.ecx}) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      vendor += static_cast<char>(part >> shift & 0xFFU);
    }
  }
  return sanitise(vendor);
}

/// What the CPU's other kinds of core lack, on a hybrid CPU: a program may wake up on any of them.
Bits read_common_bits(Host& host, Leaves& leaves, const Bits& here) {
  Bits common = here;
  if (!bit_of(leaves.read(leaf_features, 0).edx, hybrid_bit)) return common;
  for (const char* kind : {"/sys/devices/cpu_core/cpus", "/sys/devices/cpu_atom/cpus"}) {
    for (const unsigned cpu : parse_cpu_list(host.read_file(kind).value_or(""))) {
      const bool ran = host.on_cpu(cpu, [&] {
        Leaves others(host);
        common &= read_bits(others);
      });
      if (ran) break;
    }
  }
  return common;
}

/// The operating system's side.
struct OsStates {
  std::uint64_t xcr0 = 0;
  std::optional<std::uint64_t> tile_supported;
  std::optional<std::uint64_t> hwcap2;
};

Presence has_state(const OsStates& os, std::uint64_t mask) {
  return (os.xcr0 & mask) == mask ? Presence::present : Presence::blocked;
}

Presence tile_state(const OsStates& os) {
  if (has_state(os, state_tile) != Presence::present) return Presence::blocked;
  if (!os.tile_supported) return Presence::unknown;
  return (*os.tile_supported & state_tile) == state_tile ? Presence::present : Presence::blocked;
}

Presence os_side(const OsStates& os, const CapabilityRow& row, bool osxsave) {
  switch (row.id) {
    case Capability::xsave:
    case Capability::xsavec:
    case Capability::xsaveopt:
      return osxsave ? Presence::present : Presence::blocked;
    case Capability::fsgsbase: {
      const bool off = os.hwcap2 && (*os.hwcap2 & hwcap2_fsgsbase) == 0;
      return off ? Presence::blocked : Presence::present;
    }
    case Capability::amx_avx512:
      if (has_state(os, state_zmm) != Presence::present) return Presence::blocked;
      return tile_state(os);
    default:
      break;
  }
  switch (row.os_state) {
    // A 64-bit kernel cannot run without the SSE registers.
    case OsState::none:
    case OsState::xmm:
      return Presence::present;
    case OsState::ymm:
      return has_state(os, state_ymm);
    case OsState::zmm:
      return has_state(os, state_zmm);
    case OsState::tile:
      return tile_state(os);
    case OsState::apx:
      return has_state(os, state_apx);
  }
  return Presence::unknown;
}

/// Intel tells enhanced IBRS in a register that only the kernel can read.
bool kernel_tells_enhanced_ibrs(Host& host) {
  const auto text = host.read_file("/sys/devices/system/cpu/vulnerabilities/spectre_v2");
  return text && text->find("Enhanced") != std::string::npos;
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
    for (unsigned cpu = first; cpu <= last && cpus.size() < most; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

void probe_x86(Host& host, Cpu& cpu) {
  Leaves leaves(host);
  cpu.vendor = read_vendor(leaves);
  const Bits here = read_bits(leaves);
  const Bits common = read_common_bits(host, leaves, here);
  const bool osxsave = common[index_of(Capability::osxsave)];
  OsStates os;
  if (osxsave) os.xcr0 = host.xcr0();
  if ((os.xcr0 & state_tile) == state_tile) {
    os.tile_supported = host.xcomp(XcompQuery::supported);
    const std::uint64_t permitted = host.xcomp(XcompQuery::permitted).value_or(0);
    cpu.amx_permitted = (permitted & state_tile) == state_tile;
  }
  os.hwcap2 = host.auxiliary(auxv_hwcap2);
  for (const CapabilityRow& row : capabilities()) {
    if (!row.x86) {
      cpu.capabilities.set(row.id, Presence::absent);
    } else if (common[index_of(row.id)]) {
      cpu.capabilities.set(row.id, os_side(os, row, osxsave));
    } else {
      const bool elsewhere = here[index_of(row.id)];
      cpu.capabilities.set(row.id, elsewhere ? Presence::blocked : Presence::absent);
    }
  }
  if (!cpu.capabilities.has(Capability::ibrs_enhanced) && kernel_tells_enhanced_ibrs(host)) {
    cpu.capabilities.set(Capability::ibrs_enhanced, Presence::present);
  }
}

}  // namespace axle::detect
