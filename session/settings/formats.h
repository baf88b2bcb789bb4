#pragma once
// --no-binary and --only-binary: which packages may come as wheels.

#include <vector>

#include "session/settings/settings.h"
#include "session/settings/weighed_layers.h"

namespace axle::session {

/// The words of both lists, of what wins the last. pip takes them as they come, `:all:` of one list
/// empties the other, and so does `:none:` its own. uv knows no order: a name counts before `:all:`
/// of the other list, and what forbids before what allows; its words stand so that this comes out.
[[nodiscard]] std::vector<FormatWord> take_formats(WeighedLayers& layers);

}  // namespace axle::session
