#pragma once
// The supported properties of a machine: of the providers that Axle carries and of trusted plugins.

#include <string>
#include <utility>
#include <vector>

#include "detect/machine.h"
#include "providers/provider.h"
#include "session/command_failure.h"
#include "session/session.h"

namespace axle::session {

using PropertyLists = std::vector<std::pair<std::string, providers::Features>>;

/// Of the providers that Axle carries, then of the programs and shared objects that the user trusts
/// (asked, unless another machine is spoken of); only the given namespaces, all when there are
/// none. What providers.toml switches off supports nothing. Errors: usage for a namespace that
/// nobody answers for.
[[nodiscard]] Outcome<PropertyLists> property_lists_of(Session& session,
                                                       const detect::Machine& machine,
                                                       const providers::GpuPolicy& gpus,
                                                       const std::vector<std::string>& namespaces);

}  // namespace axle::session
