#include "resolver/choice/release_choice.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "providers/provider.h"
#include "resolver/catalogue/listed_files.h"
#include "resolver/choice/abi_lists.h"
#include "resolver/choice/gpu_views.h"
#include "resolver/choice/label_choice.h"
#include "resolver/choice/withheld_labels.h"
#include "resolver/explain/facts.h"
#include "resolver/explain/messages.h"
#include "resolver/explain/unusable_wheels.h"
#include "wheel/requirement.h"

namespace axle::resolver {
namespace {

using Wheels = std::vector<const CandidateWheel*>;

/// Inside one group: a family's own index before others, platform tag order, then the higher build
/// tag (PEP 427).
bool fits_better(const CandidateWheel* left, const CandidateWheel* right) {
  if (left->file->source.empty() != right->file->source.empty()) return left->file->source.empty();
  if (left->tag_index != right->tag_index) return left->tag_index < right->tag_index;
  if (left->name.build != right->name.build) return left->name.build > right->name.build;
  return left->file->filename < right->file->filename;
}

/// As far as its entry in the index tells.
bool is_listed(const index::PublishedFile& file, const WheelPolicy& policy) {
  return policy.versions == nullptr || policy.versions->listed.empty() ||
         wheel::may_be_listed(file.hash.as_listed(), policy.versions->listed);
}

bool is_variant_wheel(const CandidateWheel* wheel) { return wheel->is_variant(); }

std::vector<std::string> labels_of(const Release& release) {
  std::vector<std::string> labels;
  for (const CandidateWheel& wheel : release.candidates) {
    if (wheel.is_variant()) labels.push_back(wheel.label);
  }
  std::ranges::sort(labels);
  labels.erase(std::ranges::unique(labels).begin(), labels.end());
  return labels;
}

std::string why_this_variant(const wheel::VariantMetadata& metadata, const std::string& label,
                             const SupportedProperties& lists, bool pinned) {
  if (pinned) return fmt::format("variant {} was requested, and this machine supports it", label);
  const auto deciding = deciding_properties(metadata, label, lists);
  if (deciding.empty()) return "no variant with properties fits, and this one needs nothing";
  return wheel::render_property(deciding.front()) + " is supported and ranks first";
}

std::string why_the_plain_wheel(const WheelPolicy& policy, const ReleaseChoice& choice,
                                bool variant_wheels) {
  if (!policy.variants) return "plain wheels were requested";
  if (choice.decision.has_variants) return "no variant fits, and the plain wheel needs nothing";
  if (variant_wheels) return "the variant wheels cannot be used, and the plain wheel needs nothing";
  return "the release has no variants";
}

/// What its variants are is not in the cache, and must not be requested: another release may do.
bool is_out_of_reach(const Error& error, const Release& release) {
  return error.kind == ErrorKind::not_found && !release.direct;
}

}  // namespace

WheelChooser::WheelChooser(const Target& target, const Options& options, Candidates& candidates,
                           Report& report)
    : target_(target),
      python_(target.python_version),
      options_(options),
      views_(providers::device_views(*target.machine, options.providers.gpus)),
      gpus_matter_(providers::policy_matters(*target.machine, options.providers.gpus)),
      candidates_(candidates),
      report_(report) {
  python_.pre.reset();
  python_.dev.reset();
}

bool WheelChooser::python_fits(const std::string& name, const index::PublishedFile& file) {
  if (file.requires_python.empty()) return true;
  if (const auto known = fitting_pythons_.find(file.requires_python);
      known != fitting_pythons_.end()) {
    return known->second;
  }
  const auto specifiers = wheel::parse_specifiers(file.requires_python);
  if (!specifiers) {
    report_.warn(fmt::format("a broken requires-python of {} is ignored: {}", name,
                             specifiers.error().message));
    return true;
  }
  return fitting_pythons_[file.requires_python] = specifiers->contains(python_);
}

std::optional<plan::SkipCode> WheelChooser::skip_code(const std::string& name,
                                                      const Release& release,
                                                      const CandidateWheel& wheel,
                                                      const WheelPolicy& policy) {
  using plan::SkipCode;
  // It was checked when it was built, and so was what it was built from.
  if (release.is_built(wheel)) return std::nullopt;
  const index::PublishedFile& file = *wheel.file;
  const bool own_version = file.label.empty()
                               ? wheel.name.version == release.version
                               : wheel::compare_public(wheel.name.version, release.version) == 0;
  const std::string& written = wheel.name.distribution;
  if ((written != name && wheel::normalize_name(written) != name) || !own_version)
    return SkipCode::other_release;
  if (!file.label.empty() && policy.versions != nullptr &&
      !policy.versions->contains(wheel.name.version)) {
    return SkipCode::other_version;
  }
  if (file.yanked && !policy.yanked && !release.direct) return SkipCode::yanked;
  if (!python_fits(name, file)) return SkipCode::python;
  if (wheel.tag_index == wheel::SupportedTags::npos) return SkipCode::tags;
  if (wheel.is_variant() && !policy.variants) return SkipCode::plain_only;
  if (options_.wheel_use.forbids(name) != nullptr) return SkipCode::forbidden;
  if (is_withheld(options_.withheld, name, release, wheel)) return SkipCode::withheld;
  if (options_.refused_wheels.contains(file.url)) return SkipCode::abi;
  if (!is_listed(file, policy)) return SkipCode::hash;
  return std::nullopt;
}

std::string WheelChooser::skip_reason(const std::string& name, plan::SkipCode code,
                                      const CandidateWheel& wheel) const {
  using plan::SkipCode;
  const index::PublishedFile& file = *wheel.file;
  switch (code) {
    case SkipCode::other_release:
      return "its name belongs to another release";
    case SkipCode::other_version:
      return fmt::format("{} is not the required version",
                         wheel::render_version(wheel.name.version));
    case SkipCode::yanked:
      return file.yanked_reason.empty() ? "yanked" : "yanked: " + file.yanked_reason;
    case SkipCode::python:
      return fmt::format("needs Python {}, but this is {}", file.requires_python,
                         shown_python(target_));
    case SkipCode::tags:
      return "its tags " + wheel.name.tags_text + " do not fit this interpreter and platform";
    case SkipCode::plain_only:
      return "plain wheels were requested";
    case SkipCode::forbidden:
      return fmt::format("wheels of {} are excluded ({})", name, *options_.wheel_use.forbids(name));
    case SkipCode::withheld:
      return "another build is to be taken (--minimize builds, --budget)";
    case SkipCode::abi:
      return options_.refused_wheels.at(file.url);
    case SkipCode::hash:
      return "its hash is not listed";
    default:
      return {};  // no other is a skip_code
  }
}

const index::PublishedFile* WheelChooser::buildable(const std::string& name, const Release& release,
                                                    const WheelPolicy& policy) {
  // What it makes is a plain wheel.
  const bool plain_counts = policy.rule == LabelRule::best && !policy.required_here;
  if (!plain_counts || release.direct || release.family != nullptr) return nullptr;
  const index::PublishedFile* best = nullptr;
  for (const index::PublishedFile& file : release.sdists()) {
    if (file.yanked && !policy.yanked) continue;
    if (!python_fits(name, file) || !is_listed(file, policy)) continue;
    // PEP 625 has one format; of older releases with several the first will do.
    if (best == nullptr ||
        (file.filename.ends_with(".tar.gz") && !best->filename.ends_with(".tar.gz")))
      best = &file;
  }
  return best;
}

WheelChooser::UsableWheels WheelChooser::usable_wheels(const std::string& name, Release& release,
                                                       const WheelPolicy& policy,
                                                       std::vector<plan::SkippedFile>* skipped) {
  if (skipped != nullptr) {
    parse_wheels(release, target_.tags);
    *skipped = release.unreadable;
  } else {
    parse_fitting_wheels(release, target_.tags);
  }
  UsableWheels usable;
  for (const CandidateWheel& wheel : release.candidates) {
    const std::optional<plan::SkipCode> code = skip_code(name, release, wheel, policy);
    if (!code) {
      (wheel.is_variant() ? usable.variants : usable.plain).push_back(&wheel);
      continue;
    }
    if (code == plan::SkipCode::hash) usable.unlisted.push_back(&wheel);
    if (skipped != nullptr)
      skipped->push_back({wheel.file->filename, *code, skip_reason(name, *code, wheel)});
  }
  std::ranges::sort(usable.plain, fits_better);
  std::ranges::sort(usable.variants, fits_better);
  return usable;
}

LikelyChoice WheelChooser::likely(const std::string& name, Release& release,
                                  const WheelPolicy& policy) {
  parse_fitting_wheels(release, target_.tags);
  LikelyChoice likely;
  for (const CandidateWheel& wheel : release.candidates) {
    if (wheel.tag_index == wheel::SupportedTags::npos) continue;
    // What is broken is reported when somebody chooses among it.
    const std::string& pythons = wheel.file->requires_python;
    if (!pythons.empty() && !fitting_pythons_.contains(pythons) &&
        !wheel::parse_specifiers(pythons)) {
      continue;
    }
    if (skip_code(name, release, wheel, policy)) continue;
    if (wheel.is_variant()) return {nullptr, true};
    if (likely.wheel == nullptr || fits_better(&wheel, likely.wheel)) likely.wheel = &wheel;
  }
  return likely;
}

Facts WheelChooser::facts_about(const wheel::Property& property, const detect::Machine* view,
                                const ReleaseChoice& choice) const {
  const std::string package = wheel::normalize_name(property.feature);
  const auto known = std::ranges::find_if(choice.abi, [&](const AbiAssumption& assumption) {
    return assumption.ns == property.ns && assumption.package == package;
  });
  if (known == choice.abi.end()) {
    return property_facts(property, choice.decision.origins, *target_.machine,
                          options_.providers.gpus, view);
  }
  if (!known->version) return {{FactCode::abi_absent, package, {property.value}}};
  return {
      {FactCode::abi_version, package, {property.value}, {wheel::render_version(*known->version)}}};
}

std::vector<plan::DecidingProperty> WheelChooser::with_facts(
    std::vector<wheel::Property> properties) const {
  std::vector<plan::DecidingProperty> deciding;
  for (wheel::Property& property : properties) {
    Facts facts = machine_facts(property, *target_.machine, options_.providers.gpus);
    deciding.push_back({std::move(property), std::move(facts)});
  }
  return deciding;
}

SupportedProperties WheelChooser::rank(const ReleaseMetadata& metadata, const UsableWheels& usable,
                                       const VersionOf& version_of, bool reasons,
                                       ReleaseChoice& choice) {
  const Wheels& wheels = usable.variants;
  const wheel::VariantMetadata& document = *metadata.document;
  plan::Decision& decision = choice.decision;
  decision.has_variants = true;
  SupportedLists supported =
      supported_lists(document, *target_.machine, options_.providers, target_.markers, report_);
  AbiLists abi = abi_lists(document, options_.providers, version_of);
  for (auto& [ns, features] : abi.lists) supported.lists.insert_or_assign(ns, std::move(features));
  choice.abi = std::move(abi.assumptions);

  for (const CandidateWheel* wheel : wheels) {
    const std::string& label = wheel->label;
    if (document.variants.contains(label)) continue;
    const auto unknown = metadata.unknown.find(label);
    if (unknown != metadata.unknown.end()) {
      decision.skipped.push_back(
          {wheel->file->filename, plan::SkipCode::unknown_needs, unknown->second});
    } else {
      decision.skipped.push_back({wheel->file->filename, plan::SkipCode::label_unknown,
                                  fmt::format("label {} is not in the metadata", label)});
    }
  }
  const auto evidence_of = [&](const std::string& label) {
    const auto evidence = metadata.evidence.find(label);
    return evidence == metadata.evidence.end() ? std::string() : evidence->second;
  };
  auto [ranking, against] = rank_on_views(document, views_, supported);
  decision.origins = std::move(supported.origins);
  if (gpus_matter_) decision.gpu_policy = providers::render_gpu_policy(options_.providers.gpus);
  std::set<std::string_view> labels_of_wheels;
  for (const CandidateWheel* wheel : wheels) labels_of_wheels.insert(wheel->label);
  for (RejectedVariant& rejected : ranking.rejected) {
    if (!reasons || !labels_of_wheels.contains(rejected.label)) continue;
    const auto view = against.find(rejected.label);
    Facts facts = facts_against(rejected.property, document.variants.at(rejected.label),
                                view == against.end() ? nullptr : view->second, choice);
    std::string evidence = evidence_of(rejected.label);
    decision.rejected.push_back({std::move(rejected.label), std::move(rejected.property),
                                 std::move(rejected.reason), std::move(facts),
                                 std::move(evidence)});
  }
  for (RankedVariant& ranked : ranking.ranked) {
    if (!labels_of_wheels.contains(ranked.label)) {
      const bool unlisted =
          !usable.unlisted.empty() && best_with_label(usable.unlisted, ranked.label) != nullptr;
      if (unlisted && decision.ranked.empty() && choice.unlisted_label.empty())
        choice.unlisted_label = ranked.label;
      continue;
    }
    std::vector<plan::DecidingProperty> properties;
    if (reasons)
      properties = with_facts(deciding_properties(document, ranked.label, supported.lists));
    std::string evidence = evidence_of(ranked.label);
    decision.ranked.push_back({std::move(ranked.label), std::move(ranked.keys),
                               std::move(properties), std::move(evidence)});
  }
  return std::move(supported.lists);
}

/// What speaks against every value of the feature that `rejected` is of.
Facts WheelChooser::facts_against(const wheel::Property& rejected,
                                  const wheel::VariantProperties& properties,
                                  const detect::Machine* view, const ReleaseChoice& choice) const {
  std::vector<wheel::Property> values;
  for (const wheel::Property& property : properties) {
    if (property.ns == rejected.ns && property.feature == rejected.feature)
      values.push_back(property);
  }
  // 75_real before 100_real
  std::ranges::sort(values, {}, [](const wheel::Property& property) {
    return std::pair(property.value.size(), property.value);
  });
  std::vector<Facts> each;
  for (const wheel::Property& property : values)
    each.push_back(facts_about(property, view, choice));
  return merge_facts(each);
}

void WheelChooser::choose_variant(const Judged& judged, const WheelPolicy& policy,
                                  ReleaseChoice& choice) {
  const Wheels& wheels = judged.usable.variants;
  const ReleaseMetadata& metadata = *judged.metadata;
  const SupportedProperties& supported = judged.supported;
  const LabelChoice pick = choose_label(metadata, wheels, policy, choice.decision);
  if (pick.label.empty()) return note_unused(metadata, wheels, choice.decision);
  const wheel::VariantMetadata& document = *metadata.document;
  const bool of_family = !metadata.evidence.empty() || !metadata.unknown.empty();
  choice.chosen = best_with_label(wheels, pick.label);
  if (const auto listed = document.variants.find(pick.label); listed != document.variants.end())
    choice.properties = listed->second;
  choice.abi_needs = wheel::abi_needs(document, choice.properties);
  choice.supported = supported_properties(document, pick.label, supported);
  choice.fallback = metadata.fallback.contains(pick.label);
  choice.remark = pick.remark;
  if (of_family && choice.remark.empty() && !choice.fallback)
    choice.remark = left_out_remark(document, pick.label, target_, options_.providers);
  const bool pinned = policy.rule == LabelRule::pinned;
  if (!pick.because.empty()) {
    choice.decision.chosen_because = pick.because;
  } else if (of_family && !pinned) {
    choice.decision.chosen_because =
        choice.fallback ? why_this_fallback(*target_.machine)
                        : why_this_build(pick.label, policy.rule, choice.decision, *target_.machine,
                                         options_.providers.gpus);
  } else {
    const bool first = choice.decision.ranked.front().label == pick.label;
    choice.decision.chosen_because =
        policy.rule == LabelRule::shared && !first
            ? "it is the best variant that goes with the other requirements"
            : why_this_variant(document, pick.label, supported, pinned);
  }
  if (choice.fallback) choice.other = other_build(*choice.chosen, wheels, metadata);
}

Result<WheelChooser::Judged> WheelChooser::judge(const std::string& name, const Release& release,
                                                 const WheelPolicy& policy,
                                                 const VersionOf& version_of, UsableWheels usable,
                                                 bool reasons, ReleaseChoice& choice) {
  Judged judged;
  judged.usable = std::move(usable);
  if (release.trouble()) return std::unexpected(*release.trouble());
  judged.needed = policy.required_here;
  Wheels described = judged.usable.variants;
  // What is not listed is not opened, but a document of the release's tells what was left out.
  if (release.variants_file() || release.family != nullptr)
    std::ranges::copy_if(judged.usable.unlisted, std::back_inserter(described), is_variant_wheel);
  if (described.empty()) return judged;
  const auto metadata = candidates_.variants(name, release, described);
  if (!metadata) return std::unexpected(metadata.error());
  judged.metadata = *metadata;
  choice.decision.metadata_source = (*metadata)->source;
  choice.decision.skipped.insert(choice.decision.skipped.end(), (*metadata)->skipped.begin(),
                                 (*metadata)->skipped.end());
  if (judged.is_ranked()) {
    warn_of_abi_defects(*(*metadata)->document, name, report_);
    judged.supported = rank(**metadata, judged.usable, version_of, reasons, choice);
    judged.needed = judged.needed || has_builds_for(*(*metadata)->document, policy.required);
  } else if (!(*metadata)->broken.empty()) {
    for (const CandidateWheel* wheel : judged.usable.variants) {
      choice.decision.skipped.push_back(
          {wheel->file->filename, plan::SkipCode::metadata, (*metadata)->broken});
    }
  }
  return judged;
}

Result<std::vector<BuildOption>> WheelChooser::options(const std::string& name, Release& release,
                                                       const WheelPolicy& policy) {
  ReleaseChoice choice;
  const auto judged = judge(name, release, policy, {},
                            usable_wheels(name, release, policy, nullptr), false, choice);
  std::vector<BuildOption> options;
  if (!judged && is_out_of_reach(judged.error(), release)) return options;
  if (!judged) return std::unexpected(judged.error());
  const bool of_family = release.family != nullptr;
  const auto option = [&](const std::string& label, bool fits) {
    const ReleaseMetadata& metadata = *judged->metadata;
    return BuildOption{label, fits, metadata.fallback.contains(label),
                       metadata.unknown.contains(label)};
  };
  if (judged->is_ranked()) {
    for (const plan::Fit& fit : choice.decision.ranked) {
      const bool counts =
          !judged->needed || is_built_for(*judged->metadata->document, fit.label, *policy.required);
      if (counts) options.push_back(option(fit.label, true));
    }
  }
  // Nothing is known of a file without a label beside a family's builds.
  if (!judged->needed && !judged->usable.plain.empty())
    options.push_back({{}, true, of_family, of_family});
  if (!judged->is_ranked()) return options;
  for (const CandidateWheel* wheel : judged->usable.variants) {
    if (std::ranges::find(options, wheel->label, &BuildOption::label) == options.end())
      options.push_back(option(wheel->label, false));
  }
  return options;
}

Result<ReleaseChoice> WheelChooser::choose(const std::string& name, Release& release,
                                           const WheelPolicy& policy, const VersionOf& version_of,
                                           bool whole) {
  ReleaseChoice choice;
  const auto judged =
      judge(name, release, policy, version_of,
            usable_wheels(name, release, policy, whole ? &choice.decision.skipped : nullptr), true,
            choice);
  if (!judged) {
    if (!is_out_of_reach(judged.error(), release)) return std::unexpected(judged.error());
    choice.why_not = judged.error();
    return choice;
  }
  const UsableWheels& usable = judged->usable;
  if (judged->is_ranked()) choose_variant(*judged, policy, choice);
  // Nothing is known of a file without a label beside a family's builds.
  const bool plain_counts = release.family == nullptr || (policy.fallback && policy.unknown);
  const bool plain_is_meant = policy.rule == LabelRule::shared && policy.label.empty();
  const bool any_label =
      policy.rule == LabelRule::best || policy.rule == LabelRule::follow || plain_is_meant;
  if (choice.chosen == nullptr && any_label && !judged->needed && !usable.plain.empty()) {
    const CandidateWheel& plain = *usable.plain.front();
    std::string unknown;
    if (release.family != nullptr && policy.variants)
      unknown = plain_wheel_remark(*release.family, plain.file->filename);
    if (plain_counts) {
      choice.chosen = &plain;
      choice.fallback = release.family != nullptr;
      choice.decision.chosen_because =
          release.is_built(plain)
              ? fmt::format("{} built from {} {}",
                            release.direct ? "it was" : "no wheel can be used, and it was",
                            (*release.built)->from.filename,
                            release.direct ? "as its place was named" : "with your consent")
              : why_the_plain_wheel(policy, choice, !labels_of(release).empty());
      choice.remark = std::move(unknown);
    } else {
      choice.decision.skipped.push_back(
          {plain.file->filename, plan::SkipCode::unknown_needs, std::move(unknown)});
    }
  }
  if (choice.chosen != nullptr)
    choice.decision.chosen_because += render_withheld(options_.withheld, name, release);
  if (choice.chosen == nullptr) {
    const bool for_any_label = any_label || policy.rule == LabelRule::shared;
    choice.beside_the_point =
        for_any_label ? only_absent_hardware(choice.decision)
                      : std::ranges::none_of(release.candidates, [&](const CandidateWheel& wheel) {
                          return wheel.label == policy.label;
                        });
    choice.other_python = !other_python_needed(release, target_).empty();
    // What was left out is the reason why, but where all of it is for another Python.
    const bool told = whole || (choice.other_python && for_any_label && release.family == nullptr);
    if (!told) return choose(name, release, policy, version_of, true);
    choice.why_not =
        !usable.unlisted.empty()
            ? no_listed_file(name, release, usable.unlisted, policy.versions->listed)
        : for_any_label
            ? nothing_fits(name, release, choice.decision, target_, options_)
            : label_unavailable(name, release, policy.label, labels_of(release), choice.decision);
  }
  return choice;
}

}  // namespace axle::resolver
