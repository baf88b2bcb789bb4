// Property: a table of device extras is taken whole or refused with a place; of what is taken, an
// extra for a device is one of those that are provided.

#include "index/family/device_extras.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto table = index::parse_device_extras(text, "extras.toml");
  if (!table) {
    if (table.error().message.empty()) __builtin_trap();
    return 0;
  }
  const std::vector<std::string> provided = {"device-gfx11", "device-gfx1151", "device-all", "x"};
  for (const auto& [device, bundles] : table->devices) {
    const std::string extra = table->extra_for(device, provided);
    if (!extra.empty() && std::ranges::find(provided, extra) == provided.end()) __builtin_trap();
  }
  return 0;
}
