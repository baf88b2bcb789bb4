// Paths as for creation, beside what the standard library says of them.
#include "installer/environment/roots.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/installer/sandbox.h"

using namespace axle::installer;
namespace fs = std::filesystem;

namespace {

/// The folder of `path` without links, and its name: nullopt outside of `base`.
std::optional<std::string> expected(const std::string& path, const std::string& base) {
  fs::path normal = fs::path(path).lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();  // "a/b/.." is "a/"
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(normal.parent_path(), error);
  if (error) return std::nullopt;
  std::string resolved = (folder / normal.filename()).string();
  if (resolved == base || !contains_path(base, resolved)) return std::nullopt;
  return resolved;
}

}  // namespace

TEST_CASE("paths are resolved as the standard library resolves their folders") {
  const Sandbox sandbox;
  const std::string base = fs::canonical(sandbox.path()).string() + "/env";
  fs::create_directories(base);
  std::mt19937 random(20'261'123);
  const auto pick = [&](std::size_t count) { return random() % count; };
  std::vector<std::string> folders = {""};
  const auto name_of = [&] { return fmt::format("{}", char('a' + pick(6))); };
  for (int i = 0; i < 120; ++i) {
    const std::string path = folders[pick(folders.size())] + "/" + name_of();
    const std::string place = base + path;
    std::error_code error;
    switch (pick(6)) {
      case 0:
        fs::create_symlink(base + folders[pick(folders.size())], place, error);
        break;
      case 1:
        fs::create_symlink(name_of() + "/" + name_of(), place, error);
        break;
      case 2:
        fs::create_symlink(pick(2) != 0 ? "/" : "../..", place, error);
        break;
      case 3:
        if (!fs::exists(fs::symlink_status(place))) write_text(place, "a file");
        break;
      default:
        fs::create_directories(place, error);
    }
    if (fs::is_directory(place, error)) folders.push_back(path);
  }
  Roots roots;
  roots.base = base;
  PathResolver resolver(roots);
  int inside = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string path = base;
    for (std::size_t depth = 1 + pick(6); depth > 0; --depth)
      path += pick(8) == 0 ? "/.." : "/" + name_of();
    CAPTURE(path);
    const auto resolved = resolver.resolve(path);
    REQUIRE(resolved.has_value());
    CHECK(*resolved == expected(path, base));
    inside += resolved->has_value() ? 1 : 0;
  }
  CHECK(inside > 1000);
}

TEST_CASE("what cannot be a path is nowhere") {
  const Sandbox sandbox;
  Roots roots;
  roots.base = fs::canonical(sandbox.path()).string();
  PathResolver resolver(roots);
  std::string deep = roots.base;
  for (int i = 0; i < 100'000; ++i) deep += "/d";
  const std::string long_name = roots.base + "/" + std::string(300, 'n') + "/x";
  for (const std::string& path : {deep, long_name, std::string("relative"), std::string(),
                                  roots.base, roots.base + "/../x"}) {
    const auto resolved = resolver.resolve(path);
    REQUIRE(resolved.has_value());
    CHECK_FALSE(resolved->has_value());
  }
}
