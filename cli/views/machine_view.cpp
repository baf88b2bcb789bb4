#include "cli/views/machine_view.h"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/views/text_lines.h"
#include "detect/cpu/aarch64_versions.h"
#include "detect/gpu_vendors.h"
#include "foundation/text/byte_size.h"
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

/// Capabilities that a build can use: on x86-64 the table also has some that only a kernel uses.
bool concerns_builds(const detect::CapabilityRow& row) {
  return row.arch != detect::Arch::x86_64 || !row.gcc_flag.empty() || !row.mnemonics.empty();
}

/// Names of the capabilities with `presence` that `level` does not include; `all`: also those that
/// no build uses.
std::vector<std::string> names(const detect::Cpu& cpu, Presence presence, unsigned level,
                               bool all) {
  std::vector<std::string> found;
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.arch != cpu.arch || !(all || concerns_builds(row))) continue;
    if (cpu.capabilities.of(row.id) == presence && !in_level(row.id, level))
      found.emplace_back(detect::plain_name(row));
  }
  return found;
}

std::string row(std::string_view title, const std::string& text) {
  return fmt::format("{:<12}{}\n", title, wrap_text(text, 12));
}

/// A line below a row, of one style.
std::string note(Style style, const std::string& text, const Output& output) {
  return fmt::format("{:<12}{}\n", "", output.paint(style, wrap_text(text, 12)));
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
             ? "the CPU has it; whether the kernel grants it is unknown"
             : "unknown";
}

/// The properties of an Arm CPU beyond its flags.
std::string render_arm(const detect::Cpu& cpu) {
  std::string text;
  const auto versions = detect::held_aarch64_architectures(cpu.capabilities, VersionRule::soft);
  if (!versions.empty()) text += row("version", fmt::format("Armv{}", versions.front()));
  if (cpu.sve_vector_bytes)
    text += row("SVE vector", fmt::format("{} bytes", *cpu.sve_vector_bytes));
  if (cpu.sme_vector_bytes)
    text += row("SME vector", fmt::format("{} bytes", *cpu.sme_vector_bytes));
  return text;
}

/// What the CPU has but programs cannot rely on, with the reason.
std::string render_withheld(const detect::Cpu& cpu, const Output& output) {
  std::string text;
  const std::vector<std::string> blocked = names(cpu, Presence::blocked, 0, true);
  if (!blocked.empty()) text += row("withheld", fmt::format("{}", fmt::join(blocked, " ")));
  for (const Fact& fact : providers::withheld_capabilities(cpu))
    text += note(Style::faint, render_fact(fact), output);
  return text;
}

std::string render_cpu(const detect::Cpu& cpu, const Output& output) {
  const std::string model = cpu.brand.empty() ? cpu.vendor : cpu.brand;
  std::string text = row(
      "CPU", fmt::format("{}{} ({})", model.empty() ? "unknown model" : model,
                         cpu.logical_cpus == 0 ? "" : fmt::format(", {} logical", cpu.logical_cpus),
                         detect::render_arch(cpu.arch)));
  unsigned level = 0;
  if (cpu.arch == detect::Arch::x86_64) {
    level = detect::highest_x86_64_level(cpu.capabilities);
    text += row("level", level == 0 ? "unknown" : fmt::format("x86-64-v{}", level));
  }
  const std::vector<std::string> beyond =
      names(cpu, Presence::present, level, output.options().verbose);
  if (!beyond.empty())
    text += row(level == 0 ? "features" : "beyond it", fmt::format("{}", fmt::join(beyond, " ")));
  text += render_withheld(cpu, output);
  if (cpu.arch == detect::Arch::x86_64) text += row("AMX", amx_state(cpu));
  if (cpu.arch == detect::Arch::aarch64) text += render_arm(cpu);
  return text;
}

/// "api_version libcuda, name nvml": the sources of the facts.
std::string render_sources(const detect::Sources& sources) {
  std::string text;
  for (const auto& [fact, source] : sources) {
    text += (text.empty() ? "" : ", ") + fact + ' ' + source;
  }
  return text;
}

std::string sources_row(const detect::Sources& sources, const Output& output) {
  if (!output.options().verbose || sources.empty()) return {};
  return note(Style::faint, "from: " + render_sources(sources), output);
}

/// `told`: the code of the problem below with the reason; empty if there is none.
std::string verdict_row(Presence usable, const std::string& reason, const std::string& told,
                        const Output& output) {
  const std::string& said = told.empty() ? reason : told;
  if (usable == Presence::present)
    return said.empty() ? std::string() : note(Style::faint, said, output);
  return note(usable == Presence::absent ? Style::faint : Style::bad,
              "not usable: " + (said.empty() ? std::string("unknown") : said), output);
}

std::string problem_of(const detect::Machine& machine, std::string_view vendor,
                       const std::string& reason_code) {
  const std::string code = fmt::format("{}.{}", vendor, reason_code);
  const bool told =
      std::ranges::find(machine.problems, code, &detect::Problem::code) != machine.problems.end();
  return told ? code : std::string();
}

std::string render_gpu(const detect::Machine& machine, const detect::Gpu& gpu,
                       const Output& output) {
  std::string text = fmt::format("{} {}", detect::render_vendor(gpu.vendor),
                                 gpu.name.empty() ? "(name unknown)" : gpu.name);
  const std::string& arch = gpu.target_id.empty() ? gpu.arch : gpu.target_id;
  if (!arch.empty()) text += ", " + arch;
  if (gpu.memory_bytes) text += ", " + text::render_memory(*gpu.memory_bytes);
  if (!gpu.pci_address.empty()) text += ", " + gpu.pci_address;
  if (gpu.integrated) text += ", integrated";
  if (gpu.mig) text += ", in MIG instances";
  if (gpu.masked) text += ", hidden by a device mask";
  const std::string told = problem_of(machine, detect::render_vendor(gpu.vendor), gpu.reason_code);
  return row("GPU", text) + verdict_row(gpu.usable, gpu.reason, told, output) +
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
    text += fmt::format(", {} {}", detect::gpu_vendor(driver.vendor).api, driver.api_version);
  }
  // Why nothing is known about a failed one is shown below, as a problem.
  const bool unheard = driver.usable == Presence::unknown && version.empty();
  if (unheard && driver.api_version.empty() && !driver.reason.empty()) text += ": " + driver.reason;
  text = row("driver", text);
  if (!driver.compat_library.empty()) {
    text += row("", fmt::format("forward compatibility: {}{}", driver.compat_library,
                                driver.compat_version.empty()
                                    ? ""
                                    : fmt::format(" (CUDA {})", driver.compat_version)));
  }
  return text + sources_row(driver.sources, output);
}

std::string render_mps(const detect::Mps& mps, const Output& output) {
  std::string text = mps.usable == Presence::present  ? "usable: programs can use Apple's GPU"
                     : mps.usable == Presence::absent ? "not usable: " + mps.reason
                                                      : "unknown: " + mps.reason;
  return row("MPS", text) + sources_row(mps.sources, output);
}

std::string render_npu(const detect::Machine& machine, const detect::Npu& npu,
                       const Output& output) {
  std::string text = fmt::format("{} {}", detect::render_npu_kind(npu.kind),
                                 npu.name.empty() ? "(name unknown)" : npu.name);
  if (!npu.type.empty()) text += ", type " + npu.type;
  if (!npu.driver_version.empty()) text += ", driver " + npu.driver_version;
  if (!npu.toolkit_version.empty()) text += ", toolkit " + npu.toolkit_version;
  if (!npu.pci_address.empty()) text += ", " + npu.pci_address;
  const std::string told = problem_of(machine, detect::render_npu_kind(npu.kind), npu.reason_code);
  return row("NPU", text) + verdict_row(npu.usable, npu.reason, told, output) +
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
  if (libc.family.empty() && !os.system.empty() && os.system != "Linux") return text;
  text += row("libc", libc.family.empty()
                          ? "unknown"
                          : fmt::format("{} {}.{}", libc.family, libc.major, libc.minor));
  return text + sources_row(libc.sources, output);
}

}  // namespace

std::string render_machine(const detect::Machine& machine, const Output& output) {
  std::string text = render_cpu(machine.cpu, output) + sources_row(machine.cpu.sources, output);
  for (const detect::Gpu& gpu : machine.gpus) text += render_gpu(machine, gpu, output);
  if (machine.gpus.empty() && !machine.mps) text += row("GPU", "none");
  if (machine.mps) text += render_mps(*machine.mps, output);
  for (const detect::Driver& driver : machine.drivers) text += render_driver(driver, output);
  for (const detect::Npu& npu : machine.npus) text += render_npu(machine, npu, output);
  text += render_system(machine, output);
  for (const detect::Problem& problem : machine.problems) {
    text += fmt::format("{}     {}\n", output.paint(Style::bad, "problem"),
                        wrap_text(problem.code + ": " + problem.message, 12));
    if (!problem.hint.empty()) text += row("", "hint: " + problem.hint);
  }
  return text;
}

}  // namespace axle::cli
