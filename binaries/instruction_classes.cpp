#include "binaries/instruction_classes.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace axle::binaries {
namespace {

using detect::Capability;
using detect::OsState;

constexpr std::size_t none = detect::capability_count;

/// The row of each encoding that a mnemonic has.
struct Betrayal {
  std::size_t legacy = none;  ///< or VEX
  std::size_t evex = none;
};

using Betrayals = std::unordered_map<std::string_view, Betrayal>;

Betrayals read_table(detect::Arch arch) {
  Betrayals found;
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.arch != arch) continue;
    std::string_view rest = row.mnemonics;
    while (!rest.empty()) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      Betrayal& betrayal = found[rest.substr(0, space)];
      std::size_t& place = row.os_state == OsState::zmm ? betrayal.evex : betrayal.legacy;
      if (place == none) place = static_cast<std::size_t>(row.id);
      rest.remove_prefix(std::min(rest.size(), space + 1));
    }
  }
  found.erase("");
  // Compilers emit TZCNT for every x86-64 CPU: older ones run its bytes as `rep bsf` (GCC manual,
  // -mbmi; Intel SDM, TZCNT).
  found.erase("tzcnt");
  return found;
}

bool has_high_register(std::string_view operands) {
  for (const std::string_view kind : {"%xmm", "%ymm"}) {
    for (std::size_t at = operands.find(kind); at != std::string_view::npos;
         at = operands.find(kind, at + 1)) {
      const std::string_view number = operands.substr(at + kind.size(), 2);
      if (number.size() == 2 && number[1] >= '0' && number[1] <= '9' && number >= "16") return true;
    }
  }
  return false;
}

bool is_evex(std::string_view operands) {
  return operands.contains("%zmm") || operands.contains("{%k") || operands.contains("{1to") ||
         has_high_register(operands);
}

std::size_t x86_capability(std::string_view instruction) {
  static const Betrayals betrayals = read_table(detect::Arch::x86_64);
  const std::size_t space = std::min(instruction.find_first_of(" \t"), instruction.size());
  const std::string_view operands = instruction.substr(space);
  const auto found = betrayals.find(instruction.substr(0, space));
  const bool evex = is_evex(operands);
  if (found != betrayals.end()) {
    const auto [legacy, own_evex] = found->second;
    if (evex && own_evex != none) return own_evex;
    if (!evex) return legacy != none ? legacy : own_evex;  // mask registers alone are not evidence
  }
  if (operands.contains("%tmm")) return static_cast<std::size_t>(Capability::amx_tile);
  if (operands.contains("%zmm")) return static_cast<std::size_t>(Capability::avx512f);
  if (evex) return static_cast<std::size_t>(Capability::avx512vl);
  // VEX: SSE's instructions in AVX's form, with three operands.
  const bool vex =
      operands.contains("%ymm") || (instruction.starts_with('v') && operands.contains("%xmm"));
  return vex ? static_cast<std::size_t>(Capability::avx) : none;
}

/// "cas", "ldadd" … with any of their orders and widths: "casal", "ldaddalb" (Arm ARM, "LSE").
bool is_atomic(std::string_view mnemonic) {
  constexpr std::array<std::string_view, 19> stems = {
      "casp",   "cas",    "swp",    "ldadd",  "ldclr", "ldeor", "ldset",
      "ldsmax", "ldsmin", "ldumax", "ldumin", "stadd", "stclr", "steor",
      "stset",  "stsmax", "stsmin", "stumax", "stumin"};
  return std::ranges::any_of(stems, [&](std::string_view stem) {
    if (!mnemonic.starts_with(stem)) return false;
    const std::string_view rest = mnemonic.substr(stem.size());
    return rest.size() <= 3 && rest.find_first_not_of("albh") == std::string_view::npos;
  });
}

/// "z3.s", "za0h.s", "za[w12, 0]": a register of that name, not a part of a word.
bool has_register(std::string_view operands, std::string_view name) {
  for (std::size_t at = operands.find(name); at != std::string_view::npos;
       at = operands.find(name, at + 1)) {
    const char before = at == 0 ? ' ' : operands[at - 1];
    const char next = at + name.size() < operands.size() ? operands[at + name.size()] : ' ';
    const bool own = before == ' ' || before == '\t' || before == '{' || before == ',';
    if (own && (name == "za" || (next >= '0' && next <= '9'))) return true;
  }
  return false;
}

std::size_t arm_capability(std::string_view instruction) {
  static const Betrayals betrayals = read_table(detect::Arch::aarch64);
  const std::size_t space = std::min(instruction.find_first_of(" \t"), instruction.size());
  const std::string_view mnemonic = instruction.substr(0, space);
  const std::string_view operands = instruction.substr(space).substr(0, 200);
  if (operands.contains('<')) return none;  // a branch: a name follows
  const auto found = betrayals.find(mnemonic);
  const std::size_t known = found == betrayals.end() ? none : found->second.legacy;
  if (has_register(operands, "za")) return static_cast<std::size_t>(Capability::arm_sme);
  if (has_register(operands, "z")) {
    const bool own =
        known != none && detect::row(static_cast<Capability>(known)).name.starts_with("arm_sve");
    return own ? known : static_cast<std::size_t>(Capability::arm_sve);
  }
  if (known == none && is_atomic(mnemonic))
    return static_cast<std::size_t>(Capability::arm_atomics);
  return known;
}

}  // namespace

std::size_t capability_of_instruction(std::string_view instruction, detect::Arch arch) {
  if (arch == detect::Arch::x86_64) return x86_capability(instruction);
  return arch == detect::Arch::aarch64 ? arm_capability(instruction) : none;
}

bool asks_for_cpu(std::string_view instruction, detect::Arch arch) {
  const std::size_t space = std::min(instruction.find_first_of(" \t"), instruction.size());
  const std::string_view mnemonic = instruction.substr(0, space);
  const std::string_view operands = instruction.substr(space);
  const bool asks = arch == detect::Arch::x86_64
                        ? mnemonic == "cpuid" || mnemonic == "xgetbv"
                        : mnemonic == "mrs" && operands.contains("id_aa64");
  return asks || operands.contains("<getauxval") || operands.contains("<__getauxval") ||
         operands.contains("<__cpu_indicator_init") || operands.contains("<__init_cpu_features") ||
         operands.contains("<__cpu_features") || operands.contains("<__aarch64_have_lse");
}

}  // namespace axle::binaries
