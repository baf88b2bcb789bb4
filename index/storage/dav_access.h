#pragma once
// Where an index is on a WebDAV server, and the login for it.

#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/http/credentials.h"

namespace axle::index {

struct DavAccess {
  std::string url;  ///< "https://host/dav/wheels": as parse_dav_address gives it
  Credential login;
};

/// The folder's URL without a login and a slash at its end, percent-encoded in one way. Errors:
/// malformed (no host, a query, a path with parts that are none), unsupported (plain http to a host
/// that is neither this machine nor among `trusted_hosts`).
[[nodiscard]] Result<std::string> parse_dav_address(std::string_view text,
                                                    const std::vector<std::string>& trusted_hosts);

}  // namespace axle::index
