#pragma once
// The supported properties of a machine: from the bundled providers and from trusted plugins.

#include <string>
#include <utility>
#include <vector>

#include "detect/machine.h"
#include "providers/provider.h"
#include "session/command_failure.h"
#include "session/session.h"

namespace axle::session {

using PropertyLists = std::vector<std::pair<std::string, providers::Features>>;

/// From the bundled providers, then from the trusted programs and shared objects (run only for this
/// machine); only the given namespaces, or all if none is given. Namespaces disabled in
/// providers.toml support nothing. Errors: usage for a namespace without a provider.
[[nodiscard]] Outcome<PropertyLists> property_lists_of(Session& session,
                                                       const detect::Machine& machine,
                                                       const providers::GpuPolicy& gpus,
                                                       const std::vector<std::string>& namespaces);

}  // namespace axle::session
