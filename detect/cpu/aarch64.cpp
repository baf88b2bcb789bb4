#include "detect/cpu/aarch64.h"

#include <array>
#include <cstdio>

#include "detect/cpu/arm_cores.h"
#include "detect/cpu/hwcap_words.h"
#include "detect/drivers/driver_lines.h"

namespace axle::detect {
namespace {

std::string render_hex(unsigned value, int digits) {
  std::array<char, 12> text;
  std::snprintf(text.data(), text.size(), "0x%0*x", digits, value);
  return text.data();
}

}  // namespace

MidrNames parse_midr(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const auto midr = parse_integer(text);
  if (!midr || !text.starts_with("0x")) return {};
  const auto value = static_cast<std::uint64_t>(*midr);
  return {render_hex(static_cast<unsigned>(value >> 24U & 0xFFU), 2),
          render_hex(static_cast<unsigned>(value >> 4U & 0xFFFU), 3)};
}

void probe_aarch64(Host& host, Cpu& cpu) {
  read_hwcap_words(host, Arch::aarch64, cpu);
  if (cpu.capabilities.has(Capability::arm_sve)) {
    cpu.sve_vector_bytes = host.sve_vector_bytes();
    cpu.sources["sve_vector_bytes"] = cpu.sve_vector_bytes ? "prctl" : "prctl-refused";
  }
  if (cpu.capabilities.has(Capability::arm_sme)) {
    cpu.sme_vector_bytes = host.sme_vector_bytes();
    cpu.sources["sme_vector_bytes"] = cpu.sme_vector_bytes ? "prctl" : "prctl-refused";
  }
  const std::string folder = "/sys/devices/system/cpu/cpu0/regs/identification";
  const MidrNames names = parse_midr(host.read_file(folder + "/midr_el1").value_or(""));
  cpu.vendor = names.implementer;
  cpu.model = names.part;
  if (!names.part.empty()) cpu.brand = find_arm_core(names.implementer, names.part);
  const char* const source = names.part.empty() ? "midr-unreadable" : "midr";
  for (const char* fact : {"vendor", "model", "brand"}) cpu.sources[fact] = source;
}

}  // namespace axle::detect
