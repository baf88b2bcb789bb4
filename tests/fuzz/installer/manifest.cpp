// Manifests of the store. What is accepted must be written and read back equal.
#include "installer/store/manifest.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto manifest = axle::installer::parse_manifest(text, "fuzz");
  if (!manifest) return 0;
  const auto again =
      axle::installer::parse_manifest(axle::installer::render_manifest(*manifest), "again");
  if (!again || *again != *manifest) std::abort();
  return 0;
}
