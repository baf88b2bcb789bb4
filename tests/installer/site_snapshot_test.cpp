// What is kept of an environment's metadata: never another answer than reading it again.
#include "installer/environment/site_snapshot.h"

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "foundation/report/report.h"
#include "installer/environment/installed.h"
#include "installer/path_states.h"
#include "sandbox.h"
#include "wheel/requirement.h"

using namespace axle::installer;

namespace fs = std::filesystem;

namespace {

SiteSnapshot some() {
  SiteSnapshot snapshot;
  snapshot["a-1.dist-info"] = {std::string("1\0002\0003\000", 6),
                               {.metadata = "Name: a\nVersion: 1\n",
                                .variant = {},
                                .family = {},
                                .installer = "pip\n",
                                .direct_url = {}}};
  snapshot["b-2.dist-info"] = {"4",
                               {.metadata = "Name: b\nVersion: 2\n",
                                .variant = "{}",
                                .family = "",
                                .installer = {},
                                .direct_url = "{\"url\": \"file:///b\"}",
                                .requested = true,
                                .has_record = true}};
  return snapshot;
}

/// An environment whose packages are old enough to be kept.
class Installed {
 public:
  Installed() : environment(bare_environment(box / "venv")) {
    for (int i = 0; i < 12; ++i) add(fmt::format("pkg{}", i), "1.0");
    settle();
  }

  void add(const std::string& name, const std::string& version, const std::string& more = {}) {
    const std::string folder = path(name, version);
    fs::create_directories(folder);
    write_text(folder + "/METADATA",
               fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\nSummary: of {}\n"
                           "License: MIT\nRequires-Dist: six>=1; extra == 'x'\n{}\nThe rest.\n",
                           name, version, name, more));
    write_text(folder + "/INSTALLER", "pip\n");
    write_text(folder + "/RECORD", "");
  }
  [[nodiscard]] std::string path(const std::string& name, const std::string& version) const {
    return environment.purelib + "/" + name + "-" + version + ".dist-info";
  }
  static void settle() {
    std::this_thread::sleep_for(std::chrono::nanoseconds(settled_after + 100'000'000));
  }

  [[nodiscard]] std::vector<std::string> list(const std::string& cache_folder) const {
    axle::CollectedReport report;
    const auto installed = list_installed(environment, report, cache_folder);
    REQUIRE(installed);
    std::vector<std::string> lines;
    for (const InstalledDistribution& one : *installed) {
      std::string line =
          fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", one.name,
                      axle::wheel::render_version(one.metadata.version), one.variant.value_or("-"),
                      one.family, one.installer, one.requested, one.has_record, one.direct_url);
      for (const auto& requirement : one.metadata.requires_dist)
        line += "|" + axle::wheel::render_requirement(requirement);
      lines.push_back(line + "|" + one.metadata.summary);
    }
    for (const axle::Remark& remark : report.remarks) lines.push_back(remark.message);
    return lines;
  }
  /// Without requirements everything else is the same.
  void check_the_rest() const {
    axle::CollectedReport report;
    auto all = list_installed(environment, report, cache);
    auto rest = list_installed(environment, report, cache, Requirements::left_out);
    REQUIRE(all);
    REQUIRE(rest);
    REQUIRE(all->size() == rest->size());
    for (std::size_t i = 0; i < all->size(); ++i) {
      const InstalledDistribution& one = (*all)[i];
      const InstalledDistribution& other = (*rest)[i];
      CHECK(one.name == other.name);
      CHECK(one.dist_info == other.dist_info);
      CHECK(one.metadata.version == other.metadata.version);
      CHECK(one.metadata.summary == other.metadata.summary);
      CHECK(one.variant == other.variant);
      CHECK(one.installer == other.installer);
      CHECK(one.direct_url == other.direct_url);
      CHECK(one.requested == other.requested);
    }
  }
  void check_same(const char* after) const {
    CAPTURE(after);
    check_the_rest();
    CHECK(list(cache) == list(""));
    CHECK(list(cache) == list(""));
  }

  Sandbox box;
  std::string cache = box / "cache";
  Environment environment;
};

}  // namespace

TEST_CASE("a snapshot says what was written") {
  const std::string text = render_site_snapshot(some(), "/venv/site");
  const auto read = parse_site_snapshot(text, "/venv/site", "here");
  REQUIRE(read);
  CHECK(*read == some());
  CHECK(parse_site_snapshot(text, "/other", "here").error().kind == axle::ErrorKind::mismatch);
  for (std::size_t length = 0; length < text.size(); ++length)
    CHECK_FALSE(parse_site_snapshot(text.substr(0, length), "/venv/site", "here"));
  for (std::size_t place = 0; place < text.size(); ++place) {
    std::string changed = text;
    changed[place] = static_cast<char>(changed[place] ^ 1);
    CHECK_FALSE(parse_site_snapshot(changed, "/venv/site", "here"));
  }
}

TEST_CASE("text with a NUL byte is not kept") {
  SiteSnapshot snapshot = some();
  snapshot["a-1.dist-info"].files.direct_url = std::string("x\0y", 3);
  const auto read = parse_site_snapshot(render_site_snapshot(snapshot, "/site"), "/site", "here");
  REQUIRE(read);
  CHECK(read->size() == 1);
  CHECK(read->contains("b-2.dist-info"));
}

TEST_CASE("what did not change is not read again, and what did is") {
  const Installed installed;
  installed.check_same("the beginning");
  const std::string metadata = installed.path("pkg3", "1.0") + "/METADATA";
  // As of a file that the store has, too: when its state changed does not count.
  fs::create_hard_link(metadata, installed.box / "stored");
  Installed::settle();
  installed.check_same("two names");
  struct stat before = {};
  REQUIRE(::stat(metadata.c_str(), &before) == 0);
  std::string text = read_text(metadata);
  // The same size and time: this is not seen, which shows that the file is not opened.
  text.replace(text.find("of pkg3"), 7, "OF PKG3");
  write_text(metadata, text);
  const std::array<timespec, 2> times = {before.st_atim, before.st_mtim};
  REQUIRE(::utimensat(AT_FDCWD, metadata.c_str(), times.data(), 0) == 0);
  CHECK(installed.list(installed.cache) != installed.list(""));
  // Any time but that one.
  fs::last_write_time(metadata, fs::last_write_time(metadata) + std::chrono::nanoseconds(1));
  installed.check_same("another time");
  // Of a file that has no other name it does.
  fs::remove(installed.box / "stored");
  Installed::settle();
  installed.check_same("one name");
  REQUIRE(::stat(metadata.c_str(), &before) == 0);
  text.replace(text.find("OF PKG3"), 7, "of PKG3");
  write_text(metadata, text);
  const std::array<timespec, 2> then = {before.st_atim, before.st_mtim};
  REQUIRE(::utimensat(AT_FDCWD, metadata.c_str(), then.data(), 0) == 0);
  installed.check_same("the same size and time");
}

TEST_CASE("whatever changes in an environment, the next command sees it") {
  Installed installed;
  installed.check_same("the beginning");
  const auto folder = [&](int i) { return installed.path(fmt::format("pkg{}", i), "1.0"); };
  const std::pair<const char*, void (*)(Installed&, const std::string&)> changes[] = {
      {"METADATA written over",
       [](Installed&, const std::string& path) {
         write_text(path + "/METADATA", "Metadata-Version: 2.1\nName: pkg0\nVersion: 7\n");
       }},
      {"INSTALLER written over",
       [](Installed&, const std::string& path) { write_text(path + "/INSTALLER", "uv"); }},
      {"RECORD removed", [](Installed&, const std::string& path) { fs::remove(path + "/RECORD"); }},
      {"REQUESTED added",
       [](Installed&, const std::string& path) { write_text(path + "/REQUESTED", ""); }},
      {"direct_url.json added",
       [](Installed&, const std::string& path) {
         write_text(path + "/direct_url.json", R"({"url": "file:///x", "dir_info": {}})");
       }},
      {"a family's label added",
       [](Installed&, const std::string& path) {
         write_text(path + "/axle-family.json", R"({"label": "cu128", "family": "torch"})");
       }},
      {"METADATA removed",
       [](Installed&, const std::string& path) { fs::remove(path + "/METADATA"); }},
      {"METADATA that is not right",
       [](Installed&, const std::string& path) {
         write_text(path + "/METADATA", "Name: pkg7\nVersion: 1.0\nRequires-Python: x\n");
       }},
      {"the folder removed", [](Installed&, const std::string& path) { fs::remove_all(path); }},
      {"the folder replaced",
       [](Installed& all, const std::string& path) {
         fs::rename(path, all.box / "old");
         all.add("pkg9", "1.0", "Requires-Dist: numpy\n");
       }},
      {"a new package", [](Installed& all, const std::string&) { all.add("new", "3"); }},
      {"a second version", [](Installed& all, const std::string&) { all.add("pkg11", "2.0"); }},
  };
  int i = 0;
  for (const auto& [name, change] : changes) {
    change(installed, folder(i++));
    installed.check_same(name);
  }
  Installed::settle();
  installed.check_same("a while");
}

TEST_CASE("without a cache, or with one that is damaged, everything is read") {
  const Installed installed;
  const auto whole = installed.list("");
  CHECK(installed.list(installed.cache) == whole);
  for (const auto& file : fs::directory_iterator(installed.cache + "/installed"))
    write_text(file.path().string(), "no list");
  CHECK(installed.list(installed.cache) == whole);
  CHECK(installed.list("/proc/nowhere") == whole);
}
