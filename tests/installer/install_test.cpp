#include <algorithm>
#include <filesystem>

#include <doctest/doctest.h>

#include "index/http/url.h"
#include "installer/environment/installed.h"
#include "installer/transaction/changes.h"
#include "tests/installer/sandbox.h"
#include "wheel/hash/sha256.h"
#include "wheel/record.h"

using namespace axle::installer;
using axle::ErrorKind;

namespace {

/// A bare environment with a store beside it.
struct Workplace {
  Sandbox folder;
  Environment environment = bare_environment(folder / "env");
  InstallOptions options{.store_folder = folder / "store"};
  MemoryTransport transport;
  axle::CollectedReport report;

  axle::Result<Changes> put(const axle::plan::Resolution& resolution) {
    return install(resolution, environment, transport, options, report);
  }
  axle::Result<Changes> put(const std::vector<std::string>& wheels) {
    return put(resolution_of(wheels));
  }
  std::string wheel(const std::string& name, const std::string& version,
                    std::vector<axle::wheel::WheelMember> members) {
    return make_wheel(folder / "dist", name, version, std::move(members));
  }
  [[nodiscard]] std::string site(std::string_view name) const {
    return environment.purelib + "/" + std::string(name);
  }
  std::vector<std::string> listed() {
    std::vector<std::string> lines;
    const auto installed = list_installed(environment, report);
    REQUIRE(installed.has_value());
    for (const auto& distribution : *installed) {
      lines.push_back(distribution.name + " " +
                      axle::wheel::render_version(distribution.metadata.version));
    }
    return lines;
  }
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("an installed wheel has all its files and a correct RECORD") {
  Workplace work;
  const std::string path = work.wheel(
      "Demo.Pkg", "1.0",
      {{"demo/__init__.py", "x = 1\n"},
       {"demo/tool", "run", true},
       {"demo_pkg-1.0.data/scripts/demo-old", "#!python\nprint()\n", true},
       {"demo_pkg-1.0.data/scripts/demo-sh", "#!/bin/sh\n", true},
       {"demo_pkg-1.0.data/headers/demo.h", "int x;\n"},
       {"demo_pkg-1.0.data/data/share/man/demo.1", "man"},
       {"demo_pkg-1.0.data/platlib/demo_fast.py", "y = 2\n"},
       {"demo_pkg-1.0.dist-info/entry_points.txt", "[console_scripts]\ndemo = demo:main\n"}});
  const auto outcome = work.put({path});
  REQUIRE(outcome.has_value());
  REQUIRE(outcome->installed.size() == 1);
  CHECK(outcome->installed[0].name == "demo-pkg");
  CHECK(read_text(work.site("demo_fast.py")) == "y = 2\n");
  CHECK(read_text(work.folder / "env/share/man/demo.1") == "man");
  CHECK(read_text(work.folder / "env/include/site/python3.11/demo_pkg/demo.h") == "int x;\n");
  const std::string shebang = "#!" + work.environment.python + "\n";
  CHECK(read_text(work.folder / "env/bin/demo-old") == shebang + "print()\n");
  CHECK(read_text(work.folder / "env/bin/demo-sh") == "#!/bin/sh\n");
  CHECK(read_text(work.folder / "env/bin/demo").starts_with(shebang));
  const std::string info = work.site("demo_pkg-1.0.dist-info/");
  CHECK(read_text(info + "INSTALLER") == "axle\n");
  CHECK(is_there(info + "REQUESTED"));
  CHECK_FALSE(is_there(info + "direct_url.json"));
  const auto record = axle::wheel::parse_record(read_text(info + "RECORD"), "RECORD");
  REQUIRE(record.has_value());
  CHECK(record->size() == 14);
  for (const auto& entry : *record) {
    CAPTURE(entry.path);
    const std::string content = read_text(work.site(entry.path));
    if (entry.path.ends_with("/RECORD")) continue;
    CHECK(entry.size == content.size());
    CHECK(entry.sha256 == axle::wheel::render_base64(axle::wheel::sha256(content)));
  }
  CHECK(work.listed() == Lines{"demo-pkg 1.0"});
}

TEST_CASE("uninstalling gives the environment back as it was") {
  Workplace work;
  const auto before = snapshot(work.folder / "env");
  REQUIRE(work.put({work.wheel("a", "1",
                               {{"a/b/c.py", "1"},
                                {"a.py", "2"},
                                {"a-1.data/data/share/x/y", "3"},
                                {"a-1.data/headers/h.h", "4"}})}));
  write_text(work.site("a/b/__pycache__/c.cpython-311.opt-1.pyc"), "code");
  write_text(work.site("__pycache__/a.cpython-311.pyc"), "code");
  const auto outcome = uninstall({"A"}, work.environment, work.options, work.report);
  REQUIRE(outcome.has_value());
  CHECK(outcome->removed.size() == 1);
  CHECK(snapshot(work.folder / "env") == before);
  CHECK(work.report.remarks.empty());
}

TEST_CASE("uninstalling leaves what others put beside it") {
  Workplace work;
  REQUIRE(work.put({work.wheel("a", "1", {{"a/x.py", "1"}})}));
  write_text(work.site("a/mine.txt"), "mine");
  write_text(work.site("a/__pycache__/other.cpython-311.pyc"), "code");
  REQUIRE(uninstall({"a"}, work.environment, work.options, work.report));
  CHECK(read_text(work.site("a/mine.txt")) == "mine");
  CHECK(is_there(work.site("a/__pycache__/other.cpython-311.pyc")));
  CHECK_FALSE(is_there(work.site("a/x.py")));
}

TEST_CASE("an upgrade removes what the new version lacks and byte code of what it keeps") {
  Workplace work;
  auto first =
      resolution_of({work.wheel("a", "1", {{"a/x.py", "1"}, {"a/old/y.py", "1"}, {"a.py", "1"}})});
  REQUIRE(work.put(first));
  write_text(work.site("__pycache__/a.cpython-311.pyc"), "stale");
  auto second =
      resolution_of({work.wheel("a", "2", {{"a/x.py", "2"}, {"a/new/z.py", "2"}, {"a.py", "2"}})});
  second.packages[0].requested = false;
  const auto outcome = work.put(second);
  REQUIRE(outcome.has_value());
  CHECK(outcome->removed.size() == 1);
  CHECK(read_text(work.site("a/x.py")) == "2");
  CHECK_FALSE(is_there(work.site("a/old")));
  CHECK_FALSE(is_there(work.site("__pycache__")));
  CHECK(work.listed() == Lines{"a 2"});
  CHECK(is_there(work.site("a-2.dist-info/REQUESTED")));  // as the version before it
}

TEST_CASE("a folder shared by two packages outlives one of them") {
  Workplace work;
  const std::string init = "# shared\n";
  REQUIRE(work.put({work.wheel("a", "1", {{"ns/__init__.py", init}, {"ns/a.py", "a"}}),
                    work.wheel("b", "1", {{"ns/__init__.py", init}, {"ns/b.py", "b"}})}));
  // The same file again, when it is there already.
  REQUIRE(work.put({work.wheel("c", "1", {{"ns/__init__.py", init}, {"ns/c.py", "c"}})}));
  REQUIRE(uninstall({"a"}, work.environment, work.options, work.report));
  CHECK_FALSE(is_there(work.site("ns/a.py")));
  CHECK(read_text(work.site("ns/__init__.py")) == init);
  REQUIRE(uninstall({"b", "c"}, work.environment, work.options, work.report));
  CHECK_FALSE(is_there(work.site("ns")));
}

TEST_CASE("a file of another package or of none is a conflict and nothing changes") {
  Workplace work;
  REQUIRE(work.put({work.wheel("a", "1", {{"a/x.py", "1"}})}));
  write_text(work.site("mine.py"), "mine");
  write_text(work.site("folder/inside"), "mine");
  const auto before = snapshot(work.folder / "env");
  const auto refused = [&](std::vector<axle::wheel::WheelMember> members, std::string_view says) {
    const auto outcome = work.put({work.wheel("b", "1", std::move(members))});
    REQUIRE_FALSE(outcome.has_value());
    CHECK(outcome.error().kind == ErrorKind::conflict);
    CAPTURE(outcome.error().message);
    CHECK(outcome.error().message.contains(says));
    CHECK(snapshot(work.folder / "env") == before);
  };
  refused({{"a/x.py", "2"}}, "belongs to a 1");
  refused({{"mine.py", "2"}}, "no package owns");
  refused({{"mine.py/x.py", "2"}}, "is a file");
  refused({{"folder", "2"}}, "is a folder");
  const auto both =
      work.put({work.wheel("c", "1", {{"n.py", "1"}}), work.wheel("d", "1", {{"n.py", "2"}})});
  REQUIRE_FALSE(both.has_value());
  CHECK(both.error().kind == ErrorKind::conflict);
  CHECK(snapshot(work.folder / "env") == before);
  work.options.overwrite = true;
  REQUIRE(work.put({work.wheel("b", "1", {{"mine.py", "2"}})}));
  CHECK(read_text(work.site("mine.py")) == "2");
}

TEST_CASE("a RECORD that names files outside the environment deletes none of them") {
  Workplace work;
  REQUIRE(work.put({work.wheel("a", "1", {{"a.py", "1"}})}));
  write_text(work.folder / "victim.txt", "v");
  write_text(work.folder / "envictim/victim.txt", "v");  // begins with the environment's path
  const std::string record = work.site("a-1.dist-info/RECORD");
  std::filesystem::create_symlink(work.folder / "envictim", work.site("way_out"));
  write_text(record, read_text(record) + "../../../../victim.txt,,\n" +
                         work.folder / "envictim/victim.txt" +
                         ",,\n../../../bin/python,,\n../../../pyvenv.cfg,,\n../../../.axle/lock,,\n"
                         "way_out/victim.txt,,\n../../../../envictim/victim.txt,,\n");
  REQUIRE(uninstall({"a"}, work.environment, work.options, work.report));
  CHECK(read_text(work.folder / "victim.txt") == "v");
  CHECK(read_text(work.folder / "envictim/victim.txt") == "v");
  CHECK(is_there(work.folder / "env/bin/python"));
  CHECK(is_there(work.folder / "env/pyvenv.cfg"));
  CHECK(is_there(work.folder / "env/.axle/lock"));
  CHECK_FALSE(is_there(work.site("a.py")));
  CHECK(work.report.remarks.size() == 7);
}

TEST_CASE("what is not installed or has no RECORD is not removed") {
  Workplace work;
  const auto missing =
      uninstall({"nothing", "no.thing"}, work.environment, work.options, work.report);
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().kind == ErrorKind::not_found);
  CHECK(missing.error().message.contains("nothing, no.thing"));
  write_text(work.site("old.egg-info/PKG-INFO"), "Metadata-Version: 1.0\nName: old\nVersion: 1\n");
  write_text(work.site("bare-1.dist-info/METADATA"),
             "Metadata-Version: 2.1\nName: bare\nVersion: 1\n");
  write_text(work.site("bare-1.dist-info/INSTALLER"), "debian\n");
  CHECK(work.listed() == Lines{"bare 1", "old 1"});
  const auto bare = uninstall({"bare"}, work.environment, work.options, work.report);
  REQUIRE_FALSE(bare.has_value());
  CHECK(bare.error().kind == ErrorKind::unsupported);
  CHECK(bare.error().hint.contains("debian"));
}

TEST_CASE("a direct wheel says where it came from") {
  Workplace work;
  auto resolution = resolution_of({work.wheel("a", "1", {{"a.py", "1"}})});
  resolution.packages[0].direct = true;
  resolution.packages[0].requested = false;
  const std::string sha256 = std::exchange(resolution.packages[0].hash, {}).digits;
  REQUIRE(work.put(resolution));
  const std::string text = read_text(work.site("a-1.dist-info/direct_url.json"));
  CHECK(text == "{\"url\":\"" + resolution.packages[0].url +
                    "\",\"archive_info\":{\"hash\":\"sha256=" + sha256 +
                    "\",\"hashes\":{\"sha256\":\"" + sha256 + "\"}}}");
  CHECK_FALSE(is_there(work.site("a-1.dist-info/REQUESTED")));
}

TEST_CASE("a wheel is downloaded once and then linked from the store") {
  Workplace work;
  auto resolution = resolution_of({work.wheel("a", "1", {{"a.py", std::string(5000, 'x')}})});
  work.transport.files["https://index.example/a.whl"] =
      read_text(*axle::index::file_path(resolution.packages[0].url));
  resolution.packages[0].url = "https://index.example/a.whl";
  REQUIRE(work.put(resolution));
  REQUIRE(uninstall({"a"}, work.environment, work.options, work.report));
  REQUIRE(work.put(resolution));
  CHECK(work.transport.downloads == 1);
  CHECK(std::filesystem::hard_link_count(work.site("a.py")) == 2);
  CHECK(std::filesystem::hard_link_count(work.site("a-1.dist-info/RECORD")) == 1);
  // An edit through the link is found and fixed.
  write_text(work.site("a.py"), "edited");
  REQUIRE(uninstall({"a"}, work.environment, work.options, work.report));
  REQUIRE(work.put(resolution));
  CHECK(work.transport.downloads == 2);
  CHECK(read_text(work.site("a.py")) == std::string(5000, 'x'));
  for (const auto& entry : std::filesystem::directory_iterator(work.options.store_folder)) {
    CHECK(entry.path().filename() == "wheels");
  }
}

TEST_CASE("a store on another file system is copied from") {
  Workplace work;
  if (!std::filesystem::exists("/dev/shm")) {
    MESSAGE("skipped: there is no /dev/shm");
    return;
  }
  const Sandbox near("/dev/shm");
  const Sandbox far("/var/tmp");
  Environment environment = bare_environment(near / "env");
  work.options.store_folder = far / "store";
  REQUIRE(install(resolution_of({work.wheel("a", "1", {{"a.py", "1"}, {"a/tool", "t", true}})}),
                  environment, work.transport, work.options, work.report));
  CHECK(read_text(environment.purelib + "/a.py") == "1");
  CHECK(std::filesystem::hard_link_count(environment.purelib + "/a.py") == 1);
  CHECK((std::filesystem::status(environment.purelib + "/a/tool").permissions() &
         std::filesystem::perms::owner_exec) != std::filesystem::perms::none);
}

TEST_CASE("packages that are there already are kept and nothing is written") {
  Workplace work;
  auto resolution = resolution_of({work.wheel("a", "1", {{"a.py", "1"}})});
  resolution.packages[0].already_installed = true;
  const auto outcome = work.put(resolution);
  REQUIRE(outcome.has_value());
  CHECK(outcome->kept.size() == 1);
  CHECK(outcome->installed.empty());
  CHECK_FALSE(is_there(work.folder / "env/.axle"));
}

TEST_CASE("a package that changes between the resolution and the lock is a conflict") {
  Workplace work;
  const std::string a = work.wheel("a", "1", {{"a.py", "1"}});
  REQUIRE(work.put({a}));
  auto resolution = resolution_of({a, work.wheel("b", "1", {{"b.py", "1"}})});
  resolution.packages[0].already_installed = true;
  const auto refused = [&] {
    const auto before = snapshot(work.folder / "env");
    const auto outcome = work.put(resolution);
    REQUIRE_FALSE(outcome.has_value());
    CHECK(outcome.error().kind == ErrorKind::conflict);
    CHECK(outcome.error().message == "a was changed by another command in the meantime");
    CHECK(snapshot(work.folder / "env") == before);
  };
  REQUIRE(work.put({work.wheel("a", "2", {{"a.py", "2"}})}));
  refused();
  REQUIRE(uninstall({"a"}, work.environment, work.options, work.report));
  refused();
  REQUIRE(work.put({a}));
  CHECK(work.put(resolution).has_value());
}

TEST_CASE("two distributions of one name are both removed by an upgrade or an uninstallation") {
  for (const bool upgrade : {true, false}) {
    CAPTURE(upgrade);
    Workplace work;
    const auto before = snapshot(work.folder / "env");
    REQUIRE(work.put({work.wheel("a", "1", {{"a.py", "1"}, {"only_old.py", "1"}})}));
    const std::string record = read_text(work.site("a-1.dist-info/RECORD"));
    REQUIRE(work.put({work.wheel("a", "2", {{"a.py", "2"}})}));
    // As an upgrade leaves it that was killed before it removed the old version.
    write_text(work.site("a-1.dist-info/METADATA"), "Metadata-Version: 2.1\nName: a\nVersion: 1\n");
    write_text(work.site("a-1.dist-info/RECORD"), record);
    write_text(work.site("only_old.py"), "1");
    CHECK(work.listed() == Lines{"a 2"});
    REQUIRE(work.report.remarks.size() == 1);
    CHECK(work.report.remarks[0].message.contains("installed twice"));
    const auto outcome = upgrade ? work.put({work.wheel("a", "3", {{"a.py", "3"}})})
                                 : uninstall({"a"}, work.environment, work.options, work.report);
    REQUIRE(outcome.has_value());
    REQUIRE(outcome->removed.size() == 1);
    CHECK(outcome->removed[0].version == "2");
    CHECK_FALSE(is_there(work.site("only_old.py")));
    CHECK(work.listed() == (upgrade ? Lines{"a 3"} : Lines{}));
    CHECK(work.report.remarks.size() == 1);
    if (!upgrade) CHECK(snapshot(work.folder / "env") == before);
  }
}

TEST_CASE("an older one of two without a RECORD stays and stops nothing") {
  Workplace work;
  write_text(work.site("a-1.dist-info/METADATA"), "Metadata-Version: 2.1\nName: a\nVersion: 1\n");
  const auto before = snapshot(work.folder / "env");
  write_text(work.site("a-2.dist-info/METADATA"), "Metadata-Version: 2.1\nName: a\nVersion: 2\n");
  write_text(work.site("a-2.dist-info/RECORD"), "a.py,,\na-2.dist-info/RECORD,,\n");
  write_text(work.site("a.py"), "2");
  const auto outcome = uninstall({"a"}, work.environment, work.options, work.report);
  REQUIRE(outcome.has_value());
  CHECK(outcome->removed.size() == 1);
  CHECK(snapshot(work.folder / "env") == before);
}

TEST_CASE("the same version replaces a package whose RECORD is missing or malformed") {
  for (const std::string_view damage : {"gone", "\"never closed", "a folder"}) {
    CAPTURE(damage);
    Workplace work;
    const std::string wheel =
        work.wheel("a", "1", {{"a/__init__.py", "1"}, {"a/data.txt", "d"}, {"shared/x.py", "x"}});
    REQUIRE(work.put({wheel, work.wheel("b", "1", {{"b.py", "b"}, {"shared/x.py", "x"}})}));
    const auto before = snapshot(work.folder / "env");
    const auto record = work.site("a-1.dist-info/RECORD");
    std::filesystem::remove(record);
    if (damage == "a folder") std::filesystem::create_directory(record);
    if (damage.starts_with('"')) write_text(record, std::string(damage));
    write_text(work.site("a/__init__.py"), "edited");
    write_text(work.site("a/__pycache__/__init__.cpython-311.pyc"), "stale");
    write_text(work.site("a/of_a_user.txt"), "mine");
    CHECK_FALSE(work.put({work.wheel("a", "2", {{"a/__init__.py", "2"}})}).has_value());
    const auto refused = uninstall({"a"}, work.environment, work.options, work.report);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().kind == ErrorKind::unsupported);
    CHECK(refused.error().hint.contains("`variant install --reinstall --no-deps a==1`"));
    REQUIRE(work.put({wheel}));
    CHECK(read_text(work.site("a/__init__.py")) == "1");
    CHECK(read_text(work.site("a/of_a_user.txt")) == "mine");
    CHECK_FALSE(is_there(work.site("a/__pycache__/__init__.cpython-311.pyc")));
    std::filesystem::remove(work.site("a/of_a_user.txt"));
    std::filesystem::remove(work.site("a/__pycache__"));
    CHECK(snapshot(work.folder / "env") == before);
    REQUIRE(uninstall({"a"}, work.environment, work.options, work.report));
    CHECK(read_text(work.site("shared/x.py")) == "x");
  }
}

TEST_CASE("a repair touches no file of another package, and none that an operating system owns") {
  Workplace work;
  const std::string wheel = work.wheel("a", "1", {{"a.py", "1"}, {"common.py", "of a"}});
  REQUIRE(work.put({wheel}));
  std::filesystem::remove(work.site("a-1.dist-info/RECORD"));
  write_text(work.site("c-1.dist-info/METADATA"), "Metadata-Version: 2.1\nName: c\nVersion: 1\n");
  write_text(work.site("c-1.dist-info/RECORD"), "common.py,,\nc-1.dist-info/RECORD,,\n");
  write_text(work.site("common.py"), "of c");
  const auto before = snapshot(work.folder / "env");
  const auto refused = work.put({wheel});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message.contains("belongs to c 1"));
  CHECK(snapshot(work.folder / "env") == before);
  std::filesystem::remove_all(work.site("c-1.dist-info"));
  write_text(work.site("a-1.dist-info/INSTALLER"), "debian\n");
  const auto foreign = work.put({wheel});
  REQUIRE_FALSE(foreign.has_value());
  CHECK(foreign.error().hint.contains("remove it with debian"));
  write_text(work.site("a-1.dist-info/INSTALLER"), "pip\n");
  CHECK(work.put({wheel}).has_value());
}

TEST_CASE(
    "a package whose METADATA is lost is replaced, and so is an older double without RECORD") {
  for (const bool recorded : {true, false}) {
    CAPTURE(recorded);
    Workplace work;
    const std::string wheel = work.wheel("a-b", "1", {{"a.py", "1"}});
    REQUIRE(work.put({wheel}));
    const auto before = snapshot(work.folder / "env");
    std::filesystem::remove(work.site("a_b-1.dist-info/METADATA"));
    if (!recorded) std::filesystem::remove(work.site("a_b-1.dist-info/RECORD"));
    write_text(work.site("a_b-0.9.dist-info/METADATA"),
               "Metadata-Version: 2.1\nName: a-b\nVersion: 0.9\n");
    write_text(work.site("a_b-0.8.dist-info/METADATA"),
               "Metadata-Version: 2.1\nName: a-b\nVersion: 0.8\n");
    write_text(work.site("a_b-0.9.dist-info/RECORD"), "a_b-0.9.dist-info/METADATA,,\n");
    REQUIRE(work.put({wheel}));
    CHECK(snapshot(work.folder / "env") == before);
    CHECK(work.listed() == Lines{"a-b 1"});
  }
}

TEST_CASE("several packages enter in one transaction or not at all") {
  Workplace work;
  const auto before = snapshot(work.folder / "env");
  auto resolution = resolution_of({work.wheel("a", "1", {{"a.py", "1"}}),
                                   work.wheel("b", "1", {{"b.py", "1"}, {"a.py", "2"}})});
  CHECK_FALSE(work.put(resolution).has_value());
  CHECK(snapshot(work.folder / "env") == before);
  CHECK(work.listed().empty());
}

TEST_CASE("requirements of installed packages that do not hold are found") {
  Workplace work;
  REQUIRE(work.put(
      {make_wheel(work.folder / "dist", "a", "1", {{"a.py", "1"}},
                  "Requires-Dist: b>=2\nRequires-Dist: c; extra == 'x'\n"
                  "Requires-Dist: d; python_version >= '3'\nRequires-Dist: e; os_name == 'nt'\n"),
       work.wheel("b", "1", {{"b.py", "1"}})}));
  const auto broken =
      check_installed(*list_installed(work.environment, work.report), work.environment);
  REQUIRE(broken.size() == 2);
  CHECK(broken[0].package == "a 1");
  CHECK(broken[0].requirement == "b>=2");
  CHECK(broken[0].found == "1");
  CHECK(broken[1].requirement.starts_with("d"));
  CHECK(broken[1].found.empty());
}

TEST_CASE("packages in outer folders are seen, kept, shadowed, and never changed") {
  Workplace outer;
  REQUIRE(outer.put(
      {outer.wheel("a", "1", {{"a.py", "outer"}}), outer.wheel("b", "1", {{"b.py", "outer"}})}));
  const auto before = snapshot(outer.folder / "env");
  Workplace work;
  work.environment.outer_sites = {work.folder / "absent", outer.environment.purelib};
  CHECK(work.listed() == Lines{"a 1", "b 1"});

  auto kept = axle::plan::Resolution{{package_of(work.wheel("a", "2", {{"a.py", "2"}})),
                                      package_of(outer.folder / "dist/b-1-py3-none-any.whl")}};
  kept.packages[1].already_installed = true;
  const auto done = work.put(kept);
  REQUIRE(done);
  CHECK(done->removed.empty());
  CHECK(work.listed() == Lines{"a 2", "b 1"});
  kept.packages[1].version = *axle::wheel::parse_version("2");
  CHECK(work.put(kept).error().kind == ErrorKind::conflict);

  const std::string place = outer.environment.purelib + "/b-1.dist-info";
  const auto refused = uninstall({"b"}, work.environment, work.options, work.report);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.contains(place));
  CHECK(work.report.remarks.empty());
  REQUIRE(uninstall({"a", "b"}, work.environment, work.options, work.report));
  REQUIRE(work.report.remarks.size() == 1);
  CHECK(work.report.remarks[0].message.contains(place));
  CHECK(work.listed() == Lines{"a 1", "b 1"});
  CHECK(snapshot(outer.folder / "env") == before);
}
