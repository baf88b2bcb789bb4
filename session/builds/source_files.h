#pragma once
// What is built, as files to download and as folders.

#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "plan/resolution.h"
#include "resolver/request/source_builder.h"

namespace axle::session {

/// As a file to download.
[[nodiscard]] plan::ResolvedPackage as_package(const resolver::Sdist& sdist);
/// Error: malformed, a hash in the URL that is none.
[[nodiscard]] Result<plan::ResolvedPackage> as_package(const resolver::NamedSource& named);

/// The only sha256 that the file may have; empty: that is not known.
[[nodiscard]] std::string known_sha256(const plan::ResolvedPackage& package);

/// The project in `folder`, inside of it even if links lead elsewhere; messages call the folder
/// `shown`. Errors: not_found; malformed, it is no Python project.
[[nodiscard]] Result<std::string> project_in(const std::string& folder,
                                             const std::string& subdirectory,
                                             const std::string& shown);

/// The last part of a path: "demo" of "/srv/demo.git".
[[nodiscard]] std::string last_part(std::string_view url);

/// Of a file that is made in a folder of builds.
[[nodiscard]] bool is_sound_name(const std::string& filename);

}  // namespace axle::session
