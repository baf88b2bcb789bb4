// Where the files of a wheel go: all of them together beside each of them alone.
#include "installer/transaction/layout.h"

#include <random>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/installer/sandbox.h"

using namespace axle::installer;

namespace {

Manifest manifest_of(const std::vector<std::string>& paths) {
  Manifest manifest;
  manifest.file_name = "demo-1.0-py3-none-any.whl";
  manifest.dist_info = "demo-1.0.dist-info";
  for (const std::string& path : paths) manifest.files.push_back({.path = path, .sha256 = "x"});
  return manifest;
}

}  // namespace

TEST_CASE(
    "a file beside others goes where it goes alone and is refused where it is refused alone") {
  const Sandbox sandbox;
  const auto roots = find_roots(bare_environment(sandbox / "env"));
  REQUIRE(roots.has_value());
  const std::vector<std::string> folders = {"",
                                            "demo/",
                                            "demo/a/",
                                            "demo/a/../b/",
                                            "demo/./a/",
                                            "../",
                                            "../../",
                                            "./",
                                            "demo-1.0.dist-info/",
                                            "demo-1.0.dist-info/licenses/",
                                            "DEMO/",
                                            "other.dist-info/",
                                            "demo//",
                                            "../../../bin/",
                                            "demo-1.0.data/purelib/demo/",
                                            "demo-1.0.data/data/share/",
                                            "demo-1.0.data/data/bin/",
                                            "demo-1.0.data/data/",
                                            "demo-1.0.data/scripts/",
                                            "../../../../elsewhere/"};
  const std::vector<std::string> names = {
      "x.py",  "y.py",          "..", ".", "", "python", "RECORD", "METADATA", "pyvenv.cfg",
      ".axle", "site-packages", "lib"};
  std::mt19937 random(20261123);
  int accepted = 0;
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::string> paths;
    // Often in one folder, as in wheels.
    std::size_t folder = random() % folders.size();
    const std::size_t count = 1 + (random() % 4);
    while (paths.size() < count) {
      if (random() % 3 == 0) folder = random() % folders.size();
      const std::size_t name = random() % 3 == 0 ? random() % names.size() : random() % 2;
      paths.push_back(folders[folder] + names[name]);
    }
    CAPTURE(fmt::format("{}", fmt::join(paths, " | ")));
    std::vector<std::string> alone;
    bool good = true;
    for (const std::string& path : paths) {
      const auto layout = lay_out(manifest_of({path}), *roots);
      good = good && layout.has_value();
      if (!layout) break;
      for (const PlacedFile& file : layout->files) alone.push_back(file.target);
    }
    good = good && std::set<std::string>(alone.begin(), alone.end()).size() == alone.size();
    const auto together = lay_out(manifest_of(paths), *roots);
    REQUIRE(together.has_value() == good);
    ++(good ? accepted : refused);
    if (!good) continue;
    std::vector<std::string> targets;
    for (const PlacedFile& file : together->files) targets.push_back(file.target);
    CHECK(targets == alone);
  }
  CHECK(accepted > 400);
  CHECK(refused > 400);
}
