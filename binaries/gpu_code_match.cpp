#include "binaries/gpu_code_match.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "detect/gpu_vendors.h"
#include "providers/cuda_code.h"
#include "providers/gfx_code.h"
#include "providers/gpu_state.h"
#include "providers/provider.h"

namespace axle::binaries {
namespace {

using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;

struct PtxRow {
  unsigned major;
  unsigned minor;
  std::string_view cuda;
};

/// PTX ISA, "Release notes": the first CUDA release with each version.
constexpr std::array ptx_versions = {
    PtxRow{6, 0, "9.0"},  PtxRow{6, 1, "9.1"},  PtxRow{6, 2, "9.2"},  PtxRow{6, 3, "10.0"},
    PtxRow{6, 4, "10.1"}, PtxRow{6, 5, "10.2"}, PtxRow{7, 0, "11.0"}, PtxRow{7, 1, "11.1"},
    PtxRow{7, 2, "11.2"}, PtxRow{7, 3, "11.3"}, PtxRow{7, 4, "11.4"}, PtxRow{7, 5, "11.5"},
    PtxRow{7, 6, "11.6"}, PtxRow{7, 7, "11.7"}, PtxRow{7, 8, "11.8"}, PtxRow{8, 0, "12.0"},
    PtxRow{8, 1, "12.1"}, PtxRow{8, 2, "12.2"}, PtxRow{8, 3, "12.3"}, PtxRow{8, 4, "12.4"},
    PtxRow{8, 5, "12.5"}, PtxRow{8, 6, "12.7"}, PtxRow{8, 7, "12.8"}, PtxRow{8, 8, "12.9"},
    PtxRow{9, 0, "13.0"}, PtxRow{9, 1, "13.1"}, PtxRow{9, 2, "13.2"},
};

constexpr std::pair first_cuda_with_zstd{12U, 4U};

/// A machine with only that GPU, which counts.
Machine machine_of(const Gpu& gpu, const std::vector<detect::Driver>& drivers) {
  Machine alone;
  alone.gpus = {gpu};
  alone.gpus.front().usable = detect::Presence::present;
  alone.gpus.front().masked = false;
  alone.drivers = drivers;
  return alone;
}

/// The result of `axle :: cuda_code` and similar for only that GPU.
bool supports(const Machine& alone, std::string_view feature, std::string_view value) {
  for (const providers::Feature& one : providers::supported_gpu_code(alone, {})) {
    if (one.name != feature) continue;
    if (std::ranges::find(one.values, value) != one.values.end()) return true;
  }
  return false;
}

CodeFit judge_ptx(const CudaCode& code, const Machine& alone) {
  const std::string cuda = cuda_of_ptx(code.major, code.minor);
  const detect::Driver* driver = detect::find_driver(alone, detect::GpuVendor::nvidia);
  if (cuda.empty() || driver == nullptr || driver->api_version.empty()) return CodeFit::unknown;
  const auto needed = providers::parse_major_minor(cuda);
  const auto runs = providers::parse_major_minor(driver->api_version);
  if (!needed || !runs) return CodeFit::unknown;
  return *runs >= *needed ? CodeFit::runs : CodeFit::needs_newer_driver;
}

CodeFit judge_cuda_code(const CudaCode& code, const Gpu& gpu, const Machine& alone) {
  const auto device = providers::parse_major_minor(gpu.arch);
  if (!device) return CodeFit::unknown;
  const unsigned major = code.architecture / 10;
  const unsigned minor = code.architecture % 10;
  const bool same = device->first == major && device->second == minor;
  if (code.target == 'a' && !same) return CodeFit::absent;
  if (code.target == 'f' && (device->first != major || device->second < minor))
    return CodeFit::absent;
  if (code.kind == CudaCodeKind::cubin) {
    return supports(alone, "cuda_code", fmt::format("{}_real", code.architecture))
               ? CodeFit::runs
               : CodeFit::absent;
  }
  if (code.kind != CudaCodeKind::ptx) return CodeFit::absent;
  if (!supports(alone, "cuda_code", fmt::format("{}_virtual", code.architecture)))
    return CodeFit::absent;
  return judge_ptx(code, alone);
}

struct TargetId {
  std::string_view processor;
  std::string_view features;  ///< ":sramecc+:xnack-"

  /// '+', '-' or 0.
  [[nodiscard]] char setting(std::string_view feature) const {
    const std::size_t at = features.find(feature);
    if (at == std::string_view::npos || at + feature.size() >= features.size()) return 0;
    return features[at + feature.size()];
  }
};

TargetId parse_target(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  return {text.substr(0, colon), text.substr(colon)};
}

}  // namespace

std::string cuda_of_ptx(unsigned major, unsigned minor) {
  for (const PtxRow& row : ptx_versions) {
    if (row.major == major && row.minor == minor) return std::string(row.cuda);
  }
  return {};
}

CodeFit judge_cuda_group(const CudaGroup& group, const Gpu& gpu, const Machine& machine) {
  if (gpu.arch.empty()) return CodeFit::unknown;
  const Machine alone = machine_of(gpu, machine.drivers);
  CodeFit best = CodeFit::absent;
  for (const CudaCode& code : group.codes) best = std::min(best, judge_cuda_code(code, gpu, alone));
  return best;
}

bool needs_unpacking_driver(const CudaGroup& group, const Gpu& gpu, const Machine& machine) {
  const detect::Driver* driver = detect::find_driver(machine, detect::GpuVendor::nvidia);
  const auto runs =
      driver == nullptr ? std::nullopt : providers::parse_major_minor(driver->api_version);
  if (!runs || *runs >= first_cuda_with_zstd || gpu.arch.empty()) return false;
  const Machine alone = machine_of(gpu, machine.drivers);
  bool some = false;
  for (const CudaCode& code : group.codes) {
    if (judge_cuda_code(code, gpu, alone) != CodeFit::runs) continue;
    if (code.packing != CudaPacking::zstd) return false;
    some = true;
  }
  return some;
}

CodeFit judge_amd_target(std::string_view target, const Gpu& gpu) {
  if (gpu.arch.empty()) return CodeFit::unknown;
  const TargetId code = parse_target(target);
  const TargetId device = parse_target(gpu.arch);
  std::string generic(code.processor);
  std::ranges::replace(generic, '-', '_');
  const bool fits = code.processor == device.processor ||
                    (!generic.empty() && generic == providers::generic_gfx(device.processor));
  // SPIR-V for AMD is compiled when it is loaded, since ROCm 7.
  if (code.processor == "amdgcnspirv") return CodeFit::unknown;
  if (!fits) return CodeFit::absent;
  for (const std::string_view feature : {"xnack", "sramecc"}) {
    const char wanted = code.setting(feature);
    const char is = device.setting(feature);
    if (wanted == 0 || wanted == is) continue;
    if (is != 0) return CodeFit::absent;
    // XNACK is off unless HSA_XNACK enables it; ECC is on if the memory supports it.
    const char usual = feature == "xnack" ? '-' : '+';
    if (wanted != usual) return CodeFit::unknown;
  }
  return CodeFit::runs;
}

CodeFit judge_sycl_images(const SyclImages& images, const Gpu& gpu) {
  if (images.jit) return CodeFit::runs;
  if (gpu.arch.empty()) return CodeFit::unknown;
  const Machine alone = machine_of(gpu, {});
  const providers::Provider* intel = providers::find_provider("intel");
  if (intel != nullptr) {
    for (const providers::Feature& feature : intel->supported(alone, {})) {
      for (const std::string& ip : feature.values) {
        if (std::ranges::find(images.device_ips, ip) != images.device_ips.end())
          return CodeFit::runs;
      }
    }
  }
  const bool all_known = images.products.empty() && images.stopped.empty();
  return all_known ? CodeFit::absent : CodeFit::unknown;
}

namespace {

CodeFit judge_cuda(const BinaryFacts& facts, const Gpu& gpu, const Machine& machine) {
  CodeFit best = CodeFit::absent;
  for (const CudaGroup& group : facts.cuda.groups)
    best = std::min(best, judge_cuda_group(group, gpu, machine));
  return best;
}

CodeFit judge_hip(const BinaryFacts& facts, const Gpu& gpu, const Machine& /*machine*/) {
  CodeFit best = CodeFit::absent;
  for (const BundleEntry& entry : facts.hip.entries) {
    if (entry.kind.starts_with("hip")) best = std::min(best, judge_amd_target(entry.target, gpu));
  }
  return best;
}

CodeFit judge_sycl(const BinaryFacts& facts, const Gpu& gpu, const Machine& /*machine*/) {
  return judge_sycl_images(facts.sycl, gpu);
}

std::vector<std::string> cuda_names(const BinaryFacts& facts) {
  std::set<CudaCode> codes;
  for (const CudaGroup& group : facts.cuda.groups)
    codes.insert(group.codes.begin(), group.codes.end());
  std::vector<std::string> names;
  for (const CudaCode& code : codes) names.push_back(render_cuda_code(code));
  return names;
}

std::vector<std::string> hip_names(const BinaryFacts& facts) {
  std::vector<std::string> names;
  for (const BundleEntry& entry : facts.hip.entries) names.push_back(entry.target);
  return names;
}

std::vector<std::string> sycl_names(const BinaryFacts& facts) {
  std::vector<std::string> names;
  if (facts.sycl.jit) names.emplace_back("SPIR-V");
  names.insert(names.end(), facts.sycl.device_ips.begin(), facts.sycl.device_ips.end());
  names.insert(names.end(), facts.sycl.products.begin(), facts.sycl.products.end());
  return names;
}

/// The code for one vendor's GPUs.
struct GpuCode {
  GpuVendor vendor;
  bool (*is_in)(const BinaryFacts& facts);
  CodeFit (*judge)(const BinaryFacts& facts, const Gpu& gpu, const Machine& machine);
  std::vector<std::string> (*names)(const BinaryFacts& facts);  ///< may contain duplicates
  std::string_view section;
  std::string_view arch_prefix;  ///< of a GPU's architecture, in the names of code
};

constexpr GpuCode rows[] = {
    {GpuVendor::nvidia, [](const BinaryFacts& facts) { return facts.cuda.fatbins > 0; }, judge_cuda,
     cuda_names, ".nv_fatbin", "sm_"},
    {GpuVendor::amd, [](const BinaryFacts& facts) { return facts.hip.bundles > 0; }, judge_hip,
     hip_names, ".hip_fatbin", ""},
    {GpuVendor::intel, [](const BinaryFacts& facts) { return facts.sycl.jit || facts.sycl.ahead; },
     judge_sycl, sycl_names, "__CLANG_OFFLOAD_BUNDLE__sycl-…", ""},
};
static_assert(std::size(rows) == detect::gpu_vendors().size(), "a row a vendor");

const GpuCode& code_of(GpuVendor vendor) {
  return *std::ranges::find(rows, vendor, &GpuCode::vendor);
}

}  // namespace

CodeFit judge_binary(const BinaryFacts& facts, const Gpu& gpu, const Machine& machine) {
  const CodeFit best = code_of(gpu.vendor).judge(facts, gpu, machine);
  const bool whole = facts.unread.empty();
  return best == CodeFit::absent && !whole ? CodeFit::unknown : best;
}

bool has_code_for(const BinaryFacts& facts, GpuVendor vendor) {
  return code_of(vendor).is_in(facts);
}

std::vector<std::string> code_names(const BinaryFacts& facts, GpuVendor vendor) {
  std::vector<std::string> names;
  for (std::string& name : code_of(vendor).names(facts)) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

std::string wanted_code_name(const Gpu& gpu) {
  const std::string_view prefix = code_of(gpu.vendor).arch_prefix;
  std::string name = gpu.arch;
  if (!name.empty() && !prefix.empty()) {
    std::erase(name, '.');
    name.insert(0, prefix);
  }
  return name;
}

std::string gpu_code_section(GpuVendor vendor) { return std::string(code_of(vendor).section); }

}  // namespace axle::binaries
