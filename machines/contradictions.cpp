#include "machines/contradictions.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "detect/cpu/darwin.h"
#include "detect/os/macos.h"
#include "foundation/text/ascii.h"
#include "machines/gpu_models.h"
#include "machines/stated/near_names.h"
#include "machines/stated/translated.h"
#include "machines/vendor_facts.h"

namespace axle::machines {

namespace {

using detect::Arch;
using detect::Cpu;
using detect::Machine;
using detect::MacosVersion;
using detect::Presence;
using Found = std::optional<Contradiction>;

constexpr std::string_view windows = "Windows";

/// Apple, Platforms State of the Union 2025: the last for Intel processors, and the last in which
/// Rosetta 2 translates whatever is for them.
constexpr unsigned last_on_intel = 26;
constexpr unsigned last_with_rosetta = 27;
/// Rosetta 2 translates AVX and AVX2 since macOS 15 (Apple, Game Porting Toolkit 2).
constexpr MacosVersion first_avx_in_rosetta{15, 0};

bool is_stated(const Cpu& cpu) { return cpu.arch != Arch::other || !cpu.machine.empty(); }

std::string_view name_of(const Cpu& cpu) {
  return cpu.arch == Arch::other ? std::string_view(cpu.machine) : detect::render_arch(cpu.arch);
}

bool is_jetson(const detect::Gpu& gpu) {
  const auto is_of_jetson = facts_of(gpu.vendor).is_of_jetson;
  return is_of_jetson != nullptr && is_of_jetson(gpu.arch);
}

/// One system by its name, and another by its version's.
Found find_in_names(const detect::Os& os) {
  const std::string_view title =
      os.system == detect::darwin ? "macOS" : std::string_view(os.system);
  for (const std::string_view other : {std::string_view("macOS"), std::string_view(windows)}) {
    if (os.system.empty() || title == other || !os.name.starts_with(other)) continue;
    return Contradiction{"os.name", fmt::format("{} is not {}", title, os.name),
                         fmt::format("a name of {}, or none", title)};
  }
  for (const std::string_view old : {"Windows XP", "Windows Vista", "Windows 7", "Windows 8"}) {
    if (os.system == windows && os.name.starts_with(old))
      return Contradiction{"os.name", fmt::format("{}: no Python of today runs there", os.name),
                           "Windows 10 or Windows 11"};
  }
  return std::nullopt;
}

/// The word of uname for another architecture than that of the facts.
Found find_in_words(const Cpu& cpu) {
  const std::string lowered = text::ascii_lower(cpu.machine);
  const std::string_view word = own_architecture_word(lowered);
  for (const Arch other : {Arch::x86_64, Arch::aarch64}) {
    if (cpu.arch == Arch::other || cpu.arch == other || word != detect::render_arch(other))
      continue;
    return Contradiction{"cpu.machine",
                         fmt::format("{} is not {}", cpu.machine, detect::render_arch(cpu.arch)),
                         fmt::format("{0} in both, or {1} in both", detect::render_arch(cpu.arch),
                                     detect::render_arch(other))};
  }
  return std::nullopt;
}

/// What only processors of one architecture have.
Found find_in_cpu(const Cpu& cpu) {
  if (cpu.arch == Arch::other) return std::nullopt;
  const auto foreign = [&](std::string_view key, std::string_view what, Arch arch) {
    return Contradiction{
        fmt::format("cpu.{}", key),
        fmt::format("{} {} of {}, and the CPU is {}", what, what.ends_with('s') ? "are" : "is",
                    detect::render_arch(arch), detect::render_arch(cpu.arch)),
        fmt::format("{} with features of its own, or {} with this one",
                    detect::render_arch(cpu.arch), detect::render_arch(arch))};
  };
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.arch != cpu.arch && cpu.capabilities.has(row.id))
      return foreign(fmt::format("capabilities.{}", row.name), row.name, row.arch);
  }
  if (cpu.arch != Arch::aarch64 && cpu.sve_vector_bytes)
    return foreign("sve_vector_bytes", "SVE", Arch::aarch64);
  if (cpu.arch != Arch::aarch64 && cpu.sme_vector_bytes)
    return foreign("sme_vector_bytes", "SME", Arch::aarch64);
  if (cpu.arch != Arch::x86_64 && cpu.amx_tiles) return foreign("amx_tiles", "tiles", Arch::x86_64);
  if (cpu.arch != Arch::x86_64 && cpu.ace_version)
    return foreign("ace_version", "ACE", Arch::x86_64);
  return std::nullopt;
}

/// Features of x86-64 that no translation has: Rosetta 2 and Windows on Arm end with AVX2 (Apple,
/// "About the Rosetta translation environment"; Microsoft, "How emulation works on Arm").
Found find_in_translation(const Machine& machine) {
  const Cpu& cpu = machine.cpu;
  if (!is_translated(cpu) || cpu.arch != Arch::x86_64) return std::nullopt;
  const auto version = detect::macos_version(machine.os);
  const bool before_avx = version && *version < first_avx_in_rosetta;
  const auto is_of = [](std::string_view name) {
    return std::ranges::any_of(std::array<std::string_view, 4>{"avx512", "avx10", "amx", "apx"},
                               [&](std::string_view start) { return name.starts_with(start); });
  };
  const auto level_3 = detect::x86_64_level(3);
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (!cpu.capabilities.has(row.id)) continue;
    const bool of_level_3 = std::ranges::find(level_3, row.id) != level_3.end();
    if (!is_of(row.name) && !(before_avx && of_level_3)) continue;
    return Contradiction{fmt::format("cpu.capabilities.{}", row.name),
                         fmt::format("{} has no {}: these are {}", machine.os.name, row.name,
                                     describe_translation(machine)),
                         before_avx
                             ? "x86_64:v2 here, x86_64:v3 from macos:15 on, or features of aarch64"
                             : "x86_64:v3, or features of aarch64"};
  }
  return std::nullopt;
}

/// "NVIDIA GH200"; of several models "GPU of gfx942".
std::string name_of(const detect::Gpu& gpu, const std::vector<const GpuModel*>& models) {
  return models.size() == 1 ? std::string(models.front()->title)
                            : fmt::format("GPU of {}", gpu.arch);
}

/// A GPU on one chip or one board with a CPU of another architecture, or where no such system runs.
Found find_in_hosts(const Machine& machine) {
  for (const detect::Gpu& gpu : machine.gpus) {
    const auto models = possible_models(gpu);
    if (models.empty()) continue;
    const Arch host = models.front()->host;
    const auto has_host = [&](const GpuModel* model) { return model->host == host; };
    if (host != Arch::other && is_stated(machine.cpu) && machine.cpu.arch != host &&
        std::ranges::all_of(models, has_host)) {
      return Contradiction{
          "cpu.arch",
          fmt::format("every {} comes with a CPU of {}, and the CPU is {}", name_of(gpu, models),
                      detect::render_arch(host), name_of(machine.cpu)),
          fmt::format("{} with it", detect::render_arch(host))};
    }
    if (machine.os.system == windows && !is_jetson(gpu) &&
        std::ranges::all_of(models, &GpuModel::linux_alone))
      return Contradiction{
          "os.system",
          fmt::format("{} is of servers that do not run Windows",
                      models.size() == 1 ? name_of(gpu, models) : "every " + name_of(gpu, models)),
          "linux with it"};
  }
  return std::nullopt;
}

/// GPUs of one vendor that no driver serves together.
Found find_in_mixture(const Machine& machine) {
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const detect::Gpu& gpu = machine.gpus[i];
    if (gpu.usable != Presence::present) continue;
    const VendorFacts& facts = facts_of(gpu.vendor);
    detect::Driver driver = facts.assumed_driver(machine);  // the newest for the oldest of them
    driver.vendor = gpu.vendor;
    const auto misfit = facts.driver_misfit(machine, &gpu, driver);
    if (misfit)
      return Contradiction{fmt::format("gpus[{}].arch", i),
                           fmt::format("no driver is for all of its GPUs: {}", misfit->reason),
                           "each in a machine of its own"};
  }
  return std::nullopt;
}

/// A driver that is too old or too new for a GPU, or for what is stated of it.
Found find_in_drivers(const Machine& machine) {
  const auto check = [&](const detect::Driver& driver, const detect::Gpu* gpu) -> Found {
    const auto misfit = facts_of(driver.vendor).driver_misfit(machine, gpu, driver);
    if (!misfit) return std::nullopt;
    const std::string_view vendor = detect::render_vendor(driver.vendor);
    return Contradiction{fmt::format("drivers.{}.{}", vendor, misfit->field), misfit->reason,
                         fmt::format("{}:{}", vendor, misfit->nearest)};
  };
  for (const detect::Driver& driver : machine.drivers) {
    bool has_gpu = false;
    for (const detect::Gpu& gpu : machine.gpus) {
      if (gpu.vendor != driver.vendor || gpu.usable != Presence::present) continue;
      has_gpu = true;
      if (auto found = check(driver, &gpu)) return found;
    }
    if (has_gpu || driver.usable != Presence::present) continue;
    if (auto found = check(driver, nullptr)) return found;
  }
  return std::nullopt;
}

struct FirstMacos {
  std::string_view processor;
  MacosVersion version;
};

/// The macOS that the first Macs with each came with, before which they run none (Apple, technical
/// specifications and "macOS versions that came with your Mac").
constexpr std::array first_macos = {
    FirstMacos{"Apple M1", {11, 0}}, FirstMacos{"Apple M2", {12, 0}},
    FirstMacos{"Apple M3", {13, 0}}, FirstMacos{"Apple M4", {15, 0}},
    FirstMacos{"Apple M5", {26, 0}}};
constexpr std::string_view apple_m = "Apple M";
Found find_in_macos(const Machine& machine) {
  const Cpu& cpu = machine.cpu;
  const auto version = detect::macos_version(machine.os);
  if (!version) return std::nullopt;
  const auto wrong = [](std::string message, std::string nearest) {
    return Contradiction{"os.name", std::move(message), std::move(nearest)};
  };
  if (cpu.arch == Arch::aarch64 && *version < detect::first_macos_on_arm)
    return wrong(fmt::format("{} runs on x86_64 alone: Macs with Apple's processors began with "
                             "macOS 11",
                             machine.os.name),
                 "macos:11");
  const bool own_x86_64 = cpu.arch == Arch::x86_64 && !cpu.vendor.empty();
  if (own_x86_64 && version->first > last_on_intel)
    return wrong(fmt::format("{} runs on Apple's processors alone: macOS {} is the last for Intel "
                             "processors",
                             machine.os.name, last_on_intel),
                 fmt::format("macos:{}", last_on_intel));
  if (cpu.arch == Arch::x86_64 && version->first > last_with_rosetta)
    return wrong(fmt::format("{} runs no programs for x86_64: macOS {} is the last with Rosetta 2",
                             machine.os.name, last_with_rosetta),
                 fmt::format("macos:{}", last_with_rosetta));
  if (const auto first = first_macos_on(cpu.brand); first && *version < *first) {
    return wrong(
        fmt::format("Macs with an {} began with macOS {}, and this one has {}",
                    cpu.brand.substr(0, apple_m.size() + 1), first->first, machine.os.name),
        fmt::format("macos:{}", first->first));
  }
  return std::nullopt;
}

/// Apple's processors have SVE's instructions in SME's streaming mode alone.
Found find_sve_in_mac(const Cpu& cpu) {
  constexpr std::string_view nearest = "aarch64:8.6a, or aarch64:sme from an M4 on";
  const auto none = [&](std::string key) {
    return Contradiction{fmt::format("cpu.{}", key),
                         "Apple's processors have no SVE, and so no SVE2 or Armv9",
                         std::string(nearest)};
  };
  if (cpu.sve_vector_bytes) return none("sve_vector_bytes");
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.arch == Arch::aarch64 && row.name.starts_with("arm_sve") &&
        cpu.capabilities.has(row.id))
      return none(fmt::format("capabilities.{}", row.name));
  }
  return std::nullopt;
}

/// The drivers of most vendors for Windows are for x86-64 alone.
Found find_in_windows(const Machine& machine) {
  if (machine.cpu.arch != Arch::aarch64) return std::nullopt;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const detect::Gpu& gpu = machine.gpus[i];
    if (gpu.usable != Presence::present || facts_of(gpu.vendor).has_windows_on_arm) continue;
    return Contradiction{fmt::format("gpus[{}].usable", i),
                         fmt::format("Windows on Arm has no driver of {} for computing",
                                     detect::render_vendor(gpu.vendor)),
                         "windows with x86_64, or windows;aarch64 without it"};
  }
  return std::nullopt;
}

/// The drivers of all three vendors are of Linux and Windows.
Found find_in_mac(const Machine& machine) {
  if (auto found = find_in_macos(machine)) return found;
  if (auto found = find_sve_in_mac(machine.cpu)) return found;
  const auto no_driver = [](std::string path, std::string_view of) {
    return Contradiction{std::move(path),
                         fmt::format("macOS has no driver of {} for computing", of),
                         "a Mac without it, or linux or windows with it"};
  };
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    if (machine.gpus[i].usable == Presence::present)
      return no_driver(fmt::format("gpus[{}].usable", i),
                       detect::render_vendor(machine.gpus[i].vendor));
  }
  for (const detect::Driver& driver : machine.drivers) {
    const std::string_view vendor = detect::render_vendor(driver.vendor);
    if (driver.usable == Presence::present)
      return no_driver(fmt::format("drivers.{}.usable", vendor), vendor);
  }
  return std::nullopt;
}

/// NPUs whose drivers are of Linux alone: Intel's and Qualcomm's are of Windows, too.
Found find_in_npus(const Machine& machine, bool mac) {
  using detect::NpuKind;
  for (std::size_t i = 0; i < machine.npus.size(); ++i) {
    const detect::Npu& npu = machine.npus[i];
    const bool of_windows = npu.kind == NpuKind::intel_npu || npu.kind == NpuKind::qualcomm;
    if (npu.usable != Presence::present || (!mac && of_windows)) continue;
    return Contradiction{fmt::format("npus[{}].usable", i),
                         fmt::format("{} has no driver of {}", mac ? "macOS" : windows,
                                     detect::render_npu_kind(npu.kind)),
                         "linux with it"};
  }
  return std::nullopt;
}

Found find_jetson(const Machine& machine, std::string_view title) {
  if (!machine.os.tegra_release.empty())
    return Contradiction{"os.tegra_release", fmt::format("a Jetson does not run {}", title),
                         "linux with it"};
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const detect::Gpu& gpu = machine.gpus[i];
    if (is_jetson(gpu))
      return Contradiction{
          fmt::format("gpus[{}].arch", i),
          fmt::format("a GPU of {} is part of a Jetson, which does not run {}", gpu.arch, title),
          "linux with it"};
  }
  return std::nullopt;
}

bool states_mps(const Machine& machine) {
  return machine.mps && machine.mps->usable == Presence::present &&
         !detect::is_judged(*machine.mps);
}

Found find_in_mps(const Machine& machine) {
  if (!states_mps(machine)) return std::nullopt;
  const auto wrong = [](std::string message) {
    return Contradiction{"mps.usable", std::move(message), "mps, or macos:14 with aarch64"};
  };
  const std::string& system = machine.os.system;
  if (!system.empty() && system != detect::darwin)
    return wrong(fmt::format("{} has no MPS: it is of macOS on Apple's processors", system));
  const auto judged = detect::judge_mps(machine.os, machine.cpu);
  if (judged && judged->usable == Presence::absent) return wrong(judged->reason);
  return std::nullopt;
}

}  // namespace

Found find_contradiction(const Machine& machine) {
  if (auto found = find_in_names(machine.os)) return found;
  if (auto found = find_in_words(machine.cpu)) return found;
  if (auto found = find_in_cpu(machine.cpu)) return found;
  if (auto found = find_in_translation(machine)) return found;
  if (auto found = find_in_hosts(machine)) return found;
  if (auto found = find_in_mixture(machine)) return found;
  if (auto found = find_in_drivers(machine)) return found;
  if (auto found = find_in_mps(machine)) return found;
  const detect::Os& os = machine.os;
  const bool mac = os.system == detect::darwin || (os.system.empty() && states_mps(machine));
  if (!mac && os.system != windows) return std::nullopt;
  const std::string_view title = mac ? "macOS" : windows;
  if (!machine.libc.family.empty())
    return Contradiction{"libc.family", fmt::format("{} has no {}", title, machine.libc.family),
                         "linux with it, or no C library"};
  const Cpu& cpu = machine.cpu;
  const bool known = cpu.arch == Arch::x86_64 || cpu.arch == Arch::aarch64;
  const bool windows_32 = !mac && cpu.machine == "i686";
  if (is_stated(cpu) && !known && !windows_32)
    return Contradiction{"cpu.arch", fmt::format("there is no {} for {}", title, name_of(cpu)),
                         "x86_64 or aarch64"};
  if (os.wsl)
    return Contradiction{"os.wsl", fmt::format("WSL is a Linux, and not {}", title),
                         "linux with it"};
  if (auto found = find_jetson(machine, title)) return found;
  if (auto found = find_in_npus(machine, mac)) return found;
  return mac ? find_in_mac(machine) : find_in_windows(machine);
}

std::optional<MacosVersion> first_macos_on(std::string_view processor) {
  const auto* const row = std::ranges::find_if(first_macos, [&](const FirstMacos& one) {
    const std::string_view rest =
        processor.substr(std::min(processor.size(), one.processor.size()));
    return processor.starts_with(one.processor) && (rest.empty() || rest.front() == ' ');
  });
  return row == first_macos.end() ? std::nullopt : std::optional(row->version);
}

std::optional<Contradiction> find_older_macos(MacosVersion own, MacosVersion stated) {
  const bool counts = own.first < detect::first_macos_on_arm.first;
  if (counts ? stated >= own : stated.first >= own.first) return std::nullopt;
  return Contradiction{
      "os.name",
      fmt::format("it has {}, and {} is older", detect::macos_name(own),
                  detect::macos_name(stated)),
      fmt::format("macos:{0} or newer, or macos:{1} with facts and without this name", own.first,
                  stated.first)};
}

std::string render_nearest(const Contradiction& contradiction) {
  return fmt::format("nearest that can be: {}", contradiction.nearest);
}

}  // namespace axle::machines
