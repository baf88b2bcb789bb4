#include "builder/compilation.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace axle::builder {

namespace {

using wheel::Property;

std::string replaced(std::string text, char from, char to) {
  std::ranges::replace(text, from, to);
  return text;
}

/// "100f_real" -> "100f-real"; empty: it is no code of an architecture.
std::string cuda_target(const Property& property) {
  const bool code = (property.ns == "nvidia" && property.feature == "sm_arch") ||
                    (property.ns == "axle" &&
                     (property.feature == "cuda_code" || property.feature == "cuda_code_or_jit"));
  if (!code || !(property.value.ends_with("_real") || property.value.ends_with("_virtual")))
    return {};
  return replaced(property.value, '_', '-');
}

/// "gfx9_4_generic" -> "gfx9-4-generic"
std::string hip_target(const Property& property) {
  const bool code = (property.ns == "amd" && property.feature == "gfx_arch") ||
                    (property.ns == "axle" && property.feature == "gfx_code");
  return code ? replaced(property.value, '_', '-') : std::string();
}

/// DPC++ takes both forms: "intel_gpu_20_1_0", "intel_gpu_bmg_g31".
std::string sycl_target(const Property& property) {
  const bool code = (property.ns == "intel" && property.feature == "device_ip") ||
                    (property.ns == "axle" && property.feature == "intel_platform");
  return code ? "intel_gpu_" + replaced(property.value, '.', '_') : std::string();
}

/// 90 of "90a-real"
unsigned number_of(std::string_view target) {
  unsigned number = 0;
  for (const char c : target) {
    if (c < '0' || c > '9' || number > 100'000) break;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  return number;
}

using TargetOf = std::string (*)(const Property&);

std::vector<GpuTarget> targets(const wheel::VariantProperties& properties, TargetOf target_of,
                               const std::optional<std::vector<std::string>>& stated,
                               std::string_view key) {
  std::vector<GpuTarget> all;
  const auto is_new = [&](const std::string& name) {
    return !name.empty() && std::ranges::find(all, name, &GpuTarget::name) == all.end();
  };
  if (stated) {
    for (const std::string& name : *stated) {
      if (is_new(name)) all.push_back({name, std::string(key)});
    }
    return all;
  }
  const auto number = [](const GpuTarget& one) { return number_of(one.name); };
  for (const Property& property : properties) {
    std::string name = target_of(property);
    if (!is_new(name)) continue;
    const auto place = std::ranges::upper_bound(all, number_of(name), {}, number);
    all.insert(place, {std::move(name), wheel::render_property(property)});
  }
  return all;
}

void apply(const RowSettings& settings, std::vector<CompileFlag>& flags) {
  const auto replace = [&](std::string_view option, const std::optional<std::string>& value,
                           std::string_view key) {
    if (!value) return;
    std::erase_if(flags, [&](const CompileFlag& one) { return one.flag.starts_with(option); });
    if (value->empty()) return;
    flags.insert(flags.begin(), {std::string(option) + *value, std::string(key)});
  };
  replace("-mtune=", settings.tune, "tune");
  replace("-march=", settings.march, "march");
}

}  // namespace

std::string Compilation::host_flags() const {
  std::string text = join_flags(flags);
  for (const std::string& arg : args) text += (text.empty() ? "" : " ") + arg;
  return text;
}

Compilation compilation_of(const wheel::VariantProperties& properties,
                           const RowSettings& settings) {
  Compilation made;
  if (settings.flags.value_or(true)) {
    made.flags = compile_flags(properties);
    if (auto tune = tune_flag(properties)) made.flags.push_back(std::move(*tune));
  }
  apply(settings, made.flags);
  made.args = settings.compile_args;
  made.cuda = targets(properties, cuda_target, settings.cuda_architectures, "cuda-architectures");
  made.hip = targets(properties, hip_target, settings.hip_architectures, "hip-architectures");
  made.sycl = targets(properties, sycl_target, settings.sycl_targets, "sycl-targets");
  return made;
}

std::string join_targets(const std::vector<GpuTarget>& targets, char separator) {
  std::string text;
  for (const GpuTarget& target : targets)
    text += (text.empty() ? "" : std::string(1, separator)) + target.name;
  return text;
}

std::string torch_arch_list(const std::vector<GpuTarget>& cuda) {
  std::string list;
  for (const GpuTarget& target : cuda) {
    const std::size_t dash = std::min(target.name.find('-'), target.name.size());
    std::string arch = target.name.substr(0, dash);
    const std::size_t digits = std::min(arch.find_first_not_of("0123456789"), arch.size());
    if (digits < 2) continue;
    arch.insert(digits - 1, ".");
    const bool ptx_alone = target.name.ends_with("-virtual");
    list +=
        (list.empty() ? "" : ";") + arch + (ptx_alone || dash == target.name.size() ? "+PTX" : "");
  }
  return list;
}

}  // namespace axle::builder
