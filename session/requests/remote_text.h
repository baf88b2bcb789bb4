#pragma once
// Requirements files that a server has.

#include <functional>
#include <string>

#include "foundation/report/error.h"
#include "session/command_failure.h"
#include "session/options.h"

namespace axle::session {

/// The text at an http(s) URL. Errors: io, with the status or what the network says; malformed
/// beyond 64 MiB.
using RemoteText = std::function<Result<std::string>(const std::string& url)>;

/// Asks servers as it asks indexes: with the proxies, certificates, logins and limits that
/// `arguments`, variables and configuration files set. `python_prefix` gives the environment whose
/// pip.conf counts, too; it is called for the first URL, and not without one.
[[nodiscard]] RemoteText remote_text(const Arguments& arguments,
                                     std::function<Outcome<std::string>()> python_prefix);

}  // namespace axle::session
