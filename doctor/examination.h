#pragma once
// One run of the doctor: which machine, environment and package are examined, and by which checks.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "doctor/features/feature_list.h"
#include "doctor/finding.h"
#include "session/command_failure.h"
#include "session/session.h"

namespace axle::doctor {

struct ExaminedEnvironment {
  std::string python;
  std::string prefix;
  std::size_t packages = 0;
  std::size_t libraries = 0;
  std::uint64_t bytes_read = 0;
};

/// The package of --for-package.
struct ExaminedPackage {
  std::string title;  ///< "torch 2.9", or the requirement as written
  std::vector<FeatureAnswer> features = {};
};

struct Examination {
  std::string machine;
  std::optional<ExaminedEnvironment> environment;  ///< nullopt: a finding has the reason
  std::optional<ExaminedPackage> package;          ///< nullopt: not requested
  Findings findings;                               ///< sorted
};

/// Errors: user input that cannot be read (settings, a machine, a package, families). All other
/// problems are findings.
[[nodiscard]] session::Outcome<Examination> examine(session::Session& session);

}  // namespace axle::doctor
