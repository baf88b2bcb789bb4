#include "doctor/machine_checks.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "detect/gpu_vendors.h"
#include "foundation/system/shell_command.h"
#include "index/family/family_variants.h"
#include "providers/gpu_state.h"
#include "providers/provider.h"
#include "providers/rocm_bootstrap.h"

namespace axle::doctor {

namespace {

using detect::Driver;
using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;
using detect::Presence;

std::string word_of(const detect::Problem& problem) {
  const std::size_t dot = problem.code.find('.');
  return dot == std::string::npos ? problem.code : problem.code.substr(dot + 1);
}

std::string vendor_of(const detect::Problem& problem) {
  return problem.code.substr(0, problem.code.find('.'));
}

std::string name_of(const Gpu& gpu) {
  std::string text(gpu.name.empty() ? fmt::format("{} GPU", detect::gpu_vendor(gpu.vendor).title)
                                    : gpu.name);
  if (!gpu.pci_address.empty()) text += fmt::format(" ({})", gpu.pci_address);
  return text;
}

/// How a container gets access to the GPUs of a vendor; empty if unknown, and the problem's own
/// hint has more.
std::string start_with_gpu(const Machine& machine, const std::string& vendor) {
  const std::string& container = machine.os.container;
  const bool nvidia = vendor == "nvidia";
  const bool amd = vendor == "amd";
  // A Tegra's GPU has device nodes and libraries of its own.
  if (!machine.os.tegra_release.empty() || (!nvidia && !amd && vendor != "intel")) return {};
  if (container == "kubernetes") {
    return fmt::format("request the GPU in the pod: resources.limits: {{{}: 1}}",
                       nvidia ? "nvidia.com/gpu"
                       : amd  ? "amd.com/gpu"
                              : "gpu.intel.com/xe");
  }
  if (container == "lxc") return "lxc config device add NAME gpu gpu";
  if (container == "apptainer" && vendor != "intel")
    return fmt::format("apptainer exec {} IMAGE PROGRAM", nvidia ? "--nv" : "--rocm");
  if (container != "docker" && container != "podman") return {};
  if (!nvidia)
    return fmt::format("{} run {}--device /dev/dri IMAGE", container,
                       amd ? "--device /dev/kfd " : "");
  return container == "podman"
             ? "podman run --device nvidia.com/gpu=all IMAGE"
             : "docker run --gpus all IMAGE   (with the NVIDIA Container Toolkit installed)";
}

/// Words of detect/ that mean: the kernel module and the libraries are of different drivers.
bool is_mismatch(const std::string& word) { return word == "driver-mismatch"; }

/// If no fix is known, the kernel log may have the reason.
std::string kernel_log(const std::string& vendor) {
  return fmt::format("sudo dmesg | grep -i -E '{}'", vendor == "nvidia"  ? "nvrm|nvidia"
                                                     : vendor == "amd"   ? "amdgpu|kfd"
                                                     : vendor == "intel" ? "i915|xe"
                                                                         : vendor);
}

/// No GPU affected by the problem is known not to work: they could not be queried.
bool is_unconfirmed(const Machine& machine, const detect::Problem& problem) {
  const auto concerned = [&](const Gpu& gpu) {
    return problem.code == fmt::format("{}.{}", detect::render_vendor(gpu.vendor), gpu.reason_code);
  };
  const auto broken = [&](const Gpu& gpu) {
    return concerned(gpu) && (gpu.usable == Presence::absent || gpu.usable == Presence::blocked);
  };
  return std::ranges::any_of(machine.gpus, concerned) && std::ranges::none_of(machine.gpus, broken);
}

Hint unmask(const Gpu& gpu) { return {"", {unset_masks(gpu)}}; }

/// For the first GPU of that vendor that a mask hides; empty: none is listed.
Hint unmask_any(const Machine& machine, const std::string& vendor) {
  const auto masked = std::ranges::find_if(machine.gpus, [&](const Gpu& gpu) {
    return gpu.masked && detect::render_vendor(gpu.vendor) == vendor;
  });
  return masked == machine.gpus.end() ? Hint() : unmask(*masked);
}

void check_problem(const Machine& machine, const detect::Problem& problem, Findings& findings) {
  const std::string word = word_of(problem);
  const std::string vendor = vendor_of(problem);
  std::string code = "gpu-problem";
  Hint hint = problem.hint;
  // NVIDIA's toolkit mounts the host's libraries: none are installed in an image.
  const bool mounted =
      word == "no-device-nodes" || (word == "no-user-driver" && vendor == "nvidia");
  if (const std::string start = start_with_gpu(machine, vendor); mounted && !start.empty())
    hint = start;
  if (word == "no-device-nodes") {
    if (!machine.os.container.empty()) code = "container-without-gpu";
  } else if (word == "all-masked") {
    code = "gpu-masked";
    if (Hint unset = unmask_any(machine, vendor); !unset.empty()) hint = std::move(unset);
  } else if (word == "no-permission") {
    code = "gpu-permission";
    if (vendor == "amd") hint = "sudo usermod -aG render,video $USER, then log in again";
    if (vendor == "intel") hint = "sudo usermod -aG render $USER, then log in again";
  } else if (is_mismatch(word)) {
    code = "driver-versions-differ";
    hint = "sudo reboot";
  }
  Finding& finding = findings.add(code, vendor, problem.message);
  if (word == "all-masked" || is_unconfirmed(machine, problem))
    finding.level = FindingLevel::warning;
  finding.evidence.push_back({"", "", problem.code});
  finding.hint = hint.empty() ? Hint(kernel_log(vendor)) : std::move(hint);
}

bool told(const Machine& machine, const Gpu& gpu) {
  const std::string code = fmt::format("{}.{}", detect::render_vendor(gpu.vendor), gpu.reason_code);
  return std::ranges::any_of(machine.problems, [&](const detect::Problem& problem) {
    return problem.code == code || (!gpu.reason.empty() && problem.message == gpu.reason);
  });
}

void check_gpus(const Machine& machine, Findings& findings) {
  for (const Gpu& gpu : machine.gpus) {
    // If a mask hides all of them, that is reported as one problem.
    const bool all = std::ranges::any_of(machine.problems, [&](const detect::Problem& problem) {
      return problem.code == fmt::format("{}.all-masked", detect::render_vendor(gpu.vendor));
    });
    if (gpu.masked && gpu.usable == Presence::present && !all) {
      Finding& finding = findings.add("gpu-masked", name_of(gpu),
                                      "it works, but a device mask hides it from programs");
      if (providers::counted_gpus(machine, gpu.vendor, {}).empty())
        finding.level = FindingLevel::warning;
      finding.evidence.push_back({"", "", "masked"});
      finding.hint = unmask(gpu);
    }
    if (gpu.reason_code == "gfx-override") {
      const auto set = gpu.sources.find("arch");
      findings.add("gpu-override", name_of(gpu), gpu.reason).hint =
          fmt::format("unset {}, unless it is intended",
                      set == gpu.sources.end() ? "HSA_OVERRIDE_GFX_VERSION" : set->second);
      continue;
    }
    const bool broken = gpu.usable == Presence::absent || gpu.usable == Presence::blocked;
    if (!broken || told(machine, gpu)) continue;
    const std::string why = gpu.reason.empty() ? "the driver does not work" : gpu.reason;
    Finding& finding = findings.add("gpu-unusable", name_of(gpu), why);
    // Integrated graphics only drive the screen: that is not a problem.
    if (gpu.usable == Presence::absent && providers::is_integrated(gpu))
      finding.level = FindingLevel::info;
    finding.evidence.push_back(
        {"", "",
         fmt::format("{}.{}", detect::render_vendor(gpu.vendor),
                     gpu.reason_code.empty() ? "unusable" : gpu.reason_code)});
  }
}

bool has_gpu(const Machine& machine, GpuVendor vendor) {
  return std::ranges::any_of(machine.gpus, [&](const Gpu& gpu) { return gpu.vendor == vendor; });
}

/// AMD's GPUs by the provider of namespace `amd` and by rocm-bootstrap, which packages of AMD ask.
void check_second_voice(const Machine& machine, Findings& findings) {
  const providers::BootstrapAnswer other = providers::rocm_bootstrap_answer(machine);
  std::vector<std::string> own;
  for (const providers::Feature& feature : providers::find_provider("amd")->supported(machine, {}))
    if (feature.name == "gfx_arch") own = feature.values;
  std::vector<std::string> same = other.targets;
  std::ranges::sort(same);
  std::ranges::sort(own);
  if (other.unknown.empty() && same == own) return;
  const auto list = [](const std::vector<std::string>& names) {
    return names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", "));
  };
  Finding& finding = findings.add(
      "gpu-names-differ", "AMD GPUs",
      other.unknown.empty()
          ? fmt::format("rocm-bootstrap 0.3.0 names {}, Axle {}", list(other.targets), list(own))
          : fmt::format("rocm-bootstrap 0.3.0 does not know {} and names no GPU, Axle {}",
                        other.unknown, list(own)));
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.vendor != GpuVendor::amd || gpu.arch.empty()) continue;
    finding.evidence.push_back({"", "",
                                fmt::format("{}: {}{}", name_of(gpu), gpu.arch,
                                            providers::is_integrated(gpu) ? ", integrated" : "")});
  }
  finding.hint =
      "nothing for Axle (`--gpu-policy any` counts every GPU); a tool that asks rocm-bootstrap may "
      "choose other packages";
}

void check_drivers(const Machine& machine, Findings& findings) {
  for (const Driver& driver : machine.drivers) {
    const std::string vendor(detect::render_vendor(driver.vendor));
    if (!has_gpu(machine, driver.vendor)) {
      findings.add("driver-without-gpu", vendor,
                   fmt::format("the {} driver {} is installed, but there is no GPU for it",
                               detect::gpu_vendor(driver.vendor).title, driver.kernel_version));
    }
    if (!driver.compat_version.empty()) {
      Finding& finding = findings.add(
          "compat-library", vendor,
          fmt::format(
              "a forward-compatibility libcuda for CUDA {} is used with the kernel driver {}",
              driver.compat_version, driver.kernel_version));
      finding.evidence.push_back({driver.compat_library, ".note.cuda.fwd_compatibility",
                                  fmt::format("CUDA {}", driver.compat_version)});
    }
    const bool differ = driver.vendor == GpuVendor::nvidia && driver.compat_version.empty() &&
                        !driver.kernel_version.empty() && !driver.library_version.empty() &&
                        driver.kernel_version != driver.library_version;
    const bool said = std::ranges::any_of(
        machine.problems, [](const auto& problem) { return is_mismatch(word_of(problem)); });
    if (differ && !said) {
      Finding& finding =
          findings.add("driver-versions-differ", vendor,
                       fmt::format("the kernel module is {}, but the libraries are {}",
                                   driver.kernel_version, driver.library_version));
      finding.evidence.push_back({"/proc/driver/nvidia/version", "", driver.kernel_version});
      finding.evidence.push_back({"libcuda.so.1", "", driver.library_version});
      finding.hint = "sudo reboot";
    }
  }
}

/// The builds of torch's newest release that fit this machine except for its driver; newest first.
std::vector<const index::FamilyLabel*> builds_beyond(const index::Family& torch,
                                                     const JudgedMachine& judged,
                                                     const std::string& cuda) {
  const auto runs = providers::parse_major_minor(cuda);
  if (torch.releases.empty() || !runs) return {};
  const index::FamilyRelease& release = torch.releases.front();
  wheel::Version version;
  version.release = release.prefix;
  const std::string platform = builds_platform(judged.machine);
  std::vector<const index::FamilyLabel*> beyond;
  for (const index::FamilyLabel& label : torch.labels) {
    const auto needs = providers::parse_major_minor(label.cuda);
    const bool current = std::ranges::any_of(release.builds, [&](const index::FamilyBuild& build) {
      return build.label == label.name && build.platform == platform;
    });
    if (label.vendor != "nvidia" || !current || !needs || *needs <= *runs) continue;
    Machine newer = judged.machine;
    for (Driver& driver : newer.drivers) {
      if (driver.vendor == GpuVendor::nvidia) driver.api_version = label.cuda;
    }
    const auto variants =
        index::family_variants(torch, torch.anchor(), version, platform, {label.name});
    const VariantFit fit =
        judge_variants(variants.document, {newer, judged.gpus, judged.providers}, {});
    if (std::ranges::find(fit.fitting, label.name) != fit.fitting.end()) beyond.push_back(&label);
  }
  return beyond;
}

void check_driver_age(const JudgedMachine& judged, const index::Family* torch, Findings& findings) {
  const Driver* driver = detect::find_driver(judged.machine, GpuVendor::nvidia);
  const bool counts = torch != nullptr && driver != nullptr && !driver->api_version.empty() &&
                      !judged.counted(GpuVendor::nvidia).empty();
  if (!counts) return;
  const auto beyond = builds_beyond(*torch, judged, driver->api_version);
  if (beyond.empty()) return;
  std::vector<std::string_view> names;
  for (const index::FamilyLabel* label : beyond) names.push_back(label->name);
  Finding& finding = findings.add(
      "driver-old", "nvidia",
      fmt::format("the driver runs CUDA up to {}, and of {} {} the builds {} need {}",
                  driver->api_version, torch->anchor(), torch->releases.front().version,
                  fmt::join(names, ", "), beyond.front()->cuda));
  const std::string& version =
      driver->kernel_version.empty() ? driver->library_version : driver->kernel_version;
  finding.evidence.push_back(
      {"", "",
       fmt::format("driver {}, CUDA {}", version.empty() ? "of unknown version" : version,
                   driver->api_version)});
  finding.hint = update_nvidia_driver(judged.machine, beyond.front()->driver);
}

/// The capabilities that the CPU has and that are withheld, by the register state they need.
void check_cpu(const Machine& machine, Findings& findings) {
  std::vector<std::string_view> tiles;
  std::vector<std::string_view> vectors;
  std::vector<std::string_view> others;
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.arch != machine.cpu.arch || machine.cpu.capabilities.of(row.id) != Presence::blocked)
      continue;
    const bool tile = row.os_state == detect::OsState::tile;
    const bool vector =
        row.os_state == detect::OsState::zmm || row.os_state == detect::OsState::ymm;
    (tile ? tiles : vector ? vectors : others).push_back(row.name);
  }
  const std::string guest =
      !machine.cpu.hypervisor.empty()
          ? fmt::format("let the hypervisor ({}) expose the host's CPU (host-passthrough)",
                        machine.cpu.hypervisor)
      : is_linux(machine)
          ? std::string("boot a kernel that enables it")
          : fmt::format("not possible while {} runs, which withholds them", machine.os.system);
  const bool hybrid = machine.cpu.hybrid && machine.cpu.hypervisor.empty();
  const std::string cores =
      "not possible for programs that may run on every core: the cores differ, and some lack them";
  const auto say = [&](const std::vector<std::string_view>& names, std::string_view what,
                       const std::string& hint) {
    if (names.empty()) return;
    Finding& finding = findings.add("cpu-withheld", "CPU",
                                    fmt::format("the CPU has {} that programs may not use", what));
    finding.evidence.push_back({"", "", fmt::format("withheld: {}", fmt::join(names, " "))});
    finding.hint = hint;
  };
  say(tiles, "AMX instructions",
      !is_linux(machine)
          ? guest
          : fmt::format("use a kernel from 5.16 on, without a seccomp filter that denies "
                        "arch_prctl (this is {}{})",
                        machine.os.kernel.empty() ? "an unknown kernel" : machine.os.kernel,
                        machine.os.container.empty() ? "" : ", in " + machine.os.container));
  say(vectors, "AVX instructions", hybrid ? cores : guest);
  say(others, "further instructions", hybrid ? cores : guest);
}

void check_system(const Machine& machine, Findings& findings) {
  const detect::Libc& libc = machine.libc;
  if (libc.family == "glibc" && (libc.major < 2 || (libc.major == 2 && libc.minor < 28))) {
    Finding& finding = findings.add(
        "libc-old", "libc",
        fmt::format(
            "glibc {}.{} runs no wheels for manylinux_2_28, such as those of torch and most others",
            libc.major, libc.minor));
    finding.evidence.push_back({"", "", fmt::format("glibc {}.{}", libc.major, libc.minor)});
    finding.hint = "use a newer distribution, or a container of one";
  }
  if (machine.os.wsl && !machine.gpus.empty())
    findings.add("wsl", "system", "the GPU driver is that of Windows").hint =
        "update it in Windows; install no driver in the Linux system";
}

}  // namespace

std::string unset_masks(const Gpu& gpu) {
  const auto set = gpu.sources.find("masked");
  if (set != gpu.sources.end()) return "unset " + shell_word(set->second);
  return fmt::format("unset {}", fmt::join(detect::gpu_vendor(gpu.vendor).masks, " "));
}

std::string update_nvidia_driver(const Machine& machine, std::string_view least) {
  const std::string version =
      least.empty() ? std::string("a newer release") : fmt::format("{} or newer", least);
  if (!machine.os.tegra_release.empty()) return "update JetPack, which contains the driver";
  if (machine.os.wsl)
    return fmt::format("update the NVIDIA driver in Windows to one that belongs to {}", version);
  return fmt::format("install NVIDIA's driver {}{}", version,
                     machine.os.container.empty() ? "" : " on the container's host");
}

void check_machine(const JudgedMachine& judged, const index::Family* torch, Findings& findings) {
  const Machine& machine = judged.machine;
  for (const detect::Problem& problem : machine.problems) check_problem(machine, problem, findings);
  check_gpus(machine, findings);
  check_second_voice(machine, findings);
  check_drivers(machine, findings);
  check_driver_age(judged, torch, findings);
  check_cpu(machine, findings);
  check_system(machine, findings);
}

}  // namespace axle::doctor
