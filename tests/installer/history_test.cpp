// The record of what was changed: steps, text and hostile text.
#include "installer/history/history.h"

#include <doctest/doctest.h>

#include "installer/transaction/changes.h"
#include "tests/installer/sandbox.h"

using namespace axle::installer;

namespace {

RecordedPackage package(const std::string& name, const std::string& version,
                        const std::string& record = "r") {
  return {{name, version, name + "-" + version + "-py3-none-any.whl", "https://x/" + name, name},
          record + version};
}

RecordedChange change(std::vector<RecordedPackage> before, std::vector<RecordedPackage> after) {
  return {"a change", std::move(before), std::move(after)};
}

History some_history() {
  History history;
  RecordedPackage variant = package("b", "1");
  variant.variant = "v3";
  variant.variant_properties = {{"x86_64", "level", "v3"}};
  variant.requested = true;
  variant.provenance = "https://x/b.provenance";
  variant.built_from = axle::plan::BuiltFrom{.filename = "repo",
                                             .url = "https://x/repo",
                                             .sha256 = {},
                                             .builder = "pip 26.3",
                                             .kind = axle::plan::BuiltFrom::Kind::repository,
                                             .subdirectory = "inner",
                                             .revision = "v1",
                                             .commit = "abc",
                                             .editable = true,
                                             .hash_is_given = true};
  variant.overwritten = {{"both.py", "a"}};
  add_step(history, HistoryStep::change, change({}, {package("a", "1"), variant}));
  add_step(history, HistoryStep::change, change({package("a", "1")}, {package("a", "2")}));
  add_step(history, HistoryStep::undo, change({package("a", "2")}, {package("a", "1")}));
  return history;
}

}  // namespace

TEST_CASE("an undone change can be made again until the next one") {
  History history = some_history();
  CHECK(history.done.size() == 1);
  REQUIRE(history.undone.size() == 1);
  CHECK(history.undone[0].after == std::vector{package("a", "2")});
  CHECK(recorded_package(history, "a", "1", "r1").wheel.sha256 == "a");
  CHECK(recorded_package(history, "a", "1", "other").wheel.sha256.empty());
  CHECK(recorded_package(history, "b", "1", "r1").variant == "v3");
  add_step(history, HistoryStep::redo, change({package("a", "1")}, {package("a", "2")}));
  CHECK(history.done.size() == 2);
  CHECK(history.undone.empty());
  add_step(history, HistoryStep::change, change({package("b", "1")}, {}));
  CHECK(recorded_package(history, "b", "1", "r1").wheel.sha256.empty());
}

TEST_CASE("what came from its wheel again is known by its new RECORD") {
  History history;
  add_step(history, HistoryStep::change, change({}, {package("a", "1")}));
  add_step(history, HistoryStep::change, change({package("a", "1")}, {package("a", "2")}));
  RecordedPackage again = package("a", "1");
  again.record = "new";
  add_step(history, HistoryStep::undo, change({package("a", "2")}, {again}));
  CHECK(history.done[0].after[0].record == "new");
  CHECK(history.undone[0].before[0].record == "new");
}

TEST_CASE("another installation of the same wheel keeps its RECORD") {
  const RecordedPackage whole = package("a", "1", "whole");
  RecordedPackage lost = package("a", "1", "lost");
  lost.overwritten = {{"both.py", "b"}};
  History history;
  add_step(history, HistoryStep::change, change({}, {whole}));
  add_step(history, HistoryStep::change, change({whole}, {lost, package("b", "1")}));
  RecordedPackage again = whole;
  again.record = "new";
  add_step(history, HistoryStep::undo, change({lost, package("b", "1")}, {again}));
  CHECK(history.done[0].after[0].record == "new");
  CHECK(history.undone[0].before[0].record == "new");
  CHECK(history.undone[0].after[0] == lost);
  add_step(history, HistoryStep::redo, change({again}, {lost, package("b", "1")}));
  CHECK(history.done[1].before[0].record == "new");
}

TEST_CASE("what is installed again as it was is no change") {
  History history = some_history();
  const auto same = change({package("a", "1")}, {package("a", "1")});
  add_step(history, HistoryStep::change, same);
  CHECK(history.done.size() == 1);
  CHECK(history.undone.size() == 1);
}

TEST_CASE("a history is bounded") {
  History history;
  for (int i = 0; i < 50; ++i)
    add_step(history, HistoryStep::change, change({}, {package("a", "1")}));
  CHECK(history.done.size() == longest_history);
}

TEST_CASE("what is rendered is read back, and every cut or changed byte is noticed") {
  const std::string text = render_history(some_history());
  const auto back = parse_history(text, "test");
  REQUIRE(back.has_value());
  CHECK(*back == some_history());
  for (std::size_t i = 0; i < text.size(); i += 7) {
    CHECK_FALSE(parse_history(text.substr(0, i), "test").has_value());
    std::string changed = text;
    changed[i] ^= 1;
    CHECK_FALSE(parse_history(changed, "test").has_value());
  }
}

TEST_CASE("only what is the last change when the environment is locked can be undone") {
  const Sandbox folder;
  const Environment environment = bare_environment(folder / "env");
  InstallOptions options{.store_folder = folder / "store"};
  MemoryTransport transport;
  axle::CollectedReport report;
  const auto wheel = make_wheel(folder / "dist", "a", "1", {{"a.py", "1"}});
  REQUIRE(install(resolution_of({wheel}), environment, transport, options, report).has_value());
  const auto history = read_history(folder / "env");
  REQUIRE(history.has_value());
  REQUIRE(history->done.size() == 1);
  CHECK(history->done[0].after[0].wheel.filename == "a-1-py3-none-any.whl");
  options.step = HistoryStep::undo;
  options.recorded = change({}, {package("a", "1")});
  const PackageSet removal{{}, {"a"}};
  const auto refused = plan_changes(removal, environment, &transport, options, report);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().kind == axle::ErrorKind::conflict);
  options.recorded = history->done[0];
  auto planned = plan_changes(removal, environment, &transport, options, report);
  REQUIRE(planned.has_value());
  REQUIRE(apply(*planned, report).has_value());
  const auto undone = read_history(folder / "env");
  REQUIRE(undone.has_value());
  CHECK(undone->done.empty());
  CHECK(undone->undone.size() == 1);
}

TEST_CASE("a package is installed again by its wheel") {
  const auto again = package_again(package("a", "1"));
  REQUIRE(again.has_value());
  CHECK(again->filename == "a-1-py3-none-any.whl");
  CHECK(again->hash.sha256() == "a");
  RecordedPackage bad = package("a", "1");
  bad.wheel.filename = "../a.whl";
  CHECK_FALSE(package_again(bad).has_value());
}
