#pragma once
// The supported properties of a machine, as text and as JSON.

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/failure.h"
#include "cli/session.h"
#include "detect/machine.h"
#include "providers/provider.h"

namespace axle::cli {

using PropertyLists = std::vector<std::pair<std::string, providers::Features>>;

/// Of the providers that Axle carries, then of the programs and shared objects that the user trusts
/// (asked, unless another machine is spoken of); only the given namespaces, all when there are
/// none. What providers.toml switches off supports nothing. Errors: usage for a namespace that
/// nobody answers for.
[[nodiscard]] Outcome<PropertyLists> property_lists_of(Session& session,
                                                       const detect::Machine& machine,
                                                       const providers::GpuPolicy& gpus,
                                                       const std::vector<std::string>& namespaces);

[[nodiscard]] std::string render_properties(const PropertyLists& lists);
/// {ns: {feature: [value, …]}}, order counts.
[[nodiscard]] nlohmann::ordered_json properties_json(const PropertyLists& lists);

/// The same as a provider's `static-properties` and `feature-order` (PEP 850), for installers that
/// run no plugin: tables of a pyproject.toml, and {ns: {static-properties, feature-order}}. A
/// namespace of which nothing is supported is left out.
[[nodiscard]] std::string render_static_lists(const PropertyLists& lists);
[[nodiscard]] nlohmann::ordered_json static_lists_json(const PropertyLists& lists);

}  // namespace axle::cli
