#pragma once
// How servers are spoken to: certificates, proxies, time limits, and whose user names and passwords
// they get.

#include <string>

#include "index/http/transport.h"
#include "session/command_failure.h"
#include "session/settings/settings.h"

namespace axle::session {

/// The netrc file (NETRC, else ~/.netrc) is read here. Errors: usage, for one that cannot be read
/// or is not valid: what it holds may be what an index wants.
[[nodiscard]] Outcome<index::TransportOptions> transport_options(const Settings& settings);

/// The index's URL; where it has no password of its own, with the user name and password of
/// UV_INDEX_<NAME>_USERNAME and _PASSWORD.
[[nodiscard]] std::string url_with_login(const ConfiguredIndex& index);

}  // namespace axle::session
