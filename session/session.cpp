#include "session/session.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "machines/overrides.h"
#include "session/sole_owner.h"
#include "session/target/stated_platform.h"
#include "session/this_machine.h"
#include "session/variables.h"
#include "wheel/system_platform.h"

namespace axle::session {

namespace {

/// The facts that the variables of the published providers, uv and conda state.
std::vector<machines::Override> read_overrides() {
  std::vector<machines::Override> overrides;
  for (const machines::OverrideVariable& row : machines::override_variables()) {
    if (std::string value = variable(row.name); !value.empty())
      overrides.push_back({std::string(row.name), std::move(value)});
  }
  return overrides;
}

}  // namespace

Outcome<providers::GpuPolicy> Session::gpu_policy() const {
  const bool option = arguments_.has(Opt::gpu_policy);
  const std::string text = option ? arguments_.value(Opt::gpu_policy) : variable("AXLE_GPU_POLICY");
  if (!option && text.empty()) return providers::GpuPolicy{};
  const std::string_view set_by = option ? "--gpu-policy " : "AXLE_GPU_POLICY=";
  if (auto policy = providers::parse_gpu_policy(text)) {
    policy->set_by = set_by;
    return *std::move(policy);
  }
  return misused(fmt::format("{}{} is not a valid policy", set_by, text),
                 "use all, any, first, or device= with numbers, PCI addresses or names");
}

Outcome<std::vector<machines::NamedMachine>> Session::machines() {
  const auto policy = gpu_policy();
  if (!policy) return std::unexpected(policy.error());
  auto found = find_machines();
  if (!found) return found;
  for (const machines::NamedMachine& machine : *found) {
    const auto unknown = providers::unknown_devices(machine.machine, *policy);
    for (const auto& [device, why] : providers::idle_devices(machine.machine, *policy)) {
      report_.warn(fmt::format("{} names GPU {} of {}, which is ignored: {}",
                               policy->set_by.substr(0, policy->set_by.size() - 1), device,
                               machine.name, render_fact(why)));
    }
    if (unknown.empty()) continue;
    return misused(
        fmt::format("{}{}: {} has no GPU {}", policy->set_by, providers::render_gpu_policy(*policy),
                    machine.name, fmt::join(unknown, ", ")),
        "`variant detect` lists them; the GPUs of each vendor are numbered from 0");
  }
  return found;
}

Outcome<machines::NamedMachine> Session::find_this_machine() {
  std::vector<machines::Override> overrides = read_overrides();
  machines::NamedMachine here{"this machine", {}};
  if (arguments_.has(Opt::profile) || arguments_.has(Opt::why)) {
    here = record_this_machine(arguments_.has(Opt::profile), report_);
  } else {
    here.machine = probe_this_machine(cache_folder(), machines::stated_vendors(overrides), report_);
  }
  const auto applied = machines::apply_overrides(here.machine, overrides, report_);
  if (!applied) return misused(applied.error().message, applied.error().hint);
  here.overrides = std::move(overrides);
  return here;
}

Outcome<std::vector<machines::NamedMachine>> Session::find_machines() {
  std::vector<machines::NamedMachine> found;
  if (!elsewhere()) {
    auto here = find_this_machine();
    if (!here) return std::unexpected(here.error());
    found.push_back(*std::move(here));
    return found;
  }
  if (selected_.empty()) {
    if (const auto read = select_elsewhere(true); !read) return std::unexpected(read.error());
  }
  found.swap(selected_);
  return found;
}

Outcome<void> Session::select_elsewhere(bool several) {
  if (!elsewhere()) return {};
  const auto platform = read_stated_platform(arguments_);
  if (!platform) return std::unexpected(platform.error());
  const machines::PlatformFacts* stated = *platform ? &(*platform)->facts : nullptr;
  for (const std::string& what : arguments_.values(Opt::for_machine)) {
    auto read = machines::select_machines(what, report_, stated);
    if (read) {
      std::ranges::move(*read, std::back_inserter(selected_));
      continue;
    }
    const Error& error = read.error();
    if (error.kind == ErrorKind::conflict && stated != nullptr)
      return misused(fmt::format("{}: {}", (*platform)->origin, error.message), error.hint);
    if (error.kind == ErrorKind::not_found) return misused(error.message, error.hint);
    return failed(error);
  }
  if (stated != nullptr && !arguments_.has(Opt::for_machine)) {
    machines::NamedMachine machine{(*platform)->name, {}};
    if (const auto done = machines::state_platform(machine.machine, machine.name, *stated); !done)
      return failed(done.error());
    machines::complete_machine(machine.machine, machine.name, report_);
    selected_.push_back(std::move(machine));
  }
  if (selected_.empty()) return misused("--for has no value");
  for_another_system_ = std::ranges::any_of(selected_, [](const machines::NamedMachine& one) {
    return one.machine.os.system != wheel::linux_system;
  });
  if (several || selected_.size() == 1) return {};
  return misused(
      fmt::format("this command takes one machine, but --for names {}", selected_.size()),
      "audit, bundle, download, explain, index lint, mirror and resolve take several");
}

Outcome<machines::NamedMachine> Session::machine() {
  auto found = machines();
  if (!found) return std::unexpected(found.error());
  return std::move(found->front());
}

std::string Session::cache_folder() const {
  if (arguments_.has(Opt::no_cache)) return {};
  std::string folder = cache_place();
  if (folder.empty()) return folder;
  // Checked once per process: there is one cache, and the warning should appear once.
  static const auto own = own_folder(folder);
  // A cache that cannot be created or written is no error here; an installation reports it.
  if (own || own.error().kind == ErrorKind::io) return folder;
  static const bool said = [&] {
    report_.warn(fmt::format("the cache {} is not used: {}", folder, own.error().message),
                 "choose your own cache with --cache-dir, or use --no-cache");
    return true;
  }();
  return said ? std::string() : folder;
}

std::string Session::cache_place() const {
  const auto named = [&]() -> std::string {
    if (arguments_.has(Opt::cache_dir)) return arguments_.value(Opt::cache_dir);
    if (std::string folder = variable("AXLE_CACHE_DIR"); !folder.empty()) return folder;
    if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/axle";
    const std::string home = variable("HOME");
    return home.empty() ? std::string() : home + "/.cache/axle";
  };
  const std::string folder = named();
  std::error_code error;
  return folder.empty() ? folder : std::filesystem::absolute(folder, error).string();
}

}  // namespace axle::session
