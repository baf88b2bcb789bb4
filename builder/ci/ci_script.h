#pragma once
// The steps of a job in the language of the POSIX shell, the same for every CI system. They say
// nothing of a job: what differs is in variables, so no text of the table is ever read as a
// command.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/ci/ci_plan.h"

namespace axle::builder {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Of all jobs: VARIANT_PROJECT and others.
[[nodiscard]] Variables common_variables(const CiPlan& plan);
/// Of one: VARIANT_JOB, VARIANT_LABEL and others.
[[nodiscard]] Variables job_variables(const CiJob& job);

// Each is whole lines. VARIANT is the program, VARIANT_DIST the folder for the job's wheel; all end
// with a failure if anything does (`set -eu`).
/// Sets `key`: of the versions of all programs that decide the result, and of the lock files.
[[nodiscard]] std::string key_script(const CiPlan& plan);
[[nodiscard]] std::string_view build_script();
[[nodiscard]] std::string_view smoke_script();
[[nodiscard]] std::string_view audit_script();
/// Of all wheels in VARIANT_DIST: that none is missing, the audit of the release, and publishing.
[[nodiscard]] std::string publish_script(const CiPlan& plan);

/// The lines of `script` with `indent` before each that is not empty.
[[nodiscard]] std::string indented(std::string_view script, std::string_view indent);

}  // namespace axle::builder
