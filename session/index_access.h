#pragma once
// Access to servers: certificates, proxies, time limits, and the credentials for each of them.

#include <string>

#include "index/http/transport.h"
#include "session/command_failure.h"
#include "session/settings/settings.h"

namespace axle::session {

/// Reads the netrc file (NETRC, else ~/.netrc). Errors: usage if it cannot be read or is not valid,
/// since it may contain the credentials of an index.
[[nodiscard]] Outcome<index::TransportOptions> transport_options(const Settings& settings);

/// The index's URL; if it has no password, with the user name and password of
/// UV_INDEX_<NAME>_USERNAME and _PASSWORD.
[[nodiscard]] std::string url_with_login(const ConfiguredIndex& index);

}  // namespace axle::session
