#pragma once
// The files of index/browse/assets, compiled in.

#include <span>
#include <string_view>

namespace axle::index {

struct PageAsset {
  std::string_view name;  ///< of the file, without its extension
  std::string_view text;
};

/// Sorted by name.
[[nodiscard]] std::span<const PageAsset> page_assets();

}  // namespace axle::index
