// CPU architecture and levels of the installed libraries, and the driver that their CUDA needs.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "detect/nvidia/cuda_drivers.h"
#include "doctor/environment_checks.h"
#include "doctor/fixes.h"
#include "doctor/machine_checks.h"
#include "providers/gpu_state.h"

namespace axle::doctor {

namespace {

using detect::GpuVendor;
using detect::Machine;

/// A package that also contains libraries for this architecture selects among them itself; of one
/// whose wheel is for another platform that has been said.
void check_architecture(const InstalledFiles& files, const Machine& machine, Findings& findings) {
  std::set<std::size_t> native;
  std::map<std::size_t, const InstalledLibrary*> foreign;  // package -> one of its libraries
  for (const InstalledLibrary& library : files.libraries) {
    if (is_foreign(library, machine)) {
      foreign.emplace(library.package, &library);
    } else if (library.facts.architecture == detect::render_arch(machine.cpu.arch)) {
      native.insert(library.package);
    }
  }
  std::erase_if(foreign, [&](const auto& one) {
    return native.contains(one.first) || files.packages[one.first].foreign_wheel;
  });
  if (foreign.empty()) return;
  const InstalledPackageFiles& first = files.packages[foreign.begin()->first];
  Finding& finding = findings.add(
      "wrong-architecture",
      foreign.size() == 1 ? first.title
                          : fmt::format("{} and {} more", first.title, foreign.size() - 1),
      fmt::format("the libraries are for {}, this machine is {}",
                  foreign.begin()->second->facts.architecture,
                  detect::render_arch(machine.cpu.arch)));
  for (const auto& [package, library] : foreign) {
    if (finding.evidence.size() == most_examples) break;
    finding.evidence.push_back({library->name, "ELF header", library->facts.architecture});
  }
  Packages again;
  for (const auto& [package, library] : foreign) again.push_back(&files.packages[package]);
  finding.hint = native.empty()
                     ? Hint("create the environment again on that machine, with its own Python")
                     : reinstall(again, files);
}

/// The first capability of "x86-64-vN" whose presence is `is`; nullptr: none.
const detect::CapabilityRow* first_of_level(std::string_view level, const Machine& machine,
                                            bool (*is)(detect::Presence)) {
  const auto highest = static_cast<unsigned>(level.back() - '0');
  for (unsigned one = 1; one <= highest; ++one) {
    for (const detect::Capability capability : detect::x86_64_level(one)) {
      if (is(machine.cpu.capabilities.of(capability))) return &detect::row(capability);
    }
  }
  return nullptr;
}

void check_levels(const InstalledFiles& files, const Machine& machine, Findings& findings) {
  if (machine.cpu.arch != detect::Arch::x86_64) return;
  std::set<std::size_t> told;
  std::map<std::string, std::string> open;  // level -> a library that needs it
  for (const InstalledLibrary& library : files.libraries) {
    // Libraries in these folders are alternatives that the loader chooses from.
    if (library.facts.isa.needed.empty() || library.name.contains("glibc-hwcaps/")) continue;
    const std::string& level = library.facts.isa.needed.back();
    const detect::CapabilityRow* row = first_of_level(level, machine, lacks);
    if (row == nullptr && first_of_level(level, machine, is_unknown) != nullptr)
      open.emplace(level, library.name);
    if (row == nullptr || !told.insert(library.package).second) continue;
    const InstalledPackageFiles& package = files.packages[library.package];
    Finding& finding =
        findings.add("cpu-level-missing", package.title,
                     fmt::format("the loader will refuse it: it needs {}, but the CPU lacks {}",
                                 level, row->name));
    finding.evidence.push_back(
        {library.name, ".note.gnu.property", fmt::format("needs {}", level)});
    finding.hint = build_for_older_cpu(package, files);
  }
  for (const auto& [level, library] : open)
    findings.not_looked_at(fmt::format(
        "whether this CPU has {}, which {} needs: some of it is unknown", level, library));
}

/// The major version of the CUDA runtime that a library is or needs: "libcudart.so.12",
/// "libcudart-9335f6a2.so.12.4.127".
std::optional<std::uint64_t> cudart_major(std::string_view soname) {
  constexpr std::string_view middle = ".so.";
  const std::size_t at = soname.find(middle);
  if (!soname.starts_with("libcudart") || at == std::string_view::npos) return std::nullopt;
  const std::string_view number = soname.substr(at + middle.size());
  std::uint64_t major = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), major);
  return parsed.ec == std::errc() ? std::optional(major) : std::nullopt;
}

/// Package -> the oldest runtime that its libraries are or need: one with a library for each of
/// several CUDA versions selects among them itself.
std::map<std::size_t, std::pair<std::uint64_t, std::string>> runtimes_of(
    const InstalledFiles& files) {
  std::map<std::size_t, std::pair<std::uint64_t, std::string>> runtimes;
  for (const InstalledLibrary& library : files.libraries) {
    std::vector<std::string> names = library.facts.needed;
    names.push_back(library.facts.soname);
    for (const std::string& name : names) {
      const auto major = cudart_major(name);
      if (!major) continue;
      const auto [at, fresh] =
          runtimes.try_emplace(library.package, *major, library.name + ": " + name);
      if (!fresh && *major < at->second.first) at->second = {*major, library.name + ": " + name};
    }
  }
  for (std::size_t i = 0; i < files.packages.size(); ++i) {
    const auto& distribution = files.packages[i].distribution;
    const auto& release = distribution.metadata.version.release;
    if (distribution.name.starts_with("nvidia-cuda-runtime") && !release.empty())
      runtimes.try_emplace(i, release[0], files.packages[i].title);
  }
  return runtimes;
}

/// Within one major version of CUDA every driver is sufficient (CUDA compatibility, "Minor Version
/// Compatibility"), since 11.
void check_driver_floor(const InstalledFiles& files, const Machine& machine, Findings& findings) {
  const detect::Driver* driver = detect::find_driver(machine, GpuVendor::nvidia);
  const auto runs =
      driver == nullptr ? std::nullopt : providers::parse_major_minor(driver->api_version);
  if (!runs) return;
  const auto runtimes = runtimes_of(files);
  const auto unused = left_behind(files, JudgedMachine{machine});
  std::map<std::uint64_t, std::vector<std::size_t>> beyond;  // CUDA's major version -> packages
  for (const auto& [package, runtime] : runtimes) {
    if (std::ranges::find(unused, &files.packages[package]) != unused.end()) continue;
    if (runtime.first >= 11 && runtime.first > runs->first)
      beyond[runtime.first].push_back(package);
  }
  for (const auto& [major, needers] : beyond) {
    const std::string_view floor =
        detect::first_driver_of_cuda(fmt::format("{}.0", major), machine.os.system);
    const std::string& first = files.packages[needers.front()].title;
    Finding& finding = findings.add(
        "cuda-driver-floor",
        needers.size() == 1 ? first : fmt::format("{} and {} more", first, needers.size() - 1),
        fmt::format("CUDA {} needs the NVIDIA driver {} or newer, but this one runs CUDA up to {}",
                    major, floor.empty() ? "of its own release" : floor, driver->api_version));
    for (const std::size_t package : needers) {
      if (finding.evidence.size() == most_examples) break;
      finding.evidence.push_back({"", "", runtimes.at(package).second});
    }
    const std::string& version =
        driver->kernel_version.empty() ? driver->library_version : driver->kernel_version;
    if (!version.empty()) finding.evidence.push_back({"", "", fmt::format("driver {}", version)});
    finding.hint = update_nvidia_driver(machine, floor);
    Packages packages;
    for (const std::size_t package : needers) packages.push_back(&files.packages[package]);
    if (Hint builds = other_builds(packages, files); !builds.empty()) {
      finding.hint.words += "; or install builds that this driver runs";
      finding.hint.commands = std::move(builds.commands);
    }
  }
}

}  // namespace

bool is_foreign(const InstalledLibrary& library, const Machine& machine) {
  const std::string& is = library.facts.architecture;
  return (is == "x86_64" || is == "aarch64") && machine.cpu.arch != detect::Arch::other &&
         is != detect::render_arch(machine.cpu.arch);
}

void check_code(const InstalledFiles& files, const JudgedMachine& judged, Findings& findings) {
  const Machine& machine = judged.machine;
  check_architecture(files, machine, findings);
  check_levels(files, machine, findings);
  check_driver_floor(files, machine, findings);
  check_gpu_code(files, judged, findings);
}

}  // namespace axle::doctor
