#pragma once
// Advisories that the user names: a file, a folder, an archive, or the URL of a file or archive.

#include <set>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "session/requests/remote_text.h"
#include "wheel/advisory/advisory.h"

namespace axle::session {

/// Those about one of `names` (normalised). `place`: JSON as of wheel::parse_advisories, a folder
/// with such files at any depth, or a zip archive of them; a path, "-" or a URL. Errors: those of
/// wheel::parse_advisories and of reading; malformed, for a folder or an archive without any.
[[nodiscard]] Result<std::vector<wheel::Advisory>> read_advisories(
    const std::string& place, const std::set<std::string, std::less<>>& names,
    const RemoteText& remote);

}  // namespace axle::session
