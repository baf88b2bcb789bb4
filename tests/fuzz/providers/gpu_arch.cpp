// Architectures as drivers, profiles and users write them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "providers/gpu_state.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto vendor :
       {detect::GpuVendor::nvidia, detect::GpuVendor::amd, detect::GpuVendor::intel}) {
    detect::Gpu gpu;
    gpu.vendor = vendor;
    gpu.arch = std::string(text);
    const auto arch = providers::parse_gpu_arch(gpu);
    if (arch && vendor == detect::GpuVendor::nvidia && (*arch)[1] > 9) std::abort();
    if (arch && vendor == detect::GpuVendor::amd && providers::gfx_name(text).empty()) std::abort();
  }
  const std::string gfx = providers::gfx_name(text);
  if (!gfx.empty() && (!text.starts_with(gfx) || gfx.size() > 10)) std::abort();
  const auto version = providers::parse_major_minor(text);
  if (version && (version->first > 9999 || version->second > 9999)) std::abort();
  return 0;
}
