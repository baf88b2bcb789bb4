#pragma once
// Which pre-releases may be chosen. The names are uv's.

#include <cstdint>

namespace axle::resolver {

enum class Prereleases : std::uint8_t {
  disallow,
  allow,  ///< --pre
  if_necessary,
  explicitly,  ///< uv's `explicit`: those whose requirement names one
  if_necessary_or_explicit
};

/// A requirement of the user's that names a pre-release asks for them.
[[nodiscard]] constexpr bool count_if_named(Prereleases which) {
  return which != Prereleases::disallow && which != Prereleases::if_necessary;
}

/// They count where no final release will do.
[[nodiscard]] constexpr bool count_if_needed(Prereleases which) {
  return which != Prereleases::disallow && which != Prereleases::explicitly;
}

}  // namespace axle::resolver
