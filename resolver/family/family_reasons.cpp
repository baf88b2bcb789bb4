#include "resolver/family/family_reasons.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include <fmt/format.h>

#include "detect/gpu_vendors.h"
#include "foundation/text/byte_size.h"
#include "index/family/family_variants.h"
#include "resolver/choice/provider_algorithm.h"
#include "resolver/choice/ranking.h"
#include "resolver/explain/facts.h"

namespace axle::resolver {
namespace {

/// The features of a family's builds that tell which code they have (index/family/family_variants),
/// the most telling first.
constexpr std::string_view features_of_code[] = {"cuda_code", "gfx_arch", "device_ip", "gpu"};

/// "GTX 1080 Ti, …": of left_out_remark.
std::string names_of_gpus_without_code(const wheel::VariantMetadata& document,
                                       const std::string& label, const Target& target,
                                       const ProviderPolicy& policy) {
  std::string names;
  const wheel::VariantProperties& properties = document.variants.find(label)->second;
  ProviderPolicy every_gpu = policy;
  every_gpu.gpus = {};
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) {
    if (!properties.contains({"axle", "gpu", std::string(vendor.word)})) continue;
    for (const detect::Gpu* gpu :
         providers::counted_gpus(*target.machine, vendor.vendor, policy.gpus)) {
      detect::Machine alone = *target.machine;
      alone.gpus = {*gpu};
      CollectedReport said_before;
      const SupportedLists supported =
          supported_lists(document, alone, every_gpu, target.markers, said_before);
      const Ranking ranking = rank_variants(document, supported.lists);
      if (std::ranges::find(ranking.rejected, label, &RejectedVariant::label) ==
          ranking.rejected.end()) {
        continue;
      }
      names += (names.empty() ? "" : ", ") + (gpu->name.empty() ? gpu->arch : gpu->name);
    }
  }
  return names;
}

/// The place of a label in the family's order (index/family/family_variants.h), the best being the
/// lowest.
std::size_t place_of(const ReleaseMetadata& metadata, const std::string& label) {
  const auto variant = metadata.document->variants.find(label);
  if (variant == metadata.document->variants.end()) return metadata.document->variants.size() + 1;
  std::size_t place = 0;
  for (const wheel::Property& property : variant->second) {
    if (property.ns == index::order_ns)
      std::from_chars(property.value.data(), property.value.data() + property.value.size(), place);
  }
  return place;
}

}  // namespace

std::string why_this_build(std::string_view label, LabelRule rule, const plan::Decision& decision,
                           const detect::Machine& machine, const providers::GpuPolicy& gpus) {
  const std::string best =
      rule == LabelRule::shared
          ? "the best build that fits and is available for all members of its family"
          : "the best build that fits";
  const auto fit = std::ranges::find(decision.ranked, label, &plan::Fit::label);
  for (const std::string_view feature : features_of_code) {
    const auto deciding = std::ranges::find(
        fit->properties, feature,
        [](const plan::DecidingProperty& of) -> const std::string& { return of.property.feature; });
    if (deciding == fit->properties.end()) continue;
    return best + ": " +
           render_facts(property_facts(deciding->property, decision.origins, machine, gpus));
  }
  return best;
}

std::string why_this_fallback(const detect::Machine& machine) {
  const bool usable = std::ranges::any_of(machine.gpus, [](const detect::Gpu& gpu) {
    return gpu.usable == detect::Presence::present && !gpu.masked;
  });
  const bool mps = machine.mps && machine.mps->usable == detect::Presence::present;
  return usable || mps ? "no other build fits this machine" : "no GPU is usable here";
}

std::string plain_wheel_remark(const index::Family& family, std::string_view filename) {
  return fmt::format("the family {} does not specify what {} was built for", family.name, filename);
}

std::string left_out_remark(const wheel::VariantMetadata& document, const std::string& label,
                            const Target& target, const ProviderPolicy& policy) {
  if (target.machine->gpus.size() < 2 || !document.variants.contains(label)) return {};
  const std::string names = names_of_gpus_without_code(document, label, target, policy);
  return names.empty() ? names
                       : fmt::format("it has no code for {}, which this machine also has", names);
}

std::optional<OtherBuild> other_build(const CandidateWheel& chosen,
                                      const std::vector<const CandidateWheel*>& wheels,
                                      const ReleaseMetadata& metadata) {
  std::optional<OtherBuild> other;
  for (const CandidateWheel* wheel : wheels) {
    const std::optional<std::uint64_t> size = wheel->file->size;
    if (!size || metadata.fallback.contains(wheel->label)) continue;
    if (other && place_of(metadata, other->label) <= place_of(metadata, wheel->label)) continue;
    if (chosen.file->size && *chosen.file->size > *size) continue;
    other = {wheel->label, *size, chosen.file->size};
  }
  return other;
}

Remark although_there_is_a_gpu(const std::string& title, const Error& trouble) {
  return {Severity::warning,
          fmt::format("{} is chosen although there is a GPU: no allowed release has "
                      "another build for this machine; {}",
                      title, trouble.message),
          trouble.hint};
}

Remark saved_without_gpu(const std::string& title, const OtherBuild& other) {
  const auto& [label, size, own] = other;
  return {Severity::note, own ? fmt::format("{}: no GPU is usable here, which saves {} compared "
                                            "with {}, not counting the libraries that it needs",
                                            title, text::render_bytes(size - *own), label)
                              : fmt::format("{}: no GPU is usable here, which saves the {} of {} "
                                            "and the libraries that it needs",
                                            title, text::render_bytes(size), label)};
}

}  // namespace axle::resolver
