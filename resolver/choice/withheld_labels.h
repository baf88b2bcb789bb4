#pragma once
// Which wheels of a release are withheld.

#include <string>

#include "resolver/catalogue/release.h"
#include "resolver/request/withheld_builds.h"

namespace axle::resolver {

/// `name`: of the package, normalised.
[[nodiscard]] bool is_withheld(const WithheldBuilds& withheld, const std::string& name,
                               const Release& release, const CandidateWheel& wheel);

/// "; cu132 is left out (--minimize builds, --budget)", or nothing: of those with a wheel here.
[[nodiscard]] std::string render_withheld(const WithheldBuilds& withheld, const std::string& name,
                                          const Release& release);

}  // namespace axle::resolver
