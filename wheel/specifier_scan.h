#pragma once
// Reads the specifier at the start of a longer text: requirements are built on it.

#include <cstddef>
#include <optional>
#include <string_view>

#include "foundation/report/error.h"
#include "wheel/specifier.h"

namespace axle::wheel {

/// The operator at the start of `text`, or nothing.
[[nodiscard]] std::optional<Comparison> scan_comparison(std::string_view text);
/// How an operator is written.
[[nodiscard]] std::string_view comparison_text(Comparison comparison);

struct ScannedSpecifier {
  Specifier specifier;
  std::size_t length = 0;  ///< bytes of the text that it takes
};

/// The specifier at the start of `text`. That of "===" goes on to white space, ";" or ")", commas
/// included: whoever allows several clauses splits it. Error: malformed.
[[nodiscard]] Result<ScannedSpecifier> scan_specifier(std::string_view text);

}  // namespace axle::wheel
