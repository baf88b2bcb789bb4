#include "machines/stated/translated.h"

#include <utility>

#include <fmt/format.h>

#include "detect/cpu/darwin.h"

namespace axle::machines {

namespace {

using detect::Arch;

constexpr std::string_view translated = "translated";  ///< Cpu::sources of "arch"
constexpr std::string_view bits_32 = "i686";

}  // namespace

bool can_translate(const detect::Machine& machine, std::string_view architecture) {
  const std::string& system = machine.os.system;
  const Arch own = machine.cpu.arch;
  const bool to_x86_64 = architecture == detect::render_arch(Arch::x86_64);
  if (system == detect::darwin) return own == Arch::aarch64 && to_x86_64;
  if (system != "Windows") return false;
  if (architecture == bits_32) return own == Arch::aarch64 || own == Arch::x86_64;
  return own == Arch::aarch64 && to_x86_64;
}

void take_translated(detect::Machine& machine, std::string_view architecture) {
  detect::Cpu cpu;
  cpu.machine = architecture;
  cpu.brand = std::move(machine.cpu.brand);
  cpu.logical_cpus = machine.cpu.logical_cpus;
  cpu.sources["arch"] = translated;
  if (architecture == detect::render_arch(Arch::x86_64)) {
    cpu.arch = Arch::x86_64;
    for (const unsigned level : {1U, 2U}) {
      for (const detect::Capability each : detect::x86_64_level(level))
        cpu.capabilities.set(each, detect::Presence::present);
    }
  }
  machine.cpu = std::move(cpu);
}

bool is_translated(const detect::Cpu& cpu) {
  const auto source = cpu.sources.find("arch");
  return source != cpu.sources.end() && source->second == translated;
}

std::string describe_translation(const detect::Machine& machine) {
  if (machine.os.system == detect::darwin)
    return fmt::format("programs for {}, which Rosetta 2 translates", machine.cpu.machine);
  return fmt::format("programs for {}, which Windows runs on this processor, too",
                     machine.cpu.machine);
}

}  // namespace axle::machines
