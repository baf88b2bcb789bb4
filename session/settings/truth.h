#pragma once
// How pip and uv write yes and no in variables and files.

#include <optional>
#include <string_view>

namespace axle::session {

/// nullopt for what is neither yes nor no.
[[nodiscard]] std::optional<bool> truth_of(std::string_view text);

}  // namespace axle::session
