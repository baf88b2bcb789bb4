#include "resolver/catalogue/page_releases.h"

#include <utility>

#include "index/pages/release_groups.h"
#include "wheel/version.h"

namespace axle::resolver {

std::vector<Release> listed_releases(const index::ListedProject& listed, std::string_view source) {
  std::vector<Release> releases;
  releases.reserve(listed.release_count());
  for (std::size_t place = 0; place < listed.release_count(); ++place) {
    Result<wheel::Version> version = wheel::parse_version(listed.summary(place).version);
    if (!version) continue;
    Release& release = releases.emplace_back(listed, place);
    release.version = std::move(*version);
    release.source = source;
  }
  return releases;
}

std::vector<Release> group_releases(index::ProjectPage page, std::string_view name,
                                    std::string_view source, const index::Family* family) {
  std::vector<Release> releases;
  index::ReleaseGroups groups = index::group_by_release(page.files, name);
  releases.reserve(groups.releases.size());
  for (index::ReleaseGroup& group : groups.releases) {
    Release& release = releases.emplace_back();
    release.version = std::move(group.version);
    release.source = source;
    release.local_versions = std::move(group.local_versions);
    if (group.labelled) release.family = family;
    index::ReleaseFiles& files = release.changed_files();
    for (const index::GroupedFile& file : group.files)
      files.add(file.kind, std::move(page.files[file.place]));
  }
  return releases;
}

}  // namespace axle::resolver
