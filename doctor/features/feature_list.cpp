#include "doctor/features/feature_list.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "detect/gpu_vendors.h"
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
  answer.change = fmt::format("a machine with an {} GPU", text::joined_by_or(titles));
}

/// If a GPU is not covered by any entry for the release, "no" would say too much. `entries`: those
/// of one name.
void admit_silence(const Family& family, const FeatureJudge& judge,
                   std::span<const FamilyFeature> entries, const JudgedMachine& judged,
                   FeatureAnswer& answer) {
  if (answer.usable != Usable::no) return;
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

struct Judged {
  FeatureAnswer answer;
  Cure cure = Cure::machine;
};

Judged judge_entry(const Family& family, const FamilyRelease& release, const FeatureJudge& judge,
                   const FamilyFeature& feature) {
  Judged judged;
  FeatureAnswer& answer = judged.answer;
  answer.name = feature.name;
  answer.title = feature.title;
  if (!judge.knows(feature)) {
    answer.reason = fmt::format("the family {} has no fact about {} {}", family.name,
                                family.anchor(), release.version);
    return judged;
  }
  answer.since = text_of(feature.since);
  answer.until = text_of(feature.until);
  answer.note = feature.note;
  answer.source = index::render_sources(family, feature.sources);
  const std::string_view confidence = index::render_confidence(feature.confidence);
  answer.confidence = confidence.substr(confidence.rfind(' ') + 1);
  answer.date = feature.date;
  FeatureJudge::Decision decided = judge.decide(feature);
  answer.usable = decided.need.usable;
  answer.reason = std::move(decided.need.reason);
  answer.change = std::move(decided.need.change);
  answer.label = std::move(decided.label);
  judged.cure = decided.need.cure;
  return judged;
}

/// The best answer of the entries with one name: one that knows the release before one that does
/// not, then by usability, then one that is about a GPU of this machine, about its platform, about
/// the release, then the first.
Judged judge_entries(const Family& family, const FamilyRelease& release, const FeatureJudge& judge,
                     std::span<const FamilyFeature> entries) {
  const auto rank = [&](const FamilyFeature& feature, const FeatureAnswer& answer) {
    const bool gpu = judge.has_gpu_for(feature);
    const bool platform = judge.is_for_platform(feature);
    return std::tuple(!judge.knows(feature), answer.usable, !(gpu && platform),
                      !gpu || feature.vendor.empty(), !platform, !judge.is_in_time(feature));
  };
  const FamilyFeature* best = &entries.front();
  Judged judged = judge_entry(family, release, judge, *best);
  for (const FamilyFeature& feature : entries.subspan(1)) {
    Judged other = judge_entry(family, release, judge, feature);
    if (rank(feature, other.answer) >= rank(*best, judged.answer)) continue;
    judged = std::move(other);
    best = &feature;
  }
  return judged;
}

/// The other releases of the family on the same machine.
class OtherReleases {
 public:
  OtherReleases(const Family& family, const FamilyRelease& own, const JudgedMachine& judged,
                const wheel::MarkerEnvironment& markers)
      : family_(family), judged_(judged), markers_(markers) {
    for (const FamilyRelease& release : family.releases) {
      if (release.prefix.empty()) continue;
      if (&release == &own) own_ = releases_.size();
      releases_.push_back({&release, nullptr});
    }
  }

  /// The nearest that has the feature on this machine, a newer one before older ones: "torch 2.10
  /// or newer", "torch 2.8"; empty: none does. `entries`: those of one name.
  [[nodiscard]] std::string with(std::span<const FamilyFeature> entries) {
    const auto has = [&](std::size_t at) {
      return judge(at, entries).answer.usable == Usable::yes;
    };
    for (std::size_t at = own_; at-- > 0;) {
      if (!has(at)) continue;
      // A release that no entry knows is newer than the facts: it contradicts nothing.
      bool all = true;
      for (std::size_t newer = 0; newer < at; ++newer)
        all = all && (has(newer) || !knows(newer, entries));
      return title(at) + (all ? " or newer" : "");
    }
    for (std::size_t at = own_ + 1; at < releases_.size(); ++at) {
      if (has(at)) return title(at);
    }
    return {};
  }

  /// The nearest with entries for this machine that leave open whether it has the feature, "torch
  /// 2.14"; empty: there is none.
  [[nodiscard]] std::string unknown(std::span<const FamilyFeature> entries) {
    std::string newer;
    for (std::size_t at = 0; at < releases_.size(); ++at) {
      if (at == own_ || judge(at, entries).answer.usable != Usable::unknown) continue;
      const FeatureJudge& other = *releases_[at].judge;
      const bool speaks = std::ranges::any_of(entries, [&](const FamilyFeature& feature) {
        return other.knows(feature) && other.is_in_time(feature) && other.has_gpu_for(feature);
      });
      if (!speaks) continue;
      if (at > own_) return newer.empty() ? title(at) : newer;
      newer = title(at);
    }
    return newer;
  }

  /// The answer of the first release that is not before `since`; nullopt: the own release is
  /// not before it, or the file has no later one.
  [[nodiscard]] std::optional<FeatureAnswer> first_since(const std::string& since,
                                                         std::span<const FamilyFeature> entries) {
    const auto version = wheel::parse_version(since);
    if (!version || !(version_of(*releases_[own_].release) < *version)) return std::nullopt;
    for (std::size_t at = own_; at-- > 0;) {
      if (!(version_of(*releases_[at].release) < *version)) return judge(at, entries).answer;
    }
    return std::nullopt;
  }

 private:
  struct Other {
    const FamilyRelease* release;
    std::unique_ptr<FeatureJudge> judge;  ///< made when it is asked for
  };

  [[nodiscard]] bool knows(std::size_t at, std::span<const FamilyFeature> entries) const {
    return std::ranges::any_of(entries, [&](const FamilyFeature& feature) {
      return feature.releases.contains(version_of(*releases_[at].release));
    });
  }
  Judged judge(std::size_t at, std::span<const FamilyFeature> entries) {
    Other& other = releases_[at];
    if (!other.judge)
      other.judge = std::make_unique<FeatureJudge>(family_, *other.release, judged_, markers_, "");
    return judge_entries(family_, *other.release, *other.judge, entries);
  }
  [[nodiscard]] std::string title(std::size_t at) const {
    return fmt::format("{} {}", family_.anchor(), releases_[at].release->version);
  }

  const Family& family_;
  const JudgedMachine& judged_;
  const wheel::MarkerEnvironment& markers_;
  std::vector<Other> releases_;  ///< newest first
  std::size_t own_ = 0;
};

/// What would help is said of releases only where it was found to.
void advise_release(OtherReleases& others, std::span<const FamilyFeature> entries, Judged& judged) {
  FeatureAnswer& answer = judged.answer;
  if (answer.usable != Usable::no || judged.cure == Cure::machine) return;
  if (std::string release = others.with(entries); !release.empty()) {
    answer.change = judged.cure == Cure::release ? std::move(release)
                                                 : fmt::format("{}, or {}", answer.change, release);
    return;
  }
  if (judged.cure != Cure::release) return;
  const auto later = others.first_since(answer.since, entries);
  if (answer.change.empty()) {
    const std::string unknown = others.unknown(entries);
    answer.change = unknown.empty() ? std::string("no known release")
                                    : fmt::format("perhaps {}: no source says", unknown);
  }
  if (!later || later->usable != Usable::no) return;
  answer.reason += fmt::format(", and there {}", later->reason);
  answer.change = later->change.empty() ? std::string()
                                        : fmt::format("{}, and {}", answer.change, later->change);
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
                                         std::string_view chosen) {
  const FeatureJudge judge(family, release, judged, markers, chosen);
  OtherReleases others(family, release, judged, markers);
  std::vector<FeatureAnswer> answers;
  for (std::span<const FamilyFeature> rest = family.features; !rest.empty();) {
    const auto other = [&](const FamilyFeature& one) { return one.name != rest.front().name; };
    const auto end = std::ranges::find_if(rest, other);
    const auto entries = rest.first(static_cast<std::size_t>(end - rest.begin()));
    Judged best = judge_entries(family, release, judge, entries);
    advise_release(others, entries, best);
    if (best.answer.usable == Usable::no) name_all_vendors(judge, entries, judged, best.answer);
    admit_silence(family, judge, entries, judged, best.answer);
    answers.push_back(std::move(best.answer));
    rest = rest.subspan(entries.size());
  }
  return answers;
}

Result<std::vector<FeatureAnswer>> list_chosen_features(index::FamilyBook& families,
                                                        const plan::ResolvedPackage& package,
                                                        const JudgedMachine& judged,
                                                        const wheel::MarkerEnvironment& markers) {
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
  return list_features(*family, *release, judged, markers, label);
}

}  // namespace axle::doctor
