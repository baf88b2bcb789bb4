#pragma once
// --bundle: packages out of one file, and whom the user trusts to have made it.

#include <memory>

#include "foundation/report/report.h"
#include "index/bundle/bundle.h"
#include "resolver/request/requests.h"
#include "session/command_failure.h"
#include "session/options.h"

namespace axle::session {

/// The bundle of --bundle, checked; nullptr: there is none. Who must have signed it:
/// --allowed-signers, else AXLE_ALLOWED_SIGNERS, else the user's axle/config.toml; where nobody
/// says it, any bundle is taken, and of one that is signed a warning says so. Errors: usage, for
/// options that name other places, and for a file of signers that cannot be read; those of
/// index::Bundle::open.
[[nodiscard]] Outcome<std::shared_ptr<const index::Bundle>> open_bundle(const Arguments& arguments,
                                                                        Report& report);

/// Error: usage, for a requirement, constraint or override that names a place of its own: a path or
/// a URL.
[[nodiscard]] Outcome<void> refuse_places(const resolver::Requests& requests);

/// Nothing but a bundle is asked, neither indexes nor the network.
void use_bundle_alone(Arguments& arguments);

}  // namespace axle::session
