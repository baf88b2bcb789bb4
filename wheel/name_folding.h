#pragma once
// Names as a file system without case sees them.

#include <string>
#include <string_view>

namespace axle::wheel {

/// `name` in lower case, as far as it folds to ASCII: letters of ASCII and those few beyond it that
/// case folding or canonical decomposition turns into ASCII (the sign for Kelvin, the long s,
/// ligatures), without the characters that such file systems ignore. What a name means is asked of
/// this; what it is called stays as it was written.
[[nodiscard]] std::string fold_name(std::string_view name);

/// Whether Python's tools take an entry `name` of a site-packages folder for a package's metadata,
/// whatever its case: "x.dist-info", "x.egg-info", "x.egg-link", "x.egg".
[[nodiscard]] bool is_metadata_name(std::string_view name);

/// Whether `text` has a line end that Python's str.splitlines() obeys and nobody else: a reader
/// that knows "\n" and "\r\n" would see other lines than it.
[[nodiscard]] bool has_hidden_line_end(std::string_view text);

}  // namespace axle::wheel
