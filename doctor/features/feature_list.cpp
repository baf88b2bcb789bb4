#include "doctor/features/feature_list.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "detect/gpu_vendors.h"
#include "doctor/features/feature_advice.h"
#include "doctor/features/feature_judge.h"
#include "foundation/text/nearest.h"

namespace axle::doctor {

namespace {

using index::Family;
using index::FamilyFeature;
using index::FamilyRelease;

/// Whether what torch would do with the vendor's GPUs is a question here: one works, or may.
bool may_use(const JudgedMachine& judged, detect::GpuVendor vendor) {
  return !judged.counted(vendor).empty() ||
         std::ranges::any_of(judged.machine.gpus, [&](const detect::Gpu& gpu) {
           return gpu.vendor == vendor && gpu.usable == detect::Presence::unknown;
         });
}

/// "no NVIDIA, AMD or Intel GPU" where each entry is for GPUs that this machine has none of; those
/// of other releases are no help.
void name_all_vendors(const FeatureJudge& judge, std::span<const FamilyFeature> entries,
                      const JudgedMachine& judged, FeatureAnswer& answer) {
  if (!judge.has_builds()) return;
  std::vector<std::string> titles;
  for (const FamilyFeature& feature : entries) {
    if (!judge.knows(feature)) continue;
    const auto vendor = detect::parse_vendor(feature.vendor);
    if (!vendor) {
      if (judge.is_for_platform(feature)) return;
      continue;
    }
    if (std::ranges::find(judged.machine.gpus, *vendor, &detect::Gpu::vendor) !=
        judged.machine.gpus.end())
      return;
    if (!judge.is_in_time(feature) || !judge.is_for_platform(feature)) continue;
    std::string title(detect::gpu_vendor(*vendor).title);
    if (std::ranges::find(titles, title) == titles.end()) titles.push_back(std::move(title));
  }
  if (titles.size() < 2) return;
  answer.reason = fmt::format("no {} GPU", text::joined_by_or(titles));
}

/// If a GPU is not covered by any entry for the release, "no" would say too much. `entries`: those
/// of one name.
void admit_silence(const Family& family, const FeatureJudge& judge,
                   std::span<const FamilyFeature> entries, const JudgedMachine& judged,
                   JudgedFeature& best) {
  FeatureAnswer& answer = best.answer;
  if (answer.usable != Usable::no) return;
  // What a driver lacks is no question of other GPUs.
  if (!best.changes.empty() && is_software(best.changes.front().of)) return;
  std::set<std::string, std::less<>> spoken;
  for (const FamilyFeature& feature : entries) {
    if (!judge.knows(feature)) continue;
    if (feature.only || (feature.vendor.empty() && judge.is_for_platform(feature))) return;
    spoken.insert(feature.vendor);
  }
  // Of other systems alone: no GPU is the cause.
  if (spoken.size() == (spoken.contains("") ? 1U : 0U)) return;
  const auto admit = [&](std::string_view title) {
    answer.usable = Usable::unknown;
    answer.change.clear();
    answer.reason =
        fmt::format("the family {} has no fact about it on {} GPUs", family.name, title);
  };
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) {
    if (!spoken.contains(vendor.word) && may_use(judged, vendor.vendor)) admit(vendor.title);
  }
  const auto& mps = judged.machine.mps;
  if (mps && mps->usable == detect::Presence::present) admit("Apple's");
}

}  // namespace

std::optional<wheel::Version> exact_version(const wheel::SpecifierSet& wanted) {
  for (const wheel::Specifier& one : wanted.specifiers) {
    if (one.comparison == wheel::Comparison::equal && !one.wildcard) return one.version;
    if (one.comparison != wheel::Comparison::arbitrary) continue;
    if (auto version = wheel::parse_version(one.text)) return *std::move(version);
  }
  return std::nullopt;
}

const FamilyRelease* meant_release(const Family& family, const wheel::SpecifierSet& wanted) {
  if (const auto exact = exact_version(wanted)) {
    const FamilyRelease* release =
        index::find_release(family, family.anchor(), exact->public_version());
    const std::string label = index::local_label(*exact);
    const bool known =
        release != nullptr && !release->prefix.empty() &&
        (label.empty() || std::ranges::any_of(release->builds, [&](const auto& build) {
           return build.label == label;
         }));
    return known && wanted.contains(*exact) ? release : nullptr;
  }
  for (const FamilyRelease& release : family.releases) {
    if (release.prefix.empty()) continue;
    if (wanted.contains(version_of(release))) return &release;
  }
  return nullptr;
}

std::vector<FeatureAnswer> list_features(const Family& family, const FamilyRelease& release,
                                         const JudgedMachine& judged,
                                         const wheel::MarkerEnvironment& markers,
                                         std::string_view chosen, Detail detail) {
  const FeatureJudge judge(family, release, judged, markers, chosen);
  FeatureAdvice advice(family, release, judged, markers);
  std::vector<FeatureAnswer> answers;
  for (std::span<const FamilyFeature> rest = family.features; !rest.empty();) {
    const auto other = [&](const FamilyFeature& one) { return one.name != rest.front().name; };
    const auto end = std::ranges::find_if(rest, other);
    const auto entries = rest.first(static_cast<std::size_t>(end - rest.begin()));
    JudgedFeature best = judge_entries(family, release, judge, entries);
    if (best.answer.usable == Usable::no) name_all_vendors(judge, entries, judged, best.answer);
    admit_silence(family, judge, entries, judged, best);
    if (detail == Detail::advice && best.answer.usable == Usable::no) advice.add_to(best, entries);
    if (detail == Detail::advice && best.answer.usable == Usable::unknown && best.of_release)
      advice.add_release_to(best.answer, entries);
    answers.push_back(std::move(best.answer));
    rest = rest.subspan(entries.size());
  }
  return answers;
}

Result<std::vector<FeatureAnswer>> list_chosen_features(index::FamilyBook& families,
                                                        const plan::ResolvedPackage& package,
                                                        const JudgedMachine& judged,
                                                        const wheel::MarkerEnvironment& markers,
                                                        Detail detail) {
  auto found = families.of_project(package.name);
  if (!found) return std::unexpected(std::move(found).error());
  const Family* family = *found;
  if (family == nullptr || family->anchor() != package.name) return {};
  const FamilyRelease* release = index::find_release(*family, package.name, package.version);
  if (release == nullptr || release->prefix.empty()) return {};
  // A plain wheel is the build that the default index has; a published variant has no label of the
  // family, so that the best build that fits counts.
  std::string label = package.family.empty() ? std::string() : package.variant.value_or("");
  if (!package.variant) {
    const auto plain = release->default_index.find(builds_platform(judged.machine));
    if (plain != release->default_index.end()) label = plain->second;
  }
  return list_features(*family, *release, judged, markers, label, detail);
}

}  // namespace axle::doctor
