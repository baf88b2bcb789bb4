#pragma once
// The file of a CI system, out of the table of the project. The same table gives the same bytes.

#include <cstdint>
#include <string>
#include <string_view>

#include "builder/ci/ci_plan.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"

namespace axle::builder {

enum class CiSystem : std::uint8_t { github, gitlab, slurm, make };

struct CiFile {
  std::string path;  ///< absolute
  std::string text;
};

struct CiRequest {
  CiSystem system;
  std::string project_folder;
  std::string out;  ///< empty: where the system finds it
};

/// Errors: those of the project and of plan_ci; malformed (a path with control characters),
/// unsupported (more than the system has).
[[nodiscard]] Result<CiFile> make_ci_file(const CiRequest& request, Report& report);

// One of each.
[[nodiscard]] std::string render_github(const CiPlan& plan);
[[nodiscard]] std::string render_gitlab(const CiPlan& plan);
[[nodiscard]] std::string render_slurm(const CiPlan& plan);
[[nodiscard]] std::string render_make(const CiPlan& plan);

}  // namespace axle::builder
