#pragma once
// direct_url.json (PEP 610): where a package comes from that no index gave.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "plan/resolution.h"

namespace axle::installer {

/// Of what was downloaded or built from: the place, and a hash, commit or folder. `sha256`: of the
/// wheel. Without user names, passwords and the values of queries.
[[nodiscard]] nlohmann::ordered_json direct_url(const plan::ResolvedPackage& package,
                                                const std::string& sha256);

}  // namespace axle::installer
