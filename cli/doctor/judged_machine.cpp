#include "cli/doctor/judged_machine.h"

#include "providers/provider.h"
#include "resolver/gpu_views.h"
#include "resolver/provider_algorithm.h"

namespace axle::cli {

namespace {

/// The fact behind a rejection, where a provider that Axle carries decides it.
std::string fact_of(const wheel::Property& property, const detect::Machine* view,
                    const JudgedMachine& judged) {
  const providers::Provider* provider = providers::find_provider(property.ns);
  if (provider == nullptr) return {};
  if (view == nullptr)
    return provider->fact(judged.machine, judged.gpus, property.feature, property.value);
  return provider->fact(*view, {}, property.feature, property.value) +
         resolver::describe_view(*view, property);
}

}  // namespace

VariantFit judge_variants(const wheel::VariantMetadata& document, const JudgedMachine& judged,
                          const wheel::MarkerEnvironment& markers) {
  CollectedReport unheard;
  resolver::ProviderPolicy policy;
  policy.gpus = judged.gpus;
  resolver::SupportedLists lists =
      resolver::supported_lists(document, judged.machine, policy, markers, unheard);
  VariantFit fit;
  for (const resolver::NamespaceOrigin& origin : lists.origins) {
    if (origin.origin == resolver::ListOrigin::untrusted ||
        origin.origin == resolver::ListOrigin::none)
      fit.silent.insert(origin.ns);
  }
  const auto views = providers::device_views(judged.machine, judged.gpus);
  const resolver::ViewedRanking viewed = resolver::rank_on_views(document, views, lists);
  for (const resolver::RankedVariant& variant : viewed.ranking.ranked)
    fit.fitting.push_back(variant.label);
  for (const resolver::RejectedVariant& variant : viewed.ranking.rejected) {
    const auto view = viewed.against.find(variant.label);
    const detect::Machine* against = view == viewed.against.end() ? nullptr : view->second;
    fit.rejected.emplace(variant.label,
                         VariantFit::Misfit{variant.property, variant.reason,
                                            fact_of(variant.property, against, judged)});
  }
  return fit;
}

std::string family_platform_of(const detect::Machine& machine) {
  switch (machine.cpu.arch) {
    case detect::Arch::x86_64:
      return "linux_x86_64";
    case detect::Arch::aarch64:
      return "linux_aarch64";
    default:
      return {};
  }
}

}  // namespace axle::cli
