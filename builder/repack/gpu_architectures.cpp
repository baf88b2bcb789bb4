#include "builder/repack/gpu_architectures.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "binaries/gpu_code_match.h"
#include "machines/selection.h"
#include "providers/gfx_code.h"
#include "providers/nvidia_state.h"
#include "providers/provider.h"

namespace axle::builder {

namespace {

using detect::GpuVendor;
using wheel::Property;

GpuVendor vendor_of(SplitBy by) { return by == SplitBy::sm ? GpuVendor::nvidia : GpuVendor::amd; }

std::string_view feature_of(SplitBy by) { return by == SplitBy::sm ? "sm_arch" : "gfx_arch"; }

std::string_view namespace_of(SplitBy by) { return by == SplitBy::sm ? "nvidia" : "amd"; }

/// The values of a feature, all that there are or those of a machine.
std::vector<std::string> values_of(const providers::Features& features, std::string_view name) {
  for (const providers::Feature& feature : features) {
    if (feature.name == name) return feature.values;
  }
  return {};
}

std::optional<GpuArchitecture> sm_architecture(const std::string& name,
                                               const std::vector<std::string>& known,
                                               Report& report) {
  GpuArchitecture one{"sm_" + name, "sm" + name, 0, false, {}};
  std::from_chars(name.data(), name.data() + name.size(), one.number);
  const std::string value = name + "_real";
  std::string why;
  if (std::ranges::find(known, value) == known.end()) {
    why = "namespace nvidia has no property for it";
  } else if (providers::is_tegra({one.number / 10, one.number % 10})) {
    why = "its property, nvidia :: sm_arch :: " + value + ", would promise it to other GPUs, too";
  }
  if (!why.empty()) {
    report.warn(fmt::format("there is no variant for {}: {}", one.name, why),
                "publish the wheel as it is beside the variants");
    return std::nullopt;
  }
  one.properties.insert({"nvidia", "sm_arch", value});
  return one;
}

std::optional<GpuArchitecture> gfx_architecture(const std::string& name,
                                                const std::vector<std::string>& names,
                                                const std::vector<std::string>& known,
                                                Report& report) {
  GpuArchitecture one{name, name, 0, false, {}};
  std::ranges::replace(one.label, '-', '_');
  for (const std::string& processor : known) {
    const bool member = providers::generic_gfx(processor) == one.label;
    const bool own = std::ranges::find(names, processor) != names.end();
    if (processor == name || (member && !own))
      one.properties.insert({"amd", "gfx_arch", processor});
  }
  if (!one.properties.empty()) return one;
  report.warn(fmt::format("there is no variant for {}: namespace amd has no property for it", name),
              "publish the wheel as it is beside the variants");
  return std::nullopt;
}

/// Whether the machine has all of these features in one of their values.
bool supports_all(const wheel::VariantProperties& properties, const detect::Machine& machine) {
  return std::ranges::all_of(properties, [&](const Property& property) {
    const providers::Provider* provider = providers::find_provider(property.ns);
    if (provider == nullptr) return false;
    const auto values = values_of(provider->supported(machine, {}), property.feature);
    return std::ranges::any_of(properties, [&](const Property& other) {
      return other.ns == property.ns && other.feature == property.feature &&
             std::ranges::find(values, other.value) != values.end();
    });
  });
}

/// The variant whose code the machine prefers.
const GpuArchitecture* chosen(SplitBy by, const std::vector<GpuArchitecture>& variants,
                              const detect::Machine& machine) {
  const providers::Provider* provider = providers::find_provider(namespace_of(by));
  for (const std::string& value : values_of(provider->supported(machine, {}), feature_of(by))) {
    const Property property{std::string(namespace_of(by)), std::string(feature_of(by)), value};
    for (const GpuArchitecture& one : variants) {
      if (one.properties.contains(property)) return &one;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<GpuArchitecture> split_architectures(SplitBy by, const std::vector<std::string>& names,
                                                 Report& report) {
  const auto known = values_of(providers::find_provider(namespace_of(by))->all(), feature_of(by));
  std::vector<GpuArchitecture> all;
  for (const std::string& name : names) {
    auto one = by == SplitBy::sm ? sm_architecture(name, known, report)
                                 : gfx_architecture(name, names, known, report);
    if (one) all.push_back(std::move(*one));
  }
  std::ranges::sort(all, {}, [](const GpuArchitecture& one) {
    return std::pair(one.number, std::string_view(one.name));
  });
  if (by == SplitBy::sm && !all.empty()) all.back().newest = true;
  return all;
}

Result<std::vector<KeptMachine>> kept_machines(SplitBy by,
                                               const std::vector<binaries::BinaryFacts>& before,
                                               const std::vector<GpuArchitecture>& after,
                                               const wheel::VariantProperties& own) {
  std::vector<KeptMachine> kept;
  CollectedReport assumptions;  // of a GPU's name: the newest backend's driver
  for (const std::string& name : machines::shipped_names()) {
    const auto machines = machines::select_machines(name, assumptions);
    if (!machines) return std::unexpected(machines.error());
    const machines::NamedMachine& one = machines->front();
    if (one.machine.os.system != "Linux") continue;  // binaries are read as ELF
    if (!supports_all(own, one.machine)) continue;   // it could not take the wheel before either
    for (const detect::Gpu& gpu : one.machine.gpus) {
      if (gpu.vendor != vendor_of(by) || gpu.arch.empty()) continue;
      const bool had = std::ranges::any_of(before, [&](const binaries::BinaryFacts& facts) {
        const std::string& cpu = one.machine.cpu.machine;
        return (cpu.empty() || cpu == facts.architecture) &&
               judge_binary(facts, gpu, one.machine) == binaries::CodeFit::runs;
      });
      const GpuArchitecture* now = chosen(by, after, one.machine);
      if (had) kept.push_back({one.name, gpu.arch, now == nullptr ? std::string() : now->label});
      break;
    }
  }
  return kept;
}

}  // namespace axle::builder
