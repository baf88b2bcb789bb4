// The bundles of an installed library, and the verdict on their targets.
#include "binaries/offload_bundle.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "binaries/gpu_code_match.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto source = wheel::memory_source(bytes);
  const auto found = binaries::read_offload_bundles(*source, 0, size);
  if (!found) return 0;
  detect::Gpu gpu;
  gpu.arch = "gfx942:sramecc+:xnack-";
  for (const binaries::BundleEntry& entry : found->entries)
    (void)binaries::judge_amd_target(entry.target, gpu);
  return 0;
}
