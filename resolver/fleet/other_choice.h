#pragma once
// Another choice for a machine than the best one: builds are withheld, and it is solved again. What
// is left is chosen as ever, best first.

#include <cstddef>
#include <expected>
#include <functional>

#include "plan/resolution.h"
#include "resolver/request/withheld_builds.h"
#include "resolver/solver/unresolved.h"

namespace axle::resolver {

/// What the machine of that index gets without the builds that are withheld.
using SolveWithout = std::function<std::expected<plan::Resolution, Unresolved>(
    std::size_t machine, const WithheldBuilds& withheld)>;

using SolveOneWithout =
    std::function<std::expected<plan::Resolution, Unresolved>(const WithheldBuilds& withheld)>;

/// Whether nothing that was asked for, or that has builds, is older in `other` than in `best`.
/// Libraries that follow a build have versions of their own.
[[nodiscard]] bool keeps_versions(const plan::Resolution& best, const plan::Resolution& other);

}  // namespace axle::resolver
