#include "detect/amd/probe.h"

#include <algorithm>
#include <utility>

#include "detect/amd/facts.h"
#include "detect/amd/gpus.h"
#include "detect/drivers/kept_answers.h"

namespace axle::detect {
namespace {

class Signs final : public VendorSigns {
 public:
  explicit Signs(AmdSigns signs) : signs_(std::move(signs)) {}
  bool worth_asking() const override { return signs_.worth_asking(); }
  VendorFindings judge(Host& host, const DriverAnswer* answer, bool /*asked_for*/,
                       std::chrono::milliseconds time_limit) const override {
    return judge_amd(signs_, answer, time_limit, read_amd_environment(host, signs_));
  }

 private:
  AmdSigns signs_;
};

}  // namespace

std::unique_ptr<VendorSigns> amd_signs(Host& host, const std::vector<DisplayDevice>& bus,
                                       const Os& /*os*/) {
  return std::make_unique<Signs>(look_for_amd(host, bus));
}

void add_amd(Fingerprint& print) {
  print.add_module("amdgpu");
  print.add_file("/sys/class/kfd/kfd/topology/generation_id");
  print.add_node("/dev/kfd");
  for (const char* file :
       {"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5", "librocm_smi64.so.1"}) {
    print.add_library(file);
  }
  print.add_environment({"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
                         "GPU_DEVICE_ORDINAL", "HSA_OVERRIDE_GFX_VERSION"});
}

std::int64_t amd_lifetime(const std::vector<DriverLine>& lines) {
  const auto said = read_smi_lines(lines);
  if (said.init.value_or(0) != 0 || !said.refused.empty()) return 0;
  return said.devices.empty() ? ten_minutes : a_day;
}

}  // namespace axle::detect
