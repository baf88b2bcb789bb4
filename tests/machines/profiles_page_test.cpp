// The table of shipped machines in docs/profiles.md is what the profiles say. AXLE_UPDATE_GOLDEN=1
// rewrites it.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "machines/description.h"
#include "machines/profile.h"
#include "machines/shipped_profiles.h"

namespace axle::machines {
namespace {

constexpr std::string_view marker =
    "<!-- machines: AXLE_UPDATE_GOLDEN=1 build/release/bin/profiles_test writes what follows -->\n";

std::string render_table() {
  std::string text = "| name | CPU | GPUs and other accelerators | origin |\n|---|---|---|---|\n";
  for (const ShippedProfile& shipped : shipped_profiles()) {
    const auto profile = parse_profile(shipped.json, shipped.name);
    REQUIRE(profile.has_value());
    const detect::Machine machine = replay_profile(*profile);
    text += "| `" + std::string(shipped.name) + "` | " + describe_cpu(machine.cpu) + " | " +
            describe_devices(machine) + " | " + profile->origin.kind +
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
