#include "machines/gpu_models.h"

#include <algorithm>
#include <cstdint>

namespace axle::machines {

namespace {

using enum detect::GpuVendor;

// Sources: NVIDIA, CUDA GPUs (compute capabilities); AMD, ROCm GPU hardware specifications; Intel,
// ocloc device names. Memory from the vendors' data sheets.
constexpr GpuModel models[] = {
    {"gtx1080ti", nvidia, "NVIDIA GeForce GTX 1080 Ti", "6.1", 11},
    {"p100", nvidia, "NVIDIA Tesla P100", "6.0", 16},
    {"v100", nvidia, "NVIDIA Tesla V100", "7.0", 0},
    {"t4", nvidia, "NVIDIA T4", "7.5", 16},
    {"rtx2080ti", nvidia, "NVIDIA GeForce RTX 2080 Ti", "7.5", 11},
    {"a100", nvidia, "NVIDIA A100", "8.0", 0},
    {"a10", nvidia, "NVIDIA A10", "8.6", 24},
    {"rtx3090", nvidia, "NVIDIA GeForce RTX 3090", "8.6", 24},
    {"l4", nvidia, "NVIDIA L4", "8.9", 24},
    {"l40s", nvidia, "NVIDIA L40S", "8.9", 48},
    {"rtx4090", nvidia, "NVIDIA GeForce RTX 4090", "8.9", 24},
    {"h100", nvidia, "NVIDIA H100", "9.0", 80},
    {"h200", nvidia, "NVIDIA H200", "9.0", 141},
    {"b200", nvidia, "NVIDIA B200", "10.0", 0},
    {"b300", nvidia, "NVIDIA B300", "10.3", 0},
    {"rtx5090", nvidia, "NVIDIA GeForce RTX 5090", "12.0", 32},
    {"mi100", amd, "AMD Instinct MI100", "gfx908", 32},
    {"mi210", amd, "AMD Instinct MI210", "gfx90a", 64},
    {"mi250x", amd, "AMD Instinct MI250X", "gfx90a", 128},
    {"mi300x", amd, "AMD Instinct MI300X", "gfx942", 192},
    {"mi355x", amd, "AMD Instinct MI355X", "gfx950", 288},
    {"rx7900xtx", amd, "AMD Radeon RX 7900 XTX", "gfx1100", 24},
    {"rx9070xt", amd, "AMD Radeon RX 9070 XT", "gfx1201", 16},
    {"dg2", intel, "Intel Arc A-series", "12.55.8", 0},
    {"a770", intel, "Intel Arc A770", "12.55.8", 16},
    {"pvc", intel, "Intel Data Center GPU Max", "12.60.7", 0},
    {"mtl", intel, "Intel Arc graphics of Core Ultra 100", "12.70.4", 0, true},
    {"bmg", intel, "Intel Arc B-series", "20.1.0", 0},
    {"b580", intel, "Intel Arc B580", "20.1.0", 12},
    {"lnl", intel, "Intel Arc graphics of Core Ultra 200V", "20.4.4", 0, true},
    {"ptl", intel, "Intel Arc graphics of Core Ultra 300", "30.0.4", 0, true},
};

}  // namespace

std::span<const GpuModel> gpu_models() { return models; }

const GpuModel* find_gpu_model(std::string_view name) {
  const auto* found = std::ranges::find(models, name, &GpuModel::name);
  return found == std::end(models) ? nullptr : found;
}

detect::Gpu make_gpu(const GpuModel& model) {
  detect::Gpu gpu;
  gpu.vendor = model.vendor;
  gpu.name = model.title;
  gpu.arch = model.arch;
  if (model.memory_gib != 0) gpu.memory_bytes = std::uint64_t{model.memory_gib} << 30;
  gpu.integrated = model.integrated;
  gpu.usable = detect::Presence::present;
  return gpu;
}

}  // namespace axle::machines
