// Things of another user inside an environment: what cannot be read stays, and what cannot be
// deleted stands in nobody's way.

#include <algorithm>
#include <filesystem>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/installer/sandbox.h"

using namespace axle::installer;

namespace {

/// An environment of nobody's, with the packages a and b. Only root can make it.
class NobodysEnvironment {
 public:
  [[nodiscard]] bool is_made() {
    if (::geteuid() != 0) {
      MESSAGE("skipped: only root can put another user's files into an environment");
      return false;
    }
    if (!make_venv(folder_ / "venv")) return false;
    REQUIRE(::chmod(folder_.path().c_str(), 0755) == 0);
    a_ = make_wheel(folder_ / "dist", "a", "1", {{"a/x.py", "x = 1\n"}});
    const std::string b = make_wheel(folder_ / "dist", "b", "1", {{"b.py", "x = 1\n"}});
    std::filesystem::copy_file(beside_test("installer_driver"), folder_ / "driver");
    std::filesystem::create_directory(folder_ / "store");
    REQUIRE(run_command({folder_ / "driver", "install", folder_ / "venv", folder_ / "store", a_, b})
                .status == 0);
    REQUIRE(run_command({"/bin/chown", "-R", "65534:65534", folder_ / "venv", folder_ / "store"})
                .status == 0);
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "venv/lib")) {
      site_ = entry.path().string() + "/site-packages/";
    }
    const auto listed = drive("list");
    if (!listed) return false;
    REQUIRE(listed->out == "a 1\nb 1\n");
    return true;
  }
  [[nodiscard]] std::optional<CommandResult> drive(const std::string& verb,
                                                   const std::string& what = {}) const {
    std::vector<std::string> command = {folder_ / "driver", verb, folder_ / "venv",
                                        folder_ / "store"};
    if (!what.empty()) command.push_back(what);
    return run_as_nobody(command);
  }
  [[nodiscard]] CommandResult list_as_root() const {
    return run_command({folder_ / "driver", "list", folder_ / "venv", folder_ / "store"});
  }
  [[nodiscard]] std::string site(std::string_view name) const { return site_ + std::string(name); }
  [[nodiscard]] std::vector<std::string> state() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "venv/.axle"))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
  [[nodiscard]] const std::string& a() const { return a_; }

 private:
  Sandbox folder_{"/tmp"};
  std::string site_;
  std::string a_;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("what cannot be deleted is reported once and blocks no command") {
  NobodysEnvironment environment;
  if (!environment.is_made()) return;
  const std::string code = environment.site("a/__pycache__/x.cpython-311.pyc");
  for (int turn = 0; turn < 2; ++turn) {
    CAPTURE(turn);
    write_text(code, "code");  // as root's interpreter does
    const auto removed = environment.drive("uninstall", "a");
    CAPTURE(removed->err);
    CHECK(removed->status == 0);
    CHECK(removed->err.contains("cannot remove"));
    CHECK_FALSE(is_there(environment.site("a")));
    const auto listed = environment.drive("list");
    CHECK(listed->status == 0);
    CHECK(listed->out == "b 1\n");
    CHECK(listed->err.empty());
    const auto installed = environment.drive("install", environment.a());
    CAPTURE(installed->err);
    CHECK(installed->status == 0);
  }
  CHECK(environment.state() == Names{"discard", "discard-1", "history", "lock", "unflushed"});
  CHECK(environment.list_as_root().out == "a 1\nb 1\n");
  CHECK(environment.state() == Names{"history", "lock", "unflushed"});
}

TEST_CASE("a folder that cannot be read is not an empty one and stays") {
  NobodysEnvironment environment;
  if (!environment.is_made()) return;
  write_text(environment.site("a/private/notes.txt"), "mine");
  REQUIRE(::chmod(environment.site("a/private").c_str(), 0700) == 0);
  const auto removed = environment.drive("uninstall", "a");
  CAPTURE(removed->err);
  CHECK(removed->status == 0);
  CHECK_FALSE(is_there(environment.site("a/x.py")));
  CHECK(read_text(environment.site("a/private/notes.txt")) == "mine");
  CHECK(environment.state() == Names{"history", "lock", "unflushed"});
}
