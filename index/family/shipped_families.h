#pragma once
// The files of index/families, compiled in. Their format is in docs/families.md.

#include <span>
#include <string_view>

namespace axle::index {

struct ShippedFamily {
  std::string_view name;  ///< of the file, without ".toml"
  std::string_view toml;
};

/// Sorted by name.
[[nodiscard]] std::span<const ShippedFamily> shipped_families();

}  // namespace axle::index
