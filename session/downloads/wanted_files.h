#pragma once
// Which files several machines need to install the same requests.

#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "plan/resolution.h"

namespace axle::session {

/// A wheel, or the variants file of its release, by which wheels are chosen.
struct WantedFile {
  plan::ResolvedPackage file;
  bool is_variants_file = false;
  std::vector<std::string> machines;  ///< in the order of their resolutions, each once
};

/// Adds those of one machine's resolution. Error: conflict, if two machines need different files of
/// one name.
[[nodiscard]] Result<void> add_wanted(std::vector<WantedFile>& wanted,
                                      const plan::Resolution& resolution,
                                      const std::string& machine);

}  // namespace axle::session
