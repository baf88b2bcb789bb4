#pragma once
// SPDX license expressions (SPDX 2.3, annex D), as License-Expression of core metadata has them.

#include <optional>
#include <string>
#include <string_view>

namespace axle::wheel {

/// With single spaces and operators in upper case: "MIT OR (Apache-2.0 AND BSD-2-Clause)". Whether
/// the identifiers are on SPDX's list is not known here. nullopt: it is not an expression.
[[nodiscard]] std::optional<std::string> normalize_license_expression(std::string_view text);

}  // namespace axle::wheel
