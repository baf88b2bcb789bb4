#include <cstddef>
#include <cstdint>
#include <string_view>

#include "providers/plugins/session_use.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)axle::plugins::parse_process_stat(text);
  return 0;
}
