#pragma once
// The supported properties of a machine, as text and as JSON.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "session/property_lists.h"

namespace axle::cli {

[[nodiscard]] std::string render_properties(const session::PropertyLists& lists);
/// {ns: {feature: [value, …]}}, order counts.
[[nodiscard]] nlohmann::ordered_json properties_json(const session::PropertyLists& lists);

/// The same as a provider's `static-properties` and `feature-order` (PEP 850), for installers that
/// run no plugin: tables of a pyproject.toml, and {ns: {static-properties, feature-order}}. A
/// namespace of which nothing is supported is left out.
[[nodiscard]] std::string render_static_lists(const session::PropertyLists& lists);
[[nodiscard]] nlohmann::ordered_json static_lists_json(const session::PropertyLists& lists);

}  // namespace axle::cli
