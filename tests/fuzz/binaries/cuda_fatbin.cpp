// The fatbins of an installed library, and the verdict on what they say.
#include "binaries/cuda_fatbin.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "binaries/gpu_code_match.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto source = wheel::memory_source(bytes);
  const auto found = binaries::read_cuda_fatbins(*source, 0, size);
  if (!found) return 0;
  detect::Machine machine;
  machine.gpus.emplace_back();
  machine.gpus[0].arch = "9.0";
  for (const binaries::CudaGroup& group : found->groups) {
    (void)binaries::judge_cuda_group(group, machine.gpus[0], machine);
    for (const binaries::CudaCode& code : group.codes) (void)binaries::render_cuda_code(code);
  }
  return 0;
}
