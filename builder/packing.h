#pragma once
// From the files of one row to its wheel: checked against what the row declares, tagged, labelled,
// written reproducibly.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "builder/project.h"
#include "builder/wheel_contents.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "wheel/wheel_writer.h"

namespace axle::builder {

struct PackJob {
  const Project& project;
  const MatrixRow& row;
  std::string title;           ///< "variant v3", for errors
  std::string project_folder;  ///< of the files that [project] names
  std::string work_folder;     ///< for temporary files
  std::string architecture;    ///< of native code; empty: whatever it is for
  std::uint64_t source_date_epoch = 0;
};

struct PackedWheel {
  std::string file_name;
  std::string bytes;
};

/// `members`: what goes into site-packages. Name and metadata are those of [project]. Errors:
/// mismatch (code that the row does not declare), unsupported (no platform tag), not_found (there
/// is no file), and those of the writers.
[[nodiscard]] Result<PackedWheel> pack_files(const PackJob& job,
                                             std::vector<wheel::WheelMember> members,
                                             Report& report);

/// A wheel that exists, with the row's label instead of its own, or of none. Its Python and ABI
/// tags stay; the platform is computed, and may not be newer than what a manylinux tag promises.
[[nodiscard]] Result<PackedWheel> pack_wheel(const PackJob& job, WheelContents contents,
                                             Report& report);

}  // namespace axle::builder
