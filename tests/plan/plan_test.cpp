#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "plan/resolution.h"

namespace axle::plan {
namespace {

ResolvedPackage package_of(const char* version, std::optional<std::string> variant) {
  ResolvedPackage package;
  package.name = "demo";
  package.version = *wheel::parse_version(version);
  package.variant = std::move(variant);
  return package;
}

}  // namespace

TEST_CASE("a package is shown with its label, which the version of a family's build says already") {
  CHECK(render_package(package_of("1.0", std::nullopt)) == "demo 1.0");
  CHECK(render_package(package_of("1.0", "x86_64_v4")) == "demo 1.0 (variant x86_64_v4)");
  CHECK(render_package(package_of("2.8.0+cu128", "cu128")) == "demo 2.8.0+cu128");
  CHECK(render_package(package_of("2.8.0+cu128", "null")) == "demo 2.8.0+cu128 (variant null)");
}

TEST_CASE("every origin of a list has a word of its own") {
  CHECK(render_origin(ListOrigin::disabled) == "disabled");
  CHECK(render_origin(ListOrigin::static_list) == "static");
  CHECK(render_origin(ListOrigin::user_list) == "user");
  CHECK(render_origin(ListOrigin::builtin) == "built in");
  CHECK(render_origin(ListOrigin::plugin) == "plugin");
  CHECK(render_origin(ListOrigin::untrusted) == "untrusted");
  CHECK(render_origin(ListOrigin::failed) == "failed");
  CHECK(render_origin(ListOrigin::none) == "none");
}

TEST_CASE("every reason to leave a file out has a word of its own, which docs/facts.md has") {
  std::ifstream file(AXLE_SOURCE_DIR "/docs/facts.md", std::ios::binary);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  std::set<std::string_view> words;
  for (std::uint8_t code = 0; code <= static_cast<std::uint8_t>(SkipCode::metadata); ++code)
    words.insert(render_skip(static_cast<SkipCode>(code)));
  CHECK(words.size() == static_cast<std::size_t>(SkipCode::metadata) + 1);
  for (const std::string_view word : words) {
    CHECK_MESSAGE(page.contains("\n| `" + std::string(word) + "` | "), word);
    CHECK(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
  }
}

TEST_CASE("keys order variants, the first that differs deciding, lower first") {
  CHECK(RankKey{0, 1, 5} < RankKey{0, 2, 0});
  CHECK(RankKey{0, 1, 5} > RankKey{0, 1, 4});
  CHECK(RankKey{0, 9, 9} < RankKey{1, 0, 0});
}

}  // namespace axle::plan
