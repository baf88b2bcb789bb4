// Indexes of sharded safetensors models. No file outside the folder may be named.
#include "runtime/files/shard_index.h"

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using axle::fuzz::require;
  const auto files = axle::runtime::parse_shard_index(
      std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!files) return 0;
  for (const auto& [tensor, file] : *files) {
    require(!file.empty() && file != "." && file != "..");
    require(file.find('/') == std::string::npos && file.find('\0') == std::string::npos);
  }
  return 0;
}
