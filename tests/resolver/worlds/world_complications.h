#pragma once
// What only some worlds have: a family with its backends, markers about variants, source
// distributions that may be built, a second index. The rest of a world is as without it.

#include "tests/resolver/worlds/random_world.h"

namespace axle::testing {

void complicate(PublishedWorld& world);

/// The file of the world's family.
[[nodiscard]] std::string family_text(const PublishedWorld& world);
/// Where that family's builds are.
inline constexpr const char* family_url = "https://family.test/whl";

}  // namespace axle::testing
