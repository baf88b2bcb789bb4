#pragma once
// The releases of a family's member: its own index and the plain wheels of the default index as
// one.

#include <string_view>
#include <vector>

#include "index/family/family.h"
#include "resolver/catalogue/release.h"

namespace axle::resolver {

/// Releases of the family's own index, which are its builds: those of members, where they do not
/// publish variants (PEP 825).
void claim_releases(std::vector<Release>& releases, const index::Family& family,
                    std::string_view project);

/// Of LabelPlace::built_for: each release is one build, labelled by its local version. Those whose
/// local version has none of the family's labels are dropped: nothing is known of them.
void claim_local_versions(std::vector<Release>& releases, const index::Family& family);

/// Adds the releases of another index to those of the family's own; both are newest first. Where
/// one of them publishes variants of a release, that one counts alone.
void join_releases(std::vector<Release>& releases, std::vector<Release> others,
                   const index::Family& family, std::string_view member);

}  // namespace axle::resolver
