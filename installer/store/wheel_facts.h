#pragma once
// What only the file of a wheel says, for whoever wants to know more than where its files go.

#include <map>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "plan/resolution.h"

namespace axle::installer {

struct WheelFacts {
  std::string metadata;  ///< the text of METADATA
  std::string sha256;    ///< hex; of one that is only listed as the index gives it, or empty
};

/// By URL.
using WheelFactsByUrl = std::map<std::string, WheelFacts, std::less<>>;

/// Reads or downloads all of the wheel; a large one is kept in `folder` meanwhile. Errors: as of
/// acquire_wheel.
[[nodiscard]] Result<WheelFacts> read_wheel_facts(const std::string& folder,
                                                  const plan::ResolvedPackage& package,
                                                  index::Transport& transport, Report& report);

}  // namespace axle::installer
