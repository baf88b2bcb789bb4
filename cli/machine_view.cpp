#include "cli/machine_view.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "detect/aarch64_versions.h"
#include "providers/cpu_flags.h"

namespace axle::cli {

namespace {

using detect::Capability;
using detect::Presence;
using detect::VersionRule;
using nlohmann::ordered_json;

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
    if (row.arch != cpu.arch) continue;
    if (cpu.capabilities.of(row.id) == presence && !in_level(row.id, level))
      found.emplace_back(detect::plain_name(row));
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

std::vector<std::string> split_words(std::string_view sentence) {
  std::vector<std::string> words;
  while (!sentence.empty()) {
    const std::size_t end = std::min(sentence.find(' '), sentence.size());
    words.emplace_back(sentence.substr(0, end));
    sentence.remove_prefix(std::min(end + 1, sentence.size()));
  }
  return words;
}

std::string amx_state(const detect::Cpu& cpu) {
  switch (cpu.capabilities.of(Capability::amx_tile)) {
    case Presence::present:
      return cpu.amx_permitted.value_or(false) ? "usable, and already permitted to this process"
                                               : "usable: the kernel grants it on request";
    case Presence::blocked:
      return "the CPU has it, the kernel withholds it";
    case Presence::absent:
      return "none";
    case Presence::unknown:
      break;
  }
  return cpu.sources.contains("amx_tile")
             ? "the CPU has it; whether the kernel grants it is not known"
             : "unknown";
}

/// What an Arm CPU is beyond its flags.
std::string render_arm(const detect::Cpu& cpu) {
  std::string text;
  const auto versions = detect::held_aarch64_architectures(cpu.capabilities, VersionRule::soft);
  if (!versions.empty()) text += fmt::format("{:<12}Armv{}\n", "version", versions.front());
  if (cpu.sve_vector_bytes)
    text += fmt::format("{:<12}{} bytes\n", "SVE vector", *cpu.sve_vector_bytes);
  if (cpu.sme_vector_bytes)
    text += fmt::format("{:<12}{} bytes\n", "SME vector", *cpu.sme_vector_bytes);
  return text;
}

/// What the CPU has and programs may not count on, with the reason.
std::string render_withheld(const detect::Cpu& cpu, const Output& output) {
  std::string text;
  const std::vector<std::string> blocked = names(cpu, Presence::blocked, 0);
  if (!blocked.empty()) text += wrapped(blocked, "withheld");
  for (const std::string& reason : providers::describe_withheld(cpu)) {
    text += output.paint(Style::faint, wrapped(split_words(reason), ""));
  }
  return text;
}

std::string render_cpu(const detect::Cpu& cpu, const Output& output) {
  const std::string model = cpu.brand.empty() ? cpu.vendor : cpu.brand;
  std::string text =
      fmt::format("{:<12}{}{}", "CPU", model.empty() ? "unknown model" : model,
                  cpu.logical_cpus == 0 ? "" : fmt::format(", {} logical", cpu.logical_cpus));
  text += fmt::format(" ({})\n", detect::render_arch(cpu.arch));
  unsigned level = 0;
  if (cpu.arch == detect::Arch::x86_64) {
    level = detect::highest_x86_64_level(cpu.capabilities);
    text += fmt::format("{:<12}{}\n", "level",
                        level == 0 ? "unknown" : fmt::format("x86-64-v{}", level));
  }
  const std::vector<std::string> beyond = names(cpu, Presence::present, level);
  if (!beyond.empty()) text += wrapped(beyond, level == 0 ? "features" : "beyond it");
  text += render_withheld(cpu, output);
  if (cpu.arch == detect::Arch::x86_64) text += fmt::format("{:<12}{}\n", "AMX", amx_state(cpu));
  if (cpu.arch == detect::Arch::aarch64) text += render_arm(cpu);
  return text;
}

std::string row(std::string_view title, const std::string& text) {
  return fmt::format("{:<12}{}\n", title, text);
}

/// "api_version libcuda, name nvml": where the facts are from.
std::string render_sources(const detect::Sources& sources) {
  std::string text;
  for (const auto& [fact, source] : sources) {
    text += (text.empty() ? "" : ", ") + fact + ' ' + source;
  }
  return text;
}

std::string sources_row(const detect::Sources& sources, const Output& output) {
  if (!output.options().verbose || sources.empty()) return {};
  return row("", output.paint(Style::faint, "from: " + render_sources(sources)));
}

std::string verdict_row(Presence usable, const std::string& reason, const Output& output) {
  if (usable == Presence::present) {
    return reason.empty() ? std::string() : row("", output.paint(Style::faint, reason));
  }
  const std::string said = reason.empty() ? "unknown" : reason;
  const bool absent = usable == Presence::absent;
  return row("", output.paint(absent ? Style::faint : Style::bad, "not usable: " + said));
}

std::string render_gpu(const detect::Gpu& gpu, const Output& output) {
  std::string text = fmt::format("{} {}", detect::render_vendor(gpu.vendor),
                                 gpu.name.empty() ? "(name unknown)" : gpu.name);
  const std::string& arch = gpu.target_id.empty() ? gpu.arch : gpu.target_id;
  if (!arch.empty()) text += ", " + arch;
  if (gpu.memory_bytes)
    text += fmt::format(", {:.0f} GiB", static_cast<double>(*gpu.memory_bytes) / (1ULL << 30));
  if (!gpu.pci_address.empty()) text += ", " + gpu.pci_address;
  if (gpu.integrated) text += ", integrated";
  if (gpu.mig) text += ", in MIG instances";
  if (gpu.masked) text += ", hidden by a device mask";
  return row("GPU", text) + verdict_row(gpu.usable, gpu.reason, output) +
         sources_row(gpu.sources, output);
}

std::string render_driver(const detect::Driver& driver, const Output& output) {
  std::string text(detect::render_vendor(driver.vendor));
  const std::string& version =
      driver.kernel_version.empty() ? driver.library_version : driver.kernel_version;
  if (!version.empty()) text += " " + version;
  if (!driver.kernel_version.empty() && !driver.library_version.empty() &&
      driver.kernel_version != driver.library_version) {
    text += fmt::format(" (libraries {})", driver.library_version);
  }
  if (!driver.api_version.empty()) {
    const char* api = driver.vendor == detect::GpuVendor::nvidia ? "CUDA up to"
                      : driver.vendor == detect::GpuVendor::amd  ? "ROCm"
                                                                 : "Level Zero";
    text += fmt::format(", {} {}", api, driver.api_version);
  }
  text = row("driver", text);
  if (!driver.compat_library.empty()) {
    text += row("", fmt::format("forward compatibility: {}{}", driver.compat_library,
                                driver.compat_version.empty()
                                    ? ""
                                    : fmt::format(" (CUDA {})", driver.compat_version)));
  }
  return text + sources_row(driver.sources, output);
}

std::string render_npu(const detect::Npu& npu, const Output& output) {
  std::string text = fmt::format("{} {}", detect::render_npu_kind(npu.kind),
                                 npu.name.empty() ? "(name unknown)" : npu.name);
  if (!npu.type.empty()) text += ", type " + npu.type;
  if (!npu.driver_version.empty()) text += ", driver " + npu.driver_version;
  if (!npu.toolkit_version.empty()) text += ", toolkit " + npu.toolkit_version;
  if (!npu.pci_address.empty()) text += ", " + npu.pci_address;
  return row("NPU", text) + verdict_row(npu.usable, npu.reason, output) +
         sources_row(npu.sources, output);
}

std::string render_system(const detect::Machine& machine, const Output& output) {
  const detect::Os& os = machine.os;
  std::string text = row("system", os.name.empty() ? os.system : os.name);
  if (!os.kernel.empty()) text += row("kernel", os.system + " " + os.kernel);
  if (!os.container.empty()) text += row("container", os.container);
  if (os.wsl) text += row("WSL", "a Windows Subsystem for Linux: the GPUs are Windows'");
  if (!os.tegra_release.empty()) text += row("Jetson", "Jetson Linux " + os.tegra_release);
  if (!machine.cpu.hypervisor.empty()) text += row("hypervisor", machine.cpu.hypervisor);
  text += sources_row(os.sources, output);
  const detect::Libc& libc = machine.libc;
  text += row("libc", libc.family.empty()
                          ? "unknown"
                          : fmt::format("{} {}.{}", libc.family, libc.major, libc.minor));
  return text + sources_row(libc.sources, output);
}

}  // namespace

std::string render_machine(const detect::Machine& machine, const Output& output) {
  std::string text = render_cpu(machine.cpu, output) + sources_row(machine.cpu.sources, output);
  for (const detect::Gpu& gpu : machine.gpus) text += render_gpu(gpu, output);
  if (machine.gpus.empty()) text += row("GPU", "none");
  for (const detect::Driver& driver : machine.drivers) text += render_driver(driver, output);
  for (const detect::Npu& npu : machine.npus) text += render_npu(npu, output);
  text += render_system(machine, output);
  for (const detect::Problem& problem : machine.problems) {
    text += output.paint(Style::bad, "problem") + "     " + problem.message + "\n";
    if (!problem.hint.empty()) text += row("", problem.hint);
  }
  return text;
}

}  // namespace axle::cli
