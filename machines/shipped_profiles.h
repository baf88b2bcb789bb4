#pragma once
// The files of machines/profiles, compiled in.

#include <span>
#include <string_view>

namespace axle::machines {

struct ShippedProfile {
  std::string_view name;  ///< of the file, without ".json"
  std::string_view json;
};

/// Sorted by name.
[[nodiscard]] std::span<const ShippedProfile> shipped_profiles();

}  // namespace axle::machines
