#include "resolver/release_choice.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "providers/provider.h"
#include "resolver/abi_dependency.h"
#include "resolver/messages.h"
#include "wheel/requirement.h"

namespace axle::resolver {
namespace {

using Wheels = std::vector<const CandidateWheel*>;

/// Inside one group: platform tag order, then the higher build tag (PEP 427).
bool fits_better(const CandidateWheel* left, const CandidateWheel* right) {
  if (left->tag_index != right->tag_index) return left->tag_index < right->tag_index;
  if (left->name.build != right->name.build) return left->name.build > right->name.build;
  return left->file->filename < right->file->filename;
}

const CandidateWheel* best_with_label(const Wheels& best_first, std::string_view label) {
  const auto found = std::ranges::find_if(
      best_first, [&](const CandidateWheel* wheel) { return wheel->name.label == label; });
  return found == best_first.end() ? nullptr : *found;
}

std::vector<std::string> labels_of(const Release& release) {
  std::vector<std::string> labels;
  for (const CandidateWheel& wheel : release.candidates) {
    if (wheel.name.is_variant()) labels.push_back(wheel.name.label);
  }
  std::ranges::sort(labels);
  labels.erase(std::ranges::unique(labels).begin(), labels.end());
  return labels;
}

std::string why_this_variant(const wheel::VariantMetadata& metadata, const std::string& label,
                             const SupportedProperties& lists, bool pinned) {
  if (pinned) return fmt::format("variant {} was asked for, and this machine supports it", label);
  const auto deciding = deciding_properties(metadata, label, lists);
  if (deciding.empty()) return "no variant with properties fits, and this one needs nothing";
  return wheel::render_property(deciding.front()) + " is supported and ranks first";
}

std::string why_the_plain_wheel(const WheelPolicy& policy, const ReleaseChoice& choice,
                                bool variant_wheels) {
  if (!policy.variants) return "plain wheels were asked for";
  if (choice.decision.has_variants) return "no variant fits, and the plain wheel needs nothing";
  if (variant_wheels) return "the variant wheels cannot be used, and the plain wheel needs nothing";
  return "the release has no variants";
}

}  // namespace

WheelChooser::WheelChooser(const Target& target, const Options& options,
                           index::Transport& transport, Report& report)
    : target_(target),
      python_(target.python_version),
      options_(options),
      transport_(transport),
      report_(report) {
  python_.pre.reset();
  python_.dev.reset();
}

bool WheelChooser::python_fits(const std::string& name, const index::PublishedFile& file) {
  if (file.requires_python.empty()) return true;
  const auto specifiers = wheel::parse_specifiers(file.requires_python);
  if (!specifiers) {
    report_.warn(fmt::format("a broken requires-python of {} is ignored: {}", name,
                             specifiers.error().message));
    return true;
  }
  return specifiers->contains(python_);
}

WheelChooser::Usable WheelChooser::usable_wheels(const std::string& name, Release& release,
                                                 const WheelPolicy& policy, Decision& decision) {
  parse_wheels(release, target_.tags);
  decision.skipped = release.unreadable;
  Usable usable;
  for (const CandidateWheel& wheel : release.candidates) {
    const index::PublishedFile& file = *wheel.file;
    std::string reason;
    if (wheel::normalize_name(wheel.name.distribution) != name ||
        wheel.name.version != release.version) {
      reason = "its name belongs to another release";
    } else if (file.yanked && !policy.yanked && !release.direct) {
      reason = file.yanked_reason.empty() ? "yanked" : "yanked: " + file.yanked_reason;
    } else if (!python_fits(name, file)) {
      ++usable.other_python;
      reason = fmt::format("needs Python {}, this is {}", file.requires_python,
                           wheel::render_version(python_));
    } else if (wheel.tag_index == wheel::SupportedTags::npos) {
      reason =
          fmt::format("its tags {} do not fit this interpreter and platform", wheel.name.tags_text);
    } else if (wheel.name.is_variant() && !policy.variants) {
      reason = "plain wheels were asked for";
    }
    if (!reason.empty()) {
      decision.skipped.push_back({file.filename, std::move(reason)});
    } else {
      (wheel.name.is_variant() ? usable.variants : usable.plain).push_back(&wheel);
    }
  }
  std::ranges::sort(usable.plain, fits_better);
  std::ranges::sort(usable.variants, fits_better);
  return usable;
}

Result<const ReleaseMetadata*> WheelChooser::metadata_of(const Release& release,
                                                         const Wheels& wheels) {
  if (const auto known = metadata_.find(&release); known != metadata_.end()) return &known->second;
  auto read = read_release_metadata(release, wheels, transport_, report_);
  if (!read) return std::unexpected(std::move(read).error());
  return &metadata_.emplace(&release, std::move(*read)).first->second;
}

std::string WheelChooser::fact_about(const wheel::Property& property,
                                     const ReleaseChoice& choice) const {
  if (property.ns == abi_dependency) {
    const std::string package = wheel::normalize_name(property.feature);
    const auto known = std::ranges::find(choice.abi, package, &AbiAssumption::package);
    if (known == choice.abi.end() || !known->version) {
      return fmt::format("{} is neither part of this resolution nor installed", package);
    }
    return fmt::format("this resolution has {} {}", package,
                       wheel::render_version(*known->version));
  }
  const auto origin = std::ranges::find(choice.decision.origins, property.ns, &NamespaceOrigin::ns);
  if (origin == choice.decision.origins.end()) return "no such namespace in the priorities";
  switch (origin->origin) {
    case ListOrigin::builtin: {
      const providers::Provider* provider = providers::find_provider(property.ns);
      return provider->fact(*target_.machine, property.feature, property.value);
    }
    case ListOrigin::disabled:
      return fmt::format("namespace {} is disabled: {}", property.ns, origin->detail);
    case ListOrigin::static_list:
    case ListOrigin::user_list:
      return fmt::format("not in {}", origin->detail);
    case ListOrigin::untrusted:
    case ListOrigin::none:
      return origin->detail;
  }
  return {};
}

void WheelChooser::choose_variant(const ReleaseMetadata& metadata, const Wheels& wheels,
                                  const WheelPolicy& policy, const VersionOf& version_of,
                                  ReleaseChoice& choice) {
  const wheel::VariantMetadata& document = *metadata.document;
  Decision& decision = choice.decision;
  decision.has_variants = true;
  SupportedLists supported =
      supported_lists(document, *target_.machine, options_.providers, target_.markers, report_);
  decision.origins = std::move(supported.origins);
  AbiLists abi = abi_lists(document, version_of);
  if (!abi.features.empty()) {
    supported.lists.insert_or_assign(std::string(abi_dependency), std::move(abi.features));
  }
  choice.abi = std::move(abi.assumptions);

  for (const CandidateWheel* wheel : wheels) {
    if (document.variants.contains(wheel->name.label)) continue;
    decision.skipped.push_back(
        {wheel->file->filename, fmt::format("label {} is not in the metadata", wheel->name.label)});
  }
  Ranking ranking = rank_variants(document, supported.lists);
  for (RejectedVariant& rejected : ranking.rejected) {
    if (best_with_label(wheels, rejected.label) == nullptr) continue;
    std::string fact = fact_about(rejected.property, choice);
    decision.rejected.push_back({std::move(rejected.label), std::move(rejected.property),
                                 std::move(rejected.reason), std::move(fact)});
  }
  const std::string* label = nullptr;
  for (RankedVariant& ranked : ranking.ranked) {
    if (best_with_label(wheels, ranked.label) == nullptr) continue;
    std::vector<wheel::Property> properties =
        deciding_properties(document, ranked.label, supported.lists);
    decision.ranked.push_back(
        {std::move(ranked.label), std::move(ranked.keys), std::move(properties)});
  }
  for (const Fit& ranked : decision.ranked) {
    if (!policy.pinned_label.empty() && ranked.label != policy.pinned_label) continue;
    label = &ranked.label;
    break;
  }
  if (label == nullptr) return;
  choice.chosen = best_with_label(wheels, *label);
  choice.properties = document.variants.find(*label)->second;
  choice.supported = supported_properties(document, *label, supported.lists);
  decision.chosen_because =
      why_this_variant(document, *label, supported.lists, !policy.pinned_label.empty());
}

Result<ReleaseChoice> WheelChooser::choose(const std::string& name, Release& release,
                                           const WheelPolicy& policy, const VersionOf& version_of) {
  ReleaseChoice choice;
  const Usable usable = usable_wheels(name, release, policy, choice.decision);
  if (!usable.variants.empty()) {
    const auto metadata = metadata_of(release, usable.variants);
    if (!metadata) return std::unexpected(metadata.error());
    choice.decision.metadata_source = (*metadata)->source;
    choice.decision.skipped.insert(choice.decision.skipped.end(), (*metadata)->skipped.begin(),
                                   (*metadata)->skipped.end());
    if ((*metadata)->document) {
      choose_variant(**metadata, usable.variants, policy, version_of, choice);
    } else if (!(*metadata)->broken.empty()) {
      for (const CandidateWheel* wheel : usable.variants) {
        choice.decision.skipped.push_back({wheel->file->filename, (*metadata)->broken});
      }
    }
  }
  if (choice.chosen == nullptr && policy.pinned_label.empty() && !usable.plain.empty()) {
    choice.chosen = usable.plain.front();
    choice.decision.chosen_because =
        why_the_plain_wheel(policy, choice, !labels_of(release).empty());
  }
  if (choice.chosen == nullptr) {
    choice.other_python =
        usable.other_python > 0 && usable.other_python == release.candidates.size();
    choice.why_not = policy.pinned_label.empty()
                         ? nothing_fits(name, release, choice.decision)
                         : label_unavailable(name, release, policy.pinned_label, labels_of(release),
                                             choice.decision);
  }
  return choice;
}

}  // namespace axle::resolver
