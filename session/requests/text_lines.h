#pragma once
// The lines of a text file that people write, on whatever system.

#include <string>
#include <vector>

#include "foundation/report/error.h"

namespace axle::session {

/// Lines end with LF, CR LF or CR. A byte order mark is not part of the text, and one of UTF-16
/// says what it is (PowerShell writes such files); the lines are UTF-8. Errors: malformed, for
/// UTF-16 that is none, and UTF-32.
[[nodiscard]] Result<std::vector<std::string>> text_lines(std::string bytes);

}  // namespace axle::session
