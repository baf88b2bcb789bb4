#pragma once
// What is installed, in pip's installation report format (version "1" of its specification).

#include <nlohmann/json_fwd.hpp>

#include "installer/store/wheel_facts.h"
#include "plan/resolution.h"
#include "resolver/request/requests.h"
#include "wheel/marker.h"

namespace axle::cli {

struct ReportedInstallation {
  const plan::Resolution& resolution;
  const resolver::Requests& requests;
  const installer::WheelFactsByUrl& facts;  ///< of all that is to be installed
  const wheel::MarkerEnvironment& markers;
};

/// What Axle adds stands in `axle`, of the whole and of each package.
[[nodiscard]] nlohmann::ordered_json installation_report(const ReportedInstallation& installation);

}  // namespace axle::cli
