// A package, a tree or an image against one machine of --for.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "binaries/gpu_code_match.h"
#include "detect/gpu_vendors.h"
#include "doctor/audit/audit_checks.h"
#include "doctor/audit/floors.h"
#include "doctor/environment_checks.h"

namespace axle::doctor {
namespace {

using binaries::CodeFit;
using detect::Gpu;
using detect::GpuVendor;

std::string describe_gpu(const Gpu& gpu) {
  const std::string name =
      gpu.name.empty() ? fmt::format("{} GPU", detect::gpu_vendor(gpu.vendor).title) : gpu.name;
  return gpu.arch.empty() ? name : fmt::format("{} ({})", name, gpu.arch);
}

/// One audited thing and one machine.
class MachineCheck {
 public:
  MachineCheck(const Audited& audited, const std::string& name, const JudgedMachine& judged,
               Findings& findings)
      : audited_(audited), name_(name), judged_(judged), findings_(findings) {}

  void run() {
    // Most wheels have no libraries; an image of scripts has no code for a GPU either.
    if (audited_.libraries.empty() && audited_.kind != AuditedKind::image) return;
    check_architecture();
    check_libc();
    check_cpu();
    for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) check_gpus(vendor.vendor);
  }

 private:
  Finding& add(std::string_view code, const std::string& message) {
    return findings_.add(code, audited_.title, fmt::format("{}: {}", name_, message));
  }

  void check_architecture() {
    const std::string wanted(detect::render_arch(judged_.machine.cpu.arch));
    if (judged_.machine.cpu.arch == detect::Arch::other || audited_.libraries.empty()) return;
    native_ = std::ranges::any_of(audited_.libraries, [&](const AuditedLibrary& one) {
      return one.facts.architecture == wanted;
    });
    if (native_) return;
    if (is_assumed(judged_.machine.cpu.sources, "arch")) {
      const std::string architecture = main_architecture(audited_);
      say_unstated(fmt::format("the libraries are for {}, and which CPU it has", architecture),
                   architecture);
      return;
    }
    add("machine-cpu", fmt::format("the libraries are for {}, its CPU is {}",
                                   main_architecture(audited_), wanted));
  }

  static bool is_assumed(const detect::Sources& sources, std::string_view fact) {
    const auto source = sources.find(fact);
    return source != sources.end() && source->second == detect::assumed;
  }

  /// `fact`: an example, in the words of --for.
  Finding& say_unstated(std::string_view what, std::string_view fact) {
    Finding& finding = add("machine-unstated", fmt::format("{} was not stated", what));
    finding.hint = fmt::format("state it in --for, such as '{};{}'", name_, fact);
    return finding;
  }

  [[nodiscard]] bool is_driver_assumed(GpuVendor vendor) const {
    const detect::Driver* driver = detect::find_driver(judged_.machine, vendor);
    return driver != nullptr && driver->api_source == detect::assumed;
  }

  Finding& say_unstated_driver(const Gpu& gpu, std::string_view code) {
    return say_unstated(fmt::format("{} the {}, and which driver it has", code, describe_gpu(gpu)),
                        fmt::format("{}:driver=580.65.06", detect::render_vendor(gpu.vendor)));
  }

  /// An image brings a C library of its own.
  void check_libc() {
    const detect::Libc& libc = judged_.machine.libc;
    if (audited_.kind == AuditedKind::image || !native_) return;
    const SystemFloor floor = system_floor(audited_);
    if (libc.family == "musl" && floor.glibc) return say_other_libc("musl", "glibc");
    if (libc.family != "glibc") return;
    if (floor.musl && !floor.glibc) return say_other_libc("glibc", "musl");
    if (libc.major != 2 || libc.minor >= floor.glibc_minor) return;
    Finding& finding =
        is_assumed(libc.sources, "version")
            ? say_unstated(fmt::format("{} needs glibc 2.{}, and which one it has",
                                       floor.reason.file, floor.glibc_minor),
                           fmt::format("libc:glibc=2.{}", floor.glibc_minor))
            : add("machine-libc", fmt::format("it has glibc 2.{}, and {} needs 2.{}", libc.minor,
                                              floor.reason.file, floor.glibc_minor));
    add_evidence(finding, floor.reason.file, "",
                 floor.reason.version.empty() ? floor.reason.library : floor.reason.version);
  }

  void say_other_libc(std::string_view has, std::string_view needs) {
    const bool unstated = is_assumed(judged_.machine.libc.sources, "family");
    Finding& finding = unstated ? say_unstated({}, "libc:musl=1.2") : add("machine-libc", {});
    for (const AuditedLibrary& library : audited_.libraries) {
      for (const std::string& needed : library.facts.needed) {
        if (libc_of_library(needed) == needs)
          add_evidence(finding, library.path, "DT_NEEDED", needed);
      }
    }
    const std::string first =
        finding.evidence.empty() ? "a library" : finding.evidence.front().file;
    finding.message =
        unstated ? fmt::format("{}: {} needs {}, and which C library it has was not stated", name_,
                               first, needs)
                 : fmt::format("{}: it has {}, and {} needs {}", name_, has, first, needs);
  }

  void check_cpu() {
    if (!native_) return;
    std::vector<Evidence> evidence;
    for (const AuditedLibrary& library : audited_.libraries) {
      if (!library.code || library.is_dispatched() || library.arch() != judged_.machine.cpu.arch)
        continue;
      for (const auto& [capability, count] : library.code->counts) {
        if (!lacks(judged_.machine.cpu.capabilities.of(capability))) continue;
        evidence.push_back(
            {library.path, ".text",
             fmt::format("{} ({})", detect::plain_name(detect::row(capability)), count)});
      }
    }
    if (evidence.empty()) return;
    Finding& finding =
        add("machine-cpu", fmt::format("{} needs instructions that its CPU lacks, and never checks "
                                       "the CPU",
                                       evidence.front().file));
    // Programs and libraries of an image that nobody starts there are no reason to fail.
    if (audited_.kind == AuditedKind::image) finding.level = FindingLevel::warning;
    for (Evidence& one : evidence)
      add_evidence(finding, one.file, one.section, std::move(one.fact));
  }

  void check_gpus(GpuVendor vendor) {
    std::vector<const Gpu*> unlike;
    for (const Gpu* gpu : judged_.counted(vendor)) {
      if (std::ranges::find(unlike, gpu->arch, &Gpu::arch) == unlike.end()) unlike.push_back(gpu);
    }
    std::vector<const AuditedLibrary*> holders;
    for (const AuditedLibrary& library : audited_.libraries) {
      if (binaries::has_code_for(library.facts, vendor)) holders.push_back(&library);
    }
    if (unlike.empty()) return;
    if (holders.empty()) {
      const auto unread = std::ranges::find_if(
          audited_.libraries, [](const AuditedLibrary& one) { return !one.facts.unread.empty(); });
      const bool damaged = std::ranges::any_of(audited_.unread, &UnreadLibrary::damaged);
      if (unread == audited_.libraries.end() && (damaged || !audited_.faults.empty())) {
        add("machine-gpu-unknown",
            fmt::format("it is unknown whether there is code for the {}: not all of it can be read",
                        describe_gpu(*unlike.front())));
      } else if (unread != audited_.libraries.end()) {
        Finding& finding =
            add("machine-gpu-unknown", fmt::format("it is unknown whether there is code for the {}",
                                                   describe_gpu(*unlike.front())));
        add_evidence(finding, unread->path, unread->facts.unread.front().section,
                     unread->facts.unread.front().why);
      } else if (says_cpu_only()) {
        add("machine-cpu-only", fmt::format("this {} is CPU only: it has no code for the {}",
                                            audited_.kind == AuditedKind::image ? "image" : "build",
                                            describe_gpu(*unlike.front())));
      }
      return;
    }
    for (const Gpu* gpu : unlike) check_gpu(*gpu, holders);
  }

  /// Most wheels have nothing to do with GPUs; an image is meant for its machines.
  [[nodiscard]] bool says_cpu_only() const {
    if (audited_.kind == AuditedKind::image) return true;
    return std::ranges::any_of(audited_.libraries, [](const AuditedLibrary& library) {
      return library.facts.has_gpu_code();
    });
  }

  void check_gpu(const Gpu& gpu, const std::vector<const AuditedLibrary*>& holders) {
    auto best = CodeFit::absent;
    for (const AuditedLibrary* library : holders)
      best = std::min(best, binaries::judge_binary(library->facts, gpu, judged_.machine));
    if (best == CodeFit::runs) return check_packing(gpu, holders);
    const bool driver = best == CodeFit::needs_newer_driver;
    const bool unknown = best == CodeFit::unknown;
    if (driver && is_driver_assumed(gpu.vendor)) {
      say_code(say_unstated_driver(gpu, "there is only PTX of a newer CUDA for"), gpu.vendor,
               holders);
      return;
    }
    Finding& finding = add(
        driver    ? "machine-driver"
        : unknown ? "machine-gpu-unknown"
                  : "machine-gpu-code",
        driver    ? fmt::format("only PTX for the {}, of a newer CUDA than its driver's",
                                describe_gpu(gpu))
        : unknown ? fmt::format("it is unknown whether there is code for the {}", describe_gpu(gpu))
                  : fmt::format("no code for {}", name_of(gpu)));
    say_code(finding, gpu.vendor, holders);
  }

  void check_packing(const Gpu& gpu, const std::vector<const AuditedLibrary*>& holders) {
    for (const AuditedLibrary* library : holders) {
      for (const binaries::CudaGroup& group : library->facts.cuda.groups) {
        if (!binaries::needs_unpacking_driver(group, gpu, judged_.machine)) continue;
        Finding& finding =
            is_driver_assumed(gpu.vendor)
                ? say_unstated_driver(gpu, "older drivers cannot decompress the code for")
                : add("machine-driver", fmt::format("its driver cannot decompress the code for the "
                                                    "{}",
                                                    describe_gpu(gpu)));
        add_evidence(finding, library->path, ".nv_fatbin", "compressed with zstd");
        return;
      }
    }
  }

  /// "sm_120 (NVIDIA GeForce RTX 5090)"
  static std::string name_of(const Gpu& gpu) {
    const std::string code = binaries::wanted_code_name(gpu);
    if (code.empty()) return "the " + describe_gpu(gpu);
    return gpu.name.empty() ? code : fmt::format("{} ({})", code, gpu.name);
  }

  void say_code(Finding& finding, GpuVendor vendor,
                const std::vector<const AuditedLibrary*>& holders) {
    std::set<std::string> all;
    for (const AuditedLibrary* library : holders) {
      const auto names = binaries::code_names(library->facts, vendor);
      all.insert(names.begin(), names.end());
      add_evidence(finding, library->path, binaries::gpu_code_section(vendor),
                   fmt::format("{}", fmt::join(names, " ")));
    }
    if (!all.empty()) finding.message += fmt::format("; there is {}", fmt::join(all, " "));
  }

  const Audited& audited_;
  const std::string& name_;
  const JudgedMachine& judged_;
  Findings& findings_;
  bool native_ = true;
};

}  // namespace

void check_on_machine(const Audited& audited, const std::string& name, const JudgedMachine& machine,
                      Findings& findings) {
  MachineCheck(audited, name, machine, findings).run();
}

}  // namespace axle::doctor
