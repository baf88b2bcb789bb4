// The table of shipped machines in docs/profiles.md is what the profiles say. AXLE_UPDATE_GOLDEN=1
// rewrites it.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "machines/profile.h"
#include "machines/shipped_profiles.h"

namespace axle::machines {
namespace {

constexpr std::string_view marker =
    "<!-- machines: AXLE_UPDATE_GOLDEN=1 build/release/bin/profiles_test writes what follows -->\n";

std::string describe_cpu(const detect::Cpu& cpu) {
  const unsigned level = detect::highest_x86_64_level(cpu.capabilities);
  std::string text(detect::render_arch(cpu.arch));
  if (level > 0) text += " v" + std::to_string(level);
  if (!cpu.brand.empty()) text += ", " + cpu.brand;
  return cpu.arch == detect::Arch::other ? "" : text;
}

/// Kind, count and verdict of each device: "8 × NVIDIA H100 9.0".
std::string describe_gpus(const detect::Machine& machine) {
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

std::string render_table() {
  std::string text = "| name | CPU | GPUs and other accelerators | origin |\n|---|---|---|---|\n";
  for (const ShippedProfile& shipped : shipped_profiles()) {
    const auto profile = parse_profile(shipped.json, shipped.name);
    REQUIRE(profile.has_value());
    const detect::Machine machine = replay_profile(*profile);
    text += "| `" + std::string(shipped.name) + "` | " + describe_cpu(machine.cpu) + " | " +
            describe_gpus(machine) + " | " + profile->origin.kind +
            (profile->recording ? "" : ", states facts") + " |\n";
  }
  return text;
}

}  // namespace

TEST_CASE("docs/profiles.md lists the shipped machines") {
  const std::string path = AXLE_SOURCE_DIR "/docs/profiles.md";
  std::ifstream file(path, std::ios::binary);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const std::size_t at = page.find(marker);
  REQUIRE(at != std::string::npos);
  const std::string wanted = page.substr(0, at + marker.size()) + "\n" + render_table();
  if (std::getenv("AXLE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << wanted;
  } else {
    CHECK_MESSAGE(page == wanted, "run AXLE_UPDATE_GOLDEN=1 build/release/bin/profiles_test");
  }
}

}  // namespace axle::machines
