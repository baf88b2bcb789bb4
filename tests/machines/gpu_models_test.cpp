#include "machines/gpu_models.h"

#include <algorithm>
#include <fstream>
#include <set>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace axle::machines {
namespace {

using nlohmann::json;

json torch_builds() {
  std::ifstream file(AXLE_SOURCE_DIR "/index/families/torch-builds.json");
  REQUIRE(file.is_open());
  return json::parse(file);
}

// What the file calls the architecture: a device name for Intel, which stands for device IPs.
bool has_arch(const GpuModel& model, const std::string& arch, const json& devices) {
  if (model.vendor != detect::GpuVendor::intel) return model.arch == arch;
  REQUIRE_MESSAGE(devices.contains(arch), arch);
  return std::ranges::count(devices.at(arch), json(model.arch)) == 1;
}

TEST_CASE("every GPU of the torch builds has a name for --for, and the architecture said there") {
  const json facts = torch_builds();
  std::set<std::string> names;
  CHECK(facts.at("gpus").size() >= 65);
  for (const json& gpu : facts.at("gpus")) {
    REQUIRE_FALSE(gpu.at("for").empty());
    for (const auto& entry : gpu.at("for")) {
      const auto name = entry.get<std::string>();
      INFO(name);
      CHECK(names.insert(name).second);
      const GpuModel* model = find_gpu_model(name);
      REQUIRE(model != nullptr);
      CHECK(detect::render_vendor(model->vendor) == gpu.at("vendor").get<std::string>());
      CHECK(has_arch(*model, gpu.at("arch").get<std::string>(), facts.at("devices")));
    }
  }
}

TEST_CASE("names are lower case without spaces, each is there once, and a GPU finds its model") {
  std::set<std::string_view> names;
  std::set<std::string_view> titles;
  for (const GpuModel& model : gpu_models()) {
    INFO(model.name);
    CHECK(names.insert(model.name).second);
    CHECK(titles.insert(model.title).second);
    CHECK(std::ranges::all_of(
        model.name, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); }));
    CHECK(find_model_of(make_gpu(model)) == &model);
  }
  CHECK(find_model_of(detect::Gpu{}) == nullptr);
}

}  // namespace
}  // namespace axle::machines
