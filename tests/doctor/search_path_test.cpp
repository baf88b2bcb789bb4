// The search path that doctor makes of an interpreter's answer and of .pth files, against the
// interpreter's own sys.path.
#include "doctor/search_path.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "doctor/start/start_trial.h"
#include "foundation/system/program_run.h"
#include "installer/environment/environment.h"

namespace {

namespace fs = std::filesystem;
using namespace axle;

struct MadeEnvironment {
  fs::path root;
  std::string python;
  fs::path site;

  explicit MadeEnvironment(std::vector<std::string> options = {}) {
    std::string name = (fs::temp_directory_path() / "axle-search-path-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    root = fs::canonical(name);
    std::vector<std::string> words = {"python3", "-m", "venv", "--without-pip"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back((root / "venv").string());
    const auto made = system::run_program({.arguments = words});
    REQUIRE(made);
    REQUIRE(made->exit_code == 0);
    python = (root / "venv/bin/python3").string();
    for (const auto& entry : fs::directory_iterator(root / "venv/lib"))
      site = entry.path() / "site-packages";
    for (const char* folder : {"one", "two", "three", "with space"})
      fs::create_directory(root / folder);
  }
  MadeEnvironment(const MadeEnvironment&) = delete;
  MadeEnvironment& operator=(const MadeEnvironment&) = delete;
  ~MadeEnvironment() {
    std::error_code ignored;
    fs::remove_all(root, ignored);
  }

  void pth(const std::string& name, const std::string& text) const {
    std::ofstream(site / name, std::ios::binary) << text;
  }

  [[nodiscard]] doctor::StartedSearch start() const { return doctor::try_start(python, {}).search; }

  [[nodiscard]] doctor::SearchPath read(const doctor::StartedSearch& started = {}) const {
    installer::EnvironmentRequest request;
    request.python = python;
    const auto environment = installer::find_environment(request);
    REQUIRE(environment);
    auto path = doctor::read_search_path(*environment, started);
    REQUIRE(path);
    return *path;
  }

  void agrees(const doctor::StartedSearch& started = {}) const {
    const auto asked = system::run_program(
        {.arguments = {python, "-c", "import sys; print(*sys.path, sep='\\n')"}});
    REQUIRE(asked);
    REQUIRE(asked->exit_code == 0);
    std::string theirs;
    std::set<std::string> seen;
    std::string_view rest = asked->out;
    while (!rest.empty()) {
      const std::string folder = doctor::plain_path(std::string(rest.substr(0, rest.find('\n'))));
      // The current folder may be in PYTHONPATH, too.
      if (seen.insert(folder).second) theirs += folder + "\n";
      rest.remove_prefix(rest.find('\n') + 1);
    }
    std::string ours;
    for (const doctor::SearchFolder& folder : read(started).folders) ours += folder.path + "\n";
    CHECK(ours == theirs);
  }
};

}  // namespace

TEST_CASE("the search path is that of the interpreter") {
  const MadeEnvironment made;
  const std::string root = made.root.string();
  made.agrees();
  made.pth("b.pth", root + "/two\n" + root + "/one\n");
  made.pth("a.pth", "# a comment\n\n" + root + "/three  \t\n" + root + "/nowhere\n" + root +
                        "/with space\r\n" + root + "/three/\n../../../../two/../one\n");
  made.pth("c.pth", "\xEF\xBB\xBF" + root + "/two\nimportant\nimport os\nimport\tsys\n");
  made.pth("d.txt", root + "/one\n");
  made.agrees();

  const doctor::SearchPath path = made.read();
  using By = doctor::SearchFolder::By;
  CHECK(path.folders.front().by == By::current_folder);
  CHECK(path.folders.back().by == By::pth);
  CHECK(path.folders.back().path == root + "/two");
  CHECK(path.folders.back().file == made.site.string() + "/b.pth");
  CHECK(path.folders.back().line == 1);
  CHECK(path.programs.empty());
}

TEST_CASE("the search path has what variables add") {
  const MadeEnvironment made({"--system-site-packages"});
  const std::string root = made.root.string();
  ::setenv("PYTHONUSERBASE", (root + "/user").c_str(), 1);
  ::setenv("PYTHONPATH", (root + "/two:/nowhere::" + root + "/one/").c_str(), 1);
  made.agrees();
  fs::create_directories(root + "/user/lib/" + made.site.parent_path().filename().string() +
                         "/site-packages");
  made.agrees();
  ::setenv("PYTHONNOUSERSITE", "1", 1);
  made.agrees();
  ::setenv("PYTHONSAFEPATH", "1", 1);
  made.agrees();
  for (const char* name : {"PYTHONUSERBASE", "PYTHONPATH", "PYTHONNOUSERSITE", "PYTHONSAFEPATH"})
    ::unsetenv(name);
}

TEST_CASE("the search path has what programs do to it") {
  const MadeEnvironment made;
  const std::string root = made.root.string();
  using By = doctor::SearchFolder::By;
  made.pth("a.pth", root + "/one\n" + root + "/two\n");
  made.agrees(made.start());
  for (const doctor::SearchFolder& folder : made.read(made.start()).folders)
    CHECK(folder.by != By::program);
  made.pth("b.pth", "import sys; sys.path.insert(0, '" + root +
                        "/three')\n"
                        "import sys; sys.path.remove('" +
                        root + "/two'); sys.path.insert(0, '" + root +
                        "/two')\nimport sys; sys.path.append('" + root + "/nowhere')\n");
  const doctor::SearchPath path = made.read(made.start());
  REQUIRE(path.folders.size() > 3);
  CHECK(path.folders[0].by == By::current_folder);
  CHECK(path.folders[1].path == root + "/two");
  CHECK(path.folders[1].by == By::program);
  REQUIRE_FALSE(path.folders[1].again.empty());
  CHECK(path.folders[1].again.back().by == By::pth);
  CHECK(path.folders[1].again.back().line == 2);
  CHECK(path.folders[2].path == root + "/three");
  CHECK(path.folders[2].by == By::program);
  CHECK(path.folders.back().path == root + "/one");
  CHECK(path.folders.back().by == By::pth);
  CHECK(path.programs.size() == 3);
}
