#pragma once
// The indexes that all layers name together.

#include "session/settings/weighed_layers.h"

namespace axle::session {

/// Fills `indexes` and `no_index`. uv's order: --index and [[index]], then extra-index-url, the
/// default last; of two with one name or URL the first counts.
void take_indexes(WeighedLayers& layers, Settings& settings);

}  // namespace axle::session
