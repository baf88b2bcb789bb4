#pragma once
// A wheel that exists, to be labelled: made by a back end, or given by the project.

#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "wheel/wheel_name.h"
#include "wheel/wheel_writer.h"

namespace axle::builder {

struct WheelContents {
  wheel::WheelName name;
  std::string dist_info;  ///< "demo-1.0.dist-info"
  /// Without RECORD and its signatures, WHEEL and variant.json.
  std::vector<wheel::WheelMember> members;
  std::string generator;  ///< of WHEEL
  bool purelib = true;
  std::string requires_python;
  std::string label;  ///< of the wheel as it is; empty: it has none
};

/// Every file is read and compared with RECORD. Errors: not_found, malformed (also a RECORD that is
/// missing or does not list exactly the files), mismatch (a file is not what RECORD says).
[[nodiscard]] Result<WheelContents> read_wheel_contents(const std::string& path, Report& report);

/// A back end that cross-builds may call extension modules as those of the Python that runs it
/// (meson-python does): those of `architecture` get its name, without which they are not imported.
void name_modules_for(const std::string& architecture, std::vector<wheel::WheelMember>& members);

/// The one file that `pattern`, whose last part may have "*", is in `folder`. Error: not_found,
/// malformed (outside of the folder, several files).
[[nodiscard]] Result<std::string> find_wheel(const std::string& folder, const std::string& pattern);

}  // namespace axle::builder
