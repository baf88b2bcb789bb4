#include "machines/description.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace axle::machines {

std::string describe_cpu(const detect::Cpu& cpu) {
  if (cpu.arch == detect::Arch::other) return {};
  const unsigned level = detect::highest_x86_64_level(cpu.capabilities);
  std::string text(detect::render_arch(cpu.arch));
  if (level > 0) text += " v" + std::to_string(level);
  if (!cpu.brand.empty()) text += ", " + cpu.brand;
  return text;
}

std::string describe_devices(const detect::Machine& machine) {
  std::vector<std::pair<std::string, unsigned>> kinds;
  for (const detect::Gpu& gpu : machine.gpus) {
    std::string kind = gpu.name.empty() ? std::string(detect::render_vendor(gpu.vendor)) : gpu.name;
    if (!gpu.arch.empty()) kind += " " + gpu.arch;
    if (!gpu.reason_code.empty()) kind += " (" + gpu.reason_code + ")";
    const auto found = std::ranges::find(kinds, kind, [](const auto& each) { return each.first; });
    if (found == kinds.end()) {
      kinds.emplace_back(kind, 1);
    } else {
      ++found->second;
    }
  }
  for (const detect::Npu& npu : machine.npus) kinds.emplace_back("NPU " + npu.name, 1);
  std::string text;
  for (const auto& [kind, count] : kinds) {
    text += (text.empty() ? "" : ", ") + (count > 1 ? std::to_string(count) + " × " : "") + kind;
  }
  return text;
}

}  // namespace axle::machines
