// --gpu-policy: what is read is written back as it was read, and names devices without harm.
#include "providers/gpu_policy.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto policy = axle::providers::parse_gpu_policy(text);
  if (!policy) return 0;
  const auto again = axle::providers::parse_gpu_policy(axle::providers::render_gpu_policy(*policy));
  if (!again || *again != *policy) std::abort();
  axle::detect::Machine machine;
  for (const char* arch : {"9.0", "7.5"}) {
    axle::detect::Gpu& gpu = machine.gpus.emplace_back();
    gpu.arch = arch;
    gpu.name = "NVIDIA H100";
    gpu.pci_address = "0000:65:00.0";
    gpu.usable = axle::detect::Presence::present;
  }
  const auto counted =
      axle::providers::counted_gpus(machine, axle::detect::GpuVendor::nvidia, *policy);
  if (counted.size() > machine.gpus.size()) std::abort();
  machine.gpus.back().masked = true;
  const auto unknown = axle::providers::unknown_devices(machine, *policy);
  const auto idle = axle::providers::idle_devices(machine, *policy);
  if (unknown.size() + idle.size() > policy->devices.size()) std::abort();
  return 0;
}
