#include "resolver/fleet/other_choice.h"

#include <algorithm>

namespace axle::resolver {

bool keeps_versions(const plan::Resolution& best, const plan::Resolution& other) {
  return std::ranges::all_of(best.packages, [&](const plan::ResolvedPackage& package) {
    if (!package.requested && !package.variant) return true;
    const auto same = std::ranges::find(other.packages, package.name, &plan::ResolvedPackage::name);
    if (same == other.packages.end()) return !package.requested;
    return !(same->version.public_version() < package.version.public_version());
  });
}

}  // namespace axle::resolver
