#pragma once
// What a component of a CycloneDX document says of a package, from its metadata. That may say
// anything: what CycloneDX does not take is left out.

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "session/direct_url.h"
#include "wheel/core_metadata.h"

namespace axle::cli {

/// "pkg:pypi/name@version"; with the place of a package that is from no index, if others can reach
/// that.
[[nodiscard]] std::string package_url(std::string_view name, std::string_view version,
                                      const session::DirectUrl& direct);

// Each is an array, empty if there is nothing to say.
/// An expression alone, else names and texts.
[[nodiscard]] nlohmann::ordered_json bom_licenses(const wheel::CoreMetadata& metadata);
[[nodiscard]] nlohmann::ordered_json bom_authors(const wheel::CoreMetadata& metadata);
[[nodiscard]] nlohmann::ordered_json bom_references(const wheel::CoreMetadata& metadata,
                                                    const session::DirectUrl& direct);
/// Of the archive that the package was installed from.
[[nodiscard]] nlohmann::ordered_json bom_hashes(const session::DirectUrl& direct);

}  // namespace axle::cli
