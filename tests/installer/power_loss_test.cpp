// What a command finds that is the first one after the machine was started again: what changes of
// an earlier boot promised is compared, and made again where it is not kept.

#include "installer/durability/power_loss.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/boot.h"
#include "installer/durability/unflushed_marks.h"
#include "installer/environment/installed.h"
#include "installer/sealed_fields.h"
#include "installer/transaction/changes.h"
#include "tests/installer/sandbox.h"

using namespace axle::installer;
using axle::ErrorKind;

namespace {

namespace fs = std::filesystem;

constexpr const char* other_boot = "00000000-0000-4000-8000-000000000000";

UnflushedChange sample_change() {
  UnflushedChange change;
  change.title = "install demo 1.0";
  change.store = "/store";
  change.latest = 1'700'000'000'000'000'001;
  change.leaving = {{"lib/old", {{"", 3, 4}}}, {"lib/folder", {{"a/b.py", 1, 2}, {"c.py", 0, -1}}}};
  change.packages = {
      {{"demo", "1.0", "demo-1.0-py3-none-any.whl", "file:///demo.whl", std::string(64, 'a')},
       "lib/demo-1.0.dist-info",
       {{"lib/demo.py", "demo.py", "", false, "hash", 5},
        {"bin/demo", "", std::string("a\0b", 3), true, "other", 3},
        {"lib/demo-1.0.dist-info/REQUESTED", "", "", false, "none", 0}}}};
  return change;
}

/// An environment with a store beside it, and the package demo.
struct Place {
  Sandbox folder;
  Environment environment = bare_environment(folder / "env");
  InstallOptions options{.store_folder = folder / "store"};
  MemoryTransport transport;
  axle::CollectedReport report;

  Place() {
    put(wheel("demo", "1.0"));
    report.remarks.clear();
  }

  std::string wheel(const std::string& name, const std::string& version) {
    return make_wheel(
        folder / "dist", name, version,
        {{name + "/__init__.py", "version = " + version},
         {name + "/same.py", "always"},
         {name + "-" + version + ".data/scripts/" + name + "-run", "#!python\n", true}});
  }
  void put(const std::string& path) {
    const auto done = install(resolution_of({path}), environment, transport, options, report);
    REQUIRE_MESSAGE(done.has_value(), done.error().message);
  }
  [[nodiscard]] std::string site(const std::string& name) const {
    return environment.purelib + "/" + name;
  }
  [[nodiscard]] std::string state(const std::string& name) const {
    return folder / ("env/.axle/" + name);
  }
  [[nodiscard]] std::vector<std::string> marks() const {
    std::vector<std::string> names;
    if (!is_there(state("unflushed"))) return names;
    for (const auto& entry : fs::directory_iterator(state("unflushed"))) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".made")) names.push_back(entry.path().string());
    }
    std::ranges::sort(names);
    return names;
  }
  /// Marks of this boot become those of another, made long ago. The inode stays.
  void start_again(const std::string& boot = other_boot, const std::string& seconds = "5") const {
    for (const std::string& path : marks()) {
      const fs::path mark(path);
      const std::string name = mark.filename().string();
      fs::rename(
          mark, mark.parent_path() / fmt::format("{}.{}.{}{}", name.substr(0, name.find('.')), boot,
                                                 seconds, name.substr(name.rfind('.'))));
    }
    const std::string wheels = folder / "store/wheels";
    if (boot != other_boot || !is_there(wheels)) return;
    for (const auto& entry : fs::directory_iterator(wheels)) {
      const std::string link = entry.path().string() + "/unflushed";
      if (!fs::is_symlink(link)) continue;
      fs::remove(link);
      fs::create_symlink(other_boot, link);
    }
  }
  /// As a file whose content never came to the disk: its time is not newer.
  static void lose(const std::string& path, const std::string& content = {}) {
    const auto time = fs::last_write_time(path);
    write_text(path, content);
    fs::last_write_time(path, time);
  }
  [[nodiscard]] std::string stored(const std::string& name) const {
    for (const auto& entry : fs::directory_iterator(folder / "store/wheels"))
      return entry.path().string() + "/tree/" + name;
    return {};
  }
  std::vector<std::string> listed() {
    std::vector<std::string> names;
    const auto installed = list_installed(environment, report);
    REQUIRE_MESSAGE(installed.has_value(), installed.error().message);
    for (const auto& one : *installed) names.push_back(one.name);
    return names;
  }
  [[nodiscard]] std::string said() const {
    std::string text;
    for (const axle::Remark& remark : report.remarks)
      text += remark.message + " | " + remark.hint + "\n";
    return text;
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the record of a change survives being written and read") {
  const UnflushedChange change = sample_change();
  const auto read = parse_unflushed(render_unflushed(change), "record");
  REQUIRE_MESSAGE(read.has_value(), read.error().message);
  CHECK(*read == change);
}

TEST_CASE("the files of a change are those it names and those that RECORD lists beside them") {
  const auto with_record = [](const std::string& record) {
    UnflushedChange change = sample_change();
    change.packages[0].files.push_back(
        {"lib/demo-1.0.dist-info/RECORD", "", record, false, "its hash", record.size()});
    return change;
  };
  const std::string hash(43, 'h');
  const std::string own = "../bin/demo,sha256=" + hash +
                          ",3\ndemo-1.0.dist-info/RECORD,,\ndemo.py,sha256=" + hash + ",5\n";
  const UnflushedChange change = with_record(own + "demo/more.py,sha256=" + hash + ",7\n");
  const auto files = all_files(change.packages[0]);
  REQUIRE_MESSAGE(files.has_value(), files.error().message);
  REQUIRE(files->size() == 5);
  CHECK(files->back() == PromisedFile{"lib/demo/more.py", "demo/more.py", "", false, hash, 7});
  CHECK(std::ranges::equal(change.packages[0].files, std::span(*files).first(4)));
  const auto read = parse_unflushed(render_unflushed(change), "record");
  REQUIRE_MESSAGE(read.has_value(), read.error().message);
  CHECK(*read == change);

  for (const std::string& row :
       {"../bin/other,sha256=" + hash + ",3", "../../x,sha256=" + hash + ",3",
        "/etc/passwd,sha256=" + hash + ",3", std::string("more.py,,"),
        "more.py,sha256=" + hash + ",", std::string("more.py"), std::string("\"more.py")}) {
    CAPTURE(row);
    const auto refused = parse_unflushed(render_unflushed(with_record(own + row + "\n")), "record");
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().kind == ErrorKind::malformed);
  }
}

TEST_CASE("a record that is cut off anywhere is malformed") {
  const std::string text = render_unflushed(sample_change());
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto read = parse_unflushed(text.substr(0, size), "record");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().kind == ErrorKind::malformed);
  }
}

TEST_CASE("a record with paths outside the environment is malformed") {
  for (const char* path : {"../x", "/etc/passwd", "lib/../../x", ".axle/lock", "", "lib//x"}) {
    CAPTURE(path);
    UnflushedChange change = sample_change();
    change.packages[0].files[0].path = path;
    CHECK_FALSE(parse_unflushed(render_unflushed(change), "record").has_value());
    change = sample_change();
    change.leaving[0].path = path;
    CHECK_FALSE(parse_unflushed(render_unflushed(change), "record").has_value());
    change = sample_change();
    change.packages[0].files[0].stored = "../x";
    CHECK_FALSE(parse_unflushed(render_unflushed(change), "record").has_value());
  }
}

TEST_CASE("a change leaves a mark of this boot and is not compared in it") {
  Place place;
  REQUIRE(place.marks().size() == 1);
  CHECK(place.marks()[0].contains(axle::system::boot_id()));
  CHECK(is_there(place.state("unflushed/1.made")));
  Place::lose(place.site("demo/__init__.py"), "other");
  CHECK(place.listed() == Names{"demo"});
  CHECK(read_text(place.site("demo/__init__.py")) == "other");
  CHECK(place.marks().size() == 1);
}

TEST_CASE("what did not come to the disk is restored once the machine was started again") {
  Place place;
  const auto whole = snapshot(place.folder / "env");
  Place::lose(place.site("demo/__init__.py"));
  Place::lose(place.site("demo-1.0.dist-info/RECORD"), "cut");
  Place::lose(place.folder / "env/bin/demo-run");
  fs::remove(place.site("demo/same.py"));
  place.start_again();
  CHECK(place.listed() == Names{"demo"});
  CHECK(place.said().contains("demo 1.0: 4 files were not on the disk"));
  CHECK(snapshot(place.folder / "env") == whole);
  struct stat status = {};
  REQUIRE(::stat((place.folder / "env/bin/demo-run").c_str(), &status) == 0);
  CHECK((status.st_mode & 0100U) != 0);
  CHECK(place.marks().empty());
  place.report.remarks.clear();
  CHECK(place.listed() == Names{"demo"});
  CHECK(place.said().empty());
}

TEST_CASE("without an intact store the wheel is read again from where it came") {
  Place place;
  const auto whole = snapshot(place.folder / "env");
  Place::lose(place.site("demo/__init__.py"));  // the same inode as in the store
  place.start_again();
  REQUIRE(read_text(place.stored("demo/__init__.py")).empty());
  CHECK(place.listed() == Names{"demo"});
  CHECK(snapshot(place.folder / "env") == whole);
  CHECK(read_text(place.stored("demo/__init__.py")) == "version = 1.0");
}

TEST_CASE("what cannot be restored is named with the command that installs it again") {
  Place place;
  Place::lose(place.site("demo/__init__.py"));
  fs::remove_all(place.folder / "dist");
  place.start_again();
  for (int turn = 0; turn < 2; ++turn) {
    place.report.remarks.clear();
    CHECK(place.listed() == Names{"demo"});
    CHECK(place.said().contains("demo 1.0 is damaged"));
    CHECK(place.said().contains("`variant install --reinstall --no-deps demo==1.0`"));
  }
  place.put(place.wheel("demo", "1.0"));
  place.report.remarks.clear();
  CHECK(place.listed() == Names{"demo"});
  CHECK(place.said().empty());
  CHECK(read_text(place.site("demo/__init__.py")) == "version = 1.0");
}

TEST_CASE("what was edited after a change stays so") {
  Place place;
  write_text(place.site("demo/same.py"), "edited");
  fs::last_write_time(place.site("demo/same.py"),
                      fs::file_time_type::clock::now() + std::chrono::hours(1));
  place.start_again();
  CHECK(place.listed() == Names{"demo"});
  CHECK(read_text(place.site("demo/same.py")) == "edited");
  CHECK(place.marks().empty());
}

TEST_CASE("a package that another program removed or replaced since is not brought back") {
  SUBCASE("removed") {
    Place place;
    fs::remove_all(place.site("demo"));
    fs::remove_all(place.site("demo-1.0.dist-info"));
    fs::remove(place.folder / "env/bin/demo-run");
    const auto before = snapshot(place.folder / "env");
    place.start_again();
    CHECK(place.listed().empty());
    CHECK(snapshot(place.folder / "env") == before);
  }
  SUBCASE("installed again by itself") {
    Place place;
    write_text(place.site("demo-1.0.dist-info/RECORD"), "demo/__init__.py,,\n");
    fs::last_write_time(place.site("demo-1.0.dist-info/RECORD"),
                        fs::file_time_type::clock::now() + std::chrono::hours(1));
    fs::remove(place.site("demo/same.py"));
    place.start_again();
    CHECK(place.listed() == Names{"demo"});
    CHECK_FALSE(is_there(place.site("demo/same.py")));
  }
}

TEST_CASE("later changes of the same boot count") {
  Place place;
  place.put(place.wheel("demo", "2.0"));
  const auto whole = snapshot(place.folder / "env");
  Place::lose(place.site("demo/__init__.py"));
  place.start_again();
  CHECK(place.listed() == Names{"demo"});
  CHECK(snapshot(place.folder / "env") == whole);
  const auto removed = uninstall({"demo"}, place.environment, place.options, place.report);
  REQUIRE(removed.has_value());
  place.start_again();
  CHECK(place.listed().empty());
  CHECK_FALSE(is_there(place.site("demo")));
}

TEST_CASE("the mark of a copied environment says nothing") {
  Place place;
  const std::string mark = place.marks().at(0);
  const std::string text = read_text(mark);
  write_text(mark + "1", text);  // another inode under a name that ends otherwise
  fs::remove(mark);
  fs::rename(mark + "1", mark);
  const std::string made = place.site("demo/same.py");
  Place::lose(made, "x");
  place.start_again();
  CHECK(place.listed() == Names{"demo"});
  CHECK(read_text(made) == "x");
}

TEST_CASE("a damaged or newer record is handled with a word") {
  Place place;
  const std::string text = read_text(place.marks().at(0));
  SUBCASE("damaged, of a change that was made") {
    Place::lose(place.marks()[0], text.substr(0, text.size() / 2));
    place.start_again();
    CHECK(place.listed() == Names{"demo"});
    CHECK(place.said().contains("does not match its own hash"));
    CHECK(place.said().contains("`variant check --deep`"));
    CHECK(place.marks().empty());
  }
  SUBCASE("cut off, of a change that never began") {
    Place::lose(place.marks()[0], "");
    fs::remove(place.state("unflushed/1.made"));
    place.start_again();
    CHECK(place.listed() == Names{"demo"});
    CHECK(place.said().empty());
    CHECK(place.marks().empty());
  }
  SUBCASE("of a newer Axle") {
    Place::lose(place.marks()[0], std::string("axle-unflushed 3\0more", 21));
    place.start_again();
    CHECK(place.listed() == Names{"demo"});
    CHECK(place.said().contains("of another version of Axle (axle-unflushed 3)"));
    CHECK(place.marks().size() == 1);
    place.put(place.wheel("other", "1.0"));
  }
}

TEST_CASE("marks are removed once the kernel had the time to write everything") {
  Place place;
  place.put(place.wheel("second", "1.0"));
  CHECK(place.marks().size() == 2);
  CHECK(is_there(place.stored("../unflushed")));
  place.start_again(axle::system::boot_id(), "-1000");
  place.put(place.wheel("third", "1.0"));
  CHECK(place.marks().size() == 1);
  CHECK(place.listed() == Names{"demo", "second", "third"});
  unsigned marked = 0;
  for (const auto& entry : fs::directory_iterator(place.folder / "store/wheels"))
    marked += fs::is_symlink(entry.path().string() + "/unflushed") ? 1 : 0;
  CHECK(marked == 1);  // that of third
}

TEST_CASE("an entry of the store from before a start is compared by content once") {
  Place place;
  const std::string file = place.stored("demo/same.py");
  REQUIRE(uninstall({"demo"}, place.environment, place.options, place.report).has_value());
  Place::lose(file, "ALWAYS");  // size and time agree
  place.put(place.wheel("demo", "1.0"));
  CHECK(read_text(place.site("demo/same.py")) == "ALWAYS");
  REQUIRE(uninstall({"demo"}, place.environment, place.options, place.report).has_value());
  place.start_again();
  place.put(place.wheel("demo", "1.0"));
  CHECK(read_text(place.site("demo/same.py")) == "always");
}

TEST_CASE("a boot id has one form") {
  const Sandbox folder;
  write_text(folder / "id", std::string(other_boot) + "\n");
  CHECK(axle::system::boot_id(folder / "id") == other_boot);
  write_text(folder / "id", "../../etc/passwd\n");
  CHECK(axle::system::boot_id(folder / "id").empty());
  CHECK(axle::system::boot_id(folder / "missing").empty());
  CHECK(axle::system::is_boot_id(axle::system::boot_id()));
}
