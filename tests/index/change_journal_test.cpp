#include "index/publish/change_journal.h"

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "index/publish/folder_change.h"
#include "tests/index/sample_wheels.h"

using namespace axle::index;
using axle::CollectedReport;
using axle::ErrorKind;
using axle::test::read_file;
using axle::test::TemporaryFolder;
using axle::test::write_file;

namespace {

namespace fs = std::filesystem;

}  // namespace

TEST_CASE("a journal is read as it was written") {
  const std::vector<ChangeStep> steps = {{"simple/demo/demo-1.0-py3-none-any.whl", "0"},
                                         {"simple/demo/a file with blanks", "17"},
                                         {"simple/index.json", "2"},
                                         {"page/script.js", "3"},
                                         {"index.html", "4"},
                                         {"simple/demo/gone.whl"}};
  const std::string text = render_change(steps);
  REQUIRE(parse_change(text, "j").has_value());
  CHECK(*parse_change(text, "j") == steps);
  CHECK(parse_change(render_change({}), "j")->empty());
  // Cut anywhere it is none.
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    CHECK(!parse_change(text.substr(0, size), "j").has_value());
  }
}

TEST_CASE("a journal that leaves the index is refused with its line") {
  for (const char* step : {"put 0 ../x",
                           "put 0 simple/../x",
                           "put 0 simple/a/../../x",
                           "put 0 /etc/passwd",
                           "put 0 simple/a/b/c",
                           "put 0 simple/",
                           "put 0 simple//x",
                           "put ../0 simple/x",
                           "put  simple/x",
                           "put 1234567890 simple/x",
                           "drop simple/..",
                           "drop",
                           "drop ",
                           "move 0 simple/x",
                           "",
                           "put 0 simple/.",
                           "put 0 other/x",
                           "put 0",
                           "put 0 page/../x",
                           "put 0 page/",
                           "put 0 page/a/b",
                           "put 0 index.htm",
                           "put 0 page"}) {
    CAPTURE(step);
    const auto read =
        parse_change(std::string("axle-index-change 1\ndrop simple/x\n") + step + "\nend\n", "j");
    REQUIRE(!read.has_value());
    CHECK(read.error().kind == ErrorKind::malformed);
    CHECK(read.error().message.starts_with("j, line 3: "));
  }
  CHECK(!parse_change("axle-index-change 2\nend\n", "j").has_value());
  CHECK(!parse_change("axle-index-change 1\nend\nend\n", "j").has_value());
  CHECK(!parse_change("axle-index-change 1\nend\n\n", "j").has_value());
}

TEST_CASE("a decided change is completed by whoever comes next") {
  TemporaryFolder folder;
  const std::string index = folder / "index";
  write_file(index + "/simple/demo/old.whl", "old");
  write_file(index + "/simple/demo/index.json", "names old.whl");
  write_file(index + "/.axle-change/1", "names new.whl");
  write_file(index + "/.axle-change/0", "new");
  write_file(index + "/.axle-change/journal",
             render_change({{"simple/demo/new.whl", "0"},
                            {"simple/demo/index.json", "1"},
                            {"simple/fresh/index.json", "2"},  // done before the process ended
                            {"simple/demo/old.whl"}}));
  write_file(index + "/simple/fresh/index.json", "fresh");
  {
    const auto change = FolderChange::begin(index);
    REQUIRE(change.has_value());
  }
  CHECK(read_file(index + "/simple/demo/index.json") == "names new.whl");
  CHECK(read_file(index + "/simple/demo/new.whl") == "new");
  CHECK(!fs::exists(index + "/simple/demo/old.whl"));
  CHECK(read_file(index + "/simple/fresh/index.json") == "fresh");
  CHECK(!fs::exists(index + "/.axle-change"));
  // One that was not decided is dropped.
  write_file(index + "/.axle-change/0", "half");
  REQUIRE(FolderChange::begin(index).has_value());
  CHECK(!fs::exists(index + "/.axle-change"));
}

TEST_CASE(
    "a change that is dropped leaves nothing, and the folder of a project goes with its files") {
  TemporaryFolder folder;
  const std::string index = folder / "index";
  {
    const auto change = FolderChange::begin(index);
    REQUIRE(change.has_value());
    REQUIRE((*change)->write("simple/demo/index.json", "{}").has_value());
  }
  CHECK(!fs::exists(index));
  CollectedReport report;
  {
    const auto change = FolderChange::begin(index);
    REQUIRE(change.has_value());
    REQUIRE((*change)->write("simple/demo/index.json", "{}").has_value());
    REQUIRE((*change)->put_in_place(report).has_value());
  }
  CHECK(read_file(index + "/simple/demo/index.json") == "{}");
  const auto change = FolderChange::begin(index);
  REQUIRE(change.has_value());
  (*change)->leave_out("simple/demo/index.json");
  REQUIRE((*change)->put_in_place(report).has_value());
  CHECK(!fs::exists(index + "/simple/demo"));
  CHECK(!fs::exists(index + "/.axle-change"));
}
