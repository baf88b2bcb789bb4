#pragma once
// Jobs that share a file system: those of make and of Slurm.

#include <string>
#include <string_view>

#include "builder/ci/ci_plan.h"

namespace axle::builder {

/// NAME='value' for each variable, quoted for the shell, and their export.
[[nodiscard]] std::string local_variables(const CiPlan& plan);
[[nodiscard]] std::string local_variables(const CiJob& job);

/// Sets OUT, absolute.
[[nodiscard]] std::string_view local_folders();

/// All of a job: its folders below OUT, what is kept of earlier builds, and the steps.
[[nodiscard]] std::string local_job_script(const CiPlan& plan);
/// Brings the wheels of all jobs together, and publishes them.
[[nodiscard]] std::string local_publish_script(const CiPlan& plan);

}  // namespace axle::builder
