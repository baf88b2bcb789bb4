#pragma once
// From a project page to releases. A wheel name is parsed in full when its release is looked at,
// and then once.

#include <string_view>
#include <vector>

#include "index/family/family.h"
#include "index/pages/listed_project.h"
#include "index/pages/page.h"
#include "resolver/catalogue/release.h"

namespace axle::resolver {

/// The releases of `listed`, newest first. It and `source` must outlive them.
[[nodiscard]] std::vector<Release> listed_releases(const index::ListedProject& listed,
                                                   std::string_view source);
/// The same of the files of one page, of which some may have been left out. Those with a label
/// (PublishedFile::label) are builds of `family`. `name` is normalised.
[[nodiscard]] std::vector<Release> group_releases(index::ProjectPage page, std::string_view name,
                                                  std::string_view source,
                                                  const index::Family* family);

}  // namespace axle::resolver
