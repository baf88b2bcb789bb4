#include "detect/cpu/hwcap_words.h"

#include <array>

namespace axle::detect {
namespace {

// getauxval types of AT_HWCAP, AT_HWCAP2 and AT_HWCAP3 (Linux uapi linux/auxvec.h).
constexpr std::array<unsigned long, 3> auxv_types{16, 26, 29};

}  // namespace

void read_hwcap_words(Host& host, Arch arch, Cpu& cpu) {
  std::array<std::optional<std::uint64_t>, auxv_types.size()> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = host.auxiliary(auxv_types[i]);
  cpu.sources["capabilities"] = "auxv";
  for (const CapabilityRow& row : capabilities()) {
    if (row.arch != arch) continue;
    const auto& word = words[row.word - 1U];
    if (!word) {
      cpu.sources[std::string(row.name)] = "auxv-without-word";
      continue;
    }
    const bool set = (*word >> row.bit & 1U) != 0;
    cpu.capabilities.set(row.id, set ? Presence::present : Presence::absent);
  }
}

}  // namespace axle::detect
