// License expressions: what is normalised stays as it is.
#include "wheel/license_expression.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"

using axle::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto once = axle::wheel::normalize_license_expression(text);
  if (once) require(axle::wheel::normalize_license_expression(*once) == once);
  return 0;
}
