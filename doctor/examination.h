#pragma once
// One run of the doctor: which machine, environment and package are examined, and by which checks.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "doctor/feature_list.h"
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

/// What --for-package asks of.
struct ExaminedPackage {
  std::string title;  ///< "torch 2.9", or the requirement as it was written
  std::vector<FeatureAnswer> features = {};
};

struct Examination {
  std::string machine;
  std::optional<ExaminedEnvironment> environment;  ///< nullopt: a finding says why
  std::optional<ExaminedPackage> package;          ///< nullopt: none was asked of
  Findings findings;                               ///< sorted
};

/// Errors: what the user named and cannot be read (settings, a machine, a package, families).
/// Whatever else is wrong is a finding.
[[nodiscard]] session::Outcome<Examination> examine(session::Session& session);

}  // namespace axle::doctor
