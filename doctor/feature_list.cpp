#include "doctor/feature_list.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "detect/gpu_vendors.h"
#include "index/family/family_variants.h"
#include "providers/gpu_state.h"
#include "providers/provider.h"
#include "resolver/explain/facts.h"

namespace axle::doctor {

namespace {

using detect::Presence;
using index::Family;
using index::FamilyFeature;
using index::FamilyRelease;

struct Usability {
  Usable usable = Usable::unknown;
  std::string reason;
};

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

/// For each feature one value must be supported, as in a variant.
Usability judge_properties(const FamilyFeature& feature, const JudgedMachine& judged) {
  std::map<std::pair<std::string, std::string>, std::vector<wheel::Property>> groups;
  for (const wheel::Property& property : feature.needs)
    groups[{property.ns, property.feature}].push_back(property);
  for (const auto& [key, values] : groups) {
    if (std::ranges::any_of(values, [&](const auto& one) { return supports(one, judged); }))
      continue;
    const wheel::Property& first = values.front();
    const providers::Provider* provider = providers::find_provider(first.ns);
    const bool unknown = provider == nullptr || is_unknown(first, judged);
    std::string reason =
        provider == nullptr
            ? fmt::format("the namespace {} is unknown here", first.ns)
            : render_facts(resolver::machine_facts(first, judged.machine, judged.gpus));
    if (values.size() > 1) {
      std::vector<std::string> names;
      for (const wheel::Property& one : values) names.push_back(one.value);
      reason += fmt::format(" (one of {} is needed)", fmt::join(names, ", "));
    }
    return {unknown ? Usable::unknown : Usable::no, std::move(reason)};
  }
  return {Usable::yes, {}};
}

Usability judge_gpus(const FamilyFeature& feature, const JudgedMachine& judged) {
  const auto vendor = detect::parse_vendor(feature.vendor);
  if (!vendor) return {Usable::yes, {}};
  const auto gpus = judged.counted(*vendor);
  if (gpus.size() < feature.gpus) {
    return {Usable::no, fmt::format("it needs {} {} GPUs, but {} can be used", feature.gpus,
                                    detect::gpu_vendor(*vendor).title, gpus.size())};
  }
  if (feature.capability.empty()) return {Usable::yes, {}};
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
  if (able != nullptr) return {Usable::yes, {}};
  if (unable == nullptr) return {Usable::unknown, "the GPU's compute capability is unknown"};
  return {Usable::no, fmt::format("it needs compute capability {}, but the GPU has {}",
                                  feature.capability, unable->arch)};
}

/// The builds of one release on the machine.
struct Builds {
  VariantFit fit;
  std::set<std::string, std::less<>> unknown;
  std::string platform;
};

wheel::Version version_of(const FamilyRelease& release) {
  wheel::Version version;
  version.release = release.prefix;
  return version;
}

Builds judge_builds(const Family& family, const FamilyRelease& release, const JudgedMachine& judged,
                    const wheel::MarkerEnvironment& markers) {
  Builds builds;
  builds.platform = builds_platform(judged.machine);
  std::set<std::string, std::less<>> labels;
  for (const index::FamilyBuild& build : release.builds) {
    if (build.platform == builds.platform) labels.insert(build.label);
  }
  const index::FamilyVariants variants =
      index::family_variants(family, family.anchor(), version_of(release), builds.platform, labels);
  for (const auto& [label, what] : variants.unknown) builds.unknown.insert(label);
  builds.fit = judge_variants(variants.document, judged, markers);
  std::erase_if(builds.fit.fitting, [&](const std::string& one) { return !labels.contains(one); });
  return builds;
}

bool has_feature(const Family& family, const FamilyFeature& feature, const std::string& label) {
  if (!feature.labels.empty())
    return std::ranges::find(feature.labels, label) != feature.labels.end();
  const index::FamilyLabel* known = family.label(label);
  return feature.vendor.empty() || (known != nullptr && known->vendor == feature.vendor);
}

/// Replaces worse answers in `left`; among equals the first stays.
void take_better(FeatureAnswer& left, FeatureAnswer right) {
  if (right.usable < left.usable || left.reason.empty()) left = std::move(right);
}

class FeatureJudge {
 public:
  FeatureJudge(const Family& family, const FamilyRelease& release, const JudgedMachine& judged,
               const wheel::MarkerEnvironment& markers)
      : family_(family),
        release_(release),
        judged_(judged),
        version_(version_of(release)),
        builds_(judge_builds(family, release, judged, markers)) {}

  [[nodiscard]] FeatureAnswer judge(const FamilyFeature& feature) const {
    FeatureAnswer answer;
    answer.name = feature.name;
    answer.title = feature.title;
    if (!feature.releases.contains(version_)) {
      answer.usable = Usable::unknown;
      answer.reason = fmt::format("the family {} has no fact about {} {}", family_.name,
                                  family_.anchor(), release_.version);
      return answer;
    }
    answer.note = feature.note;
    answer.source = index::render_sources(family_, feature.sources);
    const std::string_view confidence = index::render_confidence(feature.confidence);
    answer.confidence = confidence.substr(confidence.rfind(' ') + 1);
    answer.date = feature.date;
    const auto [usable, reason] = decide(feature, answer.label);
    answer.usable = usable;
    answer.reason = reason;
    return answer;
  }

 private:
  [[nodiscard]] Usability decide(const FamilyFeature& feature, std::string& label) const {
    if (feature.since && version_ < *feature.since) {
      return {Usable::no, fmt::format("it was added in {} {}", family_.anchor(),
                                      wheel::render_version(*feature.since))};
    }
    if (builds_.platform.empty())
      return {Usable::no, "there are no builds for this CPU and system"};
    const bool here =
        feature.platforms.empty() ||
        std::ranges::find(feature.platforms, builds_.platform) != feature.platforms.end();
    if (!here)
      return {Usable::no,
              fmt::format("only builds for {} have it", fmt::join(feature.platforms, ", "))};
    const auto has = [&](const std::string& one) { return has_feature(family_, feature, one); };
    // A build whose requirements are known comes first, as in the choice of builds.
    auto fits = std::ranges::find_if(builds_.fit.fitting, [&](const std::string& one) {
      return has(one) && !builds_.unknown.contains(one);
    });
    if (fits == builds_.fit.fitting.end()) fits = std::ranges::find_if(builds_.fit.fitting, has);
    if (fits == builds_.fit.fitting.end()) return without_build(feature);
    label = *fits;
    const Usability gpus = judge_gpus(feature, judged_);
    if (gpus.usable != Usable::yes) return gpus;
    if (Usability of_properties = judge_properties(feature, judged_);
        of_properties.usable != Usable::yes)
      return of_properties;
    if (builds_.unknown.contains(label))
      return {Usable::unknown, fmt::format("the requirements of the build {} are unknown", label)};
    if (!feature.unproven.empty())
      return {Usable::unknown, fmt::format("not confirmed: {}", feature.unproven)};
    return {Usable::yes, fmt::format("with the build {}{}{}", label,
                                     gpus.reason.empty() ? "" : ", ", gpus.reason)};
  }

  [[nodiscard]] Usability without_build(const FamilyFeature& feature) const {
    const auto vendor = detect::parse_vendor(feature.vendor);
    if (vendor && judged_.counted(*vendor).empty()) {
      const bool unknown = std::ranges::any_of(judged_.machine.gpus, [&](const detect::Gpu& gpu) {
        return gpu.vendor == *vendor && gpu.usable == Presence::unknown;
      });
      return {unknown ? Usable::unknown : Usable::no,
              render_fact(providers::why_no_gpu(judged_.machine, *vendor, judged_.gpus))};
    }
    for (const index::FamilyLabel& label : family_.labels) {  // best first
      const auto misfit = builds_.fit.rejected.find(label.name);
      if (misfit == builds_.fit.rejected.end() || !has_feature(family_, feature, label.name))
        continue;
      return {Usable::no,
              fmt::format("the build {} does not fit: {}", label.name, misfit->second.render())};
    }
    return {Usable::no, fmt::format("{} {} has no build with it for {}", family_.anchor(),
                                    release_.version, builds_.platform)};
  }

  const Family& family_;
  const FamilyRelease& release_;
  const JudgedMachine& judged_;
  wheel::Version version_;
  Builds builds_;
};

/// If a usable GPU is not covered by any entry of the feature, "no" would say too much.
void admit_silence(const Family& family, const JudgedMachine& judged, FeatureAnswer& answer) {
  if (answer.usable != Usable::no) return;
  std::set<std::string, std::less<>> spoken;
  for (const FamilyFeature& feature : family.features) {
    if (feature.name != answer.name) continue;
    if (feature.only || feature.vendor.empty()) return;
    spoken.insert(feature.vendor);
  }
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) {
    if (spoken.contains(vendor.word) || judged.counted(vendor.vendor).empty()) continue;
    answer.usable = Usable::unknown;
    answer.reason =
        fmt::format("the family {} has no fact about it on {} GPUs", family.name, vendor.title);
  }
}

}  // namespace

const FamilyRelease* meant_release(const Family& family, const wheel::SpecifierSet& wanted) {
  for (const FamilyRelease& release : family.releases) {
    if (release.prefix.empty()) continue;
    if (wanted.contains(version_of(release))) return &release;
  }
  return nullptr;
}

std::vector<FeatureAnswer> list_features(const Family& family, const FamilyRelease& release,
                                         const JudgedMachine& judged,
                                         const wheel::MarkerEnvironment& markers) {
  const FeatureJudge judge(family, release, judged, markers);
  std::vector<FeatureAnswer> answers;
  for (const FamilyFeature& feature : family.features) {
    FeatureAnswer answer = judge.judge(feature);
    if (!answers.empty() && answers.back().name == feature.name) {
      take_better(answers.back(), std::move(answer));
    } else {
      answers.push_back(std::move(answer));
    }
  }
  for (FeatureAnswer& answer : answers) admit_silence(family, judged, answer);
  return answers;
}

}  // namespace axle::doctor
