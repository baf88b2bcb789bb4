#include "wheel/system_platform.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "wheel/tag.h"

namespace wheel = axle::wheel;

namespace {

bool runs(const std::vector<std::string>& platforms, const std::string& platform) {
  return std::ranges::find(platforms, platform) != platforms.end();
}

}  // namespace

TEST_CASE("platform tags of Windows and macOS say what they are for") {
  const auto amd64 = wheel::parse_system_platform("win_amd64");
  REQUIRE(amd64);
  CHECK(amd64->system == wheel::windows_system);
  CHECK(amd64->architecture == "x86_64");
  CHECK(wheel::parse_system_platform("win_arm64")->architecture == "aarch64");
  CHECK(wheel::parse_system_platform("win32")->architecture == "i686");
  const auto sonoma = wheel::parse_system_platform("macosx_14_0_arm64");
  REQUIRE(sonoma);
  CHECK(sonoma->system == wheel::mac_system);
  CHECK(sonoma->architecture == "aarch64");
  CHECK(sonoma->version == wheel::MacVersion{14, 0});
  CHECK(wheel::parse_system_platform("macosx_10_9_universal2")->architecture == "universal2");
  for (const char* other : {"any", "linux_x86_64", "manylinux_2_28_x86_64", "win", "win_amd64_x",
                            "macosx", "macosx_", "macosx_14", "macosx_14_0", "macosx_14_0_",
                            "macosx_a_0_arm64", "macosx_99999999999_0_arm64", "ios_13_0_arm64"}) {
    CAPTURE(other);
    CHECK_FALSE(wheel::parse_system_platform(other).has_value());
  }
}

TEST_CASE("of macOS since 11 the major version counts, and Intel runs what is older") {
  const auto arm = wheel::mac_platforms({14, 6}, "arm64");
  CHECK(arm.front() == "macosx_14_0_arm64");
  CHECK(runs(arm, "macosx_11_0_universal2"));
  CHECK(runs(arm, "macosx_10_9_universal2"));
  CHECK_FALSE(runs(arm, "macosx_14_6_arm64"));
  CHECK_FALSE(runs(arm, "macosx_15_0_arm64"));
  CHECK_FALSE(runs(arm, "macosx_14_0_x86_64"));
  const auto intel = wheel::mac_platforms({11, 0}, "x86_64");
  CHECK(runs(intel, "macosx_10_9_x86_64"));
  CHECK(runs(intel, "macosx_10_6_intel"));
  CHECK(wheel::mac_platforms({10, 15}, "x86_64").front() == "macosx_10_15_x86_64");
  CHECK(wheel::mac_platforms({9, 0}, "x86_64").empty());
  CHECK(wheel::mac_platforms({4000000000U, 0}, "arm64").size() < 600);
}

TEST_CASE("markers spell an architecture as the system does") {
  wheel::MarkerEnvironment markers;
  wheel::put_system_markers(markers, wheel::windows_system, "x86_64");
  CHECK(markers.strings["os_name"] == "nt");
  CHECK(markers.strings["sys_platform"] == "win32");
  CHECK(markers.strings["platform_system"] == "Windows");
  CHECK(markers.strings["platform_machine"] == "AMD64");
  wheel::put_system_markers(markers, wheel::windows_system, "aarch64");
  CHECK(markers.strings["platform_machine"] == "ARM64");
  wheel::put_system_markers(markers, wheel::mac_system, "aarch64");
  CHECK(markers.strings["os_name"] == "posix");
  CHECK(markers.strings["sys_platform"] == "darwin");
  CHECK(markers.strings["platform_system"] == "Darwin");
  CHECK(markers.strings["platform_machine"] == "arm64");
  wheel::put_system_markers(markers, wheel::linux_system, "aarch64");
  CHECK(markers.strings["sys_platform"] == "linux");
  CHECK(markers.strings["platform_machine"] == "aarch64");
}

TEST_CASE("an interpreter on Windows has its platform alone") {
  wheel::TagTarget target;
  target.python_minor = 12;
  target.platforms = {wheel::windows_platform("x86_64")};
  const wheel::SupportedTags supported = wheel::supported_tags(target);
  CHECK(wheel::render_tag(supported.best_first().front()) == "cp312-cp312-win_amd64");
  CHECK(supported.best_index(*wheel::parse_tags("cp39-abi3-win_amd64")) !=
        wheel::SupportedTags::npos);
  CHECK(supported.best_index(*wheel::parse_tags("py3-none-any")) != wheel::SupportedTags::npos);
  CHECK(supported.best_index(*wheel::parse_tags("py3-none-win32")) == wheel::SupportedTags::npos);
  CHECK(wheel::windows_platform("ppc64le").empty());
}
