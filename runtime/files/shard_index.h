#pragma once
// model.safetensors.index.json: which file of a folder holds which tensor.

#include <map>
#include <string>
#include <string_view>

#include "runtime/result.h"

namespace axle::runtime {

/// "weight_map": the file of each tensor, a name in the index's own folder. `path` names the index
/// in errors.
[[nodiscard]] Result<std::map<std::string, std::string>> parse_shard_index(std::string_view text,
                                                                           const std::string& path);

}  // namespace axle::runtime
