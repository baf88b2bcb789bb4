// A whole machine whose drivers say anything: lines that a hostile library wrote, over every kind
// of hardware. Nothing that comes out may carry what a terminal obeys.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "detect/probe.h"
#include "tests/support/recorded_host.h"

namespace {

using namespace axle::detect;

void check(const std::string& text) {
  for (const char c : text) {
    if (c < ' ' || c > '~') std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string said(reinterpret_cast<const char*>(data), size);
  axle::testing::RecordedHost host;
  host.plug("0000:65:00.0", 0x10DE, 0x2330, "nvidia");
  host.plug("0000:c1:00.0", 0x1002, 0x74A1, "amdgpu");
  host.plug("0000:03:00.0", 0x8086, 0xE20B, "xe");
  host.files["/dev/nvidiactl"] = "";
  host.files["/dev/nvidia0"] = "";
  host.files["/usr/lib64/librocm_smi64.so.7"] = "";
  host.files["/usr/lib64/libze_intel_gpu.so.1"] = "";
  // The kernel's texts may be as strange.
  host.files["/sys/module/nvidia/version"] = said;
  host.files["/proc/driver/nvidia/gpus/0000:65:00.0/information"] = said;
  host.files["/sys/class/kfd/kfd/topology/nodes/1/properties"] = said;
  host.files["/sys/class/kfd/kfd/topology/nodes/1/gpu_id"] = "1";
  host.files["/sys/bus/pci/devices/0000:c1:00.0/product_name"] = said;
  host.files["/opt/rocm/.info/version"] = said;
  host.files["/dev/davinci0"] = "";
  for (const char* node : {"/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"})
    host.files[node] = "";
  host.files["/usr/bin/npu-smi"] = "";
  host.programs["/usr/bin/npu-smi info"] = said;
  host.files["/usr/local/Ascend/driver/version.info"] = said;
  for (const GpuVendor vendor : {GpuVendor::nvidia, GpuVendor::amd, GpuVendor::intel}) {
    host.say(vendor, said);
  }
  const Machine machine = probe_machine(host);
  for (const Gpu& gpu : machine.gpus) {
    for (const std::string& text : {gpu.name, gpu.pci_address, gpu.pci_id, gpu.kernel_driver,
                                    gpu.arch, gpu.target_id, gpu.reason}) {
      check(text);
    }
  }
  for (const Driver& driver : machine.drivers) {
    for (const std::string& text :
         {driver.kernel_version, driver.library_version, driver.api_version, driver.compat_version,
          driver.compat_library, driver.reason}) {
      check(text);
    }
  }
  for (const Npu& npu : machine.npus) {
    for (const std::string& text : {npu.name, npu.type, npu.driver_version, npu.reason})
      check(text);
  }
  for (const Problem& problem : machine.problems) check(problem.message + problem.hint);
  return 0;
}
