#pragma once
// What people call machines, where this program calls them otherwise.

#include <string>
#include <string_view>

namespace axle::machines {

/// "arm64", "AMD64" and the like, as systems and other programs write it, as here: "aarch64",
/// "x86_64"; every other word as it is.
[[nodiscard]] std::string_view own_architecture_word(std::string_view word);

/// A hint for a name or a fact that is not known: "did you mean macos15-m4?" for "m4", with the
/// reason where the name cannot be ("macos15-m5"). Empty: nothing near is known.
[[nodiscard]] std::string hint_for_name(std::string_view name);

}  // namespace axle::machines
