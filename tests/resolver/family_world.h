#pragma once
// A world with the small family of tests/index/family_text.h, published, and a machine with GPUs.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/index/family_text.h"
#include "tests/resolver/solver_world.h"

namespace axle::testing {

using Strings = std::vector<std::string>;

inline constexpr const char* tags = "cp311-cp311-manylinux_2_28_x86_64";

struct FamilyWorld : World {
  FamilyWorld() {
    use_families = true;
    REQUIRE(families.add_file(small_family, "acme.toml"));
    for (const char* label : {"cpu", "cu130", "xpu"}) publish("acme", "2.1", label);
    for (const char* label : {"cpu", "cu130", "cu126", "rocm6.4"}) publish("acme", "2.0", label);
    for (const char* label : {"cpu", "cu130"}) publish("acme-vision", "0.4", label, {"acme==2.1"});
    for (const char* label : {"cpu", "cu126"}) publish("acme-vision", "0.3", label, {"acme==2.0"});
    for (const char* label : {"cpu", "cu126", "rocm6.4"}) publish("acme-audio", "2.0", label);
  }

  void publish(const std::string& name, const std::string& at, const std::string& label,
               const Strings& needs = {}, std::optional<std::uint64_t> size = {}) {
    WheelRecipe recipe{.name = name, .version = label.empty() ? at : at + "+" + label};
    std::ranges::replace(recipe.name, '-', '_');
    recipe.requires_dist = needs;
    recipe.tags = tags;
    index.add_wheel_at("https://acme.test/whl", recipe, size);
  }

  void has_gpu(detect::GpuVendor vendor, const std::string& arch, const std::string& api = "13.0") {
    detect::Gpu gpu;
    gpu.vendor = vendor;
    gpu.arch = arch;
    gpu.usable = detect::Presence::present;
    machine.gpus.push_back(gpu);
    detect::Driver driver;
    driver.vendor = vendor;
    driver.api_version = api;
    driver.usable = detect::Presence::present;
    machine.drivers.push_back(driver);
  }
};

struct NvidiaWorld : FamilyWorld {
  explicit NvidiaWorld(const std::string& sm = "9.0", const std::string& cuda = "13.0") {
    has_gpu(detect::GpuVendor::nvidia, sm, cuda);
  }
};

}  // namespace axle::testing
