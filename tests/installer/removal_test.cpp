// What leaves with a package: where RECORD's rows lead to, and what is in the folders that go as a
// whole, compared with what row by row and folder by folder gives.
#include "installer/transaction/removal.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "foundation/report/report.h"
#include "installer/environment/ownership.h"
#include "installer/environment/record_places.h"
#include "installer/tree/remove_tree.h"
#include "tests/installer/sandbox.h"

using namespace axle::installer;
namespace fs = std::filesystem;

namespace {

/// An environment in which one package has a RECORD.
struct OnePackage {
  OnePackage()
      : environment(bare_environment(box / "venv")), roots(find_roots(environment).value()) {
    package.name = "demo";
    package.dist_info = roots.purelib + "/demo-1.dist-info";
    package.has_record = true;
    fs::create_directories(package.dist_info);
  }

  void record(const std::vector<std::string>& paths) const {
    std::string text;
    for (const std::string& path : paths) text += path + ",,\n";
    write_text(package.dist_info + "/RECORD", text);
  }

  /// Row by row.
  [[nodiscard]] RecordPlaces places_one_by_one() const {
    RecordPlaces places;
    PathResolver resolver(roots);
    const auto rows = read_record(package);
    REQUIRE(rows);
    for (const axle::wheel::RecordEntry& row : *rows) {
      const auto target = record_target(package, row.path, resolver).value();
      if (!target || roots.is_reserved(*target)) {
        places.kept.push_back({row.path, !target});
      } else {
        places.files.push_back({0, *target});
      }
    }
    return places;
  }

  Sandbox box;
  Environment environment;
  Roots roots;
  InstalledDistribution package;
};

}  // namespace

TEST_CASE("rows of a RECORD lead where each of them leads alone") {
  OnePackage one;
  const std::string& site = one.roots.purelib;
  fs::create_directories(site + "/mod/inner");
  fs::create_symlink("mod", site + "/link");
  fs::create_symlink("/", site + "/root");
  const std::vector<std::string> folders = {"",
                                            "mod/",
                                            "mod//",
                                            "./",
                                            "mod/inner/",
                                            "mod/../",
                                            "link/",
                                            "link/inner/",
                                            "root/",
                                            "none/",
                                            "../../../bin/",
                                            "../../../",
                                            "../../../../",
                                            "../../../.axle/",
                                            "../../../.AXLE/x/",
                                            site + "/mod/",
                                            site + "/",
                                            "/",
                                            one.roots.scripts + "/",
                                            "../../../BIN/"};
  const std::vector<std::string> names = {"a.py", "b.py", "python3", "Activate", "pyvenv.cfg",
                                          ".",    "..",   ".axle",   "",         "tool"};
  std::mt19937 random(20261130);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> paths;
    while (paths.size() < 40) {
      const std::string& folder = folders[random() % folders.size()];
      // Neighbours, as in most RECORDs.
      for (unsigned left = random() % 4; left > 0; --left) {
        std::string path = folder + names[random() % names.size()];
        if (!path.empty()) paths.push_back(std::move(path));
      }
    }
    one.record(paths);
    PathResolver resolver(one.roots);
    const auto record = read_record_text(one.package);
    REQUIRE(record);
    const auto places = find_places(one.package, *record, one.roots, resolver);
    REQUIRE(places);
    std::set<std::string> plain;
    for (const std::string& path : paths) {
      const std::string folder = path.substr(0, path.rfind('/') + 1);
      for (const char* one_of : {"mod/", "mod/inner/", "link/", "link/inner/", "root/", "none/"})
        if (folder == one_of) plain.insert(site + "/" + folder.substr(0, folder.size() - 1));
    }
    const auto guessed = guess_folders(one.package, *record);
    CHECK(std::set(guessed.begin(), guessed.end()) == plain);
    CHECK(guessed.size() == plain.size());
    const RecordPlaces expected = one.places_one_by_one();
    REQUIRE(places->kept.size() == expected.kept.size());
    for (std::size_t i = 0; i < expected.kept.size(); ++i) {
      CHECK(places->kept[i].listed == expected.kept[i].listed);
      CHECK(places->kept[i].outside == expected.kept[i].outside);
    }
    REQUIRE(places->files.size() == expected.files.size());
    for (std::size_t i = 0; i < expected.files.size(); ++i) {
      const auto& [folder, name] = places->files[i];
      CHECK(fmt::format("{}/{}", places->folders[folder], name) == expected.files[i].name);
    }
    std::vector<std::string> distinct = places->folders;
    std::ranges::sort(distinct);
    CHECK(std::ranges::adjacent_find(distinct) == distinct.end());
  }
}

TEST_CASE("what leaves as a whole is what is there, however large its folders are") {
  OnePackage one;
  const std::string& site = one.roots.purelib;
  std::vector<std::string> paths = {"demo-1.dist-info/RECORD",
                                    "demo/a",
                                    "demo/a.b/x",
                                    "demo/a-b/x",
                                    "demo/c/x.py",
                                    "demo/c.py",
                                    "demo/c-/y",
                                    "demo/mod.py",
                                    "single.py",
                                    "partly/ours.py",
                                    "demo/c/d/e.py",
                                    "demo/link"};
  for (int i = 0; i < 1500; ++i) paths.push_back(fmt::format("demo/many/f{}.h", i));
  for (const std::string& path : paths) {
    if (!path.ends_with("/RECORD") && !path.ends_with("/link"))
      write_text(site + "/" + path, path.substr(0, path.size() % 7));
  }
  fs::create_symlink("nowhere", site + "/demo/link");
  write_text(site + "/demo/__pycache__/mod.cpython-311.pyc", "code");
  write_text(site + "/demo/c/__pycache__/x.cpython-311.pyc", "code");
  write_text(site + "/partly/theirs.py", "");
  one.record(paths);
  axle::CollectedReport report;
  const auto removal = plan_removal({one.package}, {}, {}, one.roots, report);
  REQUIRE(removal);
  CHECK(removal->things == std::vector<std::string>{one.package.dist_info, site + "/demo",
                                                    site + "/partly/ours.py", site + "/single.py"});
  REQUIRE(removal->leaves.size() == 1);
  const auto listed = list_leaves(site + "/demo");
  REQUIRE(listed);
  CHECK(listed->size() == 1500 + 9);
  CHECK(removal->leaves.at(site + "/demo") == *listed);

  CHECK(remove_tree(site + "/demo") == 0);
  CHECK_FALSE(is_there(site + "/demo"));
}

TEST_CASE("a folder in which somebody else has a file stays, and nothing is said of it") {
  OnePackage one;
  const std::string& site = one.roots.purelib;
  write_text(site + "/demo/inner/a.py", "");
  write_text(site + "/demo/theirs.txt", "");
  one.record({"demo/inner/a.py"});
  axle::CollectedReport report;
  const auto removal = plan_removal({one.package}, {}, {}, one.roots, report);
  REQUIRE(removal);
  CHECK(removal->things == std::vector<std::string>{one.package.dist_info, site + "/demo/inner"});
  CHECK(removal->leaves.contains(site + "/demo/inner"));
  CHECK(report.remarks.empty());
}
