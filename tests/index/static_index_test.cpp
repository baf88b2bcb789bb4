#include "index/publish/static_index.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "index/http/url.h"
#include "index/pages/page.h"
#include "index/pages/remote_wheel.h"
#include "index/pages/source.h"
#include "index/publish/index_edit.h"
#include "tests/index/sample_wheels.h"
#include "wheel/hash/sha256.h"
#include "wheel/variant/variant_metadata.h"

using namespace axle::index;
using axle::CollectedReport;
using axle::ErrorKind;
using axle::test::SampleWheel;
using axle::test::TemporaryFolder;
using axle::test::write_wheel;

namespace {

namespace fs = std::filesystem;

SampleWheel variant(const std::string& label, std::vector<std::string> properties) {
  SampleWheel wheel;
  wheel.label = label;
  wheel.properties = std::move(properties);
  return wheel;
}

/// Two variants, the null variant and the plain wheel of a release, and another project.
void write_release(const std::string& folder) {
  write_wheel(folder, {});
  write_wheel(folder + "/deep/er", variant("v3", {"x86_64 :: level :: v3"}));
  write_wheel(folder, variant("v4", {"x86_64 :: level :: v4"}));
  write_wheel(folder, variant("null", {}));
  SampleWheel local;
  local.name = "other_thing";
  local.version = "2.0+cu128";
  write_wheel(folder, local);
}

std::map<std::string, std::string> tree_of(const fs::path& root) {
  std::map<std::string, std::string> tree;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    tree[fs::relative(entry.path(), root)] = axle::test::read_file(entry.path());
  }
  return tree;
}

/// Names beside which nothing else lies in `folder`.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

struct Setup {
  TemporaryFolder folder;
  CollectedReport report;
  std::string wheels = folder / "wheels";
  std::string out = folder / "out";

  axle::Result<StaticIndex> build() { return build_static_index(wheels, out, report); }
};

}  // namespace

TEST_CASE("a static index lists wheels, variants files and metadata") {
  Setup setup;
  write_release(setup.wheels);
  const auto index = setup.build();
  REQUIRE(index);
  CHECK(index->folder == setup.out);
  REQUIRE(index->projects.size() == 2);
  CHECK(index->projects[0].name == "other-thing");
  const IndexedProject& sample = index->projects[1];
  CHECK(sample.name == "sample");
  CHECK(sample.labels == std::vector<std::string>{"null", "v3", "v4"});
  CHECK(sample.files.size() == 5);

  const auto tree = tree_of(setup.out);
  for (const char* path : {"simple/index.json", "simple/index.html", "simple/sample/index.json",
                           "simple/sample/index.html", "simple/sample/sample-1.0-variants.json",
                           "simple/sample/sample-1.0-py3-none-any-v3.whl",
                           "simple/sample/sample-1.0-py3-none-any-v3.whl.metadata",
                           "simple/other-thing/other_thing-2.0+cu128-py3-none-any.whl"}) {
    CAPTURE(path);
    CHECK(tree.contains(path));
  }
  CollectedReport report;
  const auto variants = axle::wheel::parse_variant_metadata(
      tree.at("simple/sample/sample-1.0-variants.json"), "variants", report);
  REQUIRE(variants);
  CHECK(variants->variants.size() == 3);
  CHECK(names_in(setup.folder.path()) == std::vector<std::string>{"out", "wheels"});
}

TEST_CASE("our own sources read a static index, in JSON and in HTML alike") {
  Setup setup;
  write_release(setup.wheels);
  REQUIRE(setup.build());
  const auto transport = make_transport({});
  auto source = make_simple_source(file_url(setup.out + "/simple"), *transport, setup.report);
  for (const char* project : {"sample", "other-thing"}) {
    const auto page = source->project(project);
    REQUIRE(page);
    const std::string folder = setup.out + "/simple/" + project;
    const auto html = parse_html_page(axle::test::read_file(folder + "/index.html"),
                                      file_url(folder + "/index.html"), setup.report);
    REQUIRE(html);
    REQUIRE(html->files.size() == page->files.size());
    for (std::size_t i = 0; i < page->files.size(); ++i) {
      const PublishedFile& file = page->files[i];
      CHECK(html->files[i].filename == file.filename);
      CHECK(html->files[i].url == file.url);
      CHECK(html->files[i].hash.sha256() == file.hash.sha256());
      CHECK(html->files[i].requires_python == file.requires_python);
      CHECK(html->files[i].metadata_sha256 == file.metadata_sha256);
      const std::string content = fetch_listed(file, *transport, 1 << 20).value();
      CHECK(content.size() == file.size);
      if (!file.filename.ends_with(".whl")) continue;
      CHECK(file.requires_python == ">=3.9, <4");
      CHECK(file.has_metadata);
      const auto name = axle::wheel::parse_wheel_name(file.filename).value();
      const std::string published =
          fetch_metadata(file, name, "the index", *transport, setup.report).value();
      PublishedFile without = file;
      without.has_metadata = false;
      CHECK(fetch_metadata(without, name, "the index", *transport, setup.report).value() ==
            published);
    }
  }
  CHECK(setup.report.remarks.empty());
}

TEST_CASE("the same wheels give the same index, byte for byte, wherever they lie") {
  Setup setup;
  write_release(setup.wheels);
  REQUIRE(setup.build());
  const auto first = tree_of(setup.out);
  Setup other;
  write_release(other.wheels + "/elsewhere");
  REQUIRE(other.build());
  CHECK(tree_of(other.out) == first);
  REQUIRE(setup.build());  // over the existing one
  CHECK(tree_of(setup.out) == first);
}

TEST_CASE("what was published stays when more comes") {
  Setup setup;
  write_release(setup.wheels);
  REQUIRE(setup.build());
  const auto before = tree_of(setup.out);
  fs::remove_all(setup.wheels);
  SampleWheel newer;
  newer.version = "2.0";
  write_wheel(setup.wheels, newer);
  write_wheel(setup.wheels, variant("v2", {"x86_64 :: level :: v2"}));
  const auto index = setup.build();
  REQUIRE(index);
  const auto after = tree_of(setup.out);
  for (const auto& [path, bytes] : before) {
    CAPTURE(path);
    REQUIRE(after.contains(path));
    const bool grows = path.ends_with(".json") || path.ends_with(".html");
    if (!grows || path.contains("other-thing")) CHECK(after.at(path) == bytes);
  }
  CHECK(index->projects[0].added.empty());
  CHECK(index->projects[1].added ==
        std::vector<std::string>{"sample-1.0-py3-none-any-v2.whl", "sample-2.0-py3-none-any.whl"});
  CollectedReport report;
  const auto variants = axle::wheel::parse_variant_metadata(
      after.at("simple/sample/sample-1.0-variants.json"), "variants", report);
  REQUIRE(variants);
  CHECK(variants->variants.size() == 4);
  CHECK(names_in(setup.folder.path()) == std::vector<std::string>{"out", "wheels"});

  // The same index as if all had come at once.
  Setup at_once;
  write_release(at_once.wheels);
  write_wheel(at_once.wheels, newer);
  write_wheel(at_once.wheels, variant("v2", {"x86_64 :: level :: v2"}));
  REQUIRE(at_once.build());
  CHECK(tree_of(at_once.out) == after);
}

TEST_CASE("a published name does not get other bytes") {
  Setup setup;
  write_release(setup.wheels);
  REQUIRE(setup.build());
  const auto before = tree_of(setup.out);
  SampleWheel other;
  other.padding = 10;
  const std::string path = write_wheel(setup.wheels, other);  // over the one that was published
  CHECK(tree_of(setup.out) == before);
  const auto index = setup.build();
  REQUIRE(!index);
  CHECK(index.error().kind == ErrorKind::mismatch);
  CHECK(index.error().message.find(path) != std::string::npos);
  CHECK(index.error().message.find(setup.out + "/simple/sample/sample-1.0-py3-none-any.whl") !=
        std::string::npos);
  CHECK(tree_of(setup.out) == before);
}

TEST_CASE("a published name does not get other bytes under another spelling") {
  Setup setup;
  write_release(setup.wheels);
  REQUIRE(setup.build());
  const auto before = tree_of(setup.out);
  SampleWheel other = variant("v3", {"x86_64 :: level :: v3"});
  other.padding = 10;
  const std::string path = write_wheel(setup.folder / "more", other);
  for (const std::string_view spelling :
       {"Sample-1.0-py3-none-any-v3.whl", "sample-1.0.0-py3-none-any-v3.whl",
        "SAMPLE-01.0-PY3-none-any-v3.whl"}) {
    CAPTURE(spelling);
    const fs::path spelled = fs::path(setup.folder / "spelled") / spelling;
    fs::remove_all(spelled.parent_path());
    fs::create_directory(spelled.parent_path());
    fs::copy_file(path, spelled);
    const auto index = build_static_index(spelled.parent_path(), setup.out, setup.report);
    REQUIRE(!index);
    CHECK(index.error().kind == ErrorKind::mismatch);
    CHECK(index.error().message.find(spelling) != std::string::npos);
    CHECK(index.error().message.find("simple/sample/sample-1.0-py3-none-any-v3.whl") !=
          std::string::npos);
    CHECK(tree_of(setup.out) == before);
  }
}

TEST_CASE("a published label does not get another meaning") {
  Setup setup;
  write_release(setup.wheels);
  REQUIRE(setup.build());
  const auto before = tree_of(setup.out);
  fs::remove_all(setup.wheels);
  axle::test::write_file(setup.wheels + "/sample-1.0-1-py3-none-any-v3.whl",
                         axle::test::wheel_bytes(variant("v3", {"x86_64 :: level :: v2"})));
  const auto index = setup.build();
  REQUIRE(!index);
  CHECK(index.error().kind == ErrorKind::mismatch);
  CHECK(index.error().message.find("sample-1.0-1-py3-none-any-v3.whl") != std::string::npos);
  CHECK(index.error().message.find(setup.out + "/simple/sample/sample-1.0-py3-none-any-v3.whl") !=
        std::string::npos);
  CHECK(tree_of(setup.out) == before);
}

TEST_CASE("what is removed is said, and the rest stays") {
  Setup setup;
  write_release(setup.wheels);
  REQUIRE(setup.build());
  const auto before = tree_of(setup.out);
  const auto remove = [&](std::vector<std::string> texts, std::vector<std::string> labels = {},
                          bool dry_run = false) {
    std::vector<RemovalTarget> targets;
    for (const std::string& text : texts) targets.push_back(parse_removal_target(text).value());
    return remove_in_place(*make_folder_place(setup.out), targets, labels, dry_run, setup.report);
  };
  const auto names = [](const RemovedFiles& removal) {
    std::vector<std::string> files;
    for (const RemovedFile& file : removal.removed) files.push_back(file.filename);
    return files;
  };
  const std::vector<std::string> v4 = {"sample-1.0-py3-none-any-v4.whl"};
  CHECK(names(remove({"Sample==1.0.0"}, {"v4"}, true).value()) == v4);
  CHECK(tree_of(setup.out) == before);
  CHECK(names(remove({"sample==1.0"}, {"v4"}).value()) == v4);
  const auto variants = tree_of(setup.out).at("simple/sample/sample-1.0-variants.json");
  CHECK(variants.find("\"v4\"") == std::string::npos);
  CHECK(variants.find("\"v3\"") != std::string::npos);
  // What is gone may come again, with other bytes.
  REQUIRE(setup.build());
  CHECK(tree_of(setup.out) == before);
  // The last variants take the variants file with them.
  CHECK(names(remove({"sample"}, {"null", "v3", "v4"}).value()).back() ==
        "sample-1.0-variants.json");
  CHECK(names(remove({"other-thing==2.0+cu128"}).value()).size() == 1);
  CHECK(!fs::exists(setup.out + "/simple/other-thing"));
  CHECK(remove({"other-thing"}).error().kind == ErrorKind::not_found);
  CHECK(remove({"sample==2"}).error().kind == ErrorKind::not_found);
  CHECK(remove({"x/sample-9-py3-none-any.whl"}).error().kind == ErrorKind::not_found);
  // A damaged one can be removed, and stops nothing but its own project.
  const std::string damaged = setup.out + "/simple/sample/sample-1.0-py3-none-any.whl";
  axle::test::write_file(damaged, "torn");
  const auto refused = setup.build();
  REQUIRE(!refused);
  CHECK(refused.error().message.find(damaged) != std::string::npos);
  CHECK(names(remove({damaged}).value()).size() == 1);
  CHECK(names_in(setup.out + "/simple") == std::vector<std::string>{"index.html", "index.json"});
  REQUIRE(setup.build());
  CHECK(tree_of(setup.out) == before);
  CHECK(!parse_removal_target("==1").has_value());
  CHECK(!parse_removal_target("../x").has_value());
}

TEST_CASE("two wheels that give one label two meanings are both named, and the old index stays") {
  Setup setup;
  write_release(setup.wheels);
  REQUIRE(setup.build());
  const auto before = tree_of(setup.out);
  SampleWheel liar = variant("v3", {"x86_64 :: level :: v2"});
  const std::string bytes = axle::test::wheel_bytes(liar);
  const std::string path = setup.wheels + "/sample-1.0-1-py3-none-any-v3.whl";
  axle::test::write_file(path, bytes);
  const auto index = setup.build();
  REQUIRE(!index);
  CHECK(index.error().kind == ErrorKind::mismatch);
  CHECK(index.error().message.find("sample-1.0-1-py3-none-any-v3.whl") != std::string::npos);
  CHECK(index.error().message.find("/sample/sample-1.0-py3-none-any-v3.whl") != std::string::npos);
  CHECK(!index.error().hint.empty());
  CHECK(tree_of(setup.out) == before);
  CHECK(names_in(setup.folder.path()) == std::vector<std::string>{"out", "wheels"});
}

TEST_CASE("wheels that order their namespaces against each other are both named") {
  Setup setup;
  SampleWheel one = variant("v3", {"x86_64 :: level :: v3"});
  one.namespaces = {"x86_64", "nvidia"};
  SampleWheel two = variant("cu", {"nvidia :: cuda_version_lower_bound :: 12.8"});
  two.namespaces = {"nvidia", "x86_64"};
  write_wheel(setup.wheels, one);
  write_wheel(setup.wheels, two);
  const auto index = setup.build();
  REQUIRE(!index);
  CHECK(index.error().kind == ErrorKind::mismatch);
  CHECK(index.error().message.find("any-v3.whl") != std::string::npos);
  CHECK(index.error().message.find("any-cu.whl") != std::string::npos);
  CHECK(!fs::exists(setup.out));
}

TEST_CASE("a broken wheel is named and nothing is written") {
  Setup setup;
  write_release(setup.wheels);
  const std::string path = write_wheel(setup.wheels, variant("bad", {"x86_64 :: level :: v1"}));
  const std::string whole = axle::test::read_file(path);
  for (const std::string& broken :
       {std::string(), whole.substr(0, whole.size() / 2), std::string("not a zip")}) {
    axle::test::write_file(path, broken);
    const auto index = setup.build();
    REQUIRE(!index);
    CHECK(index.error().kind == ErrorKind::malformed);
    CHECK(index.error().message.find("any-bad.whl") != std::string::npos);
    CHECK(!fs::exists(setup.out));
  }
  // A label in the name that the metadata does not know.
  axle::test::write_file(path, axle::test::wheel_bytes(variant("v4", {"x86_64 :: level :: v4"})));
  const auto index = setup.build();
  REQUIRE(!index);
  CHECK(index.error().message.find("any-bad.whl") != std::string::npos);
}

TEST_CASE("one name with two contents is a mismatch, the same content twice counts once") {
  Setup setup;
  write_wheel(setup.wheels + "/a", {});
  write_wheel(setup.wheels + "/b", {});
  const auto index = setup.build();
  REQUIRE(index);
  CHECK(index->projects[0].files.size() == 1);
  SampleWheel other;
  other.padding = 10;
  write_wheel(setup.wheels + "/b", other);
  const auto conflict = setup.build();
  REQUIRE(!conflict);
  CHECK(conflict.error().kind == ErrorKind::mismatch);
  CHECK(conflict.error().message.find("/a/sample") != std::string::npos);
  CHECK(conflict.error().message.find("/b/sample") != std::string::npos);
}

TEST_CASE("a folder without wheels makes no index") {
  Setup setup;
  fs::create_directories(setup.wheels);
  CHECK(setup.build().error().kind == ErrorKind::not_found);
  setup.wheels += "/absent";
  CHECK(setup.build().error().kind == ErrorKind::io);
  CHECK(!fs::exists(setup.out));
}

TEST_CASE("somebody else's files in an index are never touched") {
  Setup setup;
  write_release(setup.wheels);
  axle::test::write_file(setup.out + "/thesis.txt", "years of work");
  const auto refused = setup.build();
  REQUIRE(!refused);
  CHECK(refused.error().message.find("thesis.txt was not made by") != std::string::npos);
  CHECK(names_in(setup.out) == std::vector<std::string>{"thesis.txt"});
  fs::remove(setup.out + "/thesis.txt");
  REQUIRE(setup.build());  // an empty folder
  const auto sound = tree_of(setup.out);
  for (const char* path : {"/thesis.txt", "/simple/robots.txt", "/simple/sample/notes.txt",
                           "/simple/sample/sample-3.0-py3-none-any.whl", "/simple/x/index.html",
                           "/simple/sample/deeper/file"}) {
    CAPTURE(path);
    axle::test::write_file(setup.out + path, "years of work");
    const auto index = setup.build();
    REQUIRE(!index);
    CHECK(index.error().message.find(setup.out) != std::string::npos);
    CHECK(axle::test::read_file(setup.out + path) == "years of work");
    fs::remove(setup.out + path);
    std::error_code ignored;
    fs::remove(fs::path(setup.out + path).parent_path(), ignored);  // when it is empty
    CHECK(tree_of(setup.out) == sound);
  }
  const std::string page = setup.out + "/simple/sample/index.html";
  fs::rename(page, setup.folder / "elsewhere");
  fs::create_symlink(setup.folder / "elsewhere", page);
  CHECK(!setup.build());
  CHECK(fs::is_symlink(page));
}

TEST_CASE("an index inside the folder of wheels does not feed itself") {
  Setup setup;
  write_release(setup.wheels);
  setup.out = setup.wheels + "/index";
  REQUIRE(setup.build());
  const auto first = tree_of(setup.out);
  fs::remove(setup.wheels + "/other_thing-2.0+cu128-py3-none-any.whl");
  const auto second = setup.build();
  REQUIRE(second);
  CHECK(second->projects.size() == 2);
  CHECK(second->projects[0].added.empty());
  CHECK(tree_of(setup.out) == first);
}

TEST_CASE("a run waits for another one that writes to its index, and a killed one leaves nothing") {
  Setup setup;
  write_release(setup.wheels);
  axle::test::write_file(setup.folder / ".out.staged-dead00/simple/x", "torn");
  axle::test::write_file(setup.folder / ".out.staged-live00/simple/x", "growing");
  const int live = ::open((setup.folder / ".out.staged-live00").c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(::flock(live, LOCK_EX) == 0);
  bool waited = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    waited = fs::exists(setup.folder / ".out.staged-live00/simple/x") && !fs::exists(setup.out);
    ::close(live);
  });
  const auto built = setup.build();
  other.join();
  REQUIRE(built);
  CHECK(waited);
  CHECK(names_in(setup.folder.path()) == std::vector<std::string>{"out", "wheels"});
}

TEST_CASE("a published index that a killed run had moved away is put back first") {
  Setup setup;
  write_release(setup.wheels);
  REQUIRE(setup.build());
  const auto before = tree_of(setup.out);
  fs::rename(setup.out, setup.folder / ".out.staged-dead00.old");
  fs::remove_all(setup.wheels);
  SampleWheel newer;
  newer.version = "2.0";
  write_wheel(setup.wheels, newer);
  REQUIRE(setup.build());
  const auto after = tree_of(setup.out);
  for (const auto& [path, bytes] : before) CHECK(after.contains(path));
  CHECK(names_in(setup.folder.path()) == std::vector<std::string>{"out", "wheels"});
}

TEST_CASE("the mode of a published folder is kept") {
  Setup setup;
  write_release(setup.wheels);
  REQUIRE(setup.build());
  fs::permissions(setup.out, fs::perms::owner_all | fs::perms::group_read);
  REQUIRE(setup.build());
  CHECK(fs::status(setup.out).permissions() == (fs::perms::owner_all | fs::perms::group_read));
}
