#include "detect/cpu/riscv.h"

#include <array>
#include <cstdio>
#include <map>
#include <string_view>

namespace axle::detect {
namespace {

// Keys of riscv_hwprobe (Linux uapi asm/hwprobe.h).
constexpr std::int64_t key_vendor = 0;
constexpr std::int64_t key_architecture = 1;

constexpr unsigned long auxv_hwcap = 16;

bool has_letters(std::uint64_t hwcap, std::string_view letters) {
  for (const char letter : letters) {
    if ((hwcap >> (letter - 'A') & 1U) == 0) return false;
  }
  return true;
}

/// The letter means vectors of any version. Those of 0.7.1 do not have the agnostic policies and
/// return vill.
void confirm_vectors(Host& host, Cpu& cpu) {
  constexpr std::uint64_t vill = std::uint64_t{1} << 63U;
  const auto vtype = host.riscv_vtype();
  if (!vtype) {
    cpu.capabilities.set(Capability::riscv_v, Presence::unknown);
    cpu.sources["riscv_v"] = "auxv-any-version";
    return;
  }
  cpu.sources["riscv_v"] = "vsetvli";
  if ((*vtype & vill) != 0) cpu.capabilities.set(Capability::riscv_v, Presence::absent);
}

void set_from_letters(Host& host, Cpu& cpu) {
  cpu.sources["capabilities"] = "auxv";
  const auto hwcap = host.auxiliary(auxv_hwcap);
  const auto state = [&](std::string_view letters) {
    if (!hwcap) return Presence::unknown;
    return has_letters(*hwcap, letters) ? Presence::present : Presence::absent;
  };
  cpu.capabilities.set(Capability::riscv_ima, state("IMA"));
  cpu.capabilities.set(Capability::riscv_fd, state("FD"));
  cpu.capabilities.set(Capability::riscv_c, state("C"));
  cpu.capabilities.set(Capability::riscv_v, state("V"));
  if (cpu.capabilities.has(Capability::riscv_v)) confirm_vectors(host, cpu);
}

std::string render_id(std::uint64_t id) {
  std::array<char, 24> text;
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(id));
  return text.data();
}

}  // namespace

void probe_riscv(Host& host, Cpu& cpu) {
  std::map<std::int64_t, std::optional<std::uint64_t>> answers;
  for (const CapabilityRow& row : capabilities()) {
    if (row.arch == Arch::riscv64) answers.try_emplace(row.word);
  }
  bool asked = false;
  for (auto& [key, value] : answers) {
    value = host.riscv_hwprobe(key);
    asked = asked || value.has_value();
  }
  if (!asked) {
    set_from_letters(host, cpu);
    return;
  }
  cpu.sources["capabilities"] = "hwprobe";
  for (const CapabilityRow& row : capabilities()) {
    if (row.arch != Arch::riscv64) continue;
    const auto& value = answers[row.word];
    if (!value) {
      cpu.sources[std::string(row.name)] = "hwprobe-without-key";
      continue;
    }
    const bool set = (*value >> row.bit & 1U) != 0;
    cpu.capabilities.set(row.id, set ? Presence::present : Presence::absent);
  }
  if (const auto vendor = host.riscv_hwprobe(key_vendor)) {
    cpu.vendor = render_id(*vendor);
    cpu.sources["vendor"] = "hwprobe";
  }
  if (const auto architecture = host.riscv_hwprobe(key_architecture)) {
    cpu.model = render_id(*architecture);
    cpu.sources["model"] = "hwprobe";
  }
}

}  // namespace axle::detect
