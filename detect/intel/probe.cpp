#include "detect/intel/probe.h"

#include <algorithm>
#include <utility>

#include "detect/drivers/kept_answers.h"
#include "detect/intel/facts.h"
#include "detect/intel/gpus.h"

namespace axle::detect {
namespace {

class Signs final : public VendorSigns {
 public:
  explicit Signs(IntelSigns signs) : signs_(std::move(signs)) {}
  bool worth_asking() const override { return signs_.worth_asking(); }
  VendorFindings judge(Host& host, const DriverAnswer* answer, bool asked_for,
                       std::chrono::milliseconds time_limit) const override {
    return judge_intel(signs_, answer, asked_for, time_limit, host.environment("ZE_AFFINITY_MASK"));
  }

 private:
  IntelSigns signs_;
};

}  // namespace

std::unique_ptr<VendorSigns> intel_signs(Host& host, const std::vector<DisplayDevice>& bus,
                                         const Os& /*os*/) {
  return std::make_unique<Signs>(look_for_intel(host, bus));
}

void add_intel(Fingerprint& print) {
  for (const char* module : {"xe", "i915"}) print.add_module(module);
  for (const char* file :
       {"libze_loader.so.1", "libze_intel_gpu.so.1", "libze_intel_gpu_legacy1.so.1"}) {
    print.add_library(file);
  }
  const std::string drivers = print.host().environment("ZE_ENABLE_ALT_DRIVERS").value_or("");
  std::string_view rest = drivers;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    print.add_stamp(std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  print.add_environment({"ZE_ENABLE_ALT_DRIVERS", "ZE_AFFINITY_MASK", "ZE_FLAT_DEVICE_HIERARCHY",
                         "ZE_ENABLE_PCI_ID_DEVICE_ORDER", "ZE_ENABLE_NULL_DRIVER"});
}

std::int64_t intel_lifetime(const std::vector<DriverLine>& lines) {
  const auto said = read_level_zero_lines(lines);
  if (said.init.value_or(0) != 0 || said.device_error || !said.refused.empty()) return 0;
  const bool complete = !said.devices.empty() &&
                        std::ranges::none_of(said.devices, [](const LevelZeroDevice& device) {
                          return device.ip == 0;
                        });
  return complete ? a_day : ten_minutes;
}

}  // namespace axle::detect
