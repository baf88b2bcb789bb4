#include "doctor/features/changed_machine.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "detect/cpu/darwin.h"
#include "detect/nvidia/cuda_drivers.h"
#include "foundation/report/report.h"
#include "machines/completion.h"
#include "machines/contradictions.h"
#include "machines/inline_facts.h"
#include "providers/gpu_archs.h"

namespace axle::doctor {

namespace {

using detect::Arch;
using detect::Driver;
using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;
using detect::Presence;

/// A Mac that is bought today has no older one.
constexpr detect::MacosVersion macos_of_today{26, 0};

void complete(Machine& machine) {
  CollectedReport unheard;
  machines::complete_machine(machine, {}, unheard);
}

/// Without those that cannot be.
ChangedMachines possible(const Machine& from, ChangedMachines changed) {
  if (machines::find_contradiction(from)) return changed;
  std::erase_if(changed, [](const ChangedMachine& one) {
    return machines::find_contradiction(one.machine).has_value();
  });
  return changed;
}

Driver* driver_of(Machine& machine, GpuVendor vendor) {
  const auto found = std::ranges::find(machine.drivers, vendor, &Driver::vendor);
  return found == machine.drivers.end() ? nullptr : &*found;
}

/// The simplest CPU of its architecture: what is not known of it is absent.
void simplify(detect::Cpu& cpu) {
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.arch == cpu.arch && cpu.capabilities.of(row.id) == Presence::unknown)
      cpu.capabilities.set(row.id, Presence::absent);
  }
}

struct Platform {
  std::string_view system;  ///< as Os::system
  Arch arch;
};

std::optional<Platform> platform_of(std::string_view name) {
  const auto end = name.find('_');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view system = name.substr(0, end);
  const std::string_view word = name.substr(end + 1);
  const std::string_view known = system == "linux"     ? "Linux"
                                 : system == "windows" ? "Windows"
                                 : system == "macos"   ? std::string_view(detect::darwin)
                                                       : "";
  if (known.empty()) return std::nullopt;
  for (const auto& [arch, own] : {std::pair(Arch::x86_64, "amd64"), {Arch::aarch64, "arm64"}}) {
    if (word == own || word == detect::render_arch(arch)) return Platform{known, arch};
  }
  return std::nullopt;
}

}  // namespace

ChangedMachines with_driver(const Machine& machine, std::string_view cuda) {
  ChangedMachines changed;
  for (const std::string_view runs :
       {cuda, std::string_view(detect::cuda_driver_branches.back().cuda)}) {
    Machine with = machine;
    Driver* driver = driver_of(with, GpuVendor::nvidia);
    if (driver == nullptr) return {};
    driver->api_version = runs;
    driver->kernel_version = detect::first_driver_of_cuda(runs, machine.os.system);
    driver->library_version.clear();
    changed.push_back({fmt::format("driver {}", runs), std::move(with)});
  }
  return possible(machine, std::move(changed));
}

ChangedMachines with_macos(const Machine& machine, detect::MacosVersion version) {
  if (machine.os.system != detect::darwin) return {};
  Machine with = machine;
  with.os.kernel.clear();
  with.os.name = detect::macos_name(version);
  complete(with);
  return possible(machine, {{with.os.name, with}});
}

ChangedMachines with_gpus(const Machine& machine, GpuVendor vendor, unsigned count,
                          const std::function<bool(const machines::GpuModel&)>& suits) {
  ChangedMachines changed;
  Machine without = machine;
  without.gpus.clear();
  without.drivers.clear();
  without.problems.clear();
  const auto models = machines::gpu_models();
  std::set<std::string_view> made;
  for (std::size_t at = models.size(); at-- > 0;) {
    const machines::GpuModel& model = models[at];
    if (model.vendor != vendor || !suits(model) || made.contains(model.arch)) continue;
    Machine with = without;
    with.gpus.assign(count, machines::make_gpu(model));
    complete(with);
    auto one = possible(machine, {{fmt::format("{} of {}", count, model.name), std::move(with)}});
    if (one.empty()) continue;
    made.insert(model.arch);
    changed.push_back(std::move(one.front()));
  }
  return changed;
}

ChangedMachines with_more_gpus(const Machine& machine, GpuVendor vendor, unsigned count) {
  const auto works = [&](const Gpu& gpu) {
    return gpu.vendor == vendor && gpu.usable == Presence::present && !gpu.masked;
  };
  const auto one = std::ranges::find_if(machine.gpus, works);
  if (one == machine.gpus.end() || providers::is_integrated(*one)) return {};
  Machine with = machine;
  for (auto have = std::ranges::count_if(machine.gpus, works); have < count; ++have) {
    with.gpus.push_back(*one);
    with.gpus.back().pci_address.clear();
  }
  return possible(machine, {{fmt::format("{} {} GPUs", count, detect::render_vendor(vendor)),
                             std::move(with)}});
}

ChangedMachines with_working_gpus(const Machine& machine, GpuVendor vendor) {
  Machine with = machine;
  for (Gpu& gpu : with.gpus) {
    if (gpu.vendor != vendor) continue;
    gpu.usable = Presence::present;
    gpu.masked = false;
    gpu.reason_code.clear();
    gpu.reason.clear();
    // What its driver would say of it.
    const machines::GpuModel* model = machines::find_gpu_model_in(gpu.name);
    if (gpu.arch.empty() && model != nullptr) gpu.arch = model->arch;
  }
  std::erase_if(with.drivers, [&](const Driver& driver) {
    return driver.vendor == vendor && driver.usable != Presence::present;
  });
  with.problems.clear();
  complete(with);
  return possible(machine,
                  {{fmt::format("{} repaired", detect::render_vendor(vendor)), std::move(with)}});
}

ChangedMachines without_masks(const Machine& machine, GpuVendor vendor) {
  Machine with = machine;
  for (Gpu& gpu : with.gpus) {
    if (gpu.vendor == vendor) gpu.masked = false;
  }
  return possible(machine,
                  {{fmt::format("{} unmasked", detect::render_vendor(vendor)), std::move(with)}});
}

ChangedMachines with_glibc(const Machine& machine) {
  Machine with = machine;
  with.libc = {};
  complete(with);
  return possible(machine, {{"glibc", std::move(with)}});
}

ChangedMachines with_cpu(const Machine& machine, std::span<const wheel::Property> properties) {
  Machine with = machine;
  std::string change = "CPU";
  for (const wheel::Property& property : properties) {
    const std::string text = wheel::render_property(property);
    change += ' ' + text;
    const auto rows = detect::capabilities();
    const auto row =
        std::ranges::find(rows, std::string_view(text), &detect::CapabilityRow::property);
    if (row != rows.end()) {
      if (row->arch != with.cpu.arch) return {};
      with.cpu.capabilities.set(row->id, Presence::present);
      continue;
    }
    // A level or a version has a name of its own among the facts: "x86_64:v3".
    if (!machines::add_facts(with, fmt::format("{}:{}", property.ns, property.value))) return {};
  }
  return possible(machine, {{std::move(change), std::move(with)}});
}

ChangedMachines on_platform(const Machine& machine, std::string_view name) {
  const auto platform = platform_of(name);
  if (!platform) return {};
  Machine with = machine;
  with.os = {};
  with.os.system = platform->system;
  with.libc = {};
  with.mps.reset();
  with.npus.clear();
  with.problems.clear();
  const bool other_cpu = with.cpu.arch != platform->arch || platform->system == detect::darwin;
  if (other_cpu) {
    with.cpu = {};
    with.cpu.arch = platform->arch;
    with.cpu.machine = detect::render_arch(platform->arch);
  }
  if (platform->system == "Windows") with.os.name = platform->system;
  if (platform->system == detect::darwin) with.os.name = detect::macos_name(macos_of_today);
  Machine bare = with;
  bare.gpus.clear();
  bare.drivers.clear();
  ChangedMachines changed;
  for (Machine* one : {&with, &bare}) {
    complete(*one);
    if (other_cpu) simplify(one->cpu);
    changed = possible(machine, {{fmt::format("{}{}", name, one == &bare ? " bare" : ""), *one}});
    if (!changed.empty()) break;
  }
  return changed;
}

}  // namespace axle::doctor
