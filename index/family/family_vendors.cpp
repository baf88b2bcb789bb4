#include "index/family/family_vendors.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace axle::index {
namespace {

/// The published NVIDIA provider knows no older ones (namespace `nvidia`, feature `sm_arch`).
constexpr int first_sm_major = 5;

void put(wheel::VariantProperties& properties, std::string_view ns, std::string_view feature,
         std::string value) {
  properties.insert({std::string(ns), std::string(feature), std::move(value)});
}

std::string without_dot(std::string capability) {
  std::erase(capability, '.');
  return capability;
}

int major_of(const std::string& capability) { return std::stoi(capability); }

bool is_capability(const Family& /*family*/, std::string_view name) {
  return is_version_pair(name);
}

bool is_gfx(const Family& /*family*/, std::string_view name) {
  return name.starts_with("gfx") &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-") ==
             std::string_view::npos;
}

bool is_device(const Family& family, std::string_view name) {
  return family.devices.contains(name);
}

/// `nvidia :: sm_arch` wherever that namespace would judge as CUDA does: it refuses PTX of an
/// older generation and knows no Kepler. `axle :: cuda_code` judges all of it. A build with PTX
/// fits where its code or its PTX does, the PTX only with the toolkit's driver: written as two
/// features, of which each must have a supported value.
void add_cuda_code(const FamilyLabel& label, const FamilyBuild& build,
                   wheel::VariantProperties& properties) {
  std::vector<std::string> compiled = *build.code;
  // One chip, renumbered with CUDA 13 (Thor): either name runs on either driver.
  for (const auto& [name, other] : {std::pair("11.0", "10.1"), std::pair("10.1", "11.0")}) {
    if (std::ranges::find(*build.code, name) != build.code->end()) compiled.emplace_back(other);
  }
  const std::vector<std::string> ptx = build.ptx.value_or(std::vector<std::string>{});
  const bool published = ptx.empty() && std::ranges::all_of(compiled, [](const std::string& c) {
                           return major_of(c) >= first_sm_major;
                         });
  for (const std::string& capability : compiled) {
    const std::string value = without_dot(capability) + "_real";
    if (published) put(properties, "nvidia", "sm_arch", value);
    put(properties, own_ns, "cuda_code", value);
    if (!ptx.empty()) put(properties, own_ns, "cuda_code_or_jit", value);
  }
  for (const std::string& capability : ptx)
    put(properties, own_ns, "cuda_code", without_dot(capability) + "_virtual");
  if (!ptx.empty()) put(properties, own_ns, "cuda_code_or_jit", label.toolkit);
}

void add_nvidia(const Family& /*family*/, const FamilyLabel& label, const FamilyBuild* build,
                wheel::VariantProperties& properties) {
  put(properties, "nvidia", "cuda_version_lower_bound",
      build != nullptr && !build->cuda.empty() ? build->cuda : label.cuda);
  if (build != nullptr && build->code) add_cuda_code(label, *build, properties);
}

void add_amd(const Family& /*family*/, const FamilyLabel& /*label*/, const FamilyBuild* build,
             wheel::VariantProperties& properties) {
  if (build == nullptr || !build->code) return;
  for (const std::string& gfx : *build->code) put(properties, "amd", "gfx_arch", gfx);
}

void add_intel(const Family& family, const FamilyLabel& /*label*/, const FamilyBuild* build,
               wheel::VariantProperties& properties) {
  if (build == nullptr || !build->code) return;
  for (const std::string& device : *build->code) {
    for (const std::string& ip : family.devices.find(device)->second)
      put(properties, "intel", "device_ip", ip);
  }
}

constexpr FamilyVendor rows[] = {
    {"nvidia", is_capability, "", "", add_nvidia},
    {"amd", is_gfx, "", "", add_amd},
    {"intel", is_device, "list its device IPs under [devices]", "SPIR-V", add_intel},
};

}  // namespace

std::span<const FamilyVendor> family_vendors() { return rows; }

const FamilyVendor* find_family_vendor(std::string_view word) {
  const auto* row = std::ranges::find(rows, word, &FamilyVendor::word);
  return row == std::end(rows) ? nullptr : row;
}

bool is_version_pair(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto is_number = [](std::string_view digits) {
    return !digits.empty() && digits.size() <= 4 &&
           std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  };
  return dot != std::string_view::npos && is_number(text.substr(0, dot)) &&
         is_number(text.substr(dot + 1));
}

}  // namespace axle::index
