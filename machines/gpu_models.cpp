#include "machines/gpu_models.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/text/ascii.h"
#include "machines/fact_words.h"

namespace axle::machines {

namespace {

using enum detect::GpuVendor;
using detect::Arch;
using detect::Arch::aarch64;
using detect::Arch::x86_64;

// Sources: NVIDIA, CUDA GPUs and legacy CUDA GPUs (compute capabilities); AMD, GPU hardware
// specifications (LLVM targets); Intel, ocloc device names and intel-variant-provider 0.0.3 (device
// IPs). Memory from the vendors' data sheets.
constexpr GpuModel models[] = {
    {"gtx750ti", nvidia, "NVIDIA GeForce GTX 750 Ti", "5.0", 2},
    {"gtx980", nvidia, "NVIDIA GeForce GTX 980", "5.2", 4},
    {"m40", nvidia, "NVIDIA Tesla M40", "5.2", 0},
    {"gtx1060", nvidia, "NVIDIA GeForce GTX 1060", "6.1", 0},
    {"gtx1080", nvidia, "NVIDIA GeForce GTX 1080", "6.1", 8},
    {"gtx1080ti", nvidia, "NVIDIA GeForce GTX 1080 Ti", "6.1", 11},
    {"p4", nvidia, "NVIDIA Tesla P4", "6.1", 8},
    {"p40", nvidia, "NVIDIA Tesla P40", "6.1", 24},
    {"p100", nvidia, "NVIDIA Tesla P100", "6.0", 16},
    {"titanv", nvidia, "NVIDIA TITAN V", "7.0", 12},
    {"v100", nvidia, "NVIDIA Tesla V100", "7.0", 0},
    {"xavier", nvidia, "NVIDIA Jetson AGX Xavier", "7.2", 0, true, aarch64, true},
    {"gtx1650", nvidia, "NVIDIA GeForce GTX 1650", "7.5", 4},
    {"t4", nvidia, "NVIDIA T4", "7.5", 16},
    {"rtx2080ti", nvidia, "NVIDIA GeForce RTX 2080 Ti", "7.5", 11},
    {"a30", nvidia, "NVIDIA A30", "8.0", 24},
    {"a100", nvidia, "NVIDIA A100", "8.0", 0},
    {"a10", nvidia, "NVIDIA A10", "8.6", 24},
    {"a40", nvidia, "NVIDIA A40", "8.6", 48},
    {"a6000", nvidia, "NVIDIA RTX A6000", "8.6", 48},
    {"rtx3060", nvidia, "NVIDIA GeForce RTX 3060", "8.6", 0},
    {"rtx3090", nvidia, "NVIDIA GeForce RTX 3090", "8.6", 24},
    {"orin", nvidia, "NVIDIA Jetson AGX Orin", "8.7", 0, true, aarch64, true},
    {"orinnano", nvidia, "NVIDIA Jetson Orin Nano", "8.7", 0, true, aarch64, true},
    {"l4", nvidia, "NVIDIA L4", "8.9", 24},
    {"l40s", nvidia, "NVIDIA L40S", "8.9", 48},
    {"rtx4060", nvidia, "NVIDIA GeForce RTX 4060", "8.9", 8},
    {"rtx4090", nvidia, "NVIDIA GeForce RTX 4090", "8.9", 24},
    {"rtx6000ada", nvidia, "NVIDIA RTX 6000 Ada Generation", "8.9", 48},
    {"h100", nvidia, "NVIDIA H100", "9.0", 80},
    {"h200", nvidia, "NVIDIA H200", "9.0", 141},
    {"gh200", nvidia, "NVIDIA GH200", "9.0", 0, false, aarch64, true},
    {"b200", nvidia, "NVIDIA B200", "10.0", 0},
    {"gb200", nvidia, "NVIDIA GB200", "10.0", 0, false, aarch64, true},
    {"b300", nvidia, "NVIDIA B300", "10.3", 0},
    {"gb300", nvidia, "NVIDIA GB300", "10.3", 0, false, aarch64, true},
    {"thor", nvidia, "NVIDIA Jetson Thor", "11.0", 0, true, aarch64, true},
    {"rtx5060", nvidia, "NVIDIA GeForce RTX 5060", "12.0", 8},
    {"rtx5090", nvidia, "NVIDIA GeForce RTX 5090", "12.0", 32},
    {"rtxpro6000", nvidia, "NVIDIA RTX PRO 6000 Blackwell", "12.0", 96},
    {"gb10", nvidia, "NVIDIA GB10", "12.1", 0, true, aarch64},
    {"vega64", amd, "AMD Radeon RX Vega 64", "gfx900", 8},
    {"mi25", amd, "AMD Radeon Instinct MI25", "gfx900", 16},
    {"radeonvii", amd, "AMD Radeon VII", "gfx906", 16},
    {"mi50", amd, "AMD Radeon Instinct MI50", "gfx906", 0},
    {"mi60", amd, "AMD Radeon Instinct MI60", "gfx906", 32},
    {"mi100", amd, "AMD Instinct MI100", "gfx908", 32, false, Arch::other, true},
    {"mi210", amd, "AMD Instinct MI210", "gfx90a", 64, false, Arch::other, true},
    {"mi250", amd, "AMD Instinct MI250", "gfx90a", 128, false, Arch::other, true},
    {"mi250x", amd, "AMD Instinct MI250X", "gfx90a", 128, false, Arch::other, true},
    {"mi300a", amd, "AMD Instinct MI300A", "gfx942", 128, false, x86_64, true},
    {"mi300x", amd, "AMD Instinct MI300X", "gfx942", 192, false, Arch::other, true},
    {"mi325x", amd, "AMD Instinct MI325X", "gfx942", 256, false, Arch::other, true},
    {"mi350x", amd, "AMD Instinct MI350X", "gfx950", 288, false, Arch::other, true},
    {"mi355x", amd, "AMD Instinct MI355X", "gfx950", 288, false, Arch::other, true},
    {"rx6800", amd, "AMD Radeon RX 6800", "gfx1030", 16},
    {"rx6900xt", amd, "AMD Radeon RX 6900 XT", "gfx1030", 16},
    {"w6800", amd, "AMD Radeon PRO W6800", "gfx1030", 32},
    {"steamdeck", amd, "AMD graphics of the Steam Deck", "gfx1033", 0, true, x86_64},
    {"rx7900xt", amd, "AMD Radeon RX 7900 XT", "gfx1100", 20},
    {"rx7900xtx", amd, "AMD Radeon RX 7900 XTX", "gfx1100", 24},
    {"w7900", amd, "AMD Radeon PRO W7900", "gfx1100", 48},
    {"rx7700xt", amd, "AMD Radeon RX 7700 XT", "gfx1101", 12},
    {"rx7800xt", amd, "AMD Radeon RX 7800 XT", "gfx1101", 16},
    {"rx7600", amd, "AMD Radeon RX 7600", "gfx1102", 8},
    {"780m", amd, "AMD Radeon 780M", "gfx1103", 0, true, x86_64},
    {"890m", amd, "AMD Radeon 890M", "gfx1150", 0, true, x86_64},
    {"8060s", amd, "AMD Radeon 8060S", "gfx1151", 0, true, x86_64},
    {"rx9060xt", amd, "AMD Radeon RX 9060 XT", "gfx1200", 0},
    {"rx9070", amd, "AMD Radeon RX 9070", "gfx1201", 16},
    {"rx9070xt", amd, "AMD Radeon RX 9070 XT", "gfx1201", 16},
    {"r9700", amd, "AMD Radeon AI PRO R9700", "gfx1201", 32},
    {"dg2", intel, "Intel Arc A-series", "12.55.8", 0},
    {"a750", intel, "Intel Arc A750", "12.55.8", 8},
    {"a770", intel, "Intel Arc A770", "12.55.8", 16},
    {"flex170", intel, "Intel Data Center GPU Flex 170", "12.55.8", 16},
    {"pvc", intel, "Intel Data Center GPU Max", "12.60.7", 0, false, Arch::other, true},
    {"max1100", intel, "Intel Data Center GPU Max 1100", "12.60.7", 48, false, Arch::other, true},
    {"max1550", intel, "Intel Data Center GPU Max 1550", "12.60.7", 128, false, Arch::other, true},
    {"mtl", intel, "Intel Arc graphics of Core Ultra 100", "12.70.4", 0, true, x86_64},
    {"mtlh", intel, "Intel Arc graphics of Core Ultra 100H", "12.71.4", 0, true, x86_64},
    {"arlh", intel, "Intel Arc graphics of Core Ultra 200H", "12.74.4", 0, true, x86_64},
    {"bmg", intel, "Intel Arc B-series", "20.1.0", 0},
    {"b570", intel, "Intel Arc B570", "20.1.0", 10},
    {"b580", intel, "Intel Arc B580", "20.1.0", 12},
    {"lnl", intel, "Intel Arc graphics of Core Ultra 200V", "20.4.4", 0, true, x86_64},
    {"ptl", intel, "Intel Arc graphics of Core Ultra 300", "30.0.4", 0, true, x86_64},
};

}  // namespace

std::span<const GpuModel> gpu_models() { return models; }

const GpuModel* find_gpu_model(std::string_view name) {
  const auto* found = std::ranges::find(models, name, &GpuModel::name);
  return found == std::end(models) ? nullptr : found;
}

const GpuModel* find_gpu_model_in(std::string_view title) {
  constexpr std::size_t longest = 100;  // the number of its parts grows quadratically
  if (title.size() > longest) return nullptr;
  const std::string lowered = text::ascii_lower(title);
  const std::vector<std::string_view> words = split(lowered, " -_");
  for (std::size_t count = words.size(); count > 0; --count) {
    for (std::size_t first = 0; first + count <= words.size(); ++first) {
      const auto run = std::span(words).subspan(first, count);
      const GpuModel* model = find_gpu_model(fmt::format("{}", fmt::join(run, "")));
      if (model != nullptr) return model;
    }
  }
  return nullptr;
}

const GpuModel* find_model_of(const detect::Gpu& gpu) {
  const auto* found = std::ranges::find_if(models, [&](const GpuModel& model) {
    return model.vendor == gpu.vendor && model.title == gpu.name;
  });
  return found == std::end(models) ? nullptr : found;
}

std::vector<const GpuModel*> possible_models(const detect::Gpu& gpu) {
  if (const GpuModel* stated = find_model_of(gpu)) return {stated};
  std::vector<const GpuModel*> possible;
  for (const GpuModel& model : models) {
    if (model.vendor == gpu.vendor && model.arch == gpu.arch) possible.push_back(&model);
  }
  return possible;
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
