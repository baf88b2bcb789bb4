#include "resolver/family/family_releases.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

namespace axle::resolver {
namespace {

/// Variant wheels in the sense of PEP 825, or their metadata: a family is silent then.
bool publishes_variants(const Release& release) {
  if (release.variants_file()) return true;
  return std::ranges::any_of(release.wheels(), [](const index::PublishedFile& file) {
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
  for (index::PublishedFile& file : release.changed_files().wheels) {
    if (file.label.empty())
      file.label = default_label(family, member, release.version, file.filename);
    file.source = release.source;
  }
  release.family = &family;
}

}  // namespace

void claim_releases(std::vector<Release>& releases, const index::Family& family,
                    std::string_view project) {
  // What only this index has is never looked for elsewhere: anybody may carry its name there. A
  // file without a label must not pass for a plain one: nothing is known of it.
  for (Release& release : releases) {
    const bool builds = family.has_member(project) && !publishes_variants(release);
    release.family = builds ? &family : nullptr;
  }
}

void claim_local_versions(std::vector<Release>& releases, const index::Family& family) {
  std::erase_if(releases, [&](const Release& release) {
    return family.label(index::local_label(release.version)) == nullptr;
  });
  for (Release& release : releases) {
    release.family = &family;
    for (index::PublishedFile& file : release.changed_files().wheels)
      file.label = index::local_label(release.version);
  }
}

void join_releases(std::vector<Release>& releases, std::vector<Release> others,
                   const index::Family& family, std::string_view member) {
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
      index::ReleaseFiles& files = same->changed_files();
      std::ranges::move(other.changed_files().wheels, std::back_inserter(files.wheels));
      std::ranges::move(other.changed_files().sdists, std::back_inserter(files.sdists));
      std::ranges::move(other.local_versions, std::back_inserter(same->local_versions));
    }
  }
  std::ranges::sort(releases, std::ranges::greater{}, &Release::version);
}

}  // namespace axle::resolver
