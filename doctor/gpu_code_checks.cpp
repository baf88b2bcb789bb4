// Code for GPUs in the installed libraries, compared with the GPUs that count.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "binaries/gpu_code_match.h"
#include "detect/gpu_vendors.h"
#include "detect/nvidia/cuda_drivers.h"
#include "doctor/environment_checks.h"
#include "doctor/fixes.h"
#include "doctor/machine_checks.h"
#include "providers/gpu_state.h"

namespace axle::doctor {

namespace {

using binaries::BinaryFacts;
using binaries::CodeFit;
using detect::Gpu;
using detect::GpuVendor;

/// The first CUDA version whose drivers decompress zstd.
constexpr std::string_view cuda_with_zstd = "12.4";

/// "sm_75 sm_80 compute_120", without duplicates.
std::string describe_code(const BinaryFacts& facts, GpuVendor vendor) {
  const std::vector<std::string> words = binaries::code_names(facts, vendor);
  return words.empty() ? "code with unknown targets" : fmt::format("{}", fmt::join(words, " "));
}

std::string render_gpu(const Gpu& gpu) {
  const std::string name =
      gpu.name.empty() ? fmt::format("{} GPU", detect::gpu_vendor(gpu.vendor).title) : gpu.name;
  return fmt::format("{} ({})", name, gpu.arch.empty() ? "architecture unknown" : gpu.arch);
}

/// The libraries of one package with code for one vendor, and how each fits the GPUs.
struct PackageCode {
  const InstalledPackageFiles* package = nullptr;
  GpuVendor vendor{};
  std::vector<const InstalledLibrary*> libraries;
};

std::vector<Evidence> evidence_of(const std::vector<const InstalledLibrary*>& libraries,
                                  GpuVendor vendor) {
  std::vector<Evidence> evidence;
  for (const InstalledLibrary* library : libraries) {
    if (evidence.size() == most_examples) break;
    evidence.push_back(
        {library->name, binaries::gpu_code_section(vendor), describe_code(library->facts, vendor)});
  }
  return evidence;
}

void say_unknown(const PackageCode& code, const std::vector<const InstalledLibrary*>& libraries,
                 const Gpu& gpu, Findings& findings) {
  Finding& finding =
      findings.add("gpu-code-unknown", code.package->title,
                   fmt::format("it is unknown whether its code runs on the {}", render_gpu(gpu)));
  for (const InstalledLibrary* library : libraries) {
    if (finding.evidence.size() == most_examples) break;
    const bool read = library->facts.unread.empty();
    finding.evidence.push_back(
        {library->name,
         read ? binaries::gpu_code_section(code.vendor) : library->facts.unread.front().section,
         read ? describe_code(library->facts, code.vendor) : library->facts.unread.front().why});
  }
}

/// One package on one GPU. `elsewhere`: the code runs on another GPU of the machine.
void check_on_gpu(const PackageCode& code, const Gpu& gpu, bool elsewhere,
                  const JudgedMachine& judged, const InstalledFiles& files, Findings& findings) {
  std::map<CodeFit, std::vector<const InstalledLibrary*>> by_fit;
  for (const InstalledLibrary* library : code.libraries)
    by_fit[binaries::judge_binary(library->facts, gpu, judged.machine)].push_back(library);
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
      driver
          ? fmt::format("for the {} it has only PTX, from a newer CUDA than the driver can compile",
                        render_gpu(gpu))
          : fmt::format("none of its libraries has code that the {} runs", render_gpu(gpu)));
  if (elsewhere && judged.gpus.rule != providers::GpuRule::any)
    finding.level = FindingLevel::warning;
  finding.evidence = evidence_of(code.libraries, code.vendor);
  const detect::Driver* installed = detect::find_driver(judged.machine, code.vendor);
  if (installed != nullptr && driver)
    finding.evidence.push_back(
        {"", "", fmt::format("the driver runs CUDA up to {}", installed->api_version)});
  finding.hint =
      driver ? Hint(update_nvidia_driver(judged.machine, {})) : another_build(*code.package, files);
}

void check_package_code(const PackageCode& code, const JudgedMachine& judged,
                        const InstalledFiles& files, Findings& findings) {
  const auto gpus = judged.counted(code.vendor);
  std::vector<const Gpu*> unlike;
  for (const Gpu* gpu : gpus) {
    if (std::ranges::find(unlike, gpu->arch, &Gpu::arch) == unlike.end()) unlike.push_back(gpu);
  }
  const auto runs_on = [&](const Gpu* gpu) {
    return std::ranges::any_of(code.libraries, [&](const InstalledLibrary* library) {
      return binaries::judge_binary(library->facts, *gpu, judged.machine) == CodeFit::runs;
    });
  };
  const bool somewhere = std::ranges::any_of(unlike, runs_on);
  for (const Gpu* gpu : unlike) check_on_gpu(code, *gpu, somewhere, judged, files, findings);
}

/// Kernels that the driver cannot decompress fail when they are launched, whatever else runs.
void check_packing(const PackageCode& code, const JudgedMachine& judged, Findings& findings) {
  const auto gpus = judged.counted(GpuVendor::nvidia);
  const auto packed = [&](const InstalledLibrary* library) {
    return std::ranges::any_of(library->facts.cuda.groups, [&](const binaries::CudaGroup& group) {
      return std::ranges::any_of(gpus, [&](const Gpu* gpu) {
        return binaries::needs_unpacking_driver(group, *gpu, judged.machine);
      });
    });
  };
  std::vector<const InstalledLibrary*> libraries;
  std::ranges::copy_if(code.libraries, std::back_inserter(libraries), packed);
  const detect::Driver* driver = detect::find_driver(judged.machine, GpuVendor::nvidia);
  if (libraries.empty() || driver == nullptr) return;
  Finding& finding = findings.add(
      "gpu-code-packed", code.package->title,
      fmt::format(
          "{} of its libraries have GPU code compressed with zstd, which needs a driver for CUDA "
          "{}, but this one runs CUDA up to {}: \"device kernel image is invalid\"",
          libraries.size(), cuda_with_zstd, driver->api_version));
  finding.evidence = evidence_of(libraries, GpuVendor::nvidia);
  finding.hint = update_nvidia_driver(
      judged.machine, detect::first_driver_of_cuda(cuda_with_zstd, judged.machine.os.system));
}

using CodeByPackage = std::map<std::size_t, PackageCode>;

/// Libraries for another CPU architecture are reported as such, whatever they contain.
CodeByPackage code_of(const InstalledFiles& files, GpuVendor vendor, const JudgedMachine& judged) {
  CodeByPackage packages;
  for (const InstalledLibrary& library : files.libraries) {
    if (!binaries::has_code_for(library.facts, vendor) || is_foreign(library, judged.machine))
      continue;
    PackageCode& code = packages[library.package];
    code.package = &files.packages[library.package];
    code.vendor = vendor;
    code.libraries.push_back(&library);
  }
  return packages;
}

/// Builds without the code, and the packages that were only installed for the old ones.
Hint without_gpu(const std::vector<const PackageCode*>& unused, const InstalledFiles& files) {
  Packages packages;
  for (const PackageCode* code : unused) packages.push_back(code->package);
  Hint hint = other_builds(packages, files);
  return hint.empty() ? another_build(*packages.front(), files) : hint;
}

/// `universal`: packages with code for several vendors, one library per backend. An unused part of
/// them is not a wrong choice.
void say_unused(const CodeByPackage& packages, const std::set<std::size_t>& universal,
                GpuVendor vendor, const JudgedMachine& judged, const InstalledFiles& files,
                Findings& findings) {
  std::vector<const PackageCode*> unused;
  for (const auto& [index, code] : packages) {
    if (!universal.contains(index)) unused.push_back(&code);
  }
  if (unused.empty()) return;
  std::vector<std::string> titles;
  for (const PackageCode* code : unused) titles.push_back(code->package->title);
  const std::size_t shown = std::min(titles.size(), most_examples);
  const Fact reason = providers::why_no_gpu(judged.machine, vendor, judged.gpus);
  Finding& finding = findings.add(
      "gpu-build-without-gpu",
      fmt::format(
          "{}{}",
          fmt::join(titles.begin(), titles.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
          titles.size() > shown ? fmt::format(" and {} more", titles.size() - shown) : ""),
      fmt::format("code for {} GPUs is not used: {}", detect::gpu_vendor(vendor).title,
                  render_fact(reason)));
  finding.facts = {reason};
  finding.evidence = evidence_of(unused.front()->libraries, vendor);
  const auto built = std::ranges::find_if(
      unused, [](const PackageCode* code) { return code->package->has_builds(); });
  // A package whose only build contains everything just uses space.
  if (built == unused.end()) {
    finding.level = FindingLevel::info;
  } else {
    finding.hint = without_gpu(unused, files);
  }
}

}  // namespace

void check_gpu_code(const InstalledFiles& files, const JudgedMachine& judged, Findings& findings) {
  std::map<GpuVendor, CodeByPackage> by_vendor;
  std::map<std::size_t, std::size_t> vendors_of;
  for (const detect::GpuVendorRow& row : detect::gpu_vendors()) {
    const GpuVendor vendor = row.vendor;
    by_vendor[vendor] = code_of(files, vendor, judged);
    for (const auto& [index, code] : by_vendor[vendor]) ++vendors_of[index];
  }
  std::set<std::size_t> universal;
  for (const auto& [index, count] : vendors_of) {
    if (count > 1) universal.insert(index);
  }
  for (const auto& [vendor, packages] : by_vendor) {
    if (judged.counted(vendor).empty()) {
      say_unused(packages, universal, vendor, judged, files, findings);
      continue;
    }
    for (const auto& [index, code] : packages) {
      check_package_code(code, judged, files, findings);
      if (vendor == GpuVendor::nvidia) check_packing(code, judged, findings);
    }
  }
}

}  // namespace axle::doctor
