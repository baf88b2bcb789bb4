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

/// The versions of `required` in the index, and whether one fits; nullopt: none has that version.
std::optional<bool> fits_somewhere(const index::PublishedProject& project,
                                   const wheel::SpecifierSet& wanted, std::size_t machine,
                                   const MachineCorpus& corpus) {
  std::optional<bool> fits;
  for (const index::ListedFile& file : project.wheels) {
    const auto name = wheel::parse_wheel_name(file.filename);
    if (!name || file.yanked || !wanted.contains(name->version)) continue;
    if (corpus.fits(machine, name->tags)) return true;
    fits = false;
  }
  return fits;
}

Result<wheel::CoreMetadata> metadata_of(const std::string& project, const LintedWheel& wheel,
                                        index::IndexPlace& place) {
  const auto text = place.read_metadata(project, wheel.file->filename);
  if (!text) return std::unexpected(text.error());
  return wheel::parse_core_metadata(*text, wheel.file->filename + ".metadata");
}

}  // namespace

void lint_for_peers(const std::string& name, const LintedRelease& release, index::IndexPlace& place,
                    std::vector<LintFinding>& found) {
  if (!release.variants) return;
  const std::string version = wheel::render_version(release.version);
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
      std::vector<std::string> machines;
      for (std::size_t i = 0; i < corpus.size(); ++i) {
        const bool takes = choices[i] == wheel.name.label && corpus.fits(i, wheel.name.tags);
        if (!takes) continue;
        if (requirement.marker && !requirement.marker->evaluate(corpus.markers(i))) continue;
        if (!fits_somewhere(*project, requirement.specifiers, i, corpus).value_or(false))
          machines.push_back(corpus.name(i));
      }
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
