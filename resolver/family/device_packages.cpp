#include "resolver/family/device_packages.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "index/family/device_extras.h"
#include "providers/provider.h"

namespace axle::resolver {
namespace {

/// What the GPUs here are called, by the provider that the table names.
std::vector<std::string> devices_here(const index::DeviceExtras& table, const Target& target,
                                      const Options& options) {
  const providers::Provider* provider = providers::find_provider(table.ns);
  if (provider == nullptr) return {};
  providers::GpuPolicy policy = options.providers.gpus;
  // Each GPU that counts has packages of its own; they need not have anything in common.
  if (policy.rule == providers::GpuRule::all) policy.rule = providers::GpuRule::any;
  for (providers::Feature& feature : provider->supported(*target.machine, policy)) {
    if (feature.name == table.feature) return std::move(feature.values);
  }
  return {};
}

const index::DeviceExtras* table_for(const PackageChoice& choice) {
  if (!choice.extras) return nullptr;
  const index::DeviceExtras* table = index::device_extras_of(choice.package.name);
  return table != nullptr && names_device(choice.package.name, *choice.extras) ? table : nullptr;
}

}  // namespace

bool names_device(const std::string& project, const std::vector<std::string>& extras) {
  const index::DeviceExtras* table = index::device_extras_of(project);
  return table != nullptr && std::ranges::any_of(extras, [&](const std::string& extra) {
           return table->is_device_extra(extra);
         });
}

std::vector<std::string> device_extras(const PackageChoice& choice, const Target& target,
                                       const Options& options) {
  const index::DeviceExtras* table = table_for(choice);
  if (table == nullptr) return {};
  std::vector<std::string> extras;
  for (const std::string& device : devices_here(*table, target, options)) {
    std::string extra = table->extra_for(device, *choice.extras);
    if (!extra.empty() && std::ranges::find(extras, extra) == extras.end())
      extras.push_back(std::move(extra));
  }
  return extras;
}

std::optional<Remark> device_remark(const PackageChoice& choice,
                                    const std::vector<std::string>& extras, const Target& target,
                                    const Options& options) {
  const index::DeviceExtras* table = table_for(choice);
  if (table == nullptr) return std::nullopt;
  std::vector<std::string> without;
  for (const std::string& device : devices_here(*table, target, options)) {
    if (table->extra_for(device, *choice.extras).empty()) without.push_back(device);
  }
  const std::string title =
      fmt::format("{} {}", choice.package.name, wheel::render_version(choice.package.version));
  if (!without.empty() && !names_device(choice.package.name, extras)) {
    return Remark{Severity::warning,
                  fmt::format("{} has its device code in extras, and none for {}", title,
                              fmt::join(without, ", ")),
                  {}};
  }
  std::vector<std::string> taken;
  std::ranges::copy_if(extras, std::back_inserter(taken),
                       [&](const std::string& extra) { return table->is_device_extra(extra); });
  if (taken.empty()) return std::nullopt;
  return Remark{Severity::note,
                fmt::format("{} has its device code in extras: [{}] is taken for this machine",
                            title, fmt::join(taken, ",")),
                {}};
}

}  // namespace axle::resolver
