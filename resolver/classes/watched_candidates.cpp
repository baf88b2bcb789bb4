#include "resolver/classes/watched_candidates.h"

#include <algorithm>
#include <array>

#include "index/family/alternatives.h"
#include "index/family/device_extras.h"
#include "providers/provider.h"
#include "resolver/family/device_packages.h"

namespace axle::resolver {
namespace {

/// Those that the machine decides, not the interpreter.
constexpr std::array<std::string_view, 6> machine_markers = {
    "platform_machine", "platform_system",  "sys_platform",
    "os_name",          "platform_release", "platform_version"};

/// The first key by which a variant is ranked: places of a namespace, a feature and a value.
using FirstKey = std::array<std::size_t, 3>;

/// The best and the worst that the first key of a variant can be, on whatever machine it fits. Of
/// lists that the document has itself they are the same.
std::pair<FirstKey, FirstKey> bounds_of_first_key(const wheel::VariantMetadata& document,
                                                  const wheel::VariantProperties& properties) {
  constexpr std::size_t last = static_cast<std::size_t>(-1);
  FirstKey best = {last, last, last};
  FirstKey worst = best;
  for (const wheel::Property& property : properties) {
    const auto ns = static_cast<std::size_t>(std::ranges::find(document.namespaces, property.ns) -
                                             document.namespaces.begin());
    FirstKey low = {ns, 0, 0};
    FirstKey high = {ns, last, last};
    const auto provider = document.providers.find(property.ns);
    const bool own_list = provider != document.providers.end() &&
                          provider->second.static_properties &&
                          !document.feature_priorities.contains(property.ns) &&
                          !document.property_priorities.contains(property.ns);
    if (own_list) {
      const auto& features = *provider->second.static_properties;
      const auto feature =
          std::ranges::find(features, property.feature, &wheel::FeatureValues::feature);
      if (feature != features.end()) {
        const auto value = std::ranges::find(feature->values, property.value);
        low = {ns, static_cast<std::size_t>(feature - features.begin()),
               static_cast<std::size_t>(value - feature->values.begin())};
        high = low;
      }
    }
    best = std::min(best, low);
    worst = std::min(worst, high);
  }
  return {best, worst};
}

/// Wherever both fit, `left` ranks first.
bool always_ranks_before(const wheel::VariantMetadata& document,
                         const wheel::VariantProperties& left,
                         const wheel::VariantProperties& right) {
  return bounds_of_first_key(document, left).second < bounds_of_first_key(document, right).first;
}

/// No machine ranks the variants in another order: their first keys are different and known.
bool is_ordered_everywhere(const wheel::VariantMetadata& document) {
  std::set<FirstKey> keys;
  return std::ranges::all_of(document.variants, [&](const auto& variant) {
    const auto [best, worst] = bounds_of_first_key(document, variant.second);
    return best == worst && keys.insert(best).second;
  });
}

/// Of one file; nothing of a name that is no wheel's.
void note_tags(const index::PublishedFile& file, std::set<std::string, std::less<>>& tags) {
  if (const auto name = wheel::parse_wheel_name(file.filename)) tags.insert(name->tags_text);
}

}  // namespace

void WatchedCandidates::note_requirement(const wheel::Requirement& requirement) {
  const bool pins = std::ranges::any_of(
      requirement.specifiers.specifiers,
      [](const wheel::Specifier& specifier) { return !specifier.version.local.empty(); });
  if (pins) used_.pinned_builds.insert(wheel::normalize_name(requirement.name));
  if (!requirement.marker) return;
  bounds_.note(*requirement.marker, python_);
  for (const std::string_view name : machine_markers) {
    if (requirement.marker->mentions(name)) used_.markers.emplace(name);
  }
  for (const std::string_view name :
       {"variant_properties", "variant_features", "variant_namespaces"}) {
    if (requirement.marker->mentions(name)) used_.variant_markers = true;
  }
}

void WatchedCandidates::note_name(std::string_view name) {
  if (!names_.emplace(name).second) return;
  if (!options_.alternatives) return;
  if (const index::Alternatives* group = index::alternatives_of(name)) {
    for (const index::AlternativeMember& member : group->members)
      used_.properties.insert(member.needs.begin(), member.needs.end());
  }
}

void WatchedCandidates::note_device_extras(std::string_view name,
                                           const std::vector<std::string>& extras) {
  const std::string project(name);
  if (!names_device(project, extras)) return;
  const index::DeviceExtras& table = *index::device_extras_of(project);
  for (const auto& [device, bundles] : table.devices)
    used_.properties.insert({table.ns, table.feature, device});
  const providers::Provider* provider = providers::find_provider(table.ns);
  if (provider == nullptr) return;
  for (const providers::Feature& feature : provider->all()) {
    if (feature.name != table.feature) continue;
    for (const std::string& value : feature.values)
      used_.properties.insert({table.ns, table.feature, value});
  }
}

void WatchedCandidates::note_releases(const std::vector<Release*>& releases) {
  releases_.insert(releases.begin(), releases.end());
}

LookedAt WatchedCandidates::looked_at(bool solved) const {
  LookedAt looked;
  for (const auto& [release, described] : described_) {
    const wheel::VariantMetadata& document = *described.metadata->document;
    const auto decisions = decisions_.find(release);
    const bool all = !solved || decisions == decisions_.end() || decisions->second.contains("");
    const auto decided = [&](const std::string& label, const wheel::VariantProperties& properties) {
      return all || decisions->second.contains(label) ||
             !std::ranges::all_of(decisions->second, [&](const std::string& taken) {
               const auto variant = document.variants.find(taken);
               return variant != document.variants.end() &&
                      always_ranks_before(document, variant->second, properties);
             });
    };
    std::vector<std::string> labels;
    for (const std::string& label : described.labels) {
      const auto variant = document.variants.find(label);
      if (variant != document.variants.end() && decided(label, variant->second))
        labels.push_back(label);
    }
    const bool is_ordered = is_ordered_everywhere(document);
    looked.documents.push_back({&document, std::move(labels), is_ordered});
    // A build for any machine is taken for one whose GPUs have none of their own.
    const index::Family* family = release->family;
    const bool fallback =
        family != nullptr && (all || std::ranges::any_of(decisions->second, [&](const auto& label) {
                                return family->is_fallback(label);
                              }));
    if (fallback) looked.families.insert(family);
  }
  return looked;
}

UsedInputs WatchedCandidates::take_used() {
  for (const Release* release : releases_) {
    if (release->parsed == Release::Parsed::none) continue;
    if (release->parsed == Release::Parsed::all) {
      for (const CandidateWheel& wheel : release->candidates)
        used_.tags.insert(wheel.name.tags_text);
      continue;
    }
    for (const index::PublishedFile& file : release->wheels()) note_tags(file, used_.tags);
  }
  return std::move(used_);
}

PythonBounds WatchedCandidates::python_bounds() const {
  PythonBounds bounds = bounds_;
  std::set<std::string_view> known;
  const auto note = [&](const index::PublishedFile& file) {
    if (file.requires_python.empty() || !known.insert(file.requires_python).second) return;
    if (const auto needed = wheel::parse_specifiers(file.requires_python))
      bounds.note(*needed, python_);
  };
  for (const Release* release : releases_) {
    if (release->parsed == Release::Parsed::none) continue;
    for (const index::PublishedFile& file : release->wheels()) note(file);
    if (options_.builds.builder == nullptr) continue;
    for (const index::PublishedFile& file : release->sdists()) note(file);
  }
  return bounds;
}

Result<std::vector<Release*>> WatchedCandidates::releases(std::string_view name) {
  note_name(name);
  auto found = inner_.releases(name);
  if (found) note_releases(*found);
  return found;
}

Result<std::vector<Release*>> WatchedCandidates::matching(std::string_view name,
                                                          const VersionFilter& filter) {
  note_name(name);
  auto found = inner_.matching(name, filter);
  if (found) note_releases(*found);
  return found;
}

Result<Release*> WatchedCandidates::direct(std::string_view name, const NamedPlaces& places) {
  note_name(name);
  auto found = inner_.direct(name, places);
  if (found) note_releases({*found});
  return found;
}

std::vector<Release*> WatchedCandidates::releases_at_hand(std::string_view name) {
  std::vector<Release*> found = inner_.releases_at_hand(name);
  note_releases(found);
  return found;
}

Result<const ReleaseMetadata*> WatchedCandidates::variants(
    std::string_view name, const Release& release,
    const std::vector<const CandidateWheel*>& wheels) {
  auto found = inner_.variants(name, release, wheels);
  if (!found || !(*found)->document) return found;
  const wheel::VariantMetadata& document = *(*found)->document;
  // Others are ranked as well, and left out then.
  Described& described = described_[&release];
  described.metadata = *found;
  for (const CandidateWheel* wheel : wheels) described.labels.insert(wheel->label);
  for (const auto& [ns, provider] : document.providers) {
    if (provider.enable_if.empty() && provider.requires_.empty()) continue;
    // Their markers are few, and which of them count is decided by the document alone.
    const auto mentions = [&](std::string_view text, std::string_view marker) {
      return text.contains(marker);
    };
    for (const std::string_view marker : machine_markers) {
      if (mentions(provider.enable_if, marker) ||
          std::ranges::any_of(provider.requires_,
                              [&](const std::string& text) { return mentions(text, marker); })) {
        used_.markers.emplace(marker);
      }
    }
  }
  return found;
}

Result<WheelMetadata> WatchedCandidates::metadata(std::string_view name, const Release& release,
                                                  const CandidateWheel& wheel) {
  auto found = inner_.metadata(name, release, wheel);
  if (!found || !metadata_.insert(found->get()).second) return found;
  bounds_.note((*found)->requires_python, python_);
  note_device_extras(name, (*found)->provides_extra);
  for (const wheel::Requirement& requirement : (*found)->requires_dist)
    note_requirement(requirement);
  return found;
}

Result<const index::Family*> WatchedCandidates::family_of(std::string_view name) {
  note_name(name);
  auto found = inner_.family_of(name);
  if (!found || *found == nullptr || !families_.insert(*found).second) return found;
  // Which platform a build is for.
  used_.markers.emplace("platform_machine");
  used_.markers.emplace("sys_platform");
  return found;
}

}  // namespace axle::resolver
