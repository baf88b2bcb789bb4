#include "resolver/explain/facts.h"

#include <algorithm>
#include <optional>

#include "providers/gpu_archs.h"
#include "providers/provider.h"

namespace axle::resolver {
namespace {

/// The GPU of the view, if `property` is about GPUs.
std::optional<Fact> gpu_of_view(const detect::Machine& view, const wheel::Property& property) {
  for (const detect::Gpu& gpu : view.gpus) {
    const bool works = gpu.usable == detect::Presence::present && !gpu.masked;
    if (!works || !providers::tells_of_gpu(gpu.vendor, property.ns, property.feature)) continue;
    return Fact{
        FactCode::every_gpu, gpu.name.empty() ? gpu.arch : gpu.name, {}, {}, "--gpu-policy"};
  }
  return std::nullopt;
}

/// Where detection read what a fact about the CPU says, if the fact itself does not name it.
std::string source_of_cpu(FactCode code, const detect::Cpu& cpu) {
  if (code > FactCode::version_not_told) return {};
  const auto source =
      cpu.sources.find(code == FactCode::other_architecture ? "arch" : "capabilities");
  return source == cpu.sources.end() ? std::string() : source->second;
}

FactCode code_of(plan::ListOrigin origin) {
  switch (origin) {
    case plan::ListOrigin::disabled:
      return FactCode::namespace_disabled;
    case plan::ListOrigin::static_list:
    case plan::ListOrigin::user_list:
      return FactCode::not_in_list;
    case plan::ListOrigin::plugin:
      return FactCode::not_in_plugin_list;
    case plan::ListOrigin::untrusted:
      return FactCode::plugin_untrusted;
    case plan::ListOrigin::failed:
      return FactCode::plugin_failed;
    case plan::ListOrigin::builtin:
    case plan::ListOrigin::none:
      break;
  }
  return FactCode::no_provider;
}

}  // namespace

Facts machine_facts(const wheel::Property& property, const detect::Machine& machine,
                    const providers::GpuPolicy& gpus, const detect::Machine* view) {
  const providers::Provider* provider = providers::find_provider(property.ns);
  if (provider == nullptr) return {};
  Facts facts = view == nullptr ? provider->facts(machine, gpus, property.feature, property.value)
                                : provider->facts(*view, {}, property.feature, property.value);
  if (facts.front().needed.empty()) facts.front().needed.push_back(property.value);
  if (facts.front().source.empty())
    facts.front().source = source_of_cpu(facts.front().code, machine.cpu);
  if (view == nullptr) return facts;
  if (auto gpu = gpu_of_view(*view, property)) facts.push_back(*std::move(gpu));
  return facts;
}

Facts property_facts(const wheel::Property& property,
                     const std::vector<plan::NamespaceOrigin>& origins,
                     const detect::Machine& machine, const providers::GpuPolicy& gpus,
                     const detect::Machine* view) {
  const auto origin = std::ranges::find(origins, property.ns, &plan::NamespaceOrigin::ns);
  if (origin == origins.end())
    return {{FactCode::namespace_not_listed, property.ns, {property.value}}};
  if (origin->origin == plan::ListOrigin::builtin)
    return machine_facts(property, machine, gpus, view);
  if (origin->detail.empty()) return {};
  return {{code_of(origin->origin), property.ns, {property.value}, {}, origin->detail}};
}

bool is_absent_hardware(const plan::Verdict& verdict) {
  return !verdict.facts.empty() && std::ranges::all_of(verdict.facts, [](const Fact& fact) {
    return fact.code == FactCode::no_gpu;
  });
}

bool only_absent_hardware(const plan::Decision& decision) {
  return !decision.rejected.empty() && std::ranges::all_of(decision.rejected, is_absent_hardware);
}

}  // namespace axle::resolver
