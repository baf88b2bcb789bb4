#include "resolver/package_choice.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "index/first_download.h"
#include "resolver/direct_wheel.h"

namespace axle::resolver {
namespace {

VersionFilter filter_of(const std::vector<const Want*>& wants, bool prereleases) {
  VersionFilter filter;
  filter.prereleases = prereleases;
  for (const Want* want : wants) filter.specifiers.push_back(&want->requirement.specifiers);
  return filter;
}

bool is_requested(const std::vector<const Want*>& wants) {
  return std::ranges::any_of(
      wants, [](const Want* want) { return want->by.empty() && !want->constraint; });
}

/// Trouble that belongs to one release, which an older one may not have.
bool belongs_to_release(const Error& error) {
  return error.kind == ErrorKind::malformed || error.kind == ErrorKind::unsupported ||
         error.kind == ErrorKind::not_found;
}

std::unexpected<ChoiceFailure> final_failure(Error error) {
  return std::unexpected(ChoiceFailure{std::move(error), {}, false});
}

WheelPolicy wheel_policy(const Question& question, const Release& release, const Options& options) {
  WheelPolicy policy;
  const auto pinned = options.pinned_variants.find(question.name);
  if (pinned != options.pinned_variants.end()) policy.pinned_label = pinned->second;
  policy.variants = !policy.pinned_label.empty() ||
                    (options.variants && !options.plain_only.contains(question.name));
  policy.yanked = filter_of(question.wants, false).pins(release.version);
  return policy;
}

}  // namespace

std::vector<std::string> direct_urls(const std::vector<const Want*>& wants) {
  std::vector<std::string> urls;
  for (const Want* want : wants) {
    const std::string& url = want->requirement.url;
    if (!url.empty() && std::ranges::find(urls, url) == urls.end()) urls.push_back(url);
  }
  return urls;
}

PackageChooser::PackageChooser(const Target& target, const std::vector<InstalledPackage>& installed,
                               const Sources& sources, const Options& options, Report& report)
    : target_(target),
      installed_(installed),
      sources_(sources),
      options_(options),
      report_(report),
      catalogue_(sources, report),
      wheels_(target, options, *sources.transport, report) {}

const InstalledPackage* PackageChooser::installed(std::string_view name) const {
  const auto found = std::ranges::find(installed_, name, &InstalledPackage::name);
  return found == installed_.end() ? nullptr : &*found;
}

const InstalledPackage* PackageChooser::kept(const Question& question) const {
  const InstalledPackage* package = installed(question.name);
  const bool requested = is_requested(question.wants);
  if (package == nullptr || options_.reinstall || (options_.upgrade && requested)) return nullptr;
  if (question.excluded->contains(package->version)) return nullptr;
  const auto pinned = options_.pinned_variants.find(question.name);
  if (pinned != options_.pinned_variants.end()) {
    if (package->variant != pinned->second) return nullptr;
  } else if (package->variant &&
             (options_.plain_only.contains(question.name) || (requested && !options_.variants))) {
    return nullptr;
  }
  return filter_of(question.wants, true).contains(package->version) ? package : nullptr;
}

std::expected<PackageChooser::Releases, ChoiceFailure> PackageChooser::direct_releases(
    const Question& question) {
  const std::vector<std::string> urls = direct_urls(question.wants);
  std::string key;
  for (const std::string& url : urls) key += url + "\n";
  Release*& release = direct_[key];
  if (release == nullptr) {
    auto made = direct_release(question.name, urls);
    if (!made) return final_failure(std::move(made).error());
    release = catalogue_.adopt(std::move(*made));
  }
  if (filter_of(question.wants, true).contains(release->version)) return Releases{release};
  std::vector<const Want*> against;
  for (const Want* want : question.wants) {
    if (!want->requirement.url.empty() ||
        !want->requirement.specifiers.contains(release->version)) {
      against.push_back(want);
    }
  }
  return std::unexpected(ChoiceFailure{
      no_common_version(question.name, against, {{release->version, false}}), against, false});
}

ChoiceFailure PackageChooser::why_none_matches(const Question& question) {
  const auto versions = catalogue_.versions(question.name);
  if (!versions) return {versions.error(), {}, false};
  if (versions->empty()) {
    return {no_such_package(question.name, question.wants, catalogue_.looked_in()), {}, false};
  }
  const auto none_matches = [&](const std::vector<const Want*>& wants) {
    const auto releases =
        catalogue_.matching(question.name, filter_of(wants, options_.prereleases));
    return releases && releases->empty();
  };
  for (const Want* want : question.wants) {
    if (none_matches({want})) {
      return {no_such_version(question.name, *want, *versions), {want}, false};
    }
  }
  for (std::size_t i = 0; i < question.wants.size(); ++i) {
    for (std::size_t j = i + 1; j < question.wants.size(); ++j) {
      const std::vector<const Want*> pair{question.wants[i], question.wants[j]};
      if (none_matches(pair))
        return {no_common_version(question.name, pair, *versions), pair, false};
    }
  }
  return {no_common_version(question.name, question.wants, *versions), question.wants, false};
}

std::expected<PackageChooser::Releases, ChoiceFailure> PackageChooser::releases_for(
    const Question& question) {
  if (!direct_urls(question.wants).empty()) return direct_releases(question);
  auto releases =
      catalogue_.matching(question.name, filter_of(question.wants, options_.prereleases));
  if (!releases) return final_failure(std::move(releases).error());
  if (releases->empty()) return std::unexpected(why_none_matches(question));
  return std::move(*releases);
}

Result<ReleaseChoice> PackageChooser::choose_wheel(const Question& question, Release& release) {
  return wheels_.choose(question.name, release, wheel_policy(question, release, options_),
                        question.version_of);
}

PackageChoice PackageChooser::from_installed(const InstalledPackage& package) const {
  PackageChoice choice;
  choice.package.name = package.name;
  choice.package.version = package.version;
  choice.package.variant = package.variant;
  choice.package.already_installed = true;
  choice.package.decision.chosen_because = "it is installed and satisfies what is wanted";
  choice.requires_dist = package.dependencies;
  choice.markers =
      variant_markers(target_.markers, package.variant.value_or(""), package.variant_properties);
  return choice;
}

ResolvedPackage PackageChooser::resolved(const std::string& name, const Release& release,
                                         ReleaseChoice choice) const {
  const CandidateWheel& wheel = *choice.chosen;
  const index::PublishedFile& file = *wheel.file;
  ResolvedPackage package;
  package.name = name;
  package.version = release.version;
  if (wheel.name.is_variant()) package.variant = wheel.name.label;
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
  package.source = release.source;
  package.direct = release.direct;
  package.decision = std::move(choice.decision);
  return package;
}

PackageChoice PackageChooser::from_release(const std::string& name, const Release& release,
                                           ReleaseChoice choice,
                                           const wheel::CoreMetadata& metadata) const {
  const CandidateWheel& wheel = *choice.chosen;
  PackageChoice result;
  result.requires_dist = metadata.requires_dist;
  result.extras = metadata.provides_extra;
  result.markers = variant_markers(target_.markers, wheel.name.label, choice.supported);
  result.abi = choice.abi;
  if (wheel.file->yanked) result.yanked = wheel.file->yanked_reason;
  result.package = resolved(name, release, std::move(choice));
  return result;
}

std::expected<PackageChoice, ChoiceFailure> PackageChooser::choose(const Question& question) {
  const std::vector<std::string> urls = direct_urls(question.wants);
  if (urls.empty()) {
    if (const InstalledPackage* package = kept(question)) return from_installed(*package);
  }
  auto releases = releases_for(question);
  if (!releases) return std::unexpected(std::move(releases).error());
  bool exhausted = false;
  std::optional<Error> newest_trouble;
  bool ordinary = true;  // releases for newer Pythons are everyday life, all else is a warning
  const auto pass_over = [&](Error error, bool other_python) {
    ordinary = ordinary && other_python;
    if (!newest_trouble) newest_trouble = std::move(error);
  };
  for (Release* release : *releases) {
    if (question.excluded->contains(release->version)) {
      exhausted = true;
      continue;
    }
    auto choice = choose_wheel(question, *release);
    if (!choice) return final_failure(std::move(choice).error());
    if (choice->chosen == nullptr) {
      pass_over(std::move(*choice->why_not), choice->other_python);
      continue;
    }
    const auto metadata = metadata_of(question.name, *release, *choice->chosen);
    if (!metadata) {
      if (release->direct || !belongs_to_release(metadata.error())) {
        return final_failure(metadata.error());
      }
      pass_over(metadata.error(), false);
      continue;
    }
    PackageChoice result = from_release(question.name, *release, std::move(*choice), **metadata);
    result.direct_urls = urls;
    if (newest_trouble) {
      report_.add({ordinary ? Severity::note : Severity::warning,
                   fmt::format("{} {} is taken, not the newest: {}", question.name,
                               wheel::render_version(release->version), newest_trouble->message),
                   newest_trouble->hint});
    }
    return result;
  }
  Error error = newest_trouble ? std::move(*newest_trouble)
                               : no_common_version(question.name, question.wants, {});
  return std::unexpected(ChoiceFailure{std::move(error), {}, exhausted});
}

std::expected<Explanation, ChoiceFailure> PackageChooser::explain(const Question& question) {
  auto releases = releases_for(question);
  if (!releases) return std::unexpected(std::move(releases).error());
  Release& release = *releases->front();
  auto choice = choose_wheel(question, release);
  if (!choice) return final_failure(std::move(choice).error());
  Explanation explanation;
  explanation.name = question.name;
  explanation.version = release.version;
  explanation.decision = choice->decision;
  if (choice->chosen != nullptr) {
    explanation.chosen = resolved(question.name, release, std::move(*choice));
    explanation.chosen->requested = true;
  }
  return explanation;
}

std::optional<wheel::Version> PackageChooser::newest(const Question& question) {
  if (const InstalledPackage* package = kept(question)) return package->version;
  const auto releases = releases_for(question);
  if (!releases) return std::nullopt;
  return releases->front()->version;
}

}  // namespace axle::resolver
