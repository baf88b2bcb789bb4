// The releases of a family's member: its own index and the plain wheels of the default index as
// one.

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "resolver/catalogue/candidates.h"

namespace axle::resolver {
namespace {

/// Variant wheels in the sense of PEP 825, or their metadata: a family is silent then.
bool publishes_variants(const Release& release) {
  if (release.variants_file) return true;
  return std::ranges::any_of(release.wheels, [](const index::PublishedFile& file) {
    // Six parts are a build tag or a label; most names have five and need not be parsed.
    if (std::ranges::count(file.filename, '-') < 5) return false;
    const auto name = wheel::parse_wheel_name(file.filename);
    return name && name->is_variant();
  });
}

/// What the family's file says the default index's plain wheel was built for.
std::string default_label(const index::Family& family, std::string_view member,
                          const wheel::Version& version, std::string_view filename) {
  const index::FamilyRelease* release = index::find_release(family, member, version);
  if (release == nullptr || !version.local.empty() || !filename.ends_with(".whl")) return {};
  filename.remove_suffix(4);
  const auto label = release->default_index.find(index::family_platform(filename));
  return label == release->default_index.end() ? std::string() : label->second;
}

/// The plain wheels of another index with the labels that the family's file gives them.
void label_plain_wheels(Release& release, const index::Family& family, std::string_view member) {
  for (index::PublishedFile& file : release.wheels) {
    if (file.label.empty())
      file.label = default_label(family, member, release.version, file.filename);
    file.source = release.source;
  }
  release.family = &family;
}

/// Adds the releases of another index to those of the family's own; both are newest first. Where
/// one of them publishes variants of a release, that one counts alone.
void join(std::vector<Release>& releases, std::vector<Release> others, const index::Family& family,
          std::string_view member) {
  const std::size_t own = releases.size();
  for (Release& other : others) {
    const auto end = releases.begin() + static_cast<std::ptrdiff_t>(own);
    const auto same = std::ranges::lower_bound(releases.begin(), end, other.version,
                                               std::ranges::greater{}, &Release::version);
    const bool known = same != end && same->version == other.version;
    const bool variants = publishes_variants(other);
    if (!variants) label_plain_wheels(other, family, member);
    if (!known) {
      releases.push_back(std::move(other));
    } else if (variants) {
      *same = std::move(other);
    } else if (same->family != nullptr) {
      std::ranges::move(other.wheels, std::back_inserter(same->wheels));
      std::ranges::move(other.sdists, std::back_inserter(same->sdists));
      std::ranges::move(other.local_versions, std::back_inserter(same->local_versions));
    }
  }
  std::ranges::sort(releases, std::ranges::greater{}, &Release::version);
}

}  // namespace

Result<const index::Family*> Catalogue::family_of(std::string_view name) {
  if (sources_.families == nullptr || !options_.variants || options_.plain_only.contains(name))
    return nullptr;
  return sources_.families->of_project(name);
}

Result<std::vector<Release*>> Catalogue::family_releases(const index::Family& family,
                                                         index::Source* index,
                                                         std::string_view name) {
  if (const auto known = family_releases_.find(name); known != family_releases_.end())
    return known->second;
  const auto own = page(&sources_.families->source(family), name);
  if (!own) return std::unexpected(own.error());
  // What only this index has is never looked for elsewhere: anybody may carry its name there.
  const bool member = family.has_member(name);
  std::vector<Release> releases = std::move((*own)->releases);
  // A file without a label must not pass for a plain one: nothing is known of it.
  for (Release& release : releases)
    release.family = member && !publishes_variants(release) ? &family : nullptr;
  if (index != nullptr && member) {
    const auto others = page(index, name);
    if (!others) return std::unexpected(others.error());
    join(releases, std::move((*others)->releases), family, name);
  }
  std::vector<Release*>& kept = family_releases_[std::string(name)];
  for (Release& release : releases) kept.push_back(adopt(std::move(release)));
  return kept;
}

}  // namespace axle::resolver
