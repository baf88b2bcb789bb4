#include "resolver/choice/package_choice.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/text/nearest.h"
#include "resolver/explain/messages.h"
#include "wheel/variant/variant_markers.h"

namespace axle::resolver {
namespace {

bool is_requested(const std::vector<const Want*>& wants) {
  return std::ranges::any_of(wants, [](const Want* want) { return want->is_request(); });
}

}  // namespace

const Requirements& no_requirements() {
  static const Requirements none = std::make_shared<const std::vector<wheel::Requirement>>();
  return none;
}

PackageChooser::PackageChooser(const Target& target, Candidates& candidates, Families& families,
                               const Options& options, Report& report)
    : target_(target),
      candidates_(candidates),
      families_(families),
      options_(options),
      wheels_(target, options, candidates, report) {}

wheel::Requirement PackageChooser::with_assigned_url(wheel::Requirement requirement) const {
  if (requirement.url.empty())
    requirement.url = candidates_.assigned_url(wheel::normalize_name(requirement.name));
  return requirement;
}

const plan::InstalledPackage* PackageChooser::same_installed(const PackageChoice& choice) {
  const plan::InstalledPackage* package = families_.installed(choice.package.name);
  if (package == nullptr || options_.reinstalls(choice.package.name)) return nullptr;
  if (package->version != choice.package.version) return nullptr;
  const bool same = choice.package.family.empty()
                        ? package->variant == choice.package.variant
                        : families_.installed_label(*package) == choice.package.variant;
  return same ? package : nullptr;
}

const plan::InstalledPackage* PackageChooser::installed_candidate(
    const std::string& name, const std::vector<const Want*>& of_user) {
  const plan::InstalledPackage* package = families_.installed(name);
  const bool requested = is_requested(of_user);
  if (package == nullptr || options_.reinstalls(name)) return nullptr;
  if ((options_.upgrade && requested) || options_.upgrade_of.contains(name)) return nullptr;
  const index::Family* family = families_.of(name);
  const auto is_other = [&](const std::string& label) {
    return family == nullptr ? package->variant != label
                             : families_.installed_label(*package) != label;
  };
  const auto pinned = options_.pinned_variants.find(name);
  if (pinned != options_.pinned_variants.end()) return is_other(pinned->second) ? nullptr : package;
  if (package->variant &&
      (options_.plain_only.contains(name) || (requested && !options_.variants))) {
    return nullptr;
  }
  if (family == nullptr) return package;
  const auto forced = options_.forced_labels.find(family->name);
  return forced != options_.forced_labels.end() && is_other(forced->second) ? nullptr : package;
}

std::shared_ptr<const wheel::MarkerEnvironment> PackageChooser::markers_of(
    std::string_view label, const wheel::VariantProperties& supported) {
  const auto made = [&] {
    return std::make_shared<const wheel::MarkerEnvironment>(
        wheel::variant_markers(target_.markers, label, supported));
  };
  if (!label.empty() || !supported.empty()) return made();
  if (plain_markers_ == nullptr) plain_markers_ = made();
  return plain_markers_;
}

Result<WheelMetadata> PackageChooser::metadata_of(const std::string& name, const Release& release,
                                                  const CandidateWheel& wheel) {
  auto metadata = candidates_.metadata(name, release, wheel);
  if (!metadata) return metadata;
  wheel::Version python = target_.python_version;
  python.pre.reset();
  python.dev.reset();
  const wheel::SpecifierSet& needed = (*metadata)->requires_python;
  if (needed.contains(python)) return metadata;
  return fail(ErrorKind::unsupported,
              fmt::format("{} needs Python {}, but this is {}", wheel.file->filename,
                          wheel::render_specifiers(needed), shown_python(target_)),
              hint_for_python(wheel::render_specifiers(needed), target_));
}

Result<PackageChooser::Releases> PackageChooser::direct_releases(const PackageDemand& demand) {
  if (const Want* foreign = foreign_url(demand.wants))
    return std::unexpected(url_not_named(demand.name, *foreign));
  const auto places =
      named_places(demand.name, demand.wants, candidates_.assigned_url(demand.name));
  if (!places) return std::unexpected(places.error());
  const auto made = candidates_.direct(demand.name, *places);
  if (!made) return std::unexpected(made.error());
  Release* release = *made;
  if (version_filter(demand.wants).contains(release->version)) return Releases{release};
  std::vector<const Want*> against;
  for (const Want* want : demand.wants) {
    if (!want->requirement.url.empty() ||
        !want->requirement.specifiers.contains(release->version)) {
      against.push_back(want);
    }
  }
  return std::unexpected(no_common_version(demand.name, against, {{release->version, false}}));
}

std::optional<Error> PackageChooser::no_such_build(const PackageDemand& demand) {
  const index::Family* family = families_.of(demand.name);
  if (family == nullptr) return std::nullopt;
  for (const Want* want : demand.wants) {
    const std::string label = version_filter({want}).pinned_local();
    if (label.empty()) continue;
    // The same, whatever its local version.
    Want any_build = *want;
    for (wheel::Specifier& specifier : any_build.requirement.specifiers.specifiers)
      specifier.version = specifier.version.public_version();
    const auto releases =
        candidates_.matching(demand.name, version_filter({&any_build}, options_.prereleases));
    if (!releases || releases->empty()) continue;
    const Release& release = *releases->front();
    std::set<std::string> labels;
    for (const index::PublishedFile& file : release.wheels()) labels.insert(file.label);
    labels.erase("");
    if (labels.contains(label)) continue;
    return Error{ErrorKind::not_found,
                 fmt::format("{} {} has no build {}: {}", demand.name,
                             wheel::render_version(release.version), label, render_want(*want)),
                 labels.empty() ? std::string("it has no builds with labels")
                                : text::suggest(label, {labels.begin(), labels.end()},
                                                fmt::format("it has {}", fmt::join(labels, ", ")))};
  }
  return std::nullopt;
}

Error PackageChooser::why_none_matches(const PackageDemand& demand) {
  Error error = which_want_has_none(demand);
  say_who_decided(demand.name, error);
  return error;
}

void PackageChooser::say_who_decided(const std::string& name, Error& error) {
  const std::string why = candidates_.whereabouts(name).why_alone;
  if (!why.empty())
    error.hint = error.hint.empty() ? why : fmt::format("{}; or {}", why, error.hint);
}

Error PackageChooser::which_want_has_none(const PackageDemand& demand) {
  const auto versions = candidates_.versions(demand.name);
  if (!versions) return versions.error();
  if (versions->empty()) {
    std::set<std::string> known = candidates_.names_at_hand();
    known.merge(families_.installed_names());
    known.erase(demand.name);
    return no_such_package(demand.name, demand.wants,
                           candidates_.whereabouts(demand.name).looked_in,
                           {known.begin(), known.end()});
  }
  if (auto error = no_such_build(demand)) return std::move(*error);
  const auto none_matches = [&](const std::vector<const Want*>& wants) {
    const auto releases =
        candidates_.matching(demand.name, version_filter(wants, options_.prereleases));
    return releases && releases->empty();
  };
  for (const Want* want : demand.wants) {
    if (none_matches({want}))
      return no_such_version(demand.name, *want, *versions, options_.prereleases);
  }
  // The first that does not go with those before it, and the one of them that it does not go with.
  std::vector<const Want*> before;
  for (const Want* want : demand.wants) {
    before.push_back(want);
    if (!none_matches(before)) continue;
    for (const Want* other : before) {
      if (none_matches({other, want}))
        return no_common_version(demand.name, {other, want}, *versions);
    }
    break;
  }
  return no_common_version(demand.name, demand.wants, *versions);
}

Error PackageChooser::no_version_for_all(const PackageDemand& demand) {
  const auto versions = candidates_.versions(demand.name);
  Error error = no_common_version(demand.name, demand.wants,
                                  versions ? *versions : std::vector<KnownVersion>());
  say_who_decided(demand.name, error);
  return error;
}

Result<PackageChooser::Releases> PackageChooser::releases_for(const PackageDemand& demand) {
  if (!direct_urls(demand.wants).empty()) return direct_releases(demand);
  auto releases =
      candidates_.matching(demand.name, version_filter(demand.wants, options_.prereleases));
  if (!releases || !releases->empty()) return releases;
  Error error = why_none_matches(demand);
  if (std::string withheld = candidates_.whereabouts(demand.name).withheld; !withheld.empty())
    error.hint = std::move(withheld);
  return std::unexpected(std::move(error));
}

PackageChoice PackageChooser::take_installed(const plan::InstalledPackage& package) {
  PackageChoice choice;
  choice.package.name = package.name;
  choice.package.version = package.version;
  choice.release = families_.release_of(package);
  choice.goes_with = families_.goes_with(package.name, choice.release);
  choice.package.variant = package.variant;
  choice.package.already_installed = true;
  choice.package.decision.chosen_because = "it is installed and satisfies the requirements";
  // What is installed outlives the solve.
  choice.requires_dist = {std::shared_ptr<void>(), &package.dependencies};
  choice.abi_needs = package.abi_needs;
  choice.markers = markers_of(package.family.empty() ? package.variant.value_or("") : "",
                              package.variant_properties);
  return choice;
}

plan::ResolvedPackage PackageChooser::resolved(const std::string& name, const Release& release,
                                               ReleaseChoice choice) const {
  const CandidateWheel& chosen = *choice.chosen;
  const index::PublishedFile& file = *chosen.file;
  plan::ResolvedPackage package;
  package.name = name;
  package.version = file.label.empty() ? release.version : chosen.name.version;
  if (chosen.is_variant()) package.variant = chosen.label;
  if (!file.label.empty()) package.family = release.family->name;
  package.variant_properties = std::move(choice.properties);
  package.wheel_name = chosen.name;
  package.filename = file.filename;
  package.url = file.url;
  package.hash = file.hash;
  if (!file.hash.is_checkable() && !release.direct) {
    if (auto first = candidates_.first_sha256(chosen))
      package.hash = wheel::expected_sha256(std::move(*first), wheel::HashSource::first_download);
  }
  package.size = file.size;
  package.provenance = file.provenance;
  package.source = file.source.empty() ? std::string(release.source) : file.source;
  if (const auto& variants = release.variants_file(); variants && release.family == nullptr)
    package.variants_file = {variants->filename, variants->url, variants->hash};
  package.direct = release.direct;
  package.yanked = file.yanked;
  if (release.is_built(chosen)) package.built_from = (*release.built)->from;
  package.decision = std::move(choice.decision);
  return package;
}

PackageChoice PackageChooser::from_release(const std::string& name, const Release& release,
                                           ReleaseChoice choice, const WheelMetadata& metadata) {
  const CandidateWheel& wheel = *choice.chosen;
  PackageChoice result;
  result.release = release.version;
  result.goes_with = families_.goes_with(name, release.version);
  result.requires_dist = {metadata, &metadata->requires_dist};
  result.extras = metadata->provides_extra;
  // A family's build is a plain wheel: its markers see no variant.
  const bool of_family = !wheel.file->label.empty();
  result.markers = markers_of(of_family ? std::string_view() : wheel.label,
                              of_family ? wheel::VariantProperties() : choice.supported);
  result.fallback = choice.fallback;
  result.remark = choice.remark;
  result.unlisted_label = choice.unlisted_label;
  result.abi_needs = std::move(choice.abi_needs);
  result.other = choice.other;
  if (wheel.file->yanked) result.yanked = wheel.file->yanked_reason;
  wheel::VariantProperties supported =
      of_family ? wheel::VariantProperties() : std::move(choice.supported);
  result.package = resolved(name, release, std::move(choice));
  result.package.supported_properties = std::move(supported);
  result.package.metadata = metadata;
  return result;
}

std::optional<wheel::Version> PackageChooser::newest(const PackageDemand& demand) {
  const auto releases = releases_for(demand);
  if (!releases) return std::nullopt;
  return releases->front()->version;
}

}  // namespace axle::resolver
