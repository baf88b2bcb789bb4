#include "resolver/choice/package_choice.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "index/http/first_download.h"
#include "index/http/url.h"
#include "resolver/catalogue/direct_wheel.h"
#include "resolver/explain/messages.h"
#include "wheel/variant/variant_markers.h"

namespace axle::resolver {
namespace {

bool is_requested(const std::vector<const Want*>& wants) {
  return std::ranges::any_of(
      wants, [](const Want* want) { return want->by.empty() && !want->constraint; });
}

/// "2.8.0+cu128" of a member is a build of release 2.8.0.
wheel::Version release_version(const wheel::Version& version, const index::Family* family) {
  return family == nullptr ? version : version.public_version();
}

}  // namespace

VersionFilter version_filter(const std::vector<const Want*>& wants, bool prereleases) {
  VersionFilter filter;
  filter.prereleases = prereleases;
  for (const Want* want : wants) filter.specifiers.push_back(&want->requirement.specifiers);
  return filter;
}

std::unexpected<ChoiceFailure> final_failure(Error error) {
  return std::unexpected(ChoiceFailure{std::move(error), {}});
}

PackageChooser::PackageChooser(const Target& target,
                               const std::vector<plan::InstalledPackage>& installed,
                               const Sources& sources, const Options& options, Report& report)
    : target_(target),
      installed_(installed),
      sources_(sources),
      options_(options),
      report_(report),
      catalogue_(sources, options, target.markers, report),
      wheels_(target, options, *sources.transport, report) {}

const plan::InstalledPackage* PackageChooser::installed(std::string_view name) const {
  const auto found = std::ranges::find(installed_, name, &plan::InstalledPackage::name);
  return found == installed_.end() ? nullptr : &*found;
}

wheel::Requirement PackageChooser::with_assigned_url(wheel::Requirement requirement) const {
  const AssignedSource* only = catalogue_.assigned(wheel::normalize_name(requirement.name));
  if (only != nullptr && requirement.url.empty()) requirement.url = only->url;
  return requirement;
}

const index::Family* PackageChooser::family_of(std::string_view name) {
  const auto family = catalogue_.family_of(name);
  return family && *family != nullptr && (*family)->has_member(name) ? *family : nullptr;
}

std::string PackageChooser::installed_label(const plan::InstalledPackage& package) {
  if (package.variant) return *package.variant;
  const index::Family* family = family_of(package.name);
  if (family == nullptr) return {};
  return plain_label(*family, package.name, package.version);
}

std::string PackageChooser::plain_label(const index::Family& family, std::string_view member,
                                        const wheel::Version& version) const {
  if (std::string local = index::local_label(version); !local.empty())
    return family.label(local) != nullptr ? local : std::string();
  const index::FamilyRelease* release = index::find_release(family, member, version);
  if (release == nullptr) return {};
  const auto label = release->default_index.find(family_platform(target_));
  return label == release->default_index.end() ? std::string() : label->second;
}

std::string PackageChooser::given_label(const index::Family& family, std::string_view member,
                                        const std::vector<const Want*>& wants) const {
  const auto pinned = options_.pinned_variants.find(member);
  if (pinned != options_.pinned_variants.end()) return pinned->second;
  const auto forced = options_.forced_labels.find(family.name);
  if (forced != options_.forced_labels.end()) return forced->second;
  return version_filter(wants, false).pinned_local();
}

const plan::InstalledPackage* PackageChooser::same_installed(const PackageChoice& choice) {
  const plan::InstalledPackage* package = installed(choice.package.name);
  if (package == nullptr || options_.reinstall) return nullptr;
  if (package->version != choice.package.version) return nullptr;
  const bool same = choice.package.family.empty()
                        ? package->variant == choice.package.variant
                        : installed_label(*package) == choice.package.variant;
  return same ? package : nullptr;
}

std::vector<wheel::Requirement> PackageChooser::goes_with(const index::Family& family,
                                                          const wheel::Version& version) {
  std::vector<wheel::Requirement> requirements;
  const index::FamilyRelease* release = index::find_release(family, family.anchor(), version);
  if (release == nullptr) return requirements;
  for (const auto& [member, specifiers] : release->goes_with) {
    wheel::Requirement requirement;
    requirement.name = member;
    requirement.specifiers = specifiers;
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

const plan::InstalledPackage* PackageChooser::kept(const Question& question) {
  const plan::InstalledPackage* package = installed(question.name);
  const bool requested = is_requested(question.wants);
  if (package == nullptr || options_.reinstall || (options_.upgrade && requested)) return nullptr;
  const index::Family* family = family_of(question.name);
  if (question.excluded->contains(release_version(package->version, family))) return nullptr;
  const auto is_other = [&](const std::string& label) {
    return family == nullptr ? package->variant != label : installed_label(*package) != label;
  };
  const auto pinned = options_.pinned_variants.find(question.name);
  if (pinned != options_.pinned_variants.end()) {
    if (is_other(pinned->second)) return nullptr;
  } else if (package->variant &&
             (options_.plain_only.contains(question.name) || (requested && !options_.variants))) {
    return nullptr;
  } else if (family != nullptr) {
    const auto forced = options_.forced_labels.find(family->name);
    if (forced != options_.forced_labels.end() && is_other(forced->second)) return nullptr;
    if (question.rule == LabelRule::follow && is_other(question.label)) return nullptr;
  }
  if (question.rule == LabelRule::kept && is_other(question.label)) return nullptr;
  return version_filter(question.wants, true).contains(package->version) ? package : nullptr;
}

std::expected<PackageChooser::Releases, ChoiceFailure> PackageChooser::direct_releases(
    const Question& question) {
  if (const Want* foreign = foreign_url(question.wants))
    return final_failure(url_not_named(question.name, *foreign));
  const std::vector<std::string> urls = direct_urls(question.wants);
  std::string key;
  for (const std::string& url : urls) key += url + "\n";
  Release*& release = direct_[key];
  if (release == nullptr) {
    auto made = direct_release(question.name, urls);
    if (!made) return final_failure(std::move(made).error());
    release = catalogue_.adopt(std::move(*made));
  }
  if (version_filter(question.wants, true).contains(release->version)) return Releases{release};
  std::vector<const Want*> against;
  for (const Want* want : question.wants) {
    if (!want->requirement.url.empty() ||
        !want->requirement.specifiers.contains(release->version)) {
      against.push_back(want);
    }
  }
  return std::unexpected(ChoiceFailure{
      no_common_version(question.name, against, {{release->version, false}}), against});
}

std::optional<ChoiceFailure> PackageChooser::no_such_build(const Question& question) {
  const index::Family* family = family_of(question.name);
  if (family == nullptr) return std::nullopt;
  for (const Want* want : question.wants) {
    const std::string label = version_filter({want}, false).pinned_local();
    if (label.empty()) continue;
    // The same, whatever its local version.
    Want any_build = *want;
    for (wheel::Specifier& specifier : any_build.requirement.specifiers.specifiers)
      specifier.version = specifier.version.public_version();
    const auto releases =
        catalogue_.matching(question.name, version_filter({&any_build}, options_.prereleases));
    if (!releases || releases->empty()) continue;
    const Release& release = *releases->front();
    std::set<std::string> labels;
    for (const index::PublishedFile& file : release.wheels) labels.insert(file.label);
    labels.erase("");
    if (labels.contains(label)) continue;
    return ChoiceFailure{
        {ErrorKind::not_found,
         fmt::format("{} {} has no build {}: {}", question.name,
                     wheel::render_version(release.version), label, render_want(*want)),
         labels.empty() ? std::string("it has no builds with labels")
                        : fmt::format("it has {}", fmt::join(labels, ", "))},
        {want}};
  }
  return std::nullopt;
}

ChoiceFailure PackageChooser::why_none_matches(const Question& question) {
  ChoiceFailure failure = which_want_has_none(question);
  say_who_decided(question.name, failure.error);
  return failure;
}

void PackageChooser::say_who_decided(const std::string& name, Error& error) {
  const std::string why = catalogue_.why_alone(name);
  if (!why.empty())
    error.hint = error.hint.empty() ? why : fmt::format("{}; or {}", why, error.hint);
}

ChoiceFailure PackageChooser::which_want_has_none(const Question& question) {
  const auto versions = catalogue_.versions(question.name);
  if (!versions) return {versions.error(), {}};
  if (versions->empty()) {
    return {no_such_package(question.name, question.wants, catalogue_.looked_in(question.name)),
            {}};
  }
  if (auto failure = no_such_build(question)) return std::move(*failure);
  const auto none_matches = [&](const std::vector<const Want*>& wants) {
    const auto releases =
        catalogue_.matching(question.name, version_filter(wants, options_.prereleases));
    return releases && releases->empty();
  };
  for (const Want* want : question.wants) {
    if (none_matches({want})) {
      return {no_such_version(question.name, *want, *versions), {want}};
    }
  }
  for (std::size_t i = 0; i < question.wants.size(); ++i) {
    for (std::size_t j = i + 1; j < question.wants.size(); ++j) {
      const std::vector<const Want*> pair{question.wants[i], question.wants[j]};
      if (none_matches(pair)) return {no_common_version(question.name, pair, *versions), pair};
    }
  }
  return {no_common_version(question.name, question.wants, *versions), question.wants};
}

std::expected<PackageChooser::Releases, ChoiceFailure> PackageChooser::releases_for(
    const Question& question) {
  if (!direct_urls(question.wants).empty()) return direct_releases(question);
  auto releases =
      catalogue_.matching(question.name, version_filter(question.wants, options_.prereleases));
  if (!releases) return final_failure(std::move(releases).error());
  if (releases->empty()) {
    ChoiceFailure failure = why_none_matches(question);
    if (std::string withheld = catalogue_.explain_withheld(question.name); !withheld.empty())
      failure.error.hint = std::move(withheld);
    return std::unexpected(std::move(failure));
  }
  return std::move(*releases);
}

PackageChoice PackageChooser::from_installed(const plan::InstalledPackage& package) {
  PackageChoice choice;
  const index::Family* family = family_of(package.name);
  choice.package.name = package.name;
  choice.package.version = package.version;
  choice.release = release_version(package.version, family);
  if (family != nullptr && package.name == family->anchor())
    choice.goes_with = goes_with(*family, choice.release);
  choice.package.variant = package.variant;
  choice.package.already_installed = true;
  choice.package.decision.chosen_because = "it is installed and satisfies what is wanted";
  choice.requires_dist = package.dependencies;
  choice.markers = wheel::variant_markers(
      target_.markers, package.family.empty() ? package.variant.value_or("") : "",
      package.variant_properties);
  return choice;
}

plan::ResolvedPackage PackageChooser::resolved(const std::string& name, const Release& release,
                                               ReleaseChoice choice) const {
  const CandidateWheel& wheel = *choice.chosen;
  const index::PublishedFile& file = *wheel.file;
  plan::ResolvedPackage package;
  package.name = name;
  package.version = file.label.empty() ? release.version : wheel.name.version;
  if (wheel.name.is_variant()) package.variant = wheel.name.label;
  if (!file.label.empty()) package.family = release.family->name;
  package.variant_properties = std::move(choice.properties);
  package.filename = file.filename;
  package.url = file.url;
  package.sha256 = file.sha256;
  package.other_hash = file.other_hash;
  if (file.sha256.empty() && !release.direct) {
    if (auto first = index::first_sha256(file.url, *sources_.transport)) {
      package.sha256 = std::move(*first);
      package.sha256_is_first = true;
    }
  }
  package.size = file.size;
  package.source = file.source.empty() ? release.source : file.source;
  package.direct = release.direct;
  package.decision = std::move(choice.decision);
  return package;
}

PackageChoice PackageChooser::from_release(const std::string& name, const Release& release,
                                           ReleaseChoice choice,
                                           const wheel::CoreMetadata& metadata) {
  const CandidateWheel& wheel = *choice.chosen;
  PackageChoice result;
  result.release = release.version;
  const index::Family* family = family_of(name);
  if (family != nullptr && name == family->anchor())
    result.goes_with = goes_with(*family, release.version);
  result.requires_dist = metadata.requires_dist;
  result.extras = metadata.provides_extra;
  // A family's build is a plain wheel: its markers see no variant.
  const bool of_family = !wheel.file->label.empty();
  result.markers =
      wheel::variant_markers(target_.markers, of_family ? std::string_view() : wheel.name.label,
                             of_family ? wheel::VariantProperties() : choice.supported);
  result.fallback = choice.fallback;
  result.remark = choice.remark;
  result.unlisted_label = choice.unlisted_label;
  result.other = choice.other;
  result.abi = choice.abi;
  if (wheel.file->yanked) result.yanked = wheel.file->yanked_reason;
  wheel::VariantProperties supported =
      of_family ? wheel::VariantProperties() : std::move(choice.supported);
  result.package = resolved(name, release, std::move(choice));
  result.package.supported_properties = std::move(supported);
  auto truth = std::make_shared<wheel::CoreMetadata>(metadata);
  truth->fields.clear();
  truth->description.clear();
  result.package.metadata = std::move(truth);
  return result;
}

std::optional<wheel::Version> PackageChooser::newest(const Question& question) {
  if (const plan::InstalledPackage* package = kept(question)) return package->version;
  const auto releases = releases_for(question);
  if (!releases) return std::nullopt;
  return releases->front()->version;
}

}  // namespace axle::resolver
