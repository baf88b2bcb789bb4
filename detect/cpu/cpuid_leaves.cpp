#include "detect/cpu/cpuid_leaves.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "detect/drivers/driver_lines.h"

namespace axle::detect {
namespace {

constexpr std::uint32_t extended = 0x80000000;
constexpr std::uint32_t leaf_hypervisor = 0x40000000;
/// EAX of their first subleaf is the highest one; other leaves (0xD) do not report it.
constexpr std::array<std::uint32_t, 6> bounded_leaves{0x7, 0x14, 0x1D, 0x1E, 0x24, 0x29};
constexpr std::uint32_t hypervisor_bit = 1U << 31U;  // CPUID(1).ECX
constexpr std::string_view translator = "VirtualApple";

std::string join_registers(std::initializer_list<std::uint32_t> registers) {
  std::string text;
  for (const std::uint32_t part : registers) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      text += static_cast<char>(part >> shift & 0xFFU);
    }
  }
  return text;
}

/// Ends at the first zero byte; surrounding spaces are padding.
std::string clean(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return sanitise(text);
}

}  // namespace

const CpuidLeaf& CpuidLeaves::read(std::uint32_t leaf, std::uint32_t subleaf) {
  static constexpr CpuidLeaf nothing{};
  return exists(leaf, subleaf) ? fetch(leaf, subleaf) : nothing;
}

const CpuidLeaf& CpuidLeaves::fetch(std::uint32_t leaf, std::uint32_t subleaf) {
  const auto [found, fresh] = seen_.try_emplace({leaf, subleaf});
  if (fresh) found->second = host_.cpuid(leaf, subleaf).value_or(CpuidLeaf{});
  return found->second;
}

bool CpuidLeaves::exists(std::uint32_t leaf, std::uint32_t subleaf) {
  const std::uint32_t base = leaf >= extended          ? extended
                             : leaf >= leaf_hypervisor ? leaf_hypervisor
                                                       : 0;
  if (base == leaf_hypervisor && (read(1, 0).ecx & hypervisor_bit) == 0) return false;
  const std::uint32_t highest = fetch(base, 0).eax;
  if (leaf > highest || highest < base) return false;
  const bool bounded = std::ranges::find(bounded_leaves, leaf) != bounded_leaves.end();
  return subleaf == 0 || !bounded || subleaf <= fetch(leaf, 0).eax;
}

std::string CpuidLeaves::vendor() {
  const CpuidLeaf& leaf = read(0, 0);
  return clean(join_registers({leaf.ebx, leaf.edx, leaf.ecx}));
}

std::string CpuidLeaves::brand() {
  std::string text;
  for (std::uint32_t number = extended + 2; number <= extended + 4; ++number) {
    const CpuidLeaf& leaf = read(number, 0);
    text += join_registers({leaf.eax, leaf.ebx, leaf.ecx, leaf.edx});
  }
  return clean(text);
}

std::string CpuidLeaves::model() {
  // Intel SDM vol. 2A, CPUID, figure 3-6: the extended parts only apply to some families; in Linux
  // (arch/x86/lib/cpu.c) also to Zhaoxin's family 7.
  const std::uint32_t eax = read(1, 0).eax;
  if (eax == 0) return {};
  unsigned family = eax >> 8U & 0xFU;
  unsigned model = eax >> 4U & 0xFU;
  if (family >= 0x6) model |= (eax >> 16U & 0xFU) << 4U;
  if (family == 0xF) family += eax >> 20U & 0xFFU;
  return std::to_string(family) + '-' + std::to_string(model) + '-' + std::to_string(eax & 0xFU);
}

std::string CpuidLeaves::hypervisor() {
  if (const std::string name = vendor(); name.starts_with(translator)) return name;
  if ((read(1, 0).ecx & hypervisor_bit) == 0) return {};
  const CpuidLeaf& leaf = fetch(leaf_hypervisor, 0);
  return clean(join_registers({leaf.ebx, leaf.ecx, leaf.edx}));
}

}  // namespace axle::detect
