#pragma once
// Archives of sources that somebody names by their place: tar files in all compressions that Python
// reads, and zip files. The environment's interpreter unpacks them; what leads out of the folder is
// refused (PEP 706).

#include <string>

#include "foundation/report/error.h"
#include "session/builds/told_program.h"

namespace axle::session {

/// Unpacks the archive `file` into the new folder `folder`; gives the folder of the sources: the
/// only one in it, if there is nothing else. Errors: unsupported (Python could not), io.
[[nodiscard]] Result<std::string> unpack_archive(const std::string& python, const std::string& file,
                                                 const std::string& folder,
                                                 std::chrono::milliseconds time_limit,
                                                 Report& report);

}  // namespace axle::session
