// The two readings of the loader's cache, against each other.
#include "detect/drivers/loader_cache.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view cache(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> all = axle::detect::paths_in_loader_cache(cache);
  for (const std::string& path : all) {
    if (!path.starts_with('/') || path.size() > 4096) std::abort();
    if (path.find_first_of(std::string_view("\0\n\x1b", 3)) != std::string::npos) std::abort();
  }
  std::erase_if(all, [](const std::string& path) { return !path.ends_with("/libcuda.so.1"); });
  if (all != axle::detect::paths_in_loader_cache(cache, "libcuda.so.1")) std::abort();
  return 0;
}
