#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "builder/gpu_code_match.h"
#include "builder/instruction_scan.h"
#include "cli/doctor/environment_checks.h"
#include "detect/cuda_drivers.h"
#include "providers/gpu_state.h"

namespace axle::cli {

namespace {

using builder::BinaryFacts;
using builder::CodeFit;
using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;

constexpr std::size_t most_examples = 5;
constexpr std::chrono::minutes longest_disassembly{10};
constexpr GpuVendor vendors[] = {GpuVendor::nvidia, GpuVendor::amd, GpuVendor::intel};

bool has_code_of(const BinaryFacts& facts, GpuVendor vendor) {
  switch (vendor) {
    case GpuVendor::nvidia:
      return facts.cuda.fatbins > 0;
    case GpuVendor::amd:
      return facts.hip.bundles > 0;
    case GpuVendor::intel:
      return facts.sycl.jit || facts.sycl.ahead;
  }
  return false;
}

std::string section_of(GpuVendor vendor) {
  switch (vendor) {
    case GpuVendor::nvidia:
      return ".nv_fatbin";
    case GpuVendor::amd:
      return ".hip_fatbin";
    case GpuVendor::intel:
      return std::string(builder::sycl_section_prefix) + "…";
  }
  return {};
}

/// "sm_75 sm_80 compute_120", each once.
std::string describe_code(const BinaryFacts& facts, GpuVendor vendor) {
  std::vector<std::string> words;
  const auto add = [&](std::string word) {
    if (std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
  };
  if (vendor == GpuVendor::nvidia) {
    std::set<builder::CudaCode> codes;
    for (const builder::CudaGroup& group : facts.cuda.groups)
      codes.insert(group.codes.begin(), group.codes.end());
    for (const builder::CudaCode& code : codes) add(builder::render_cuda_code(code));
  } else if (vendor == GpuVendor::amd) {
    for (const builder::BundleEntry& entry : facts.hip.entries) add(entry.target);
  } else {
    if (facts.sycl.jit) add("SPIR-V");
    for (const std::string& ip : facts.sycl.device_ips) add(ip);
    for (const std::string& product : facts.sycl.products) add(product);
  }
  return words.empty() ? "code whose targets are not known"
                       : fmt::format("{}", fmt::join(words, " "));
}

/// The best that any of a library's code does on that GPU: a library with kernels for several
/// generations runs where the driver finds one of them.
CodeFit fit_of(const BinaryFacts& facts, const Gpu& gpu, const Machine& machine) {
  CodeFit best = CodeFit::absent;
  if (gpu.vendor == GpuVendor::nvidia) {
    for (const builder::CudaGroup& group : facts.cuda.groups)
      best = std::min(best, builder::judge_cuda_group(group, gpu, machine));
  } else if (gpu.vendor == GpuVendor::amd) {
    for (const builder::BundleEntry& entry : facts.hip.entries) {
      if (entry.kind.starts_with("hip"))
        best = std::min(best, builder::judge_amd_target(entry.target, gpu));
    }
  } else {
    best = builder::judge_sycl_images(facts.sycl, gpu);
  }
  const bool whole = facts.unread.empty();
  return best == CodeFit::absent && !whole ? CodeFit::unknown : best;
}

std::string render_gpu(const Gpu& gpu) {
  const std::string name =
      gpu.name.empty() ? fmt::format("{} GPU", providers::vendor_title(gpu.vendor)) : gpu.name;
  return fmt::format("{} ({})", name, gpu.arch.empty() ? "architecture unknown" : gpu.arch);
}

/// The libraries of one package with code of one vendor, and how each fits the GPUs.
struct PackageCode {
  const InstalledPackageFiles* package = nullptr;
  GpuVendor vendor = GpuVendor::nvidia;
  std::vector<const InstalledLibrary*> libraries;
};

std::vector<Evidence> evidence_of(const std::vector<const InstalledLibrary*>& libraries,
                                  GpuVendor vendor) {
  std::vector<Evidence> evidence;
  for (const InstalledLibrary* library : libraries) {
    if (evidence.size() == most_examples) break;
    evidence.push_back({library->name, section_of(vendor), describe_code(library->facts, vendor)});
  }
  return evidence;
}

std::string reinstall(const InstalledPackageFiles& package, const InstalledFiles& files) {
  return fmt::format("variant install --reinstall {}{}", package.distribution.name,
                     files.python_option());
}

void say_unknown(const PackageCode& code, const std::vector<const InstalledLibrary*>& libraries,
                 const Gpu& gpu, Findings& findings) {
  Finding& finding = findings.add(
      "gpu-code-unknown", code.package->title,
      fmt::format("it cannot be told whether its code runs on the {}", render_gpu(gpu)));
  for (const InstalledLibrary* library : libraries) {
    if (finding.evidence.size() == most_examples) break;
    const bool read = library->facts.unread.empty();
    finding.evidence.push_back(
        {library->name, read ? section_of(code.vendor) : library->facts.unread.front().section,
         read ? describe_code(library->facts, code.vendor) : library->facts.unread.front().why});
  }
}

/// One package on one GPU. `elsewhere`: the code runs on another GPU of the machine.
void check_on_gpu(const PackageCode& code, const Gpu& gpu, bool elsewhere, const Machine& machine,
                  const InstalledFiles& files, Findings& findings) {
  std::map<CodeFit, std::vector<const InstalledLibrary*>> by_fit;
  for (const InstalledLibrary* library : code.libraries)
    by_fit[fit_of(library->facts, gpu, machine)].push_back(library);
  const auto with = [&](CodeFit fit) { return by_fit[fit]; };
  if (by_fit.begin()->first == CodeFit::runs) {
    if (!with(CodeFit::unknown).empty()) say_unknown(code, with(CodeFit::unknown), gpu, findings);
    std::vector<const InstalledLibrary*> left = with(CodeFit::absent);
    std::ranges::copy(with(CodeFit::needs_newer_driver), std::back_inserter(left));
    if (left.empty()) return;
    Finding& finding =
        findings.add("gpu-code-partial", code.package->title,
                     fmt::format("{} of its {} libraries with GPU code have none that the {} runs",
                                 left.size(), code.libraries.size(), render_gpu(gpu)));
    finding.evidence = evidence_of(left, code.vendor);
    return;
  }
  const CodeFit best = by_fit.begin()->first;
  if (best == CodeFit::unknown) return say_unknown(code, code.libraries, gpu, findings);
  const bool driver = best == CodeFit::needs_newer_driver;
  Finding& finding = findings.add(
      elsewhere ? "gpu-code-partial"
      : driver  ? "ptx-needs-driver"
                : "gpu-code-missing",
      code.package->title,
      driver ? fmt::format("for the {} it has PTX only, of a newer CUDA than the driver compiles",
                           render_gpu(gpu))
             : fmt::format("none of its libraries has code that the {} runs", render_gpu(gpu)));
  if (elsewhere) finding.level = FindingLevel::warning;
  finding.evidence = evidence_of(code.libraries, code.vendor);
  const detect::Driver* installed = detect::find_driver(machine, code.vendor);
  if (installed != nullptr && driver)
    finding.evidence.push_back(
        {"", "", fmt::format("the driver runs CUDA up to {}", installed->api_version)});
  finding.mend = driver ? "update the NVIDIA driver" : reinstall(*code.package, files);
}

void check_package_code(const PackageCode& code, const Machine& machine,
                        const InstalledFiles& files, Findings& findings) {
  const auto gpus = providers::counted_gpus(machine, code.vendor, {});
  std::vector<const Gpu*> unlike;
  for (const Gpu* gpu : gpus) {
    if (std::ranges::find(unlike, gpu->arch, &Gpu::arch) == unlike.end()) unlike.push_back(gpu);
  }
  const auto runs_on = [&](const Gpu* gpu) {
    return std::ranges::any_of(code.libraries, [&](const InstalledLibrary* library) {
      return fit_of(library->facts, *gpu, machine) == CodeFit::runs;
    });
  };
  const bool somewhere = std::ranges::any_of(unlike, runs_on);
  for (const Gpu* gpu : unlike) check_on_gpu(code, *gpu, somewhere, machine, files, findings);
}

void check_gpu_code(const InstalledFiles& files, const Machine& machine, Findings& findings) {
  for (const GpuVendor vendor : vendors) {
    std::map<std::size_t, PackageCode> packages;
    for (const InstalledLibrary& library : files.libraries) {
      if (!has_code_of(library.facts, vendor)) continue;
      PackageCode& code = packages[library.package];
      code.package = &files.packages[library.package];
      code.vendor = vendor;
      code.libraries.push_back(&library);
    }
    if (packages.empty()) continue;
    if (!providers::counted_gpus(machine, vendor, {}).empty()) {
      for (const auto& [index, code] : packages) check_package_code(code, machine, files, findings);
      continue;
    }
    std::vector<std::string> titles;
    for (const auto& [index, code] : packages) titles.push_back(code.package->title);
    const std::size_t shown = std::min(titles.size(), most_examples);
    Finding& finding = findings.add(
        "gpu-build-without-gpu",
        fmt::format(
            "{}{}",
            fmt::join(titles.begin(), titles.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
            titles.size() > shown ? fmt::format(" and {} more", titles.size() - shown) : ""),
        fmt::format("they hold code for {} GPUs, which goes unused: {}",
                    providers::vendor_title(vendor),
                    providers::describe_no_gpu(machine, vendor, {})));
    finding.evidence = evidence_of(packages.begin()->second.libraries, vendor);
    finding.mend = reinstall(*packages.begin()->second.package, files);
  }
}

void check_architecture(const InstalledFiles& files, const Machine& machine, Findings& findings) {
  const std::string own(detect::render_arch(machine.cpu.arch));
  if (machine.cpu.arch == detect::Arch::other) return;
  std::map<std::size_t, std::vector<const InstalledLibrary*>> foreign;
  for (const InstalledLibrary& library : files.libraries) {
    const std::string& is = library.facts.architecture;
    if ((is == "x86_64" || is == "aarch64") && is != own)
      foreign[library.package].push_back(&library);
  }
  for (const auto& [package, libraries] : foreign) {
    Finding& finding =
        findings.add("wrong-architecture", files.packages[package].title,
                     fmt::format("{} of its libraries are for {}, this machine is {}",
                                 libraries.size(), libraries.front()->facts.architecture, own));
    finding.evidence.push_back(
        {libraries.front()->name, "ELF header", libraries.front()->facts.architecture});
    finding.mend = reinstall(files.packages[package], files);
  }
}

/// The first capability of "x86-64-vN" that the CPU is known to lack; nullptr: none.
const detect::CapabilityRow* lacking(std::string_view level, const Machine& machine) {
  const auto highest = static_cast<unsigned>(level.back() - '0');
  for (unsigned one = 1; one <= highest; ++one) {
    for (const detect::Capability capability : detect::x86_64_level(one)) {
      const detect::Presence presence = machine.cpu.capabilities.of(capability);
      if (presence == detect::Presence::absent || presence == detect::Presence::blocked)
        return &detect::row(capability);
    }
  }
  return nullptr;
}

void check_levels(const InstalledFiles& files, const Machine& machine, Findings& findings) {
  if (machine.cpu.arch != detect::Arch::x86_64) return;
  std::map<std::size_t, Finding*> told;
  for (const InstalledLibrary& library : files.libraries) {
    // Libraries in these folders are alternatives that the loader chooses from.
    if (library.facts.isa.needed.empty() || library.name.contains("glibc-hwcaps/")) continue;
    const std::string& level = library.facts.isa.needed.back();
    const detect::CapabilityRow* row = lacking(level, machine);
    if (row == nullptr || told.contains(library.package)) continue;
    const InstalledPackageFiles& package = files.packages[library.package];
    Finding& finding =
        findings.add("cpu-level-missing", package.title,
                     fmt::format("the loader will refuse it: it needs {}, and the CPU lacks {}",
                                 level, row->name));
    finding.evidence.push_back(
        {library.name, ".note.gnu.property", fmt::format("needs {}", level)});
    finding.mend = reinstall(package, files);
    told.emplace(library.package, nullptr);
  }
}

/// nvidia-cuda-runtime-cu12 12.8.90, nvidia-cuda-runtime 13.0.96
void check_driver_floor(const InstalledFiles& files, const Machine& machine, Findings& findings) {
  const detect::Driver* driver = detect::find_driver(machine, GpuVendor::nvidia);
  const auto runs =
      driver == nullptr ? std::nullopt : providers::parse_major_minor(driver->api_version);
  if (!runs) return;
  for (const InstalledPackageFiles& package : files.packages) {
    if (!package.distribution.name.starts_with("nvidia-cuda-runtime")) continue;
    const auto& release = package.distribution.metadata.version.release;
    if (release.empty() || release[0] < 11 || release[0] <= runs->first) continue;
    const std::string first = fmt::format("{}.0", release[0]);
    const std::string_view floor = detect::first_driver_of_cuda(first);
    Finding& finding = findings.add(
        "cuda-driver-floor", package.title,
        fmt::format("CUDA {} needs the NVIDIA driver {} or newer, and this one runs CUDA up to {}",
                    release[0], floor.empty() ? "of its own release" : floor, driver->api_version));
    finding.evidence.push_back({package.distribution.dist_info, "", package.title});
    finding.evidence.push_back({"", "", fmt::format("driver {}", driver->kernel_version)});
    finding.mend = floor.empty() ? "update the NVIDIA driver"
                                 : fmt::format("install NVIDIA's driver {} or newer", floor);
  }
}

}  // namespace

void check_code(const InstalledFiles& files, const Machine& machine, Findings& findings) {
  check_architecture(files, machine, findings);
  check_levels(files, machine, findings);
  check_driver_floor(files, machine, findings);
  check_gpu_code(files, machine, findings);
}

void check_instructions(const InstalledFiles& files, const Machine& machine, Findings& findings) {
  if (machine.cpu.arch != detect::Arch::x86_64)
    return findings.not_looked_at("instructions: only those of x86-64 are known by name");
  const auto deadline = std::chrono::steady_clock::now() + longest_disassembly;
  std::size_t late = 0;
  for (const InstalledLibrary& library : files.libraries) {
    if (library.facts.architecture != "x86_64") continue;
    if (std::chrono::steady_clock::now() >= deadline) {
      ++late;
      continue;
    }
    const auto scan = builder::scan_instructions(library.path);
    if (!scan) {
      findings.not_looked_at(
          fmt::format("the instructions of {}: {}", library.name, scan.error().message));
      if (scan.error().kind == ErrorKind::not_found) return;
      continue;
    }
    if (!scan->complete)
      findings.not_looked_at(
          fmt::format("some instructions of {}: it took too long", library.name));
    std::vector<std::string> names;
    for (const auto& [capability, count] : scan->counts) {
      const detect::Presence presence = machine.cpu.capabilities.of(capability);
      if (presence == detect::Presence::absent || presence == detect::Presence::blocked)
        names.push_back(fmt::format("{} ({})", detect::row(capability).name, count));
    }
    if (names.empty()) continue;
    Finding& finding = findings.add("cpu-instructions", files.packages[library.package].title,
                                    "a library contains instructions that this CPU lacks; they may "
                                    "stand behind a check");
    finding.evidence.push_back({library.name, ".text", fmt::format("{}", fmt::join(names, ", "))});
  }
  if (late > 0) {
    findings.not_looked_at(
        fmt::format("the instructions of {} further libraries: {} minutes are over", late,
                    longest_disassembly.count()));
  }
}

}  // namespace axle::cli
