#pragma once
// The builds of one name that a machine can take, from the one that it gets downwards.

#include <map>
#include <string>
#include <vector>

#include "plan/resolution.h"

namespace axle::resolver {

struct Ladder {
  /// Labels of builds for the same as the best one (GPUs of one vendor, the processor); it is the
  /// first.
  std::vector<std::string> alike;
  /// Of builds for less: for the processor alone, or for nothing. Empty: the plain wheel.
  std::vector<std::string> lesser;
  /// Of builds that some member of the family does not have: no way down, though one leads there.
  std::vector<std::string> partial;
};

/// By name, as WithheldBuilds has them. The packages of a family have one ladder: labels that fit
/// for all of them.
[[nodiscard]] std::map<std::string, Ladder, std::less<>> ladders_of(
    const plan::Resolution& resolution);

/// Names of which `other` has a build for less than the best one is for.
[[nodiscard]] std::vector<std::string> lesser_in(
    const std::map<std::string, Ladder, std::less<>>& ladders, const plan::Resolution& other);

}  // namespace axle::resolver
