#include "doctor/features/feature_answer.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace axle::doctor {

namespace {

using index::Family;
using index::FamilyFeature;
using index::FamilyRelease;

JudgedFeature judge_entry(const Family& family, const FamilyRelease& release,
                          const FeatureJudge& judge, const FamilyFeature& feature) {
  JudgedFeature judged;
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
  answer.change = std::move(decided.need.advice);
  answer.label = std::move(decided.label);
  judged.changes = std::move(decided.need.changes);
  judged.others = std::move(decided.need.elsewhere);
  judged.of_release = decided.need.of_release;
  return judged;
}

void add_ways(Change& change, std::vector<Change::Way> more) {
  for (Change::Way& way : more) {
    const bool there = std::ranges::any_of(change.ways, [&](const Change::Way& one) {
      return one.name == way.name && one.with == way.with;
    });
    if (!there) change.ways.push_back(std::move(way));
  }
}

void add_changes(std::vector<Change>& changes, std::vector<Change> more) {
  for (Change& change : more) {
    const auto same = std::ranges::find(changes, change.text, &Change::text);
    if (same == changes.end())
      changes.push_back(std::move(change));
    else
      add_ways(*same, std::move(change.ways));
  }
}

}  // namespace

JudgedFeature judge_entries(const Family& family, const FamilyRelease& release,
                            const FeatureJudge& judge, std::span<const FamilyFeature> entries) {
  const auto rank = [&](const FamilyFeature& feature, const FeatureAnswer& answer) {
    const bool gpu = judge.has_gpu_for(feature);
    const bool platform = judge.is_for_platform(feature);
    return std::tuple(!judge.knows(feature), answer.usable, !(gpu && platform),
                      !judge.is_of_gpu_here(feature), !gpu || feature.vendor.empty(), !platform,
                      !judge.is_in_time(feature));
  };
  const FamilyFeature* best = &entries.front();
  JudgedFeature judged = judge_entry(family, release, judge, *best);
  for (const FamilyFeature& feature : entries.subspan(1)) {
    JudgedFeature other = judge_entry(family, release, judge, feature);
    if (rank(feature, other.answer) < rank(*best, judged.answer)) {
      std::swap(judged, other);
      best = &feature;
    }
    add_changes(judged.others, std::move(other.changes));
    add_changes(judged.others, std::move(other.others));
  }
  // With one text they are ways of one: "an NVIDIA GPU or an AMD GPU".
  for (Change& change : judged.changes) {
    const auto same = std::ranges::find(judged.others, change.text, &Change::text);
    if (same == judged.others.end()) continue;
    add_ways(change, std::move(same->ways));
    judged.others.erase(same);
  }
  return judged;
}

}  // namespace axle::doctor
