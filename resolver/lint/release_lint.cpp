#include "resolver/lint/release_lint.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "providers/exclusive_properties.h"
#include "providers/provider.h"

namespace axle::resolver {
namespace {

std::uint64_t bytes_of(const LintedRelease& release, std::string_view label) {
  std::uint64_t bytes = 0;
  for (const LintedWheel& wheel : release.wheels) {
    if (wheel.name.label == label) bytes += wheel.file->size;
  }
  return bytes;
}

bool has_value(const std::vector<std::string>& values, const std::string& value) {
  return std::ranges::find(values, value) != values.end();
}

/// Whether some machine may support it, as far as its lists are known here.
bool may_be_supported(const wheel::VariantMetadata& metadata, const wheel::Property& property) {
  const auto declared = metadata.providers.find(property.ns);
  if (declared != metadata.providers.end() && declared->second.static_properties) {
    return std::ranges::any_of(*declared->second.static_properties, [&](const auto& entry) {
      return entry.feature == property.feature && has_value(entry.values, property.value);
    });
  }
  const providers::Provider* provider = providers::find_provider(property.ns);
  if (provider == nullptr || provider->every_value_fits) return true;
  if (std::ranges::find(provider->open_features, property.feature) != provider->open_features.end())
    return true;
  return std::ranges::any_of(provider->all(), [&](const providers::Feature& feature) {
    return feature.name == property.feature && has_value(feature.values, property.value);
  });
}

/// What keeps the label from every machine; empty: nothing that is known.
std::string obstacle(const wheel::VariantMetadata& metadata,
                     const wheel::VariantProperties& properties) {
  std::map<std::string, bool> features;
  for (const wheel::Property& property : properties) {
    bool& fits = features[fmt::format("{} :: {}", property.ns, property.feature)];
    fits = fits || may_be_supported(metadata, property);
  }
  for (const auto& [feature, fits] : features) {
    if (!fits) return fmt::format("none of its values of {} is known to the provider", feature);
  }
  return providers::contradiction_in(properties);
}

/// Why no machine takes this wheel: a property of another architecture than its platform. Empty:
/// none is.
std::string misplaced_property(const LintedWheel& wheel,
                               const wheel::VariantProperties& properties) {
  const std::string platform = wheel::architecture_of(wheel.name.tags);
  if (platform.empty()) return {};
  for (const wheel::Property& property : properties) {
    const detect::Arch own =
        providers::architecture_of({property.ns, property.feature, property.value});
    if (own == detect::Arch::other || detect::render_arch(own) == platform) continue;
    return fmt::format("{} is of {}, the wheel is for {}", wheel::render_property(property),
                       detect::render_arch(own), platform);
  }
  return {};
}

/// Wheels of a label that no machine takes, whatever becomes of others of it.
void lint_platforms(const std::string& project, const LintedRelease& release,
                    std::vector<LintFinding>& found) {
  for (const LintedWheel& wheel : release.wheels) {
    const auto own = release.variants->variants.find(wheel.name.label);
    if (own == release.variants->variants.end()) continue;
    const std::string why = misplaced_property(wheel, own->second);
    if (why.empty()) continue;
    found.push_back({"unreachable_variant",
                     project,
                     wheel.file->filename,
                     fmt::format("{}: no machine takes it: {}", wheel.file->filename, why),
                     "correct its properties, or remove the wheel",
                     {},
                     wheel.file->size});
  }
}

/// The labels of wheels that run on a machine's platform.
std::set<std::string> labels_on(const LintedRelease& release, std::size_t machine,
                                const MachineCorpus& corpus) {
  std::set<std::string> labels;
  for (const LintedWheel& wheel : release.wheels) {
    if (!labels.contains(wheel.name.label) && corpus.fits(machine, wheel.name.tags))
      labels.insert(wheel.name.label);
  }
  return labels;
}

std::string first_names(const std::vector<std::string>& machines) {
  constexpr std::size_t most = 5;
  std::string text;
  for (std::size_t i = 0; i < machines.size() && i < most; ++i)
    text += (i == 0 ? "" : ", ") + machines[i];
  if (machines.size() > most) text += fmt::format(" and {} more", machines.size() - most);
  return text;
}

/// Whether a machine ranks the variant of an earlier release before that of this one.
bool ranks_before(const LintedRelease& before, const std::string& old_label,
                  const LintedRelease& release, const std::string& new_label, std::size_t machine,
                  MachineCorpus& corpus) {
  constexpr const char* earlier = "0earlier";
  constexpr const char* later = "0";
  const bool old_plain = old_label.empty() || is_null_variant(*before.variants, old_label);
  if (old_plain) return false;
  if (new_label.empty() || is_null_variant(*release.variants, new_label)) return true;
  const auto& old_properties = before.variants->variants.find(old_label)->second;
  const auto& new_properties = release.variants->variants.find(new_label)->second;
  if (old_properties == new_properties) return false;
  wheel::VariantMetadata both = *release.variants;
  both.variants = {{earlier, old_properties}, {later, new_properties}};
  const auto ranked = corpus.ranked(machine, both);
  return !ranked.empty() && ranked.front() == earlier;
}

}  // namespace

Choices choose_for_all(const LintedRelease& release, MachineCorpus& corpus) {
  Choices choices(corpus.size());
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    const std::set<std::string> labels = labels_on(release, i, corpus);
    if (labels.empty()) continue;
    if (release.variants) {
      for (const std::string& label : corpus.ranked(i, *release.variants)) {
        if (!labels.contains(label)) continue;
        choices[i] = label;
        break;
      }
    }
    if (!choices[i] && labels.contains(std::string())) choices[i] = std::string();
  }
  return choices;
}

void lint_labels(const std::string& project, const LintedRelease& release, const Choices& choices,
                 MachineCorpus& corpus, std::vector<LintFinding>& found) {
  if (!release.variants) return;
  const wheel::VariantMetadata& metadata = *release.variants;
  lint_platforms(project, release, found);
  std::set<std::string> chosen;
  for (const auto& label : choices) chosen.insert(label.value_or(std::string()));
  const std::string version = wheel::render_version(release.version);
  for (const auto& [label, properties] : metadata.variants) {
    std::uint64_t bytes = bytes_of(release, label);
    for (const LintedWheel& wheel : release.wheels) {  // told by lint_platforms
      if (wheel.name.label == label && !misplaced_property(wheel, properties).empty())
        bytes -= wheel.file->size;
    }
    if (bytes == 0 || chosen.contains(label) || is_null_variant(metadata, label)) continue;
    if (const std::string why = obstacle(metadata, properties); !why.empty()) {
      found.push_back(
          {"unreachable_variant",
           project,
           version + ' ' + label,
           fmt::format("{} {}: no machine takes the variant {}: {}", project, version, label, why),
           "correct its properties, or remove the variant",
           {},
           bytes});
      continue;
    }
    std::vector<std::string> machines;
    std::set<std::string> instead;
    for (std::size_t i = 0; i < corpus.size(); ++i) {
      if (!choices[i] || !labels_on(release, i, corpus).contains(label)) continue;
      const auto ranked = corpus.ranked(i, metadata);
      if (std::ranges::find(ranked, label) == ranked.end()) continue;
      machines.push_back(corpus.name(i));
      instead.insert(*choices[i]);
    }
    // The corpus has no such machine: nothing is known.
    if (machines.empty()) continue;
    found.push_back(
        {"dominated_variant", project, version + ' ' + label,
         fmt::format("{} {}: no machine takes the variant {}: where it fits, {} is better", project,
                     version, label, fmt::join(instead, " or ")),
         "remove it, or check the order of the namespaces", std::move(machines), bytes});
  }
}

void lint_gaps(const std::string& project, const LintedRelease& release, const Choices& choices,
               MachineCorpus& corpus, std::vector<LintFinding>& found) {
  if (!release.variants) return;
  std::vector<std::string> left;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    // An architecture for which nothing is built is no gap in what is.
    if (!choices[i] && !labels_on(release, i, corpus).empty()) left.push_back(corpus.name(i));
  }
  if (left.empty()) return;
  const std::string version = wheel::render_version(release.version);
  found.push_back({"machine_without_build", project, version,
                   fmt::format("{} {}: {} of {} machines get no build, although their platform has "
                               "some: {}",
                               project, version, left.size(), corpus.size(), first_names(left)),
                   "publish a null variant or a plain wheel for them", std::move(left)});
}

void lint_successor(const std::string& project, const LintedRelease& before,
                    const Choices& before_choices, const LintedRelease& release,
                    const Choices& choices, MachineCorpus& corpus,
                    std::vector<LintFinding>& found) {
  std::vector<std::string> lost;
  std::vector<std::string> worse;
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    if (!before_choices[i]) continue;
    if (!choices[i]) {
      lost.push_back(corpus.name(i));
    } else if (ranks_before(before, *before_choices[i], release, *choices[i], i, corpus)) {
      worse.push_back(corpus.name(i));
    }
  }
  const std::string version = wheel::render_version(release.version);
  const std::string old_version = wheel::render_version(before.version);
  if (!lost.empty()) {
    found.push_back({"machine_lost", project, version,
                     fmt::format("{} {} has no build for {} machines that {} has one for: {}",
                                 project, version, lost.size(), old_version, first_names(lost)),
                     "publish the missing builds, or say it in the release notes",
                     std::move(lost)});
  }
  if (worse.empty()) return;
  found.push_back({"machine_worse", project, version,
                   fmt::format("{} {} has a worse build than {} for {} machines: {}", project,
                               version, old_version, worse.size(), first_names(worse)),
                   "publish the variants that they had", std::move(worse)});
}

}  // namespace axle::resolver
