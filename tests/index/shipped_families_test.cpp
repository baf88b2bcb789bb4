#include "index/family/shipped_families.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

namespace axle::index {
namespace {

TEST_CASE("the families of index/families are compiled in, whole and in order") {
  const auto families = shipped_families();
  CHECK(std::ranges::is_sorted(families, {}, &ShippedFamily::name));
  for (const char* wanted : {"torch", "llama-cpp-python"}) {
    const auto found = std::ranges::find(families, wanted, &ShippedFamily::name);
    REQUIRE_MESSAGE(found != families.end(), wanted);
    CHECK(found->toml.starts_with("# The index family of "));
    CHECK(found->toml.find("\nname = \"" + std::string(wanted) + "\"\n") != std::string_view::npos);
    std::ifstream file(AXLE_SOURCE_DIR "/index/families/" + std::string(wanted) + ".toml");
    const std::string whole(std::istreambuf_iterator<char>(file), {});
    CHECK(found->toml == whole);
  }
}

}  // namespace
}  // namespace axle::index
