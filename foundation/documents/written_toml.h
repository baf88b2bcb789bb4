#pragma once
// TOML as TomlWriter writes it, read in a fraction of the time that tomlplusplus takes: of a lock
// of 130 packages that is half of a command that finds nothing to do.

#include <optional>
#include <string_view>

#include <toml++/toml.h>

namespace axle::documents {

/// The same table as parse_toml makes, but its nodes do not know their lines: whoever has to name
/// one reads the text with parse_toml. nullopt: there is something in `text` that TomlWriter does
/// not write, or writes seldom (a character beyond ASCII, a quoted key), or that is not TOML.
[[nodiscard]] std::optional<toml::table> parse_written_toml(std::string_view text);

}  // namespace axle::documents
