#include "tests/torch/torch_rule.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace axle::testing {
namespace {

/// Devices that run code of one compute capability: a set, or all of the same generation from
/// `start` on, without some.
struct Devices {
  int start = 0;
  std::set<int> except;
  std::set<int> only;
};

// pytorch/pytorch torch/cuda/__init__.py, DEVICE_REQUIREMENT: compute capability of the code -> of
// the device. 10.1 was renumbered to 11.0.
const std::map<int, Devices> device_requirement = {
    {50, {50, {53}, {}}},       {52, {52, {53}, {}}}, {53, {0, {}, {53}}},
    {60, {60, {62}, {}}},       {61, {61, {62}, {}}}, {62, {0, {}, {62}}},
    {70, {70, {72}, {}}},       {72, {0, {}, {72}}},  {75, {75, {}, {}}},
    {80, {80, {87}, {}}},       {86, {86, {87}, {}}}, {87, {0, {}, {87}}},
    {89, {89, {}, {}}},         {90, {90, {}, {}}},   {100, {100, {101}, {}}},
    {101, {0, {}, {101, 110}}}, {103, {103, {}, {}}}, {110, {0, {}, {101, 110}}},
    {120, {120, {}, {}}},       {121, {121, {}, {}}},
};

// NVIDIA, CUDA compatibility: the least driver of a CUDA major version on Linux.
const std::map<std::string, std::string> driver_floors = {
    {"11", "450.80.02"}, {"12", "525.60.13"}, {"13", "580"}};

// NVIDIA, CUDA Toolkit release notes: the driver that belongs to a toolkit, which PTX needs.
const std::map<std::string, std::string> toolkit_drivers = {
    {"cu118", "520.61.05"}, {"cu121", "530.30.02"}, {"cu124", "550.54.14"}, {"cu126", "560.28.03"},
    {"cu128", "570.26"},    {"cu129", "575.51.03"}, {"cu130", "580.65.06"}, {"cu132", "595.71.05"}};

// Intel, ocloc device names: what is one name of another kind of the same silicon.
const std::map<std::string, std::set<std::string>> same_device = {
    {"dg2", {"dg2", "ats-m150"}},          {"ats-m150", {"dg2", "ats-m150"}},
    {"bmg", {"bmg", "xe2-hpg"}},           {"lnl-m", {"lnl-m", "xe2-lpg"}},
    {"mtl-h", {"mtl-h", "mtl", "xe-lpg"}}, {"ptl-h", {"ptl-h", "ptl"}},
};

std::vector<unsigned> numbers(std::string_view version) {
  std::vector<unsigned> parts;
  std::istringstream stream{std::string(version)};
  for (std::string part; std::getline(stream, part, '.');)
    parts.push_back(static_cast<unsigned>(std::stoul(part)));
  return parts;
}

/// "8.6" -> 86
int capability(std::string text) {
  std::erase(text, '.');
  return std::stoi(text);
}

bool runs_compiled(int device, int code) {
  const auto known = device_requirement.find(code);
  if (known == device_requirement.end()) return device >= code && device / 10 == code / 10;
  const Devices& devices = known->second;
  if (!devices.only.empty()) return devices.only.contains(device);
  return device >= devices.start && device / 10 == devices.start / 10 &&
         !devices.except.contains(device);
}

/// "cu128" -> "12", the last digit is the minor version.
std::string cuda_major(const std::string& label) { return label.substr(2, label.size() - 3); }

Fitness judge_cuda(const TableBuild& build, int device, const std::string& driver) {
  if (is_older_driver(driver, driver_floors.at(cuda_major(build.label)))) return Fitness::misfit;
  if (!build.code) return Fitness::unknown;
  for (const std::string& code : *build.code) {
    if (runs_compiled(device, capability(code))) return Fitness::fits;
  }
  if (!build.ptx || build.ptx->empty()) return Fitness::misfit;
  if (is_older_driver(driver, toolkit_drivers.at(build.label))) return Fitness::misfit;
  const bool compiles = std::ranges::any_of(
      *build.ptx, [&](const std::string& ptx) { return device >= capability(ptx); });
  return compiles ? Fitness::fits : Fitness::misfit;
}

/// ROCm and XPU: a build has a GPU's own name in its list or it has not.
Fitness judge_by_name(const TableBuild& build, const std::string& arch) {
  if (!build.code) return Fitness::unknown;
  const auto alias = same_device.find(arch);
  const std::set<std::string> names =
      alias == same_device.end() ? std::set<std::string>{arch} : alias->second;
  const bool listed = std::ranges::any_of(
      *build.code, [&](const std::string& name) { return names.contains(name); });
  return listed ? Fitness::fits : Fitness::misfit;
}

std::string vendor_of(const std::string& label) {
  if (label.starts_with("cu")) return "nvidia";
  if (label.starts_with("rocm")) return "amd";
  return label == "xpu" ? "intel" : "";
}

/// Smaller is better: CUDA before ROCm before XPU, and the newest of each first.
std::tuple<int, std::vector<int>> preference(const std::string& label) {
  std::vector<int> newest_first;
  if (label.starts_with("cu")) newest_first.push_back(-std::stoi(label.substr(2)));
  if (label.starts_with("rocm")) {
    for (const unsigned part : numbers(label.substr(4)))
      newest_first.push_back(-static_cast<int>(part));
    newest_first.resize(3);  // 6.2.4 is newer than 6.2
  }
  const int vendor = label.starts_with("cu") ? 0 : label.starts_with("rocm") ? 1 : 2;
  return {vendor, newest_first};
}

}  // namespace

const std::vector<std::string>& drivers_at_each_floor() {
  static const std::vector<std::string> drivers = {
      "440.33.01",  "450.80.02", "470.256.02", "515.105.01", "520.61.05", "525.60.13", "530.30.02",
      "535.54.03",  "545.23.08", "550.54.14",  "555.42.06",  "560.28.03", "565.57.01", "570.26",
      "570.211.01", "575.51.03", "575.64.05",  "580.65.06",  "580.95.05", "590.44.01", "595.71.05"};
  return drivers;
}

bool is_older_driver(std::string_view left, std::string_view right) {
  return numbers(left) < numbers(right);
}

Fitness judge(const TableBuild& build, const RuleMachine& machine) {
  const std::string vendor = vendor_of(build.label);
  if (vendor.empty()) return Fitness::fits;
  Fitness best = Fitness::misfit;
  for (const TableGpu& gpu : machine.gpus) {
    if (gpu.vendor != vendor) continue;
    best = std::max(best, vendor == "nvidia"
                              ? judge_cuda(build, capability(gpu.arch), machine.nvidia_driver)
                              : judge_by_name(build, gpu.arch));
  }
  return best;
}

RuleChoice choose_by_rule(std::string_view platform, const RuleMachine& machine) {
  for (const TableRelease& release : builds_table().releases) {
    const TableBuild* best = nullptr;
    for (const TableBuild& build : release.builds) {
      if (build.platform != platform || build.label == "cpu") continue;
      if (judge(build, machine) != Fitness::fits) continue;
      if (best == nullptr || preference(build.label) < preference(best->label)) best = &build;
    }
    if (best != nullptr) return {release.version, best->label};
  }
  return {builds_table().releases.front().version, "cpu"};
}

}  // namespace axle::testing
