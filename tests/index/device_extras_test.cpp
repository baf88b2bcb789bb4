// Wheels whose device code is in packages of their own.

#include "index/family/device_extras.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

namespace axle::index {
namespace {

constexpr std::string_view good = R"(schema = 1
name = "acme"
feature = "amd :: gfx_arch"
extra = "device-{device}"
projects = ["acme", "acme-vision"]
date = "2026-11-23"

[sources]
README = "acme/acme README.md"

[devices]
gfx1151 = ["gfx115x", "gfx11"]
)";

TEST_CASE("the nearest name of a device that has an extra is taken") {
  const auto table = parse_device_extras(good, "acme.toml");
  REQUIRE_MESSAGE(table.has_value(), table.error().message);
  CHECK(table->ns == "amd");
  CHECK(table->feature == "gfx_arch");
  CHECK(table->extra_for("gfx1151", {"device-gfx1151", "device-gfx115x"}) == "device-gfx1151");
  CHECK(table->extra_for("gfx1151", {"device-gfx11", "device-gfx115x"}) == "device-gfx115x");
  CHECK(table->extra_for("gfx1151", {"device-gfx11", "device-gfx110x"}) == "device-gfx11");
  CHECK(table->extra_for("gfx1151", {"device-gfx1150", "device-all"}).empty());
  CHECK(table->extra_for("gfx9999", {"device-gfx9999"}) == "device-gfx9999");
  CHECK(table->is_device_extra("device-all"));
  CHECK_FALSE(table->is_device_extra("devel"));
}

TEST_CASE("what is not understood of device extras is refused, with file, line and key") {
  const std::pair<std::pair<std::string_view, std::string_view>, const char*> cases[] = {
      {{"schema = 1", "schema = 2"}, "acme.toml:1: schema: schema 2 is not supported, only 1"},
      {{"\"amd :: gfx_arch\"", "\"amd\""}, "acme.toml:3: feature: expected a namespace"},
      {{"device-{device}", "device"}, "acme.toml:4: extra: expected a name with {device}"},
      {{"device-{device}", "{device}"}, "extra: expected a name with {device}"},
      {{"[\"acme\", \"acme-vision\"]", "[]"}, "projects: there are no projects"},
      {{"\"acme-vision\"", "\"a b\""}, "projects: \"a b\" is not a valid package name"},
      {{"README = \"acme/acme README.md\"", ""}, "sources: the facts have no source"},
      {{"[\"gfx115x\", \"gfx11\"]", "3"}, "gfx1151"},
      {{"date =", "colour = 1\ndate ="}, "colour: unknown key"},
  };
  for (const auto& [change, expected] : cases) {
    std::string text(good);
    text.replace(text.find(change.first), change.first.size(), change.second);
    const auto table = parse_device_extras(text, "acme.toml");
    REQUIRE_FALSE_MESSAGE(table.has_value(), std::string(change.second));
    CHECK_MESSAGE(table.error().message.contains(expected), table.error().message);
  }
}

TEST_CASE("every bundled table of device extras is sound, and found by its projects") {
  for (const ShippedDeviceExtras& shipped : shipped_device_extras()) {
    const auto table = parse_device_extras(shipped.toml, std::string(shipped.name));
    REQUIRE_MESSAGE(table.has_value(), table.error().message);
    CHECK(table->name == shipped.name);
    for (const std::string& project : table->projects)
      CHECK(device_extras_of(project)->name == shipped.name);
  }
  CHECK(device_extras_of("numpy") == nullptr);
  CHECK(device_extras_of("gfx115x") == nullptr);
  const DeviceExtras* rocm = device_extras_of("rocm");
  REQUIRE(rocm != nullptr);
  CHECK(rocm->extra_for("gfx942", {"device-gfx9-4"}) == "device-gfx9-4");
}

}  // namespace
}  // namespace axle::index
