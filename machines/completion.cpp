#include "machines/completion.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "detect/cpu/aarch64_versions.h"
#include "detect/cpu/darwin.h"
#include "detect/gpu_vendors.h"
#include "machines/gpu_models.h"
#include "machines/profile_fields.h"
#include "machines/vendor_facts.h"

namespace axle::machines {

using detect::Driver;
using detect::GpuVendor;
using detect::Presence;

namespace {

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

// Some GPUs are on one chip or one board with their CPU: a Jetson, a Grace, a GB10.
const GpuModel* find_model_with_host(const detect::Machine& machine) {
  for (const detect::Gpu& gpu : machine.gpus) {
    const GpuModel* model = find_model_of(gpu);
    if (model != nullptr && model->host != detect::Arch::other) return model;
  }
  return nullptr;
}

bool is_mac(const detect::Machine& machine) { return machine.os.system == detect::darwin; }

// Returns the assumptions as text.
std::string take_arch(detect::Machine& machine) {
  const GpuModel* model = find_model_with_host(machine);
  machine.cpu.arch = model != nullptr  ? model->host
                     : is_mac(machine) ? detect::Arch::aarch64
                                       : detect::Arch::x86_64;
  const std::string arch(detect::render_arch(machine.cpu.arch));
  return model == nullptr ? arch : fmt::format("{} (as with every {})", arch, model->title);
}

void complete_platform(detect::Machine& machine, std::string_view name, Report& report) {
  std::vector<std::string> taken;
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
    machine.libc = {"glibc", 2, 28};
    taken.emplace_back("glibc 2.28");
  }
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
    if (detect::find_driver(machine, row.vendor) != nullptr || !works(machine, row.vendor))
      continue;
    const VendorFacts& facts = facts_of(row.vendor);
    Driver& driver = machine.drivers.emplace_back(facts.assumed_driver());
    driver.vendor = row.vendor;
    driver.usable = Presence::present;
    driver.api_source = "assumed";
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
  const GpuModel* model = unknown ? find_model_with_host(machine) : nullptr;
  if (model != nullptr && stated != detect::render_arch(model->host))
    return contradicts(
        fmt::format("{} is {}, as every {}", name, detect::render_arch(model->host), model->title));
  const std::string own =
      cpu.arch == detect::Arch::other ? cpu.machine : std::string(detect::render_arch(cpu.arch));
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
  complete_drivers(machine, name, report);
}

}  // namespace axle::machines
