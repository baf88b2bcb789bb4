#pragma once
// entry_points.txt (entry points specification): the scripts that a wheel asks for.

#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::wheel {

struct ScriptEntry {
  std::string name;    ///< file name of the script
  std::string module;  ///< dotted identifiers
  std::string object;  ///< dotted identifiers
  bool gui = false;
  friend bool operator==(const ScriptEntry&, const ScriptEntry&) = default;
};

/// Reads [console_scripts] and [gui_scripts]; other groups are skipped. Keys are
/// case-sensitive,
/// "=" is the only delimiter, nothing is interpolated. Error: malformed (a line that is none, a
/// name that is not a plain file name or is reserved, a reference that is not `module:object`, a
/// name twice).
[[nodiscard]] Result<std::vector<ScriptEntry>> parse_entry_points(std::string_view text,
                                                                  std::string_view where);

/// A variant provider that a package offers (PEP 850).
struct PluginEntry {
  std::string ns;          ///< the entry point's name
  std::string plugin_api;  ///< "module" or "module:object"
  friend bool operator==(const PluginEntry&, const PluginEntry&) = default;
};

/// Reads [variant_plugins] in the same way; an empty list where there is none. Error: malformed (a
/// line that is none, a name that is not a valid namespace, a reference that is not
/// `module(:object)`, a name twice).
[[nodiscard]] Result<std::vector<PluginEntry>> parse_plugin_entry_points(std::string_view text,
                                                                         std::string_view where);

/// Whether `text` is `module` or `module:object`, both dotted identifiers.
[[nodiscard]] bool is_plugin_api(std::string_view text);

/// A name under which a wheel may put a script: ASCII letters, digits, "._+-", not beginning with
/// "-", neither "." nor "..".
[[nodiscard]] bool is_script_name(std::string_view name);

/// The name of a file that belongs to the environment itself: an interpreter ("python3.11",
/// "PyPy3") or an activation script. Letter case does not count.
[[nodiscard]] bool is_reserved_script(std::string_view name);

}  // namespace axle::wheel
