#pragma once
// What both readers of shapes (config.json and GGUF) end with.

#include "runtime/model/description/model_shape.h"

namespace axle::runtime {

/// `shape` itself if the runtime can work with its numbers, which may be anything.
[[nodiscard]] Result<ModelShape> checked(ModelShape shape, const std::string& where);

}  // namespace axle::runtime
