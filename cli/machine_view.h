#pragma once
// A machine as text, and its properties as text and as JSON.

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/output.h"
#include "detect/machine.h"
#include "providers/provider.h"

namespace axle::cli {

[[nodiscard]] std::string render_machine(const detect::Machine& machine, const Output& output);

/// Only the given namespaces; all when there are none.
[[nodiscard]] std::string render_properties(const detect::Machine& machine,
                                            const providers::GpuPolicy& gpus,
                                            const std::vector<std::string>& namespaces);
/// {ns: {feature: [value, …]}}, order counts.
[[nodiscard]] nlohmann::ordered_json properties_json(const detect::Machine& machine,
                                                     const providers::GpuPolicy& gpus,
                                                     const std::vector<std::string>& namespaces);

/// The same as a provider's `static-properties` and `feature-order` (PEP 850), for installers that
/// run no plugin: tables of a pyproject.toml, and {ns: {static-properties, feature-order}}. A
/// namespace of which nothing is supported is left out.
[[nodiscard]] std::string render_static_lists(const detect::Machine& machine,
                                              const providers::GpuPolicy& gpus,
                                              const std::vector<std::string>& namespaces);
[[nodiscard]] nlohmann::ordered_json static_lists_json(const detect::Machine& machine,
                                                       const providers::GpuPolicy& gpus,
                                                       const std::vector<std::string>& namespaces);

}  // namespace axle::cli
