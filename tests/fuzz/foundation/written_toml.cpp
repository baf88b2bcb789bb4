// TOML as TomlWriter writes it: the fast reader makes the table that tomlplusplus makes, or none.
#include "foundation/documents/written_toml.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "foundation/documents/toml_reader.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto fast = axle::documents::parse_written_toml(text);
  if (!fast) return 0;
  const auto slow = axle::documents::parse_toml(text, "x.toml");
  axle::fuzz::require(slow && *slow == *fast);
  return 0;
}
