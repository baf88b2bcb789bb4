#include "detect/cpu_aarch64.h"

#include <array>
#include <cstdio>

#include "detect/driver_lines.h"

namespace axle::detect {
namespace {

// getauxval types of the words 1, 2 and 3 (Linux uapi linux/auxvec.h).
constexpr std::array<unsigned long, 3> auxv_types{16, 26, 29};

}  // namespace

std::string parse_midr_implementer(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const auto midr = parse_integer(text);
  if (!midr || !text.starts_with("0x")) return {};
  std::array<char, 8> implementer;
  std::snprintf(implementer.data(), implementer.size(), "0x%02x",
                static_cast<unsigned>(*midr >> 24) & 0xFFU);
  return implementer.data();
}

void probe_aarch64(Host& host, Cpu& cpu) {
  std::array<std::optional<std::uint64_t>, auxv_types.size()> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = host.auxiliary(auxv_types[i]);
  for (const CapabilityRow& row : capabilities()) {
    if (row.x86) {
      cpu.capabilities.set(row.id, Presence::absent);
      continue;
    }
    const auto& word = words[row.hwcap_word - 1U];
    if (!word) continue;
    const bool set = (*word >> row.bit & 1U) != 0;
    cpu.capabilities.set(row.id, set ? Presence::present : Presence::absent);
  }
  if (cpu.capabilities.has(Capability::arm_sve)) cpu.sve_vector_bytes = host.sve_vector_bytes();
  const std::string folder = "/sys/devices/system/cpu/cpu0/regs/identification";
  cpu.vendor = parse_midr_implementer(host.read_file(folder + "/midr_el1").value_or(""));
}

}  // namespace axle::detect
