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

/// Working GPUs that the policy excludes.
std::vector<const Gpu*> left_out(const Machine& machine, GpuVendor vendor,
                                 const GpuPolicy& policy) {
  std::vector<const Gpu*> gpus = counted_gpus(machine, vendor, GpuPolicy{GpuRule::any, {}});
  for (const Gpu* counted : counted_gpus(machine, vendor, policy)) std::erase(gpus, counted);
  return gpus;
}

std::string policy_text(const GpuPolicy& policy) {
  return std::string(policy.set_by) + render_gpu_policy(policy);
}

/// Adds nothing if all working GPUs count.
void add_left_out(const Machine& machine, GpuVendor vendor, const GpuPolicy& policy, Facts& facts) {
  const std::vector<const Gpu*> gpus = left_out(machine, vendor, policy);
  if (gpus.empty()) return;
  std::vector<std::string> names;
  for (const Gpu* gpu : gpus) {
    std::string name = gpu->name.empty() ? gpu->arch : gpu->name;
    if (!name.empty() && std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  }
  const bool integrated =
      std::ranges::all_of(gpus, [](const Gpu* gpu) { return is_integrated(*gpu); });
  const bool by_default = policy.rule == GpuRule::all && integrated;
  facts.push_back({by_default ? FactCode::integrated_left_out : FactCode::gpu_left_out,
                   gpu_title(vendor),
                   {},
                   std::move(names),
                   policy_text(policy)});
}

std::string source_of_arch(const Gpu& gpu) {
  const auto source = gpu.sources.find("arch");
  return source == gpu.sources.end() ? std::string() : source->second;
}

}  // namespace

std::string gpu_title(GpuVendor vendor) {
  return std::string(detect::gpu_vendor(vendor).title) + " GPU";
}

Fact why_no_gpu(const Machine& machine, GpuVendor vendor, const GpuPolicy& policy) {
  std::string title = gpu_title(vendor);
  if (!left_out(machine, vendor, policy).empty())
    return {FactCode::gpu_not_counted, std::move(title), {}, {}, policy_text(policy)};
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
  if (masked) return {FactCode::gpu_masked, std::move(title)};
  if (broken == nullptr) return {FactCode::no_gpu, std::move(title)};
  if (broken->usable == Presence::unknown) return {FactCode::device_unknown, std::move(title)};
  const detect::Driver* driver = detect::find_driver(machine, vendor);
  const bool of_gpu = !broken->reason.empty() || driver == nullptr;
  std::string reason = of_gpu ? broken->reason : driver->reason;
  if (reason.empty()) reason = "the driver does not work";
  return {FactCode::device_unusable,
          std::move(title),
          {},
          {std::move(reason)},
          of_gpu ? broken->reason_code : driver->reason_code};
}

Facts what_gpus_are(FactCode code, const Machine& machine, GpuVendor vendor,
                    const GpuPolicy& policy, const std::vector<std::string>& archs,
                    std::string needed) {
  std::vector<std::string> unlike;
  for (const std::string& arch : archs) {
    if (std::ranges::find(unlike, arch) == unlike.end()) unlike.push_back(arch);
  }
  const bool several = unlike.size() > 1;
  const Gpu& best = *counted_gpus(machine, vendor, policy).front();
  Facts facts = {
      {code, gpu_title(vendor), {std::move(needed)}, std::move(unlike), source_of_arch(best)}};
  if (several) {
    const bool any = policy.rule == GpuRule::any;
    facts.push_back({any ? FactCode::one_gpu : FactCode::every_gpu});
  }
  add_left_out(machine, vendor, policy, facts);
  return facts;
}

bool is_forced(const detect::Driver& driver) {
  return driver.api_source == "override" && driver.usable == Presence::present;
}

}  // namespace axle::providers
