#include "machines/completion.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "detect/cpu/aarch64_versions.h"
#include "detect/cpu/darwin.h"
#include "detect/gpu_vendors.h"
#include "detect/os/macos.h"
#include "machines/gpu_models.h"
#include "machines/profile_fields.h"
#include "machines/stated/translated.h"
#include "machines/vendor_facts.h"

namespace axle::machines {

using detect::Driver;
using detect::GpuVendor;
using detect::Presence;

namespace {

// Detection's conclusion may be of another macOS than the one that was stated since.
void complete_mps(detect::Machine& machine) {
  if (machine.mps && !detect::is_judged(*machine.mps)) return;
  machine.mps = detect::judge_mps(machine.os, machine.cpu);
}

/// What uv takes for `--python-platform macos`.
constexpr detect::MacosVersion assumed_macos{13, 0};

// Every CPU of an architecture has its base level by definition.
void set_base(detect::Cpu& cpu) {
  const auto base = cpu.arch == detect::Arch::x86_64    ? detect::x86_64_level(1)
                    : cpu.arch == detect::Arch::aarch64 ? detect::aarch64_versions[0].adds
                                                        : std::span<const detect::Capability>();
  for (const detect::Capability capability : base) {
    if (cpu.capabilities.of(capability) == Presence::unknown) {
      cpu.capabilities.set(capability, Presence::present);
    }
  }
}

struct Host {
  detect::Arch arch;
  std::string_view of;  ///< "NVIDIA Jetson AGX Orin"
};

// Some GPUs are on one chip or one board with their CPU: a Jetson, a Grace, a GB10. One that is
// stated by its architecture is any of the models that have that.
std::optional<Host> find_host(const detect::Gpu& gpu) {
  const auto possible = possible_models(gpu);
  if (possible.empty() || possible.front()->host == detect::Arch::other) return std::nullopt;
  const GpuModel& first = *possible.front();
  const auto is_other = [&](const GpuModel* model) { return model->host != first.host; };
  if (std::ranges::any_of(possible, is_other)) return std::nullopt;
  return Host{first.host, first.title};
}

std::optional<Host> find_host(const detect::Machine& machine) {
  for (const detect::Gpu& gpu : machine.gpus) {
    if (auto host = find_host(gpu)) return host;
  }
  return std::nullopt;
}

bool is_mac(const detect::Machine& machine) { return machine.os.system == detect::darwin; }

detect::Arch mac_arch(const detect::Machine& machine) {
  const auto version = detect::macos_version(machine.os);
  return version && *version < detect::first_macos_on_arm ? detect::Arch::x86_64
                                                          : detect::Arch::aarch64;
}

// Returns the assumptions as text.
std::string take_arch(detect::Machine& machine) {
  const std::optional<Host> host = find_host(machine);
  machine.cpu.arch = host ? host->arch : is_mac(machine) ? mac_arch(machine) : detect::Arch::x86_64;
  if (!host) machine.cpu.sources["arch"] = detect::assumed;
  const std::string arch(detect::render_arch(machine.cpu.arch));
  return host ? fmt::format("{} (as with every {})", arch, host->of) : arch;
}

void complete_platform(detect::Machine& machine, std::string_view name, Report& report) {
  std::vector<std::string> taken;
  if (machine.os.system.empty() && machine.mps) machine.os.system = detect::darwin;
  if (machine.os.system.empty()) {
    machine.os.system = "Linux";
    taken.emplace_back("Linux");
  }
  if (is_mac(machine) && !detect::macos_version(machine.os)) {
    machine.os.name = detect::macos_name(assumed_macos);
    taken.push_back(machine.os.name);
  }
  if (machine.cpu.arch == detect::Arch::other && machine.cpu.machine.empty()) {
    taken.push_back(take_arch(machine));
  }
  if (machine.cpu.machine.empty()) machine.cpu.machine = detect::render_arch(machine.cpu.arch);
  if (machine.libc.family.empty() && machine.os.system == "Linux") {
    const std::string source(detect::assumed);
    machine.libc = {"glibc", 2, 28, {{"family", source}, {"version", source}}};
    taken.emplace_back("glibc 2.28");
  }
  if (is_translated(machine.cpu))
    report.note(fmt::format("{}: {}", name, describe_translation(machine)));
  if (!taken.empty()) {
    report.note(fmt::format("{}: assuming {}, which is not stated", name, fmt::join(taken, ", ")));
  }
}

bool works(const detect::Machine& machine, GpuVendor vendor) {
  return std::ranges::any_of(machine.gpus, [&](const detect::Gpu& gpu) {
    return gpu.vendor == vendor && gpu.usable == Presence::present;
  });
}

void complete_drivers(detect::Machine& machine, std::string_view name, Report& report) {
  for (const detect::GpuVendorRow& row : detect::gpu_vendors()) {
    const VendorFacts& facts = facts_of(row.vendor);
    const auto stated = std::ranges::find(machine.drivers, row.vendor, &Driver::vendor);
    if (stated != machine.drivers.end()) {
      if (facts.complete_driver != nullptr) facts.complete_driver(machine, *stated);
      continue;
    }
    if (!works(machine, row.vendor)) continue;
    Driver& driver = machine.drivers.emplace_back(facts.assumed_driver(machine));
    driver.vendor = row.vendor;
    driver.usable = Presence::present;
    driver.api_source = detect::assumed;
    report.note(fmt::format("{}: {}", name, facts.describe_assumption(driver)));
  }
}

std::unexpected<Error> contradicts(std::string message) {
  return fail(ErrorKind::conflict, std::move(message),
              "state one of the two as the other one is, or leave it out");
}

Result<void> state_architecture(detect::Machine& machine, std::string_view name,
                                const std::string& stated) {
  if (stated.empty()) return {};
  detect::Cpu& cpu = machine.cpu;
  const bool unknown = cpu.arch == detect::Arch::other && cpu.machine.empty();
  const auto host = unknown ? find_host(machine) : std::nullopt;
  if (host && stated != detect::render_arch(host->arch))
    return contradicts(
        fmt::format("{} is {}, as every {}", name, detect::render_arch(host->arch), host->of));
  const std::string own =
      cpu.arch == detect::Arch::other ? cpu.machine : std::string(detect::render_arch(cpu.arch));
  if (!unknown && own != stated && can_translate(machine, stated)) {
    take_translated(machine, stated);
    return {};
  }
  if (!unknown && own != stated) return contradicts(fmt::format("{} is {}", name, own));
  const auto known = std::ranges::find(arch_words.values, stated, detect::render_arch);
  if (known != arch_words.values.end()) cpu.arch = *known;
  cpu.machine = stated;
  return {};
}

}  // namespace

Result<void> state_platform(detect::Machine& machine, std::string_view name,
                            const PlatformFacts& facts) {
  if (machine.os.system.empty()) machine.os.system = facts.system;
  if (!facts.system.empty() && machine.os.system != facts.system)
    return contradicts(
        fmt::format("{} runs {}", name, is_mac(machine) ? "macOS" : machine.os.system));
  if (auto same = state_architecture(machine, name, facts.architecture); !same) return same;
  if (facts.macos) {
    const auto own = detect::macos_version(machine.os);
    if (own && *own < *facts.macos)
      return contradicts(fmt::format("{} has {}", name, machine.os.name));
    machine.os.name = detect::macos_name(*facts.macos);
  }
  detect::Libc& own = machine.libc;
  if (facts.libc.family.empty()) return {};
  const auto version = [](const detect::Libc& libc) { return std::pair(libc.major, libc.minor); };
  const bool same_kind = own.family.empty() || own.family == facts.libc.family;
  if (!same_kind || (!own.family.empty() && version(own) < version(facts.libc)))
    return contradicts(fmt::format("{} has {} {}.{}", name, own.family, own.major, own.minor));
  own = facts.libc;
  own.sources = {{"family", "stated"}, {"version", "stated"}};
  return {};
}

void complete_machine(detect::Machine& machine, std::string_view name, Report& report) {
  complete_platform(machine, name, report);
  set_base(machine.cpu);
  complete_mps(machine);
  complete_drivers(machine, name, report);
}

}  // namespace axle::machines
