#pragma once
// The text of installed scripts.

#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "wheel/entry_points.h"

namespace axle::installer {

/// The first line (or, where the kernel would cut it or split it at a space, the first lines) that
/// makes `python` run a script. Ends with a line end. Error: unsupported (a path that no script can
/// name).
[[nodiscard]] Result<std::string> render_shebang(std::string_view python);

/// What runs `entry`, complete.
[[nodiscard]] std::string render_script(const wheel::ScriptEntry& entry, std::string_view shebang);

/// A script of a wheel with its "#!python" or "#!pythonw" line replaced; nullopt when it has none
/// and stays as it is.
[[nodiscard]] std::optional<std::string> rewrite_script(std::string_view text,
                                                        std::string_view shebang);

}  // namespace axle::installer
