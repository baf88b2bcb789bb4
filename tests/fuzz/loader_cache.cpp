#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "detect/library_search.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view cache(reinterpret_cast<const char*>(data), size);
  for (const std::string& path : axle::detect::paths_in_loader_cache(cache, "libcuda.so.1")) {
    if (!path.starts_with('/') || !path.ends_with("/libcuda.so.1")) std::abort();
    if (path.find('\0') != std::string::npos || path.size() > 4096) std::abort();
  }
  return 0;
}
