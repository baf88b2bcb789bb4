#pragma once
// A build of a release that could be chosen: a variant, a family's build, the plain wheel, or the
// wheel that its source distribution makes.

#include <string>

namespace axle::resolver {

struct BuildOption {
  std::string label;  ///< empty: the plain wheel
  /// false: the machine cannot run it, or nothing is known of it. It is an option only where it is
  /// asked for by name.
  bool fits = true;
  bool fallback = false;  ///< of a family: it counts where nothing else fits
  bool unknown = false;   ///< of a family: not all that it needs is known
  /// Of a release without a wheel that fits: it is there once somebody takes it (--build).
  bool from_source = false;
};

}  // namespace axle::resolver
