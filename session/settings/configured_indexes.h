#pragma once
// The indexes that all layers name together, and the places that they are named by.

#include <string>

#include "session/settings/weighed_layers.h"

namespace axle::session {

/// Fills `indexes` and `no_index`. uv's order: --index and [[index]], then extra-index-url, the
/// default last; the first of two with the same name or URL applies.
void take_indexes(WeighedLayers& layers, Settings& settings);

/// Where packages are: a URL as it is, a path made absolute.
[[nodiscard]] std::string absolute_place(const std::string& place);

}  // namespace axle::session
