#include "session/plugins/plugin_environments.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <stdlib.h>

using namespace axle::session;

namespace {

namespace fs = std::filesystem;

/// A home folder with an interpreter in it, and a link that leads to it.
class Home {
 public:
  Home() {
    std::string pattern = (fs::temp_directory_path() / "axle-cli-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root_ = fs::canonical(pattern);
    make_file("home/bin/python3");
    fs::create_directory_symlink(root_ / "home", root_ / "link");
  }
  ~Home() { fs::remove_all(root_); }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return root_ / name; }
  void make_file(const std::string& name, const std::string& text = {}) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }

 private:
  fs::path root_;
};

axle::installer::Environment environment(const std::string& prefix) {
  axle::installer::Environment made;
  made.prefix = prefix;
  made.python = prefix + "/bin/python3";
  return made;
}

bool has(const std::vector<std::string>& folders, const std::string& folder) {
  return std::ranges::find(folders, folder) != folders.end();
}

}  // namespace

TEST_CASE("what lies beside an installation is not read, by whatever name it is reached") {
  const Home home;
  for (const char* name : {"home", "link"}) {
    CAPTURE(name);
    const std::string prefix = home.path(name);
    const auto folders = readable_folders(prefix, environment(prefix));
    CHECK(folders.size() == 3);
    CHECK(has(folders, home.path("home/lib")));
    CHECK_FALSE(has(folders, prefix));
  }
}

TEST_CASE(
    "an environment made with copies rests on what it names, by whatever name it is reached") {
  const Home home;
  home.make_file("home/venv/bin/python3");
  home.make_file("base/bin/python3");
  home.make_file("home/venv/pyvenv.cfg", "home = " + home.path("base/bin") + "\n");
  for (const char* name : {"home/venv", "link/venv"}) {
    CAPTURE(name);
    const std::string prefix = home.path(name);
    const auto folders = readable_folders(prefix, environment(prefix));
    CHECK(has(folders, home.path("base/lib")));
    CHECK(has(folders, home.path("home/venv")));
    CHECK(folders.size() == 4);
  }
}

TEST_CASE("an environment that cannot be moved to its place says why") {
  const Home home;
  home.make_file("made/pyvenv.cfg");
  fs::create_symlink(home.path("nothing"), home.path("place"));
  const auto refused = place_environment(home.path("made"), home.path("place"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == home.path("place") + ": Not a directory");
  // Another command was quicker.
  home.make_file("quicker/pyvenv.cfg");
  CHECK(place_environment(home.path("made"), home.path("quicker")));
  CHECK(place_environment(home.path("made"), home.path("free")));
  CHECK(fs::exists(home.path("free/pyvenv.cfg")));
}
