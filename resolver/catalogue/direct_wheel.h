#pragma once
// Wheels that the user or a requirement names by path or URL.

#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/pages/page.h"
#include "resolver/catalogue/release.h"

namespace axle::resolver {

/// The release that the wheels at `urls` make up: labels of one version are one release, from which
/// the best is chosen. Errors: unsupported (not a wheel), mismatch (a wheel of another package),
/// conflict (two versions).
[[nodiscard]] Result<Release> direct_release(std::string_view name,
                                             const std::vector<std::string>& urls);

}  // namespace axle::resolver
