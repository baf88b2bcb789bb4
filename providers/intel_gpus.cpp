#include "providers/intel_gpus.h"

#include <algorithm>

#include "providers/gpu_state.h"

namespace axle::providers {

namespace {

constexpr KnownIntelGpu devices[] = {
    {"35.11.0", "", "cri", ""},
    {"35.10.4", "", "nvl_p", ""},
    {"30.5.4", "30.0.4", "nvl_u nvl_h", "ptl"},
    {"30.4.4", "30.0.4", "nvl_s nvl_hx nvl_ul", "ptl"},
    {"30.3.1", "30.0.4", "wcl", "ptl"},
    {"30.1.0", "30.0.4", "ptl_u", "ptl"},
    {"30.0.4", "", "ptl_h", "ptl"},
    {"20.4.4", "20.1.0", "lnl_m", "bmg"},
    {"20.2.0", "20.1.0", "bmg_g31", "bmg"},
    {"20.1.0", "", "bmg_g21", "bmg"},
    {"12.74.4", "", "arl_h", ""},
    {"12.71.4", "12.70.4", "mtl_h", "mtl"},
    {"12.70.4", "", "mtl_u arl_u arl_s", "mtl"},
    {"12.60.7", "", "pvc", ""},
    {"12.57.0", "12.55.8", "acm_g12 dg2_g12", "dg2"},
    {"12.56.5", "12.55.8", "acm_g11 dg2_g11 ats_m75", "dg2"},
    {"12.55.8", "", "acm_g10 dg2_g10 ats_m150", "dg2"},
    {"12.10.0", "", "dg1", ""},
    {"12.4.0", "", "adl_n", ""},
    {"12.3.0", "", "adl_p rpl_p", ""},
    {"12.2.0", "", "adl_s rpl_s", ""},
    {"12.1.0", "", "rkl", ""},
    {"12.0.0", "", "tgllp tgl", ""},
};

}  // namespace

std::span<const KnownIntelGpu> known_intel_gpus() { return devices; }

const KnownIntelGpu* find_known_intel_gpu(std::string_view ip) {
  const auto* found = std::ranges::find(devices, ip, &KnownIntelGpu::ip);
  return found == std::end(devices) ? nullptr : found;
}

namespace {

void add_words(std::vector<std::string>& list, std::string_view words) {
  while (!words.empty()) {
    const std::size_t space = words.find(' ');
    std::string word(words.substr(0, space));
    if (std::ranges::find(list, word) == list.end()) list.push_back(std::move(word));
    words = space == std::string_view::npos ? std::string_view() : words.substr(space + 1);
  }
}

}  // namespace

std::vector<std::vector<std::string>> intel_names(const detect::Machine& machine,
                                                  const GpuPolicy& policy) {
  std::vector<std::vector<std::string>> lists;
  for (const detect::Gpu* gpu : counted_gpus(machine, detect::GpuVendor::intel, policy)) {
    std::vector<std::string>& list = lists.emplace_back();
    const KnownIntelGpu* device = find_known_intel_gpu(gpu->arch);
    if (device == nullptr) continue;
    add_words(list, device->names);
    add_words(list, device->base_name);
  }
  return lists;
}

std::vector<std::string> known_intel_names() {
  std::vector<std::string> names;
  for (const KnownIntelGpu& device : known_intel_gpus()) {
    add_words(names, device.names);
    add_words(names, device.base_name);
  }
  return names;
}

Facts intel_platform_facts(const detect::Machine& machine, const GpuPolicy& policy,
                           std::string_view value) {
  std::vector<std::string> archs;
  for (const auto& list : intel_names(machine, policy)) {
    std::string text;
    for (const std::string& name : list) text += (text.empty() ? "" : "/") + name;
    archs.push_back(std::move(text));
  }
  if (archs.empty()) return {why_no_gpu(machine, detect::GpuVendor::intel, policy)};
  return what_gpus_are(FactCode::gpu_target, machine, detect::GpuVendor::intel, policy, archs,
                       std::string(value));
}

}  // namespace axle::providers
