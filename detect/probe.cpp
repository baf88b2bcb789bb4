#include "detect/probe.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>

#include "detect/cpu/aarch64.h"
#include "detect/cpu/darwin.h"
#include "detect/cpu/hwcap_words.h"
#include "detect/cpu/riscv.h"
#include "detect/cpu/x86.h"
#include "detect/npu/npus.h"
#include "detect/os/macos.h"
#include "detect/os/os_facts.h"
#include "detect/pci_bus.h"
#include "detect/vendor_probe.h"

namespace axle::detect {
namespace {

Cpu probe_cpu(Host& host, const SystemName& name) {
  host.turn_to("cpu");
  Cpu cpu;
  cpu.arch = host.arch();
  cpu.machine = name.machine;
  cpu.logical_cpus = host.online_cpus();
  cpu.sources = {{"arch", "program"}, {"machine", "uname"}, {"logical_cpus", "sysconf"}};
  if (name.system == darwin && probe_apple(host, cpu)) return cpu;
  switch (cpu.arch) {
    case Arch::x86_64:
      probe_x86(host, cpu, name);
      break;
    case Arch::aarch64:
      probe_aarch64(host, cpu);
      break;
    case Arch::ppc64le:
    case Arch::s390x:
      read_hwcap_words(host, cpu.arch, cpu);
      break;
    case Arch::riscv64:
      probe_riscv(host, cpu);
      break;
    case Arch::other:
      break;
  }
  return cpu;
}

void add(Machine& machine, VendorFindings&& findings) {
  if (findings.driver) machine.drivers.push_back(std::move(*findings.driver));
  std::ranges::move(findings.gpus, std::back_inserter(machine.gpus));
  std::ranges::move(findings.problems, std::back_inserter(machine.problems));
}

/// Makes the result independent of the order of enumeration. Devices without an address come last,
/// in their driver's order.
void sort_by_address(std::vector<Gpu>& gpus) {
  std::vector<std::tuple<bool, std::string, std::size_t>> order;
  for (const Gpu& gpu : gpus) {
    order.emplace_back(gpu.pci_address.empty(), gpu.pci_address, order.size());
  }
  std::ranges::sort(order);
  std::vector<Gpu> sorted;
  sorted.reserve(gpus.size());
  for (const auto& [without, address, index] : order) sorted.push_back(std::move(gpus[index]));
  gpus = std::move(sorted);
}

/// Queries the vendors that need it, all at once.
class Answers {
 public:
  Answers(Host& host, const std::vector<GpuVendor>& vendors, std::chrono::milliseconds time_limit)
      : vendors_(vendors) {
    if (!vendors.empty()) answers_ = host.ask_drivers(vendors, time_limit);
  }

  [[nodiscard]] const DriverAnswer* of(GpuVendor vendor) const {
    const auto place = std::ranges::find(vendors_, vendor) - vendors_.begin();
    const auto index = static_cast<std::size_t>(place);
    return index < answers_.size() ? &answers_[index] : nullptr;
  }

 private:
  std::vector<GpuVendor> vendors_;
  std::vector<DriverAnswer> answers_;
};

void probe_gpus(Host& host, const ProbeOptions& options, Machine& machine) {
  host.turn_to("pci");
  const PciBus bus = read_pci_bus(host);
  std::vector<std::unique_ptr<VendorSigns>> signs;
  for (const VendorProbe& probe : vendor_probes()) {
    host.turn_to(render_vendor(probe.vendor));
    signs.push_back(probe.look(host, bus.displays, machine.os));
  }
  const auto asked_for = [&](GpuVendor vendor) {
    return options.driver_libraries &&
           std::ranges::find(options.stated, vendor) == options.stated.end();
  };
  std::vector<GpuVendor> vendors;
  for (std::size_t i = 0; i < signs.size(); ++i) {
    const GpuVendor vendor = vendor_probes()[i].vendor;
    if (signs[i]->worth_asking() && asked_for(vendor)) vendors.push_back(vendor);
  }
  const auto limit = options.driver_time_limit;
  const Answers answers(host, vendors, limit);
  for (std::size_t i = 0; i < signs.size(); ++i) {
    const GpuVendor vendor = vendor_probes()[i].vendor;
    host.turn_to(render_vendor(vendor));
    add(machine, signs[i]->judge(host, answers.of(vendor), asked_for(vendor), limit));
  }
  sort_by_address(machine.gpus);
  host.turn_to("npu");
  probe_npus(host, bus.accelerators, options.driver_libraries ? ToolLimit(limit) : std::nullopt,
             machine);
}

}  // namespace

Machine probe_machine(Host& host, const ProbeOptions& options) {
  Machine machine;
  host.turn_to("os");
  const SystemName name = host.system_name();
  machine.os = probe_os(host, name);
  machine.libc = probe_libc(host);
  machine.cpu = probe_cpu(host, name);
  machine.mps = judge_mps(machine.os, machine.cpu);
  if (options.gpus) probe_gpus(host, options, machine);
  return machine;
}

}  // namespace axle::detect
