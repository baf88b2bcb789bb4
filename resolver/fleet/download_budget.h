#pragma once
// A choice for a machine that downloads no more than its user allows.

#include <cstdint>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "plan/resolution.h"
#include "resolver/fleet/other_choice.h"

namespace axle::resolver {

/// What a machine downloads.
struct Volume {
  std::uint64_t bytes = 0;
  std::vector<std::string> unknown = {};  ///< packages of which no index gives the size
};
[[nodiscard]] Volume volume_of(const plan::Resolution& resolution);

/// A choice that is small enough.
struct Affordable {
  WithheldBuilds withheld;
  /// What goes by labels of which the machine gets one for less than its best is for.
  std::vector<std::string> lesser = {};
  std::vector<std::string> unknown = {};  ///< as in Volume
};

/// What has to be withheld from a machine, beyond `withheld`, so that it downloads at most `bytes`
/// (--budget; `best`: what it gets without a limit): the nearest to the best that is small enough,
/// of the same releases. A build for less than the best one is for, such as one for no GPU, comes
/// after all others. Error: unsupported: no choice is small enough, with the smallest that was
/// found. Sizes that are not known count as nothing.
[[nodiscard]] Result<Affordable> within_budget(const plan::Resolution& best, std::uint64_t bytes,
                                               const WithheldBuilds& withheld,
                                               const SolveOneWithout& solve);

}  // namespace axle::resolver
