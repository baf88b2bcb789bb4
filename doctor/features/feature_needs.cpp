#include "doctor/features/feature_needs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "detect/cpu/darwin.h"
#include "detect/gpu_vendors.h"
#include "doctor/machine_checks.h"
#include "foundation/text/nearest.h"
#include "providers/gpu_state.h"
#include "providers/provider.h"
#include "resolver/explain/facts.h"

namespace axle::doctor {

namespace {

using detect::Presence;
using index::FamilyFeature;

std::string_view title_of(detect::GpuVendor vendor) { return detect::gpu_vendor(vendor).title; }

/// Whether the facts that decide a property are unknown: then "not supported" is not an answer.
bool is_unknown(const wheel::Property& property, const JudgedMachine& judged) {
  const std::string text = wheel::render_property(property);
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.property != text) continue;
    const bool own = row.arch == judged.machine.cpu.arch;
    return own && judged.machine.cpu.capabilities.of(row.id) == Presence::unknown;
  }
  if (property.ns == "x86_64" && property.feature == "level")
    return !judged.machine.cpu.capabilities.has(detect::Capability::sse2);
  const auto vendor = detect::parse_vendor(property.ns);
  if (!vendor) return false;
  return std::ranges::any_of(judged.machine.gpus, [&](const detect::Gpu& gpu) {
    return gpu.vendor == *vendor && (gpu.usable == Presence::unknown || gpu.arch.empty());
  });
}

bool supports(const wheel::Property& property, const JudgedMachine& judged) {
  const providers::Provider* provider = providers::find_provider(property.ns);
  if (provider == nullptr) return false;
  for (const providers::Feature& feature : provider->supported(judged.machine, judged.gpus)) {
    if (feature.name != property.feature) continue;
    if (std::ranges::find(feature.values, property.value) != feature.values.end()) return true;
  }
  return false;
}

/// "gfx942", "amx_int8", "compute capability 9.0"
std::string name_of(const wheel::Property& property) {
  if (property.value == "on") return property.feature;
  const std::string digits = property.value.substr(0, property.value.find('_'));
  if (property.feature != "sm_arch" || digits.size() < 2) return property.value;
  return fmt::format("compute capability {}.{}", digits.substr(0, digits.size() - 1),
                     digits.back());
}

std::vector<std::string> names_of(const std::vector<wheel::Property>& properties) {
  std::vector<std::string> names;
  for (const wheel::Property& one : properties) names.push_back(name_of(one));
  return names;
}

/// "an NVIDIA GPU", "2 NVIDIA GPUs", as many as the feature needs.
std::string gpus_of(const FamilyFeature& feature, std::string_view title) {
  return feature.gpus > 1 ? fmt::format("{} {} GPUs", feature.gpus, title)
                          : fmt::format("an {} GPU", title);
}

/// "gfx942" of a property of GPUs, "9.0" of one of compute capabilities.
std::string arch_of(const wheel::Property& property) {
  const std::string name = name_of(property);
  return name.substr(name.rfind(' ') + 1);
}

/// The model is one of those that the feature is for.
bool is_for(const FamilyFeature& feature, const machines::GpuModel& model) {
  const auto least = providers::parse_major_minor(feature.capability);
  const auto own = providers::parse_major_minor(model.arch);
  const bool cards = feature.discrete || feature.gpus > 1;
  if (cards && model.integrated) return false;
  if (least && (!own || *own < *least)) return false;
  const auto is_of_vendor = [&](const wheel::Property& one) { return one.ns == feature.vendor; };
  return std::ranges::none_of(feature.needs, is_of_vendor) ||
         std::ranges::any_of(feature.needs, [&](const wheel::Property& one) {
           return is_of_vendor(one) && arch_of(one) == model.arch;
         });
}

/// Other GPUs of the vendor, as many as the feature needs. `arch`: empty: all that it is for.
std::function<ChangedMachines(const detect::Machine&)> to_gpus(const FamilyFeature& feature,
                                                               detect::GpuVendor vendor,
                                                               std::string arch = {}) {
  return [&feature, vendor, arch = std::move(arch)](const detect::Machine& from) {
    return with_gpus(from, vendor, std::max(feature.gpus, 1U), [&](const auto& model) {
      return is_for(feature, model) && (arch.empty() || model.arch == arch);
    });
  };
}

/// GPUs that the feature is for: one way for each value that it needs of their namespace.
std::vector<Change::Way> gpu_ways(const FamilyFeature& feature, detect::GpuVendor vendor) {
  const std::string name = gpus_of(feature, title_of(vendor));
  std::vector<Change::Way> ways;
  for (const wheel::Property& one : feature.needs) {
    if (one.ns == feature.vendor)
      ways.push_back({to_gpus(feature, vendor, arch_of(one)), name, name_of(one)});
  }
  if (!ways.empty()) return ways;
  std::string with = feature.capability.empty()
                         ? std::string()
                         : fmt::format("compute capability {} or newer", feature.capability);
  return {{to_gpus(feature, vendor), name, std::move(with)}};
}

/// A macOS that has MPS of the property, on this Mac or on another one.
Change change_to_mps(const wheel::Property& value, const detect::Machine& machine) {
  const auto version =
      providers::parse_major_minor(value.value.contains('.') ? value.value : value.value + ".0");
  if (machine.os.system == detect::darwin && machine.cpu.arch == detect::Arch::aarch64) {
    return {Change::Of::system,
            fmt::format("macOS {} or newer", value.value),
            {{[version](const detect::Machine& from) {
              return version ? with_macos(from, *version) : ChangedMachines();
            }}}};
  }
  return {Change::Of::platform,
          fmt::format("a Mac with Apple's processor and macOS {} or newer", value.value),
          {{[](const detect::Machine& from) { return on_platform(from, "macos_arm64"); }}}};
}

/// The CPU has it, and the kernel or a filter keeps programs from it.
bool is_blocked(const wheel::Property& property, const detect::Cpu& cpu) {
  const std::string text = wheel::render_property(property);
  return std::ranges::any_of(detect::capabilities(), [&](const detect::CapabilityRow& row) {
    return row.property == text && cpu.capabilities.of(row.id) == Presence::blocked;
  });
}

using Values = std::vector<wheel::Property>;

/// "9.0 and 8.6" of the vendor's GPUs that count; empty: the property is none of a compute
/// capability.
std::string archs_besides(const wheel::Property& property, const JudgedMachine& judged) {
  const auto vendor = detect::parse_vendor(property.ns);
  if (!vendor || property.feature != "sm_arch") return {};
  std::vector<std::string> archs;
  for (const detect::Gpu* gpu : judged.counted(*vendor)) {
    if (std::ranges::find(archs, gpu->arch) == archs.end()) archs.push_back(gpu->arch);
  }
  return fmt::format("{}", fmt::join(archs, " and "));
}

/// What is missing of one feature of a namespace, none of whose values is supported.
NeedAnswer judge_values(const Values& values, const JudgedMachine& judged) {
  const wheel::Property& first = values.front();
  const providers::Provider* provider = providers::find_provider(first.ns);
  const bool unknown = is_unknown(first, judged);
  if (provider == nullptr)
    return {Usable::unknown, fmt::format("the namespace {} is unknown here", first.ns)};
  if (std::string archs = archs_besides(first, judged); !unknown && !archs.empty()) {
    return {Usable::no, fmt::format("it needs {}, but the GPU has {}",
                                    text::joined_by_or(names_of(values)), archs)};
  }
  std::vector<Facts> each;
  for (const wheel::Property& value : values)
    each.push_back(resolver::machine_facts(value, judged.machine, judged.gpus));
  std::string reason = render_facts(merge_facts(each));
  return {unknown ? Usable::unknown : Usable::no, std::move(reason)};
}

/// For each feature one value must be supported, as in a variant. All that is missing is named.
NeedAnswer judge_properties(const FamilyFeature& feature, const JudgedMachine& judged) {
  std::map<std::pair<std::string, std::string>, Values> groups;
  for (const wheel::Property& property : feature.needs)
    groups[{property.ns, property.feature}].push_back(property);
  NeedAnswer answer;
  Values of_cpu;
  Values blocked;
  for (const auto& [key, values] : groups) {
    if (std::ranges::any_of(values, [&](const auto& one) { return supports(one, judged); }))
      continue;
    NeedAnswer lacking = judge_values(values, judged);
    if (lacking.usable < answer.usable) continue;
    if (lacking.usable == answer.usable && !answer.reason.contains(lacking.reason))
      lacking.reason = fmt::format("{}; {}", answer.reason, lacking.reason);
    else if (lacking.usable == answer.usable)
      lacking.reason = std::move(answer.reason);
    lacking.changes = std::move(answer.changes);
    answer = std::move(lacking);
    const auto vendor = detect::parse_vendor(key.first);
    if (vendor)
      answer.changes.push_back({Change::Of::gpu, "{}", gpu_ways(feature, *vendor)});
    else if (key.second == "mps")
      answer.changes.push_back(change_to_mps(values.front(), judged.machine));
    else
      (is_blocked(values.front(), judged.machine.cpu) ? blocked : of_cpu).push_back(values.front());
  }
  const auto to_cpu = [](const Values& lacking) {
    return [lacking](const detect::Machine& from) { return with_cpu(from, lacking); };
  };
  if (!of_cpu.empty())
    answer.changes.insert(answer.changes.begin(),
                          {Change::Of::cpu,
                           fmt::format("a CPU with {}", fmt::join(names_of(of_cpu), " and ")),
                           {{to_cpu(of_cpu)}}});
  if (!blocked.empty())
    answer.changes.insert(answer.changes.begin(),
                          {Change::Of::repair,
                           fmt::format("a kernel and permissions for {}, which the CPU has",
                                       fmt::join(names_of(blocked), " and ")),
                           {{to_cpu(blocked)}}});
  return answer;
}

/// `gpus`: those of the vendor that count.
NeedAnswer judge_capability(const FamilyFeature& feature, detect::GpuVendor vendor,
                            const std::vector<const detect::Gpu*>& gpus) {
  if (feature.capability.empty()) return {};
  const auto least = providers::parse_major_minor(feature.capability);
  const detect::Gpu* able = nullptr;
  const detect::Gpu* unable = nullptr;
  for (const detect::Gpu* gpu : gpus) {
    const auto is = providers::parse_major_minor(gpu->arch);
    if (is) (least && *is >= *least ? able : unable) = gpu;
  }
  if (able != nullptr && unable != nullptr) {
    return {Usable::yes, fmt::format("only on the {}: another GPU has compute capability {}",
                                     able->name.empty() ? able->arch : able->name, unable->arch)};
  }
  if (able != nullptr) return {};
  std::string change = fmt::format("{} with compute capability {} or newer",
                                   feature.gpus > 1 ? gpus_of(feature, title_of(vendor)) : "a GPU",
                                   feature.capability);
  if (unable == nullptr)
    return {Usable::unknown, "the GPU's compute capability is unknown", std::move(change)};
  return {Usable::no,
          fmt::format("it needs compute capability {}, but the GPU has {}", feature.capability,
                      unable->arch),
          {},
          {{Change::Of::gpu, std::move(change), {{to_gpus(feature, vendor)}}}}};
}

/// The mask that hides GPUs of the vendor is taken away: "unset CUDA_VISIBLE_DEVICES".
std::optional<Change> without_mask(const detect::Machine& machine, detect::GpuVendor vendor) {
  const auto hidden = std::ranges::find_if(machine.gpus, [&](const detect::Gpu& gpu) {
    return gpu.vendor == vendor && gpu.masked && gpu.usable == Presence::present;
  });
  if (hidden == machine.gpus.end()) return std::nullopt;
  const auto unmask = [vendor](const detect::Machine& from) { return without_masks(from, vendor); };
  return Change{Change::Of::repair, unset_masks(*hidden), {{unmask}}};
}

NeedAnswer judge_count(const FamilyFeature& feature, detect::GpuVendor vendor,
                       const JudgedMachine& judged, std::size_t count) {
  if (count >= feature.gpus) return {};
  const auto more = [vendor, wanted = feature.gpus](const detect::Machine& from) {
    return with_more_gpus(from, vendor, wanted);
  };
  NeedAnswer answer{Usable::no, fmt::format("it needs {} {} GPUs, but {} can be used", feature.gpus,
                                            title_of(vendor), count)};
  if (auto unmasked = without_mask(judged.machine, vendor))
    answer.changes.push_back(*std::move(unmasked));
  answer.changes.push_back(
      {Change::Of::gpu, fmt::format("a machine with {} such GPUs", feature.gpus), {{more}}});
  answer.changes.push_back({Change::Of::gpu, "a machine with {}", gpu_ways(feature, vendor)});
  return answer;
}

NeedAnswer judge_cuda(const FamilyFeature& feature, const JudgedMachine& judged) {
  if (feature.cuda.empty()) return {};
  const auto driver =
      std::ranges::find(judged.machine.drivers, detect::GpuVendor::nvidia, &detect::Driver::vendor);
  const auto runs = driver == judged.machine.drivers.end()
                        ? std::nullopt
                        : providers::parse_major_minor(driver->api_version);
  if (!runs) return {Usable::unknown, "which CUDA the driver runs is unknown"};
  if (*runs >= *providers::parse_major_minor(feature.cuda)) return {};
  return {Usable::no,
          fmt::format("it needs a driver that runs CUDA {}, but this one runs {}", feature.cuda,
                      driver->api_version),
          {},
          {newer_driver(fmt::format("a driver that runs CUDA {} or newer", feature.cuda),
                        feature.cuda)}};
}

NeedAnswer judge_toolkit(const FamilyFeature& feature, const index::FamilyLabel* label) {
  if (feature.toolkit.empty()) return {};
  const std::string_view name = feature.vendor == "nvidia" ? "CUDA" : "ROCm";
  const auto built = label == nullptr ? std::nullopt : providers::parse_major_minor(label->toolkit);
  if (!built) {
    return {Usable::unknown, fmt::format("which {} the build was built with is unknown", name)};
  }
  if (*built >= *providers::parse_major_minor(feature.toolkit)) return {};
  return {Usable::no, fmt::format("it needs a build with {} {}, but {} was built with {}", name,
                                  feature.toolkit, label->name, label->toolkit)};
}

/// The hint of the problem that makes the vendor's GPUs or its driver unusable.
std::string hint_for(const detect::Machine& machine, detect::GpuVendor vendor) {
  const std::string prefix = std::string(detect::render_vendor(vendor)) + '.';
  for (const detect::Problem& problem : machine.problems) {
    if (problem.code.starts_with(prefix) && !problem.hint.empty()) return problem.hint;
  }
  return {};
}

/// What `hint` says is done for the vendor's GPUs.
Change repair(std::string hint, detect::GpuVendor vendor) {
  const auto to = [vendor](const detect::Machine& from) { return with_working_gpus(from, vendor); };
  return {Change::Of::repair, std::move(hint), {{to}}};
}

}  // namespace

NeedAnswer without_gpu(const FamilyFeature& feature, detect::GpuVendor vendor,
                       const JudgedMachine& judged) {
  const auto of_vendor = [&](const detect::Gpu& gpu) { return gpu.vendor == vendor; };
  const bool there = std::ranges::any_of(judged.machine.gpus, of_vendor);
  const bool unknown = std::ranges::any_of(judged.machine.gpus, [&](const detect::Gpu& gpu) {
    return of_vendor(gpu) && gpu.usable == Presence::unknown;
  });
  NeedAnswer answer{unknown ? Usable::unknown : Usable::no,
                    render_fact(providers::why_no_gpu(judged.machine, vendor, judged.gpus))};
  std::string hint = hint_for(judged.machine, vendor);
  if (unknown) {
    answer.advice = std::move(hint);
  } else if (auto unmasked = without_mask(judged.machine, vendor)) {
    answer.changes.push_back(*std::move(unmasked));
  } else if (there && !hint.empty()) {
    answer.changes.push_back(repair(std::move(hint), vendor));
  } else if (!there) {
    // The same text for each vendor: those that help are said together.
    answer.changes.push_back({Change::Of::gpu, "a machine with {}", gpu_ways(feature, vendor)});
  }
  return answer;
}

Change newer_driver(std::string text, const std::string& cuda) {
  return {Change::Of::driver,
          std::move(text),
          {{[cuda](const detect::Machine& from) { return with_driver(from, cuda); }}}};
}

NeedAnswer judge_hardware(const FamilyFeature& feature, const JudgedMachine& judged) {
  const auto vendor = detect::parse_vendor(feature.vendor);
  if (!vendor) return judge_properties(feature, judged);
  const auto not_ready = std::ranges::find(judged.machine.problems, feature.vendor + ".not-ready",
                                           &detect::Problem::code);
  if (not_ready != judged.machine.problems.end())
    return {Usable::no, not_ready->message, {}, {repair(not_ready->hint, *vendor)}};
  auto gpus = judged.counted(*vendor);
  if (feature.discrete) {
    std::erase_if(gpus, [](const detect::Gpu* gpu) { return gpu->integrated; });
    if (gpus.empty())
      return {Usable::no,
              "it is for discrete GPUs, and this one is part of the CPU",
              {},
              {{Change::Of::gpu,
                fmt::format("a discrete {} GPU", title_of(*vendor)),
                {{to_gpus(feature, *vendor)}}}}};
  }
  NeedAnswer capability = judge_capability(feature, *vendor, gpus);
  for (NeedAnswer need : {capability, judge_properties(feature, judged),
                          judge_count(feature, *vendor, judged, gpus.size())}) {
    if (need.usable != Usable::yes) return need;
  }
  return capability;
}

NeedAnswer judge_needs(const FamilyFeature& feature, const index::FamilyLabel* label,
                       const JudgedMachine& judged) {
  NeedAnswer hardware = judge_hardware(feature, judged);
  if (hardware.usable != Usable::yes) return hardware;
  for (NeedAnswer need : {judge_toolkit(feature, label), judge_cuda(feature, judged)}) {
    if (need.usable != Usable::yes) return need;
  }
  if (!feature.unproven.empty()) {
    return {Usable::unknown, fmt::format("not confirmed: {}", feature.unproven),
            feature.check.empty() ? "" : fmt::format("find out with {}", feature.check)};
  }
  return hardware;
}

}  // namespace axle::doctor
