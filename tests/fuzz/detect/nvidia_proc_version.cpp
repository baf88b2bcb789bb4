#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "detect/nvidia/facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string version = axle::detect::parse_nvidia_proc_version(text);
  if (version.find_first_not_of("0123456789.") != std::string::npos) std::abort();
  if (version.size() > 32) std::abort();
  if (axle::detect::parse_nvidia_model(text).size() > 128) std::abort();
  static_cast<void>(axle::detect::parse_library_version(text));
  return 0;
}
