#pragma once
// --no-binary and --only-binary: which packages may come as wheels.

#include <vector>

#include "session/settings/settings.h"
#include "session/settings/weighed_layers.h"

namespace axle::session {

/// The entries of both lists, highest precedence last. pip processes them in order: `:all:` of one
/// list empties the other, and `:none:` empties its own. uv ignores the order: a name takes
/// precedence over `:all:` of the other list, and forbidding over allowing; its entries are ordered
/// to give that result.
[[nodiscard]] std::vector<FormatWord> take_formats(WeighedLayers& layers);

}  // namespace axle::session
