// Which release of a package: the newest whose wheel fits, in passes where a family's fallback
// labels and builds of unknown needs count last.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "foundation/system/shell_command.h"
#include "resolver/catalogue/listed_files.h"
#include "resolver/choice/package_choice.h"
#include "resolver/explain/messages.h"
#include "resolver/explain/unusable_wheels.h"

namespace axle::resolver {
namespace {

/// Trouble that belongs to one release, which an older one may not have.
bool belongs_to_release(const Error& error) {
  return error.kind == ErrorKind::malformed || error.kind == ErrorKind::unsupported ||
         error.kind == ErrorKind::not_found;
}

/// "torch 2.15.0 (cu132)"
std::string render_title(const plan::ResolvedPackage& package) {
  std::string text = package.name + " " + wheel::render_version(package.version.public_version());
  if (package.variant) text += fmt::format(" ({})", *package.variant);
  return text;
}

/// What the user lists counts, not what came at the first download.
void list_hashes(const PackageDemand& demand, plan::ResolvedPackage& package) {
  if (package.built_from) return;  // they are those of the source distribution
  auto listed = listed_hashes(demand.name, demand.wants);
  if (!listed || listed->empty()) return;
  package.listed_hashes = std::move(*listed);
  if (package.hash.source == wheel::HashSource::first_download) package.hash = {};
}

}  // namespace

Result<WheelPolicy> PackageChooser::policy_for(const PackageDemand& demand, const Release& release,
                                               Pass pass, VersionFilter& filter) {
  filter = version_filter(demand.wants);
  auto listed = listed_hashes(demand.name, demand.wants);
  if (!listed) return std::unexpected(std::move(listed).error());
  filter.listed = std::move(*listed);
  WheelPolicy policy;
  policy.rule = demand.rule;
  policy.label = demand.label;
  const auto pin = [&](LabelRule rule, std::string label) {
    policy.rule = rule;
    policy.label = std::move(label);
  };
  if (release.family != nullptr) {
    std::string local = filter.pinned_local();
    // A release with a local version of its own is itself what such a version asks for.
    if (!local.empty() && release.version.local.empty()) pin(LabelRule::forced, std::move(local));
    const auto forced = options_.forced_labels.find(release.family->name);
    if (forced != options_.forced_labels.end()) pin(LabelRule::forced, forced->second);
  }
  const auto pinned = options_.pinned_variants.find(demand.name);
  if (pinned != options_.pinned_variants.end()) pin(LabelRule::pinned, pinned->second);
  policy.variants = policy.rule == LabelRule::pinned ||
                    (options_.variants && !options_.plain_only.contains(demand.name));
  const bool asked_for = demand.pinned || filter.pins(release.version);
  policy.yanked = asked_for;
  policy.fallback = pass.fallback;
  policy.unknown = pass.unknown == UnknownBuilds::counts ||
                   (pass.unknown == UnknownBuilds::where_asked_for && asked_for);
  policy.required = &options_.required;
  policy.required_here =
      release.family != nullptr &&
      std::ranges::any_of(release.family->labels, [&](const index::FamilyLabel& label) {
        return options_.required.contains(label.vendor);
      });
  policy.versions = &filter;
  return policy;
}

LikelyChoice PackageChooser::likely(const PackageDemand& demand, Release& release) {
  VersionFilter filter;
  const auto policy = policy_for(demand, release, {}, filter);
  return policy ? wheels_.likely(demand.name, release, *policy) : LikelyChoice{};
}

Result<ReleaseChoice> PackageChooser::choose_wheel(const PackageDemand& demand, Release& release,
                                                   Pass pass, bool whole) {
  VersionFilter filter;
  const auto policy = policy_for(demand, release, pass, filter);
  if (!policy) return std::unexpected(policy.error());
  return wheels_.choose(demand.name, release, *policy, demand.version_of, whole);
}

Result<std::vector<BuildOption>> PackageChooser::options(const PackageDemand& demand,
                                                         Release& release) {
  VersionFilter filter;
  const auto policy = policy_for(demand, release, Pass{}, filter);
  if (!policy) return std::unexpected(policy.error());
  return wheels_.options(demand.name, release, *policy);
}

Result<std::optional<Sdist>> PackageChooser::buildable(const PackageDemand& demand,
                                                       const Release& release) {
  if (!options_.may_build(demand.name)) return std::nullopt;
  VersionFilter filter;
  const auto policy = policy_for(demand, release, Pass{}, filter);
  if (!policy) return std::unexpected(policy.error());
  const index::PublishedFile* file = wheels_.buildable(demand.name, release, *policy);
  if (file == nullptr) return std::nullopt;
  Sdist sdist{demand.name, release.version, *file, file->source, std::move(filter.listed)};
  if (sdist.source.empty()) sdist.source = release.source;
  return sdist;
}

Result<void> PackageChooser::build(const Sdist& sdist, Release& release) {
  if (release.built != nullptr) return {};
  auto built = options_.builds.builder->build(sdist);
  if (!built && !belongs_to_release(built.error())) return std::unexpected(built.error());
  note_build(release, std::move(built), target_.tags);
  return {};
}

Result<std::expected<PackageChoice, Error>> PackageChooser::take(const PackageDemand& demand,
                                                                 Release& release, Pass pass) {
  auto choice = choose_wheel(demand, release, pass, options_.whole_decisions);
  if (!choice) return std::unexpected(std::move(choice).error());
  if (choice->chosen == nullptr) {
    return std::expected<PackageChoice, Error>(std::unexpect, std::move(*choice->why_not));
  }
  const auto metadata = metadata_of(demand.name, release, *choice->chosen);
  if (!metadata) {
    if (release.direct || !belongs_to_release(metadata.error()))
      return std::unexpected(metadata.error());
    return std::expected<PackageChoice, Error>(std::unexpect, metadata.error());
  }
  PackageChoice made = from_release(demand.name, release, std::move(*choice), *metadata);
  list_hashes(demand, made.package);
  const plan::InstalledPackage* same = release.direct ? nullptr : same_installed(made);
  if (same != nullptr) made = take_installed(*same);
  return made;
}

Result<PackageChooser::Tried> PackageChooser::try_releases(const PackageDemand& demand,
                                                           const Releases& releases, Pass pass) {
  Tried tried;
  const auto pass_over = [&](const Release* release, Error error, bool other_python,
                             bool beside_the_point) {
    tried.ordinary = tried.ordinary && other_python;
    if (!tried.newest_trouble) {
      tried.newest_trouble = error;
      tried.newest = release;
    }
    if (!beside_the_point && !tried.telling_trouble) tried.telling_trouble = std::move(error);
  };
  for (Release* release : releases) {
    auto choice = choose_wheel(demand, *release, pass, false);
    if (!choice) return std::unexpected(std::move(choice).error());
    if (choice->chosen == nullptr) {
      pass_over(release, std::move(*choice->why_not), choice->other_python,
                choice->beside_the_point);
      continue;
    }
    const auto metadata = metadata_of(demand.name, *release, *choice->chosen);
    if (!metadata) {
      if (release->direct || !belongs_to_release(metadata.error())) {
        return std::unexpected(metadata.error());
      }
      pass_over(release, metadata.error(), false, false);
      continue;
    }
    tried.choice = from_release(demand.name, *release, std::move(*choice), *metadata);
    list_hashes(demand, tried.choice->package);
    tried.release = release;
    break;
  }
  return tried;
}

void PackageChooser::remark_on(const PackageDemand& demand, const Tried& first, Tried& tried) {
  PackageChoice& choice = *tried.choice;
  std::vector<Remark>& remarks = choice.remarks;
  const std::string title = render_title(choice.package);
  if (!choice.remark.empty()) {
    remarks.push_back({Severity::warning, fmt::format("{}: {}", title, choice.remark)});
  }
  if (!choice.unlisted_label.empty()) {
    remarks.push_back({Severity::warning,
                       fmt::format("{}: {} would fit better, but its hash is not listed for {}",
                                   title, choice.unlisted_label, demand.name),
                       "list its hash as well to install it"});
  }
  const index::Family* family = families_.of(demand.name);
  const bool device = family != nullptr && families_.has_device_for(*family);
  if (choice.fallback && device && first.newest_trouble) {
    const Error& trouble = first.telling_trouble ? *first.telling_trouble : *first.newest_trouble;
    remarks.push_back(although_there_is_a_gpu(title, trouble));
  } else if (tried.newest_trouble && demand.rule != LabelRule::follow &&
             tried.newest->version != choice.release && tried.newest->built == nullptr) {
    // A build that failed is said already.
    const bool everyday = tried.ordinary || family != nullptr;
    remarks.push_back(
        {everyday ? Severity::note : Severity::warning,
         fmt::format("{} is chosen, not the newest: {}", title, tried.newest_trouble->message),
         tried.newest_trouble->hint});
  }
  if (choice.fallback && !device && choice.other)
    remarks.push_back(saved_without_gpu(title, *choice.other));
}

Result<void> PackageChooser::remark(const PackageDemand& demand,
                                    const std::vector<Release*>& releases, Pass pass,
                                    PackageChoice& choice) {
  const std::vector<Pass> passes = passes_over(families_, demand, releases);
  auto first = try_releases(demand, releases, passes.front());
  if (!first) return std::unexpected(std::move(first).error());
  const bool of_family =
      std::ranges::any_of(releases, [](const Release* one) { return one->family != nullptr; });
  if (!of_family) {
    // All passes are alike.
    first->choice = std::move(choice);
    remark_on(demand, *first, *first);
    choice = std::move(*first->choice);
    return {};
  }
  auto tried = try_releases(demand, releases, pass);
  if (!tried) return std::unexpected(std::move(tried).error());
  tried->choice = std::move(choice);
  remark_on(demand, *first, *tried);
  choice = std::move(*tried->choice);
  return {};
}

void PackageChooser::remark_on_first(const PackageDemand& demand, PackageChoice& choice) {
  Tried tried;
  tried.choice = std::move(choice);
  remark_on(demand, {}, tried);
  choice = std::move(*tried.choice);
}

std::optional<PackageChooser::Offer> PackageChooser::newest_that_fits(const PackageDemand& demand) {
  constexpr std::size_t most_looked_at = 30;
  Want any;
  any.requirement.name = demand.name;
  PackageDemand every = demand;
  every.wants = {&any};
  const auto releases =
      candidates_.matching(every.name, version_filter(every.wants, options_.prereleases));
  if (!releases) return std::nullopt;
  for (std::size_t i = 0; i < std::min(releases->size(), most_looked_at); ++i) {
    Release& release = *(*releases)[i];
    const auto choice = choose_wheel(every, release, Pass{}, false);
    if (!choice) return std::nullopt;
    if (choice->chosen == nullptr) continue;
    // What only the wheel itself says may speak against it too, its Requires-Python for example.
    const auto metadata = metadata_of(every.name, release, *choice->chosen);
    if (metadata) return Offer{release.version, choice->chosen->label};
    if (!belongs_to_release(metadata.error())) return std::nullopt;
  }
  return std::nullopt;
}

void PackageChooser::offer_another_version(const PackageDemand& demand, Error& error) {
  const bool asked = error.kind == ErrorKind::unsupported && demand.rule == LabelRule::best &&
                     options_.required.empty() && !options_.pinned_variants.contains(demand.name);
  if (!asked) return;
  const auto newest = newest_that_fits(demand);
  if (!newest) return;
  const auto by =
      std::ranges::find_if(demand.wants, [](const Want* want) { return !want->by.empty(); });
  const std::string pinned =
      fmt::format("{}=={}", demand.name, wheel::render_version(newest->version));
  std::string offer = fmt::format("{} is the newest version that can be used here", pinned);
  if (!newest->label.empty()) offer += fmt::format(" (its build {} fits)", newest->label);
  offer += by == demand.wants.end() ? fmt::format(": `variant install {}`", shell_word(pinned))
                                    : fmt::format(", which {} does not accept", (*by)->by);
  error.hint = error.hint.empty() ? offer : fmt::format("{}; or {}", offer, error.hint);
}

std::optional<Error> PackageChooser::why_none(const PackageDemand& demand) {
  const bool direct = !direct_urls(demand.wants).empty();
  const std::string* forbids = options_.wheel_use.forbids(demand.name);
  if (forbids != nullptr && !direct)
    return wheels_forbidden(demand.name, demand.wants, *forbids, options_);
  auto releases = releases_for(demand);
  if (!releases) return std::move(releases).error();
  if (forbids != nullptr && releases->front()->built == nullptr)
    return wheels_forbidden(demand.name, demand.wants, *forbids, options_);
  std::optional<Tried> first;
  for (const Pass pass : passes_over(families_, demand, *releases)) {
    auto tried = try_releases(demand, *releases, pass);
    if (!tried) return std::move(tried).error();
    if (tried->choice) return std::nullopt;
    if (!first) first = std::move(*tried);
  }
  Error error = first->telling_trouble && options_.required.empty()
                    ? std::move(*first->telling_trouble)
                    : std::move(*first->newest_trouble);
  if (!direct) offer_another_version(demand, error);
  // That a listed file is not there says nothing of what other indexes have.
  if (error.kind != ErrorKind::not_found) say_who_decided(demand.name, error);
  return error;
}

Result<plan::Decision> PackageChooser::decision(const PackageDemand& demand, Release& release) {
  auto choice = choose_wheel(demand, release, Pass{}, true);
  if (!choice) return std::unexpected(std::move(choice).error());
  return std::move(choice->decision);
}

Facts PackageChooser::platform_facts(Release& release) const {
  parse_wheels(release, target_.tags);
  return unusable_facts(release, target_);
}

Result<Explanation> PackageChooser::explain(const PackageDemand& demand) {
  auto releases = releases_for(demand);
  if (!releases) return std::unexpected(std::move(releases).error());
  // The release that would be chosen; the newest, where none would.
  Release* shown = releases->front();
  Pass shown_pass;
  std::vector<Pass> passes = passes_over(families_, demand, *releases);
  // As the solver takes it: a wheel without a label, of which a family knows nothing, rather than
  // none.
  const std::size_t labelled = passes.size();
  passes.push_back({true, UnknownBuilds::counts});
  for (std::size_t i = 0; i < passes.size(); ++i) {
    auto tried = try_releases(demand, *releases, passes[i]);
    if (!tried) return std::unexpected(std::move(tried).error());
    if (!tried->choice || (i == labelled && tried->choice->package.variant)) continue;
    shown = tried->release;
    shown_pass = passes[i];
    break;
  }
  Release& release = *shown;
  auto choice = choose_wheel(demand, release, shown_pass, true);
  if (!choice) return std::unexpected(std::move(choice).error());
  Explanation explanation;
  explanation.name = demand.name;
  explanation.version = release.version;
  explanation.decision = choice->decision;
  if (choice->chosen != nullptr) {
    explanation.chosen = resolved(demand.name, release, std::move(*choice));
    explanation.chosen->requested = true;
  }
  return explanation;
}

}  // namespace axle::resolver
