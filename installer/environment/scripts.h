#pragma once
// The text of installed scripts.

#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "wheel/entry_points.h"

namespace axle::installer {

/// The first line (or lines, if the kernel would truncate it or split it at a space) with which
/// `python` runs a script. Ends with a line end. Error: unsupported (a path that cannot be used in
/// a script).
[[nodiscard]] Result<std::string> render_shebang(std::string_view python);

/// The complete script that runs `entry`.
[[nodiscard]] std::string render_script(const wheel::ScriptEntry& entry, std::string_view shebang);

/// A script of a wheel with its "#!python" or "#!pythonw" line replaced; nullopt if it has none and
/// is installed unchanged.
[[nodiscard]] std::optional<std::string> rewrite_script(std::string_view text,
                                                        std::string_view shebang);

}  // namespace axle::installer
