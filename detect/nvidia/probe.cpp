#include "detect/nvidia/probe.h"

#include <algorithm>
#include <utility>

#include "detect/drivers/kept_answers.h"
#include "detect/nvidia/facts.h"
#include "detect/nvidia/gpus.h"

namespace axle::detect {
namespace {

class Signs final : public VendorSigns {
 public:
  explicit Signs(NvidiaSigns signs) : signs_(std::move(signs)) {}
  bool worth_asking() const override { return signs_.worth_asking(); }
  VendorFindings judge(Host& host, const DriverAnswer* answer, bool asked_for,
                       std::chrono::milliseconds time_limit) const override {
    return judge_nvidia(signs_, answer, asked_for, time_limit,
                        host.environment("CUDA_VISIBLE_DEVICES"));
  }

 private:
  NvidiaSigns signs_;
};

}  // namespace

std::unique_ptr<VendorSigns> nvidia_signs(Host& host, const std::vector<DisplayDevice>& bus,
                                          const Os& os) {
  return std::make_unique<Signs>(look_for_nvidia(host, bus, os));
}

void add_nvidia(Fingerprint& print) {
  for (const char* module : {"nvidia", "nvidia_uvm"}) print.add_module(module);
  print.add_file("/proc/driver/nvidia/version");
  print.add_folder("/proc/driver/nvidia/gpus");
  for (const std::string& gpu : print.host().list_folder("/proc/driver/nvidia/capabilities")) {
    print.add_folder("/proc/driver/nvidia/capabilities/" + gpu + "/mig");
  }
  for (const std::string& name : print.host().list_folder("/dev")) {
    if (name.starts_with("nvidia") || name.starts_with("nvhost") || name.starts_with("nvgpu")) {
      print.add_node("/dev/" + name);
    }
  }
  print.add_folder("/dev/nvidia-caps");
  print.add_node("/dev/dxg");
  for (const char* file : {"libcuda.so.1", "libnvidia-ml.so.1"}) print.add_library(file);
  print.add_environment({"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"});
}

std::int64_t nvidia_lifetime(const std::vector<DriverLine>& lines) {
  const auto said = read_nvidia_lines(lines);
  const auto failed = [](const std::optional<std::int64_t>& code) { return code.value_or(0) != 0; };
  if (failed(said.nvml_init) || failed(said.cuda_init) || failed(said.compat_init) ||
      said.cuda_version_error || said.nvml_device_error || said.fabric_pending ||
      !said.refused.empty()) {
    return 0;
  }
  if (!said.cuda_missing.empty() || !said.missing_symbols.empty()) return ten_minutes;
  const auto& devices = said.nvml_devices.empty() ? said.cuda_devices : said.nvml_devices;
  const bool complete =
      !devices.empty() && std::ranges::none_of(devices, [&](const NvidiaDevice& device) {
        return (device.capability.empty() && said.cuda_devices.empty()) ||
               device.mig_instances == 0;
      });
  return complete ? a_day : ten_minutes;
}

}  // namespace axle::detect
