#include "cli/session.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cli/variables.h"
#include "detect/probe.h"

namespace axle::cli {

namespace {

/// conda's word on which CUDA version the driver runs; where there is no driver it cannot make one.
void override_cuda(detect::Machine& machine, Report& report) {
  const std::string version = variable("CONDA_OVERRIDE_CUDA");
  if (version.empty()) return;
  const auto driver =
      std::ranges::find(machine.drivers, detect::GpuVendor::nvidia, &detect::Driver::vendor);
  const bool sound = version.find_first_not_of("0123456789.") == std::string::npos &&
                     version.find('.') != std::string::npos;
  if (driver == machine.drivers.end() || !sound) {
    report.warn(
        fmt::format("CONDA_OVERRIDE_CUDA={} is ignored: {}", version,
                    sound ? "there is no NVIDIA driver here" : "it is no version like 12.8"),
        "another machine is named with --for");
    return;
  }
  driver->api_version = version;
  driver->api_source = "CONDA_OVERRIDE_CUDA";
}

}  // namespace

Outcome<providers::GpuPolicy> Session::gpu_policy() const {
  const bool option = arguments_.has(Opt::gpu_policy);
  const std::string text = option ? arguments_.value(Opt::gpu_policy) : variable("AXLE_GPU_POLICY");
  if (!option && text.empty()) return providers::GpuPolicy{};
  if (const auto policy = providers::parse_gpu_policy(text)) return *policy;
  return misused(fmt::format("{}{}: there is no such policy",
                             option ? "--gpu-policy " : "AXLE_GPU_POLICY=", text),
                 "all, any, first, or device= and numbers, PCI addresses or names");
}

Outcome<std::vector<machines::NamedMachine>> Session::machines() {
  const auto policy = gpu_policy();
  if (!policy) return std::unexpected(policy.error());
  auto found = find_machines();
  if (!found) return found;
  for (const machines::NamedMachine& machine : *found) {
    const auto unknown = providers::unknown_devices(machine.machine, *policy);
    if (unknown.empty()) continue;
    return misused(
        fmt::format("--gpu-policy {}: {} has no GPU {}", providers::render_gpu_policy(*policy),
                    machine.name, fmt::join(unknown, ", ")),
        "`variant detect` lists them, each vendor's from 0 on");
  }
  return found;
}

Outcome<std::vector<machines::NamedMachine>> Session::find_machines() {
  std::vector<machines::NamedMachine> found;
  if (!elsewhere()) {
    const auto host = detect::make_real_host();
    found.push_back({"this machine", detect::probe_machine(*host)});
    override_cuda(found.back().machine, output_);
    return found;
  }
  for (const std::string& what : arguments_.values(Opt::for_machine)) {
    auto selected = machines::select_machines(what, output_);
    if (!selected) {
      Failure failure{selected.error()};
      if (failure.error.kind == ErrorKind::not_found) {
        failure.exit_code = exit_usage;
        failure.usage = true;
      }
      return std::unexpected(failure);
    }
    for (machines::NamedMachine& machine : *selected) found.push_back(std::move(machine));
  }
  if (found.empty()) return misused("--for names no machine");
  return found;
}

Outcome<machines::NamedMachine> Session::machine() {
  auto found = machines();
  if (!found) return std::unexpected(found.error());
  if (found->size() != 1) {
    return misused(fmt::format("this command takes one machine, --for names {}", found->size()),
                   "`variant resolve` and `variant explain` take several");
  }
  return std::move(found->front());
}

std::string Session::cache_folder() const {
  if (arguments_.has(Opt::no_cache)) return {};
  const std::string folder = named_cache_folder();
  std::error_code error;
  return folder.empty() ? folder : std::filesystem::absolute(folder, error).string();
}

std::string Session::named_cache_folder() const {
  if (arguments_.has(Opt::cache_dir)) return arguments_.value(Opt::cache_dir);
  if (std::string folder = variable("AXLE_CACHE_DIR"); !folder.empty()) return folder;
  if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/axle";
  const std::string home = variable("HOME");
  return home.empty() ? std::string() : home + "/.cache/axle";
}

}  // namespace axle::cli
