#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "providers/provider.h"
#include "resolver/lint/project_lint.h"
#include "wheel/core_metadata.h"
#include "wheel/requirement.h"

namespace axle::resolver {
namespace {

/// uv asks a provider of its own only for one plain requirement that accepts its version.
bool uv_knows(const providers::Provider& provider, const wheel::ProviderInfo& declared) {
  if (declared.requires_.size() != 1) return false;
  const auto requirement = wheel::parse_requirement(declared.requires_.front());
  const auto version = wheel::parse_version(provider.version);
  return requirement && version && requirement->url.empty() && requirement->extras.empty() &&
         !requirement->marker && wheel::normalize_name(requirement->name) == provider.package &&
         requirement->specifiers.contains(*version);
}

bool names_variant_marker(const wheel::Requirement& requirement) {
  return requirement.marker &&
         wheel::render_requirement(requirement).find("variant_") != std::string::npos;
}

/// What this index has for one requirement, asked machine by machine.
class Supply {
 public:
  Supply(const index::PublishedProject& project, const wheel::SpecifierSet& wanted,
         index::IndexPlace& place, MachineCorpus& corpus)
      : project_(project), place_(place), corpus_(corpus) {
    for (const index::ListedFile& file : project.wheels) {
      auto name = wheel::parse_wheel_name(file.filename);
      if (name && !file.yanked && wanted.contains(name->version))
        wheels_.push_back(std::move(*name));
    }
  }

  /// The machines, of these, that no wheel fits. A release whose variants file cannot be read here
  /// fits all: what is wrong with it is said of it.
  [[nodiscard]] std::vector<std::size_t> unserved(std::vector<std::size_t> machines) {
    std::erase_if(machines, [&](std::size_t i) { return fits(i, {}); });
    std::set<wheel::Version> releases;
    for (const wheel::WheelName& name : wheels_) {
      if (name.is_variant()) releases.insert(name.version);
    }
    for (const wheel::Version& version : releases) {
      if (machines.empty()) break;
      const auto variants = variants_of(version);
      std::erase_if(machines, [&](std::size_t i) {
        return !variants ||
               std::ranges::any_of(corpus_.ranked(i, *variants),
                                   [&](const auto& label) { return fits(i, label, &version); });
      });
    }
    return machines;
  }

 private:
  /// A wheel of this label, of the version if one is given.
  [[nodiscard]] bool fits(std::size_t machine, std::string_view label,
                          const wheel::Version* version = nullptr) const {
    return std::ranges::any_of(wheels_, [&](const wheel::WheelName& name) {
      return name.label == label && (version == nullptr || name.version == *version) &&
             corpus_.fits(machine, name.tags);
    });
  }

  [[nodiscard]] std::optional<wheel::VariantMetadata> variants_of(const wheel::Version& version) {
    const auto one = std::ranges::find(wheels_, version, &wheel::WheelName::version);
    const std::string file = wheel::variants_file_name(one->distribution, version);
    const auto listed = std::ranges::find(project_.variants, file, &index::ListedFile::filename);
    if (listed == project_.variants.end() || !listed->url.empty()) return std::nullopt;
    CollectedReport unsaid;
    auto read = place_.read_variants(project_, file, unsaid);
    return read ? std::optional(std::move(*read)) : std::nullopt;
  }

  const index::PublishedProject& project_;
  index::IndexPlace& place_;
  MachineCorpus& corpus_;
  std::vector<wheel::WheelName> wheels_;
};

Result<wheel::CoreMetadata> metadata_of(const std::string& project, const LintedWheel& wheel,
                                        index::IndexPlace& place) {
  const auto text = place.read_metadata(project, wheel.file->filename);
  if (!text) return std::unexpected(text.error());
  return wheel::parse_core_metadata(*text, wheel.file->filename + ".metadata");
}

/// What uv does not read in a variants file, of which it then takes none; empty: it reads all.
std::string unread_by_uv(const wheel::VariantMetadata& metadata) {
  if (!metadata.feature_priorities.empty()) return "default-priorities.feature";
  return metadata.property_priorities.empty() ? "" : "default-priorities.property";
}

/// Providers that uv has of its own, but not in the version that is asked for; fields that it
/// refuses.
void lint_for_uv(const std::string& name, const LintedRelease& release,
                 std::vector<LintFinding>& found) {
  const std::string version = wheel::render_version(release.version);
  if (const std::string field = unread_by_uv(*release.variants); !field.empty()) {
    found.push_back({"unknown_to_uv",
                     name,
                     version,
                     fmt::format("{} {}: uv refuses the release, since it does not know {} of its "
                                 "variants file",
                                 name, version, field),
                     "leave it out where uv should install the variants",
                     {},
                     0});
  }
  for (const auto& [ns, declared] : release.variants->providers) {
    const providers::Provider* provider = providers::find_provider(ns);
    const bool asks_plugin = !declared.requires_.empty() && declared.install_time;
    if (provider == nullptr || provider->package.empty() || !asks_plugin ||
        uv_knows(*provider, declared))
      continue;
    found.push_back({"unknown_to_uv",
                     name,
                     version,
                     fmt::format("{} {}: uv knows {} as the one requirement {}=={}, and takes no "
                                 "variant that needs it here: {}",
                                 name, version, ns, provider->package, provider->version,
                                 fmt::join(declared.requires_, ", ")),
                     "require that package in a version that the one of uv meets",
                     {},
                     0});
  }
}

}  // namespace

void lint_for_peers(const std::string& name, const LintedRelease& release, index::IndexPlace& place,
                    std::vector<LintFinding>& found) {
  if (release.variants) lint_for_uv(name, release, found);
  for (const LintedWheel& wheel : release.wheels) {
    if (!wheel.file->url.empty()) continue;
    const auto metadata = metadata_of(name, wheel, place);
    if (!metadata && metadata.error().kind == ErrorKind::not_found) continue;
    if (!metadata) {
      found.push_back({"unreadable_metadata",
                       name,
                       wheel.file->filename,
                       metadata.error().message,
                       "publish the wheel again",
                       {},
                       0});
      continue;
    }
    if (std::ranges::none_of(metadata->requires_dist, names_variant_marker)) continue;
    found.push_back({"variant_marker",
                     name,
                     wheel.file->filename,
                     fmt::format("{}: METADATA has a marker about the variant, which neither pip "
                                 "nor uv reads: they refuse the wheel",
                                 wheel.file->filename),
                     "write the requirements of each variant without it",
                     {},
                     0});
  }
}

void lint_dependencies(const std::string& name, const LintedRelease& release,
                       const Choices& choices, MachineCorpus& corpus, index::IndexPlace& place,
                       KnownProjects& known, std::vector<LintFinding>& found) {
  for (const LintedWheel& wheel : release.wheels) {
    if (!wheel.file->url.empty()) continue;
    const auto metadata = metadata_of(name, wheel, place);
    if (!metadata) continue;
    for (const wheel::Requirement& requirement : metadata->requires_dist) {
      if (!requirement.url.empty() || names_variant_marker(requirement)) continue;
      const index::PublishedProject* project = known.find(wheel::normalize_name(requirement.name));
      if (project == nullptr) continue;  // of another index
      std::vector<std::size_t> takers;
      for (std::size_t i = 0; i < corpus.size(); ++i) {
        const bool takes = choices[i] == wheel.name.label && corpus.fits(i, wheel.name.tags);
        if (takes && (!requirement.marker || requirement.marker->evaluate(corpus.markers(i))))
          takers.push_back(i);
      }
      std::vector<std::string> machines;
      for (const std::size_t i :
           Supply(*project, requirement.specifiers, place, corpus).unserved(std::move(takers)))
        machines.push_back(corpus.name(i));
      if (machines.empty()) continue;
      found.push_back(
          {"missing_dependency", name, wheel.file->filename,
           fmt::format("{}: this index has {}, but no wheel of {} for {} of the machines "
                       "that take this one",
                       wheel.file->filename, requirement.name,
                       wheel::render_requirement(requirement), machines.size()),
           "publish it for them", std::move(machines), 0});
    }
  }
}

}  // namespace axle::resolver
