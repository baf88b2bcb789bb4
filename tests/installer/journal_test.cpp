#include "installer/transaction/journal.h"

#include <filesystem>

#include <doctest/doctest.h>

#include "installer/file_access.h"
#include "installer/lock.h"
#include "installer/store/manifest.h"
#include "installer/transaction/recovery.h"
#include "tests/installer/sandbox.h"

using namespace axle::installer;
using axle::ErrorKind;

namespace {

Journal two_moves() {
  return {"install a 1",
          {{Direction::out, 0, "lib/a", "a", {}},
           {Direction::in, 0, "lib/a", "a", {}},
           {Direction::in, 1, "b", "a", {{"", 7, -1}}}}};
}

/// `two_moves` with the files that `stage` has made.
Journal written_moves(const std::string& base) {
  Journal journal = two_moves();
  const std::string staged = base + "/.axle/transaction/new/";
  journal.moves[0].leaves = list_leaves(base + "/lib/a").value();
  journal.moves[1].leaves = list_leaves(staged + "0").value();
  journal.moves[2].leaves = list_leaves(staged + "1").value();
  return journal;
}

/// An environment in the middle of `two_moves`, before the first of them.
void stage(const Sandbox& base) {
  write_text(base / "lib/a/x", "old");
  write_text(base / ".axle/transaction/new/0/x", "new");
  write_text(base / ".axle/transaction/new/1", "b");
  write_text(base / ".axle/transaction/old/.keep", "");
  write_text(base / ".axle/transaction/journal", render_journal(written_moves(base.path())));
}

/// The first `count` renames of `two_moves`.
void advance(const Sandbox& base, int count) {
  const std::string transaction = base / ".axle/transaction";
  if (count > 0) REQUIRE(::rename((base / "lib/a").c_str(), (transaction + "/old/0").c_str()) == 0);
  if (count > 1) REQUIRE(::rename((transaction + "/new/0").c_str(), (base / "lib/a").c_str()) == 0);
  if (count > 2) REQUIRE(::rename((transaction + "/new/1").c_str(), (base / "b").c_str()) == 0);
}

}  // namespace

TEST_CASE("a journal survives being written and read") {
  const auto read = parse_journal(render_journal(two_moves()), "journal");
  REQUIRE(read.has_value());
  CHECK(read->title == "install a 1");
  CHECK(read->moves == two_moves().moves);
}

TEST_CASE("a journal that is cut or altered anywhere is refused") {
  const std::string text = render_journal(two_moves());
  for (std::size_t i = 0; i < text.size(); ++i) {
    CAPTURE(i);
    CHECK_FALSE(parse_journal(text.substr(0, i), "journal").has_value());
    std::string altered = text;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    CHECK_FALSE(parse_journal(altered, "journal").has_value());
  }
}

TEST_CASE("a journal never names a place outside the environment or twice one number") {
  for (const char* path :
       {"", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/.", ".axle", ".axle/lock"}) {
    CAPTURE(path);
    CHECK_FALSE(
        parse_journal(render_journal({"t", {{Direction::out, 0, path, {}, {}}}}), "j").has_value());
  }
  const Journal twice{"t", {{Direction::in, 3, "a", {}, {}}, {Direction::in, 3, "b", {}, {}}}};
  CHECK_FALSE(parse_journal(render_journal(twice), "j").has_value());
}

TEST_CASE("a journal of another version is unsupported, not malformed") {
  std::string text = render_journal(two_moves());
  text[text.find('2')] = '3';
  const auto read = parse_journal(text, "j");
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().kind == ErrorKind::unsupported);
}

TEST_CASE("a committed transaction is finished from every point") {
  for (int done = 0; done <= 3; ++done) {
    CAPTURE(done);
    const Sandbox base;
    stage(base);
    advance(base, done);
    CHECK(find_interrupted(base.path()).value() == Interrupted::visible);
    axle::CollectedReport report;
    REQUIRE(finish_interrupted(base.path(), report).has_value());
    CHECK(read_text(base / "lib/a/x") == "new");
    CHECK(read_text(base / "b") == "b");
    CHECK(find_interrupted(base.path()).value() == Interrupted::no);
    REQUIRE(report.remarks.size() == 1);
    CHECK(report.remarks[0].message.contains("install a 1"));
  }
}

TEST_CASE("what arrived where somebody had removed the old stays, however often it is finished") {
  const Sandbox base;
  stage(base);
  std::filesystem::remove_all(base / "lib/a");
  REQUIRE(::rename((base / ".axle/transaction/new/0").c_str(), (base / "lib/a").c_str()) == 0);
  axle::CollectedReport report;
  REQUIRE(finish_interrupted(base.path(), report));
  CHECK(read_text(base / "lib/a/x") == "new");
  CHECK(read_text(base / "b") == "b");
}

TEST_CASE("an undone transaction is undone from every point") {
  for (int done = 0; done <= 3; ++done) {
    CAPTURE(done);
    const Sandbox base;
    stage(base);
    advance(base, done);
    const std::string transaction = base / ".axle/transaction";
    REQUIRE(::rename((transaction + "/journal").c_str(), (transaction + "/undo").c_str()) == 0);
    axle::CollectedReport report;
    REQUIRE(finish_interrupted(base.path(), report).has_value());
    CHECK(read_text(base / "lib/a/x") == "old");
    CHECK_FALSE(is_there(base / "b"));
    CHECK(find_interrupted(base.path()).value() == Interrupted::no);
  }
}

TEST_CASE("a folder that was moved out entry by entry is completed or put back") {
  for (const bool undo : {false, true}) {
    const Sandbox base;
    stage(base);
    write_text(base / "lib/a/deep/y", "old too");
    write_text(base / ".axle/transaction/journal", render_journal(written_moves(base.path())));
    const std::string transaction = base / ".axle/transaction";
    write_text(transaction + "/old/0.partial/x", "old");
    REQUIRE(::remove((base / "lib/a/x").c_str()) == 0);
    if (undo)
      REQUIRE(::rename((transaction + "/journal").c_str(), (transaction + "/undo").c_str()) == 0);
    axle::CollectedReport report;
    REQUIRE(finish_interrupted(base.path(), report).has_value());
    CHECK(read_text(base / "lib/a/x") == (undo ? "old" : "new"));
    CHECK(is_there(base / "lib/a/deep/y") == undo);
    CHECK(find_interrupted(base.path()).value() == Interrupted::no);
  }
}

TEST_CASE("what another program put in the way undoes the transaction") {
  const Sandbox base;
  stage(base);
  write_text(base / "b", "somebody else's");
  axle::CollectedReport report;
  REQUIRE(finish_interrupted(base.path(), report).has_value());
  CHECK(read_text(base / "lib/a/x") == "old");
  CHECK(read_text(base / "b") == "somebody else's");
  REQUIRE(report.remarks.size() == 1);
  CHECK(report.remarks[0].severity == axle::Severity::warning);
}

TEST_CASE("metadata that another program wrote meanwhile keeps its package as it is") {
  for (int done = 0; done <= 3; ++done) {
    CAPTURE(done);
    const Sandbox base;
    write_text(base / "lib/a-1.dist-info/RECORD", "old");
    write_text(base / "lib/other", "old");
    const std::string transaction = base / ".axle/transaction";
    write_text(transaction + "/new/0/RECORD", "new");
    write_text(transaction + "/new/1", "new");
    write_text(transaction + "/old/.keep", "");
    const auto leaves = [](const std::string& thing) { return list_leaves(thing).value(); };
    const Journal journal{
        "install a 2, install b 2",
        {{Direction::out, 0, "lib/a-1.dist-info", "a", leaves(base / "lib/a-1.dist-info")},
         {Direction::out, 1, "lib/other", "b", leaves(base / "lib/other")},
         {Direction::in, 1, "lib/other", "b", leaves(transaction + "/new/1")},
         {Direction::in, 0, "lib/a-2.dist-info", "a", leaves(transaction + "/new/0")}}};
    write_text(transaction + "/journal", render_journal(journal));
    if (done > 0)
      REQUIRE(::rename((base / "lib/a-1.dist-info").c_str(), (transaction + "/old/0").c_str()) ==
              0);
    if (done > 1)
      REQUIRE(::rename((base / "lib/other").c_str(), (transaction + "/old/1").c_str()) == 0);
    if (done > 2)
      REQUIRE(::rename((transaction + "/new/1").c_str(), (base / "lib/other").c_str()) == 0);
    write_text(base / "lib/a-1.dist-info/RECORD", "repaired");
    axle::CollectedReport report;
    REQUIRE(finish_interrupted(base.path(), report).has_value());
    CHECK(read_text(base / "lib/a-1.dist-info/RECORD") == "repaired");
    CHECK_FALSE(is_there(base / "lib/a-2.dist-info"));
    CHECK(read_text(base / "lib/other") == "new");
    REQUIRE(report.remarks.size() == 2);
    CHECK(report.remarks[0].severity == axle::Severity::warning);
    CHECK(report.remarks[0].message.starts_with("a: changed by another program"));
  }
}

TEST_CASE("a file that another program changed meanwhile stays, and all else is undone") {
  for (int done = 0; done <= 2; ++done) {
    CAPTURE(done);
    const Sandbox base;
    stage(base);
    advance(base, done);
    const bool arrived = done == 2;
    write_text(base / (done == 1 ? "b" : "lib/a/x"), "mine, and longer");
    axle::CollectedReport report;
    REQUIRE(finish_interrupted(base.path(), report).has_value());
    if (arrived) {
      // What was there before is gone for good where it would have to go.
      CHECK(read_text(base / "lib/a/x") == "mine, and longer");
      CHECK(read_text(base / "b") == "b");
    } else {
      CHECK(read_text(base / "lib/a/x") == (done == 1 ? "old" : "mine, and longer"));
      CHECK(is_there(base / "b") == (done == 1));
    }
    CHECK(find_interrupted(base.path()).value() == Interrupted::no);
  }
}

TEST_CASE("packages that share a thing are judged as one") {
  std::vector<Move> moves = {{Direction::out, 0, "x", {}, {}},
                             {Direction::in, 0, "x", {}, {}},
                             {Direction::in, 1, "y", {}, {}},
                             {Direction::in, 2, "z", {}, {}}};
  name_packages(moves, {{"a"}, {"b"}, {"c"}, {"b", "d"}});
  CHECK(moves[0].packages == "a b d");
  CHECK(moves[1].packages == "a b d");
  CHECK(moves[2].packages == "c");
  CHECK(moves[3].packages == "a b d");
}

TEST_CASE("what cannot be determined is an error, and nothing counts as absent") {
  const Sandbox base;
  stage(base);
  const std::string long_name(300, 'x');
  CHECK(exists(base / "lib/a").value());
  CHECK_FALSE(exists(base / "lib/none").value());
  CHECK_FALSE(exists(base / "lib/a/x/below").value());
  CHECK_FALSE(exists(base / long_name).has_value());
}

TEST_CASE("a transaction that was only staged disappears without a trace") {
  const Sandbox base;
  stage(base);
  REQUIRE(::remove((base / ".axle/transaction/journal").c_str()) == 0);
  CHECK(find_interrupted(base.path()).value() == Interrupted::invisible);
  axle::CollectedReport report;
  REQUIRE(finish_interrupted(base.path(), report).has_value());
  CHECK(read_text(base / "lib/a/x") == "old");
  CHECK_FALSE(is_there(base / ".axle/transaction"));
  CHECK(report.remarks.empty());
}

TEST_CASE("readers share the lock and a lock without a process is none") {
  const Sandbox base;
  axle::CollectedReport report;
  CHECK_FALSE(EnvironmentLock::for_reading(base / ".axle", report)->has_value());
  CHECK_FALSE(is_there(base / ".axle"));
  REQUIRE(EnvironmentLock::for_change(base / ".axle", report).has_value());
  CHECK(is_there(base / ".axle/lock"));
  const auto first = EnvironmentLock::for_reading(base / ".axle", report);
  const auto second = EnvironmentLock::for_reading(base / ".axle", report);
  CHECK(first->has_value());
  CHECK(second->has_value());
  CHECK(report.remarks.empty());
}

TEST_CASE("a manifest survives being written and read and is refused when cut") {
  const Manifest manifest{"a-1-py3-none-any.whl",
                          "a-1.dist-info",
                          false,
                          "[console_scripts]\nx = a:b\n",
                          true,
                          {{"a.py", "hash", 12, 1'700'000'000, false}, {"b", "", 0, -1, true}}};
  const std::string text = render_manifest(manifest);
  CHECK(parse_manifest(text, "m") == manifest);
  for (std::size_t i = 0; i < text.size(); ++i)
    CHECK_FALSE(parse_manifest(text.substr(0, i), "m").has_value());
  CHECK_FALSE(parse_manifest(text + "x", "m").has_value());
  Manifest without = manifest;
  without.variant_markers = false;
  CHECK(parse_manifest(render_manifest(without), "m") == without);
}

TEST_CASE(
    "a manifest of the first stores, which said nothing of markers, is read as may having them") {
  using namespace std::string_literals;
  const std::string text =
      "axle-manifest 1\0a-1-py3-none-any.whl\0a-1.dist-info\0purelib\0\0"s
      "1\0a.py\0hash\0"
      "12\0"
      "17\0-\0"s;
  const auto manifest = parse_manifest(text, "m");
  REQUIRE(manifest.has_value());
  CHECK(manifest->variant_markers);
  CHECK(manifest->files.front().path == "a.py");
}
