#include "providers/gpu_state.h"

#include <algorithm>
#include <utility>

#include "detect/gpu_vendors.h"

namespace axle::providers {

using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;
using detect::Presence;

namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool last = i + 1 == words.size();
    if (i > 0) text += last ? " and " : ", ";
    text += words[i];
  }
  return text;
}

/// Those that work, and that the policy leaves out.
std::vector<const Gpu*> left_out(const Machine& machine, GpuVendor vendor,
                                 const GpuPolicy& policy) {
  std::vector<const Gpu*> gpus = counted_gpus(machine, vendor, GpuPolicy{GpuRule::any, {}});
  for (const Gpu* counted : counted_gpus(machine, vendor, policy)) std::erase(gpus, counted);
  return gpus;
}

std::string describe_left_out(const Machine& machine, GpuVendor vendor, const GpuPolicy& policy) {
  const std::vector<const Gpu*> gpus = left_out(machine, vendor, policy);
  if (gpus.empty()) return {};
  std::vector<std::string> names;
  for (const Gpu* gpu : gpus) {
    std::string name = gpu->name.empty() ? gpu->arch : gpu->name;
    if (!name.empty() && std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  }
  const bool integrated =
      std::ranges::all_of(gpus, [](const Gpu* gpu) { return is_integrated(*gpu); });
  const bool by_default = policy.rule == GpuRule::all && integrated;
  std::string text = by_default ? " (the integrated unit beside it" : " (not counted";
  if (!names.empty()) text += (by_default ? ", " : ": ") + join(names);
  if (by_default) return text + ", does not count)";
  return text + ", by " + std::string(policy.set_by) + render_gpu_policy(policy) + ")";
}

}  // namespace

std::string describe_no_gpu(const Machine& machine, GpuVendor vendor, const GpuPolicy& policy) {
  const std::string title(detect::gpu_vendor(vendor).title);
  if (!left_out(machine, vendor, policy).empty()) {
    return title + " GPU present but not counted by " + std::string(policy.set_by) +
           render_gpu_policy(policy);
  }
  const Gpu* broken = nullptr;
  bool masked = false;
  for (const Gpu& gpu : machine.gpus) {
    if (gpu.vendor != vendor) continue;
    if (gpu.masked && gpu.usable == Presence::present) {
      masked = true;
    } else if (broken == nullptr || broken->usable == Presence::unknown) {
      broken = &gpu;
    }
  }
  if (masked) return title + " GPU present but hidden from programs by a device mask";
  if (broken == nullptr) return "no " + title + " GPU";
  if (broken->usable == Presence::unknown) {
    return "it is not known whether the " + title + " GPU is usable";
  }
  const detect::Driver* driver = detect::find_driver(machine, vendor);
  std::string reason = broken->reason;
  if (reason.empty() && driver != nullptr) reason = driver->reason;
  if (reason.empty()) reason = "the driver does not work";
  return title + " GPU present but not usable: " + reason;
}

std::string describe_gpus(const Machine& machine, GpuVendor vendor, const GpuPolicy& policy,
                          const std::vector<std::string>& archs, std::string_view one,
                          std::string_view several) {
  std::vector<std::string> unlike;
  for (const std::string& arch : archs) {
    if (std::ranges::find(unlike, arch) == unlike.end()) unlike.push_back(arch);
  }
  const bool plural = unlike.size() > 1;
  std::string text = plural ? "the GPUs" : "the GPU";
  if (plural)
    text += policy.rule == GpuRule::any ? ", of which one is enough," : ", which all count,";
  text += " " + std::string(plural ? several : one) + " " + join(unlike);
  return text + describe_left_out(machine, vendor, policy);
}

bool is_forced(const detect::Driver& driver) {
  return driver.api_source == "override" && driver.usable == Presence::present;
}

}  // namespace axle::providers
