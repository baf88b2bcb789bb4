#pragma once
// How pip and uv write true and false in variables and files.

#include <optional>
#include <string_view>

namespace axle::session {

/// nullopt for anything else.
[[nodiscard]] std::optional<bool> truth_of(std::string_view text);

}  // namespace axle::session
