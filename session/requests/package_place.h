#pragma once
// Packages given by location, in pip's syntax: the PATH or URL of a wheel, an archive or a folder,
// or git+URL, then optionally [extras] and ; marker; or NAME @ URL. Paths, and the URLs
// "file:PATH", count from the working folder.

#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "wheel/requirement.h"

namespace axle::session {

struct PackagePlace {
  std::string place;  ///< path or URL
  std::string tail;   ///< extras and marker as written
};

/// nullopt: `text` is not a location.
[[nodiscard]] std::optional<PackagePlace> parse_package_place(std::string_view text);

/// As a requirement "name @ URL"; of sources that do not say it, the name is empty. `folder`: of
/// the file that says so, where users look for what is not in the working folder. Errors:
/// not_found; malformed for a name that is not a wheel's, a folder that is no project, a URL that
/// names no package, and for the tail.
[[nodiscard]] Result<wheel::Requirement> requirement_at(const PackagePlace& package,
                                                        const std::string& folder = {});

/// Makes the URL of "NAME @ file:PATH" absolute; one of another kind stays. `folder`: as above.
/// Errors: not_found; malformed for a path without "file:", a host, or as above.
[[nodiscard]] Result<void> make_absolute(wheel::Requirement& requirement,
                                         const std::string& folder = {});

}  // namespace axle::session
