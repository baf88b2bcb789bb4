// Links that an environment returned to the store, and what becomes of them.
#include "installer/store/spare_tree.h"

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "installer/transaction/changes.h"
#include "tests/installer/sandbox.h"

using namespace axle::installer;
namespace fs = std::filesystem;

namespace {

using Members = std::vector<axle::wheel::WheelMember>;

const Members demo_members = {{"demo/__init__.py", "a = 1\n"},
                              {"demo/data.txt", "data"},
                              {"demo/inner/deep/one.py", "1"},
                              {"demo/inner/two.py", "2"},
                              {"demo-first/note", "a name that comes before demo/"},
                              {"single.py", "alone"}};

ino_t inode_of(const std::string& path) {
  struct stat status = {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_ino;
}

struct Workplace {
  Sandbox folder;
  InstallOptions options{.store_folder = folder / "store"};
  MemoryTransport transport;
  axle::CollectedReport report;
  std::string demo = make_wheel(folder / "dist", "demo", "1", demo_members);

  void put(const std::string& wheel, const Environment& environment) {
    const auto done = install(resolution_of({wheel}), environment, transport, options, report);
    REQUIRE_MESSAGE(done.has_value(), done.error().message);
    CHECK(report.remarks.empty());
  }
  void remove(const Environment& environment) {
    REQUIRE(uninstall({"demo"}, environment, options, report).has_value());
    CHECK_FALSE(is_there(environment.purelib + "/demo"));
    CHECK(fs::is_empty(environment.purelib));
    CHECK_FALSE(is_there(environment.prefix + "/.axle/discard"));
  }
  [[nodiscard]] std::string entry() const {
    return options.store_folder + "/wheels/" + package_of(demo).hash.digits;
  }
  [[nodiscard]] std::string spare(const std::string& name) const {
    return entry() + "/spare/" + name;
  }
  /// What is installed is what an environment has that never saw a spare link.
  void check_whole(const Environment& environment, bool linked = true) {
    Workplace other;
    const Environment fresh = bare_environment(other.folder / "env");
    other.put(demo, fresh);
    CHECK(snapshot(environment.prefix) == snapshot(fresh.prefix));
    for (const auto& member : demo_members) {
      const std::string path = environment.purelib + "/" + member.path;
      CHECK((inode_of(path) == inode_of(entry() + "/tree/" + member.path)) == linked);
    }
  }
};

}  // namespace

TEST_CASE("what one environment returns, the next has, folder for folder") {
  Workplace work;
  const Environment first = bare_environment(work.folder / "first");
  const Environment second = bare_environment(work.folder / "second");
  work.put(work.demo, first);
  const ino_t folder = inode_of(first.purelib + "/demo");
  const ino_t inner = inode_of(first.purelib + "/demo/inner");
  work.remove(first);
  CHECK(inode_of(work.spare("demo")) == folder);
  CHECK(is_there(work.spare("demo-first")));
  CHECK_FALSE(is_there(work.spare("single.py")));
  CHECK_FALSE(is_there(work.spare("demo-1.dist-info")));
  work.put(work.demo, second);
  CHECK(inode_of(second.purelib + "/demo") == folder);
  CHECK(inode_of(second.purelib + "/demo/inner") == inner);
  CHECK(fs::is_empty(work.entry() + "/spare"));
  work.check_whole(second);
  work.put(work.demo, first);
  CHECK(inode_of(first.purelib + "/demo") != folder);
  work.check_whole(first);
  // One is enough, the last.
  work.remove(first);
  CHECK(inode_of(work.spare("demo")) != folder);
  work.remove(second);
  CHECK(inode_of(work.spare("demo")) == folder);
}

TEST_CASE("spare links that fit nobody make room for others") {
  Workplace work;
  const Environment environment = bare_environment(work.folder / "env");
  work.put(work.demo, environment);
  work.remove(environment);
  const std::string spare = work.spare("demo");
  SUBCASE("other permissions") {
    fs::permissions(spare, fs::perms::owner_all, fs::perm_options::replace);
  }
  SUBCASE("a file") {
    fs::rename(spare, work.folder / "moved");
    write_text(spare, "file");
  }
  SUBCASE("a link") {
    fs::rename(spare, work.folder / "moved");
    fs::create_symlink(work.folder / "moved", spare);
  }
  work.put(work.demo, environment);
  work.check_whole(environment);
  const ino_t folder = inode_of(environment.purelib + "/demo");
  work.remove(environment);
  CHECK(inode_of(spare) == folder);
  work.put(work.demo, environment);
  CHECK(inode_of(environment.purelib + "/demo") == folder);
  work.check_whole(environment);
}

TEST_CASE("an upgrade returns the old links, and going back takes them") {
  Workplace work;
  const Environment environment = bare_environment(work.folder / "env");
  const std::string newer =
      make_wheel(work.folder / "dist", "demo", "2", {{"demo/__init__.py", "a = 2\n"}});
  work.put(work.demo, environment);
  const ino_t folder = inode_of(environment.purelib + "/demo");
  work.put(newer, environment);
  CHECK(read_text(environment.purelib + "/demo/__init__.py") == "a = 2\n");
  CHECK_FALSE(is_there(environment.purelib + "/demo/data.txt"));
  CHECK(inode_of(work.spare("demo")) == folder);
  work.put(work.demo, environment);
  CHECK(inode_of(environment.purelib + "/demo") == folder);
  work.check_whole(environment);
}

TEST_CASE("byte code does not come back") {
  Workplace work;
  const Environment environment = bare_environment(work.folder / "env");
  work.put(work.demo, environment);
  const ino_t folder = inode_of(environment.purelib + "/demo");
  for (const char* cache : {"/demo/__pycache__", "/demo/inner/deep/__pycache__"}) {
    fs::create_directory(environment.purelib + cache);
    write_text(environment.purelib + cache + "/one.cpython-311.pyc", "compiled");
    write_text(environment.purelib + cache + "/__init__.cpython-311.pyc", "compiled");
  }
  // Byte code of no module of the package: the folder does not leave as a whole.
  SUBCASE("of others") {
    write_text(environment.purelib + "/demo/__pycache__/mine.cpython-311.pyc", "mine");
    REQUIRE(uninstall({"demo"}, environment, work.options, work.report).has_value());
    CHECK(read_text(environment.purelib + "/demo/__pycache__/mine.cpython-311.pyc") == "mine");
    CHECK_FALSE(is_there(work.spare("demo")));
    return;
  }
  fs::remove(environment.purelib + "/demo/__pycache__/one.cpython-311.pyc");
  fs::remove(environment.purelib + "/demo/inner/deep/__pycache__/__init__.cpython-311.pyc");
  work.remove(environment);
  CHECK(inode_of(work.spare("demo")) == folder);
  CHECK_FALSE(is_there(work.spare("demo/__pycache__")));
  CHECK_FALSE(is_there(work.spare("demo/inner/deep/__pycache__")));
  work.put(work.demo, environment);
  CHECK(inode_of(environment.purelib + "/demo") == folder);
  work.check_whole(environment);
}

TEST_CASE("only links are returned") {
  Workplace work;
  const Environment environment = bare_environment(work.folder / "env");
  SUBCASE("copies") {
    work.options.link_mode = LinkMode::copy;
    work.put(work.demo, environment);
  }
  SUBCASE("symbolic links") {
    work.options.link_mode = LinkMode::symlink;
    work.put(work.demo, environment);
  }
  SUBCASE("a file that somebody replaced") {
    work.put(work.demo, environment);
    fs::remove(environment.purelib + "/demo/data.txt");
    write_text(environment.purelib + "/demo/data.txt", "mine");
  }
  SUBCASE("a folder that nobody may change") {
    work.put(work.demo, environment);
    fs::permissions(environment.purelib + "/demo/inner", fs::perms::owner_write,
                    fs::perm_options::remove);
  }
  SUBCASE("links to what the store had before") {
    work.put(work.demo, environment);
    fs::remove_all(work.options.store_folder);
    work.put(work.demo, bare_environment(work.folder / "other"));
  }
  SUBCASE("a history that names another place") {
    work.put(work.demo, environment);
    const std::string place = environment.prefix + "/.axle/history";
    std::string text = read_text(place);
    const std::string sha256 = package_of(work.demo).hash.digits;
    fs::create_directories(work.folder / "store/wheels");
    fs::create_directories(work.folder / "mine");
    for (std::size_t at = text.find(sha256); at != text.npos; at = text.find(sha256))
      text.replace(at, sha256.size(), "../../mine");
    REQUIRE(text != read_text(place));
    write_text(place, text);
  }
  REQUIRE(uninstall({"demo"}, environment, work.options, work.report).has_value());
  CHECK_FALSE(is_there(environment.purelib + "/demo"));
  CHECK_FALSE(is_there(work.spare("demo")));
  CHECK((!is_there(work.folder / "mine") || fs::is_empty(work.folder / "mine")));
}

TEST_CASE("spare links that are not as new ones would be are not used") {
  Workplace work;
  const Environment environment = bare_environment(work.folder / "env");
  work.put(work.demo, environment);
  work.remove(environment);
  const std::string spare = work.spare("demo");
  const ino_t folder = inode_of(spare);
  const std::string outside = work.folder / "outside";
  fs::create_directory(outside);
  write_text(outside + "/precious", "mine");
  SUBCASE("a file more") { write_text(spare + "/inner/deep/more.py", "more"); }
  SUBCASE("a folder more") { fs::create_directory(spare + "/inner/empty"); }
  SUBCASE("byte code") {
    fs::create_directory(spare + "/__pycache__");
    write_text(spare + "/__pycache__/__init__.cpython-311.pyc", "evil");
  }
  SUBCASE("a file less") { fs::remove(spare + "/inner/deep/one.py"); }
  SUBCASE("another file of that name") {
    fs::remove(spare + "/inner/two.py");
    write_text(spare + "/inner/two.py", "2");
  }
  SUBCASE("two links with each other's names") {
    fs::rename(spare + "/data.txt", spare + "/other");
    fs::rename(spare + "/__init__.py", spare + "/data.txt");
    fs::rename(spare + "/other", spare + "/__init__.py");
  }
  SUBCASE("a folder for a file") {
    fs::remove(spare + "/data.txt");
    fs::create_directory(spare + "/data.txt");
  }
  SUBCASE("a file for a folder") {
    fs::remove_all(spare + "/inner");
    write_text(spare + "/inner", "file");
  }
  SUBCASE("a link for a folder") {
    fs::rename(spare + "/inner", outside + "/inner");
    fs::create_symlink(outside + "/inner", spare + "/inner");
  }
  SUBCASE("all of it is a link") {
    fs::rename(spare, outside + "/demo");
    fs::create_symlink(outside + "/demo", spare);
  }
  SUBCASE("other permissions") { fs::permissions(spare + "/inner/deep", fs::perms::all); }
  SUBCASE("another owner") {
    if (::geteuid() != 0) {
      MESSAGE("skipped: only root gives files to others");
      return;
    }
    REQUIRE(::chown((spare + "/inner").c_str(), 12345, 12345) == 0);
  }
  SUBCASE("attributes") {
    if (::setxattr((spare + "/inner").c_str(), "user.note", "1", 1, 0) != 0) {
      MESSAGE("skipped: no attributes on this file system");
      return;
    }
  }
  work.put(work.demo, environment);
  CHECK(inode_of(environment.purelib + "/demo") != folder);
  work.check_whole(environment);
  CHECK(read_text(outside + "/precious") == "mine");
}

TEST_CASE("spare links to files that the store has no more are not used") {
  Workplace work;
  const Environment environment = bare_environment(work.folder / "env");
  work.put(work.demo, environment);
  work.remove(environment);
  // Somebody edits the store's file, which is this link, too.
  write_text(work.spare("demo/data.txt"), "edited by somebody");
  const auto done =
      install(resolution_of({work.demo}), environment, work.transport, work.options, work.report);
  REQUIRE(done.has_value());
  CHECK(read_text(environment.purelib + "/demo/data.txt") == "data");
  work.check_whole(environment);
  CHECK_FALSE(is_there(work.spare("demo")));
}

TEST_CASE("who asks for files of their own, or has another umask, gets no spare links") {
  Workplace work;
  const Environment environment = bare_environment(work.folder / "env");
  work.put(work.demo, environment);
  work.remove(environment);
  SUBCASE("copies") {
    work.options.link_mode = LinkMode::copy;
    work.put(work.demo, environment);
    work.check_whole(environment, false);
    CHECK(is_there(work.spare("demo")));
  }
  SUBCASE("umask") {
    const mode_t before = ::umask(077);
    work.put(work.demo, environment);
    ::umask(before);
    work.check_whole(environment, false);
    CHECK(is_there(work.spare("demo")));
    struct stat status = {};
    for (const char* path : {"/demo", "/demo/inner/deep", "/demo/data.txt"}) {
      REQUIRE(::lstat((environment.purelib + path).c_str(), &status) == 0);
      CHECK((status.st_mode & 077U) == 0);
    }
  }
}

TEST_CASE("a store that is only read keeps its spare links") {
  Workplace work;
  const Environment environment = bare_environment(work.folder / "env");
  work.put(work.demo, environment);
  work.remove(environment);
  const ino_t folder = inode_of(work.spare("demo"));
  work.options.read_only_store = work.options.store_folder;
  work.options.store_folder = work.folder / "own";
  work.put(work.demo, environment);
  CHECK_FALSE(is_there(work.folder / "own/wheels"));
  CHECK(inode_of(environment.purelib + "/demo/data.txt") ==
        inode_of(work.options.read_only_store + "/wheels/" +
                 std::string(package_of(work.demo).hash.sha256()) + "/tree/demo/data.txt"));
  work.remove(environment);
  work.options.store_folder = work.options.read_only_store;
  CHECK(inode_of(work.spare("demo")) == folder);
}

TEST_CASE("byte code is not looked for behind a link that takes the place of a folder") {
  Workplace work;
  const Environment environment = bare_environment(work.folder / "env");
  work.put(work.demo, environment);
  const std::string inner = environment.purelib + "/demo/inner";
  const std::string outside = work.folder / "outside";
  for (const std::string& place : {inner + "/deep/__pycache__", outside + "/deep/__pycache__"}) {
    fs::create_directories(place);
    write_text(place + "/one.cpython-311.pyc", "compiled");
  }
  auto planned =
      plan_changes({{}, {"demo"}}, environment, &work.transport, work.options, work.report);
  REQUIRE(planned.has_value());
  fs::rename(inner, work.folder / "moved");
  fs::create_symlink(outside, inner);
  REQUIRE(apply(*planned, work.report).has_value());
  CHECK(read_text(outside + "/deep/__pycache__/one.cpython-311.pyc") == "compiled");
  CHECK_FALSE(is_there(environment.purelib + "/demo"));
  CHECK_FALSE(is_there(work.spare("demo")));
}

TEST_CASE("a folder elsewhere of the same name is another one") {
  Workplace work;
  work.demo = make_wheel(work.folder / "dist", "demo", "4",
                         {{"demo/__init__.py", "a = 4\n"},
                          {"demo-4.data/data/share/demo/large.txt", "longer than the module"}});
  const Environment environment = bare_environment(work.folder / "env");
  work.put(work.demo, environment);
  const auto installed = snapshot(environment.prefix);
  const ino_t folder = inode_of(environment.purelib + "/demo");
  work.remove(environment);
  CHECK_FALSE(is_there(environment.prefix + "/share"));
  CHECK(inode_of(work.spare("demo")) == folder);
  CHECK(std::distance(fs::directory_iterator(work.entry() + "/spare"), {}) == 1);
  work.put(work.demo, environment);
  CHECK(inode_of(environment.purelib + "/demo") == folder);
  CHECK(snapshot(environment.prefix) == installed);
}

TEST_CASE("a folder of byte code alone is no spare one") {
  Workplace work;
  work.demo = make_wheel(work.folder / "dist", "demo", "5", {{"single.py", "alone"}});
  const Environment environment = bare_environment(work.folder / "env");
  work.put(work.demo, environment);
  fs::create_directory(environment.purelib + "/__pycache__");
  write_text(environment.purelib + "/__pycache__/single.cpython-311.pyc", "compiled");
  work.remove(environment);
  CHECK_FALSE(is_there(work.entry() + "/spare"));
}

TEST_CASE("of two installations at once one takes the spare links") {
  Workplace work;
  const std::vector<Environment> environments = {bare_environment(work.folder / "first"),
                                                 bare_environment(work.folder / "second")};
  for (int round = 0; round < 20; ++round) {
    work.put(work.demo, environments[0]);
    work.remove(environments[0]);
    const ino_t folder = inode_of(work.spare("demo"));
    // Processes, since the umask that an installation asks for is of all threads.
    std::vector<pid_t> commands;
    for (const Environment& one : environments) {
      commands.push_back(::fork());
      REQUIRE(commands.back() >= 0);
      if (commands.back() > 0) continue;
      const auto put =
          install(resolution_of({work.demo}), one, work.transport, work.options, work.report);
      ::_exit(put.has_value() ? 0 : 1);
    }
    for (const pid_t command : commands) {
      int status = -1;
      REQUIRE(::waitpid(command, &status, 0) == command);
      CHECK(status == 0);
    }
    int taken = 0;
    for (std::size_t i = 0; i < environments.size(); ++i) {
      work.check_whole(environments[i]);
      taken += inode_of(environments[i].purelib + "/demo") == folder ? 1 : 0;
    }
    CHECK(taken == 1);
    CHECK_FALSE(is_there(work.spare("demo")));
    for (const Environment& environment : environments) work.remove(environment);
  }
}

TEST_CASE("of a folder that two packages share nothing is returned") {
  Workplace work;
  const Environment environment = bare_environment(work.folder / "env");
  const std::string other =
      make_wheel(work.folder / "dist", "other", "1",
                 {{"demo/more.py", "3"}, {"demo/inner/two.py", "2"}, {"own/a.py", "own"}});
  const auto both = resolution_of({work.demo, other});
  REQUIRE(install(both, environment, work.transport, work.options, work.report).has_value());
  REQUIRE(uninstall({"demo", "other"}, environment, work.options, work.report).has_value());
  CHECK(fs::is_empty(environment.purelib));
  CHECK_FALSE(is_there(work.spare("demo")));
  CHECK(is_there(work.spare("demo-first")));
  REQUIRE(install(both, environment, work.transport, work.options, work.report).has_value());
  REQUIRE(uninstall({"other"}, environment, work.options, work.report).has_value());
  work.check_whole(environment);
}

TEST_CASE("what is not to be a link is created beside the spare links") {
  Workplace work;
  // A module of RECORD in a folder of byte code, as some wheels have it.
  work.demo = make_wheel(work.folder / "dist", "demo", "3",
                         {{"demo/__init__.py", "a = 3\n"},
                          {"demo/__pycache__/old.cpython-38.pyc", "compiled long ago"}});
  const Environment environment = bare_environment(work.folder / "env");
  work.put(work.demo, environment);
  const auto installed = snapshot(environment.prefix);
  const ino_t folder = inode_of(environment.purelib + "/demo");
  work.remove(environment);
  CHECK_FALSE(is_there(work.spare("demo/__pycache__")));
  work.put(work.demo, environment);
  CHECK(inode_of(environment.purelib + "/demo") == folder);
  CHECK(snapshot(environment.prefix) == installed);
}
