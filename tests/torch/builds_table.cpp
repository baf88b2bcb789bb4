#include "tests/torch/builds_table.h"

#include <fstream>

#include <nlohmann/json.hpp>

namespace axle::testing {
namespace {

using Json = nlohmann::json;

/// Nothing is an empty list, "unknown" is not a list.
std::optional<std::vector<std::string>> read_list(const Json& build, const char* key) {
  const auto found = build.find(key);
  if (found == build.end()) return std::vector<std::string>{};
  if (found->is_string()) return std::nullopt;
  return found->get<std::vector<std::string>>();
}

BuildsTable read_table() {
  std::ifstream file(AXLE_SOURCE_DIR "/index/families/torch-builds.json");
  const Json json = Json::parse(file);
  BuildsTable table;
  for (const Json& release : json.at("releases")) {
    TableRelease& read = table.releases.emplace_back();
    read.version = release.at("version");
    for (const Json& build : release.at("builds")) {
      read.builds.push_back({build.at("label"), build.at("platform"), read_list(build, "code"),
                             read_list(build, "ptx")});
    }
  }
  for (const Json& gpu : json.at("gpus"))
    table.gpus.push_back({gpu.at("for"), gpu.at("vendor"), gpu.at("arch")});
  table.devices = json.at("devices");
  return table;
}

}  // namespace

const BuildsTable& builds_table() {
  static const BuildsTable table = read_table();
  return table;
}

bool has_label(const TableBuild& build) { return build.label != "rocm"; }

}  // namespace axle::testing
