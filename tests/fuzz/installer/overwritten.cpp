// axle-overwritten.json: what is read is rendered to text that reads back the same.
#include "installer/environment/overwritten.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto files = axle::installer::parse_overwritten(text, "fuzz");
  if (!files) return 0;
  const auto back =
      axle::installer::parse_overwritten(axle::installer::render_overwritten(*files), "fuzz");
  if (!back || *back != *files) std::abort();
  return 0;
}
