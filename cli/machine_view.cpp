#include "cli/machine_view.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace axle::cli {

namespace {

using detect::Capability;
using detect::Presence;
using nlohmann::ordered_json;

bool wanted(std::string_view ns, const std::vector<std::string>& namespaces) {
  return namespaces.empty() ||
         std::find(namespaces.begin(), namespaces.end(), ns) != namespaces.end();
}

/// The highest psABI level all of whose capabilities are present; 0 when not even the first is
/// known.
unsigned x86_64_level_of(const detect::CapabilityFacts& facts) {
  unsigned reached = 0;
  for (unsigned level = 1; level <= 4; ++level) {
    for (const Capability capability : detect::x86_64_level(level)) {
      if (!facts.has(capability)) return reached;
    }
    reached = level;
  }
  return reached;
}

bool in_level(Capability capability, unsigned highest) {
  for (unsigned level = 1; level <= highest; ++level) {
    const auto members = detect::x86_64_level(level);
    if (std::find(members.begin(), members.end(), capability) != members.end()) return true;
  }
  return false;
}

/// Names of the capabilities with `presence` that `level` does not already say.
std::vector<std::string> names(const detect::Cpu& cpu, Presence presence, unsigned level) {
  std::vector<std::string> found;
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.x86 != (cpu.arch == detect::Arch::x86_64)) continue;
    if (cpu.capabilities.of(row.id) == presence && !in_level(row.id, level))
      found.emplace_back(row.name);
  }
  return found;
}

/// Words joined by spaces, broken before column 100, later lines indented as the first.
std::string wrapped(const std::vector<std::string>& words, std::string_view title) {
  const std::string indent(12, ' ');
  std::string text = fmt::format("{:<12}", title);
  std::size_t column = indent.size();
  for (const std::string& word : words) {
    if (column + word.size() + 1 > 100) {
      text += "\n" + indent;
      column = indent.size();
    }
    if (column > indent.size()) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text + "\n";
}

std::string amx_state(const detect::Cpu& cpu) {
  switch (cpu.capabilities.of(Capability::amx_tile)) {
    case Presence::present:
      return cpu.amx_permitted ? "usable, and already permitted to this process"
                               : "usable: the kernel grants it on request";
    case Presence::blocked:
      return "the CPU has it, the kernel withholds it";
    case Presence::absent:
      return "none";
    case Presence::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string render_cpu(const detect::Cpu& cpu) {
  const std::string model = cpu.brand.empty() ? cpu.vendor : cpu.brand;
  std::string text =
      fmt::format("{:<12}{}{}", "CPU", model.empty() ? "unknown model" : model,
                  cpu.logical_cpus == 0 ? "" : fmt::format(", {} logical", cpu.logical_cpus));
  text += fmt::format(" ({})\n", detect::render_arch(cpu.arch));
  unsigned level = 0;
  if (cpu.arch == detect::Arch::x86_64) {
    level = x86_64_level_of(cpu.capabilities);
    text += fmt::format("{:<12}{}\n", "level",
                        level == 0 ? "unknown" : fmt::format("x86-64-v{}", level));
  }
  const std::vector<std::string> beyond = names(cpu, Presence::present, level);
  if (!beyond.empty()) text += wrapped(beyond, level == 0 ? "features" : "beyond it");
  const std::vector<std::string> blocked = names(cpu, Presence::blocked, 0);
  if (!blocked.empty()) text += wrapped(blocked, "withheld");
  if (cpu.arch == detect::Arch::x86_64) text += fmt::format("{:<12}{}\n", "AMX", amx_state(cpu));
  if (cpu.sve_vector_bytes)
    text += fmt::format("{:<12}{} bytes\n", "SVE vector", *cpu.sve_vector_bytes);
  return text;
}

std::string render_gpu(const detect::Gpu& gpu, const Output& output) {
  std::string text = fmt::format("{:<12}{} {}", "GPU", detect::render_vendor(gpu.vendor),
                                 gpu.name.empty() ? "(name unknown)" : gpu.name);
  if (!gpu.arch.empty()) text += fmt::format(", {}", gpu.arch);
  if (gpu.memory_bytes)
    text += fmt::format(", {:.0f} GiB", static_cast<double>(*gpu.memory_bytes) / (1ULL << 30));
  if (!gpu.pci_address.empty()) text += fmt::format(", {}", gpu.pci_address);
  if (gpu.masked) text += ", masked";
  text += "\n";
  if (gpu.usable != Presence::present) {
    text += fmt::format(
        "{:<12}{}\n", "",
        output.paint(Style::bad, "not usable: " + (gpu.reason.empty() ? "unknown" : gpu.reason)));
  }
  return text;
}

std::string render_driver(const detect::Driver& driver) {
  std::string text = fmt::format("{:<12}{}", "driver", detect::render_vendor(driver.vendor));
  if (!driver.kernel_version.empty()) text += " " + driver.kernel_version;
  if (!driver.api_version.empty()) {
    const char* api = driver.vendor == detect::GpuVendor::nvidia ? "CUDA up to"
                      : driver.vendor == detect::GpuVendor::amd  ? "ROCm"
                                                                 : "Level Zero";
    text += fmt::format(", {} {}", api, driver.api_version);
  }
  return text + "\n";
}

}  // namespace

std::string render_machine(const detect::Machine& machine, const Output& output) {
  std::string text = render_cpu(machine.cpu);
  for (const detect::Gpu& gpu : machine.gpus) text += render_gpu(gpu, output);
  if (machine.gpus.empty()) text += fmt::format("{:<12}none\n", "GPU");
  for (const detect::Driver& driver : machine.drivers) text += render_driver(driver);
  text += fmt::format("{:<12}{}\n", "system",
                      machine.os.name.empty() ? machine.os.system : machine.os.name);
  if (!machine.os.kernel.empty())
    text += fmt::format("{:<12}{} {}\n", "kernel", machine.os.system, machine.os.kernel);
  text += fmt::format(
      "{:<12}{}\n", "libc",
      machine.libc.family.empty()
          ? "unknown"
          : fmt::format("{} {}.{}", machine.libc.family, machine.libc.major, machine.libc.minor));
  for (const detect::Problem& problem : machine.problems) {
    text +=
        fmt::format("{:<12}{}\n", output.paint(Style::bad, "problem") + "     ", problem.message);
    if (!problem.hint.empty()) text += fmt::format("{:<12}{}\n", "", problem.hint);
  }
  return text;
}

std::string render_properties(const detect::Machine& machine, const providers::GpuPolicy& gpus,
                              const std::vector<std::string>& namespaces) {
  std::string text;
  for (const providers::Provider& provider : providers::builtin_providers()) {
    if (!wanted(provider.ns, namespaces)) continue;
    for (const providers::Feature& feature : provider.supported(machine, gpus)) {
      for (const std::string& value : feature.values) {
        text += fmt::format("{} :: {} :: {}\n", provider.ns, feature.name, value);
      }
    }
  }
  return text;
}

ordered_json properties_json(const detect::Machine& machine, const providers::GpuPolicy& gpus,
                             const std::vector<std::string>& namespaces) {
  ordered_json out = ordered_json::object();
  for (const providers::Provider& provider : providers::builtin_providers()) {
    if (!wanted(provider.ns, namespaces)) continue;
    ordered_json features = ordered_json::object();
    for (const providers::Feature& feature : provider.supported(machine, gpus))
      features[feature.name] = feature.values;
    out[std::string(provider.ns)] = std::move(features);
  }
  return out;
}

}  // namespace axle::cli
