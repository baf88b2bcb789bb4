#pragma once
// From a project page to releases. File names are only split here; a wheel name is parsed in full
// when its release is looked at, and then once.

#include <string_view>
#include <vector>

#include "index/family/family.h"
#include "index/pages/page.h"
#include "resolver/catalogue/release.h"

namespace axle::resolver {

/// The releases on one page, newest first. `name` is normalised. Files that belong to no release
/// are left out; those with a label (PublishedFile::label) are builds of `family`.
[[nodiscard]] std::vector<Release> group_releases(index::ProjectPage page, std::string_view name,
                                                  std::string_view source,
                                                  const index::Family* family = nullptr);

}  // namespace axle::resolver
