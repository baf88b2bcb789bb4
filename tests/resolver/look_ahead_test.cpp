// What the search sends for before it asks, and that it asks as it would without.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "index/http/while_waiting.h"
#include "tests/resolver/solver_world.h"

using namespace axle;

namespace {

using Names = std::vector<std::string>;

bool has(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string text(const Names& names, std::size_t first = 100) {
  return fmt::format(
      "{}", fmt::join(Names(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(
                                                               std::min(first, names.size()))),
                      " "));
}

/// The index of a world, with a record of what is sent for ahead. Nothing comes by itself.
class Telegraph final : public index::Source, public index::Transport {
 public:
  explicit Telegraph(testing::MemoryIndex& index) : index_(index) {}

  Result<index::ProjectPage> project(std::string_view name) override {
    asked.push_back(std::string(name));
    wait_for(std::string(name));
    return index_.project(name);
  }
  bool has_arrived(std::string_view name) override {
    // It may just have come although somebody still waits for it.
    return others_come && has(ahead, name);
  }
  std::string description() const override { return index_.description(); }
  void prefetch(std::string_view name) override { ahead.push_back(std::string(name)); }

  Result<index::HttpResponse> fetch(const index::HttpRequest& request) override {
    asked.push_back(file_of(request));
    wait_for(file_of(request));
    return index_.fetch(request);
  }
  Result<index::HttpResponse> download(const index::HttpRequest& request,
                                       const index::BodySink& sink) override {
    return index_.download(request, sink);
  }
  void prefetch(const index::HttpRequest& request, index::Preparation) override {
    ahead.push_back(file_of(request));
  }
  bool has_arrived(const index::HttpRequest& request) override {
    return has(ahead, file_of(request)) && file_of(request) != awaited_;
  }

  Names ahead;
  Names asked;
  bool others_come = false;  ///< all that was sent ahead, while something is waited for
  Names at_first_wait;       ///< what had been sent ahead when the page of `watched` had come
  std::string watched;

 private:
  /// "app-1.0" of a wheel's metadata, else the file's name.
  static std::string file_of(const index::HttpRequest& request) {
    std::string file = request.url.substr(request.url.rfind('/') + 1);
    const std::size_t end = file.find("-py3-none-any.whl.metadata");
    return file.substr(0, std::min(end, file.size()));
  }

  void wait_for(const std::string& what) {
    const std::string outer = std::exchange(awaited_, what);
    const bool is_asked = !others_come || !index::WhileWaiting::wanted();
    for (int arrivals = 0; !is_asked && arrivals < 30; ++arrivals) index::WhileWaiting::work();
    awaited_ = outer;
    if (what == watched) at_first_wait = ahead;
  }

  testing::MemoryIndex& index_;
  std::string awaited_;
};

struct Wired : testing::World {
  Wired() {
    counted = true;
    sources.indexes = {&wire};
    sources.transport = &wire;
  }
  void publish(const std::string& name, const std::string& version, const Names& needs = {}) {
    index.add_wheel({.name = name, .version = version, .requires_dist = needs});
  }
  Telegraph wire{index};
};

std::size_t count(const Names& names, std::string_view part) {
  return static_cast<std::size_t>(std::ranges::count_if(
      names, [&](const std::string& name) { return name.find(part) != std::string::npos; }));
}

}  // namespace

TEST_CASE("pages are sent for together, then what would be chosen of each") {
  Wired world;
  world.publish("app", "1.0", {"beta<2", "gamma", "delta ; python_version < '3'"});
  for (const char* version : {"1.0", "1.5", "2.0"}) world.publish("beta", version);
  world.publish("gamma", "1.0");
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "beta 1.5", "gamma 1.0"});
  CHECK(text(world.wire.ahead) == "app app-1.0 beta gamma beta-1.5 gamma-1.0");
  CHECK(text(world.wire.asked) == "app app-1.0 beta gamma gamma-1.0 beta-1.5");
}

TEST_CASE("what is needed by builds that will be chosen is sent for with the needs of the first") {
  Wired world;
  world.publish("app", "1.0", {"beta", "gamma"});
  world.publish("beta", "1.0", {"delta"});
  world.publish("gamma", "1.0", {"epsilon[fast]"});
  world.publish("delta", "1.0");
  world.index.add_wheel({.name = "epsilon",
                         .version = "1.0",
                         .requires_dist = {"zeta ; extra == 'fast'"},
                         .extras = {"fast"}});
  world.publish("zeta", "1.0");
  (void)world.resolve({"app"});
  // gamma is not chosen yet when its needs are known.
  const auto& ahead = world.wire.ahead;
  CHECK(text(ahead, 8) == "app app-1.0 beta gamma beta-1.0 gamma-1.0 delta epsilon");
  CHECK(std::ranges::find(world.wire.asked, "epsilon") >
        std::ranges::find(world.wire.asked, "delta"));
  CHECK(has(ahead, "zeta"));
}

TEST_CASE("while the search waits for a page, what else has come is followed to its end") {
  Wired world;
  world.wire.others_come = true;
  world.wire.watched = "beta";
  world.publish("app", "1.0", {"beta", "gamma<2", "eta[more]"});
  world.publish("beta", "1.0", {"iota"});
  for (const char* version : {"1.0", "1.5", "2.0"}) world.publish("gamma", version, {"delta"});
  world.publish("delta", "1.0", {"epsilon[fast]", "missing ; python_version < '3'"});
  world.index.add_wheel({.name = "epsilon",
                         .version = "1.0",
                         .requires_dist = {"zeta>1 ; extra == 'fast'", "beta"},
                         .extras = {"fast"}});
  world.publish("zeta", "1.0");
  world.publish("zeta", "2.0");
  world.publish("zeta", "3.0rc1");
  world.publish("iota", "1.0");
  world.index.add_wheel({.name = "eta",
                         .version = "1.0",
                         .requires_dist = {"theta ; extra == 'more'"},
                         .extras = {"more"}});
  world.publish("theta", "1.0");
  world.constraints = {"theta<9"};
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "beta 1.0", "delta 1.0", "epsilon 1.0",
                                        "eta 1.0", "gamma 1.5", "iota 1.0", "theta 1.0",
                                        "zeta 2.0"});
  Names sent = world.wire.at_first_wait;
  std::ranges::sort(sent);
  CHECK(text(sent) ==
        "app app-1.0 beta delta delta-1.0 epsilon epsilon-1.0 eta eta-1.0 gamma gamma-1.5 theta "
        "theta-1.0 zeta zeta-2.0");
  for (const Names* names : {&world.wire.ahead, &world.wire.asked}) {
    for (const std::string& one : *names) CHECK(std::ranges::count(*names, one) == 1);
  }
  CHECK(!has(world.wire.ahead, "missing"));
}

TEST_CASE("what is followed ahead and fails is nobody's error") {
  Wired world;
  world.wire.others_come = true;
  world.publish("app", "1.0", {"beta", "gamma"});
  world.publish("beta", "1.0", {"gamma<2"});
  world.publish("gamma", "1.0");
  world.publish("gamma", "2.0", {"nothing-of-this-name", "broken>1.0"});
  world.index.add_wheel({.name = "broken", .version = "2.0", .requires_python = "broken"});
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "beta 1.0", "gamma 1.0"});
  CHECK(has(world.wire.ahead, "nothing-of-this-name"));
  for (const char* part : {"nothing-of-this-name", "broken"}) CHECK(!world.remarked(part));
}

TEST_CASE("nothing is asked more than without looking ahead, and nothing twice") {
  Wired world;
  world.publish("app", "1.0", {"beta", "gamma<2"});
  world.publish("beta", "1.0", {"gamma"});
  world.publish("gamma", "1.0");
  world.publish("gamma", "2.0");
  (void)world.resolve({"app"});
  for (const Names* names : {&world.wire.ahead, &world.wire.asked}) {
    for (const std::string& one : *names) CHECK(std::ranges::count(*names, one) == 1);
  }
  CHECK(!has(world.wire.ahead, "gamma-2.0"));
}

TEST_CASE("what does not fit here or is not asked for is not sent for") {
  Wired world;
  world.publish("app", "1.0", {"beta", "gamma"});
  world.index.add_wheel({.name = "beta", .version = "3.0", .requires_python = ">=4"})
      .requires_python = ">=4";
  world.index.add_wheel({.name = "beta", .version = "2.0"}).yanked = true;
  world.index.add_wheel({.name = "beta", .version = "1.5", .tags = "cp27-cp27m-win32"});
  world.index.add_wheel({.name = "beta", .version = "1.2"}).requires_python = "broken";
  world.publish("beta", "1.0");
  world.publish("gamma", "2.0rc1");
  world.publish("gamma", "1.0");
  (void)world.try_resolve({"app"});
  CHECK(count(world.wire.ahead, "beta-") == 1);
  CHECK(has(world.wire.ahead, "beta-1.0"));
  CHECK(has(world.wire.ahead, "gamma-1.0"));
  CHECK(!has(world.wire.ahead, "gamma-2.0rc1"));
}

TEST_CASE("installed packages that stay are not sent for") {
  Wired world;
  world.install("beta", "1.0");
  world.publish("app", "1.0", {"beta", "gamma"});
  world.publish("beta", "1.0");
  world.publish("beta", "2.0");
  world.publish("gamma", "1.0", {"beta"});
  (void)world.resolve({"app"});
  CHECK(count(world.wire.ahead, "beta") == 0);
  world.wire.ahead.clear();
  world.install("app", "1.0");
  world.install("gamma", "1.0");
  (void)world.resolve({"app"});
  CHECK(world.wire.ahead.empty());
  CHECK(count(world.wire.asked, "beta") == 0);
}

TEST_CASE("after five, ten and twenty releases the next ones are sent for as well") {
  Wired world;
  world.publish("app", "1.0", {"beta"});
  for (int minor = 1; minor <= 100; ++minor) {
    world.publish("beta", fmt::format("1.{}", minor),
                  {minor == 1 ? "gamma" : "nothing-of-this-name"});
  }
  world.publish("gamma", "1.0");
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "beta 1.1", "gamma 1.0"});
  CHECK(count(world.wire.ahead, "beta-") == 100);
  const auto place = [](const Names& names, std::string_view name) {
    return std::ranges::find(names, name) - names.begin();
  };
  // The fifth is 1.96: five more are sent for then, while it is asked for itself.
  const auto& ahead = world.wire.ahead;
  CHECK(place(ahead, "beta-1.91") == place(ahead, "beta-1.95") + 4);
  CHECK(place(ahead, "beta-1.90") == place(ahead, "beta-1.91") + 1);
}

TEST_CASE("a package that others pin is sent for below what was tried") {
  Wired world;
  for (int minor = 1; minor <= 30; ++minor) {
    world.publish("boto", fmt::format("1.{}", minor), {fmt::format("core=={}", minor)});
    world.publish("core", fmt::format("{}", minor), {minor == 1 ? "leaf" : "nothing-of-this-name"});
  }
  world.publish("leaf", "1.0");
  CHECK(world.resolve({"boto"}) == Names{"boto 1.1", "core 1", "leaf 1.0"});
  CHECK(count(world.wire.ahead, "core-") == 30);
  world.constraints = {"core<15"};
  world.wire.ahead.clear();
  (void)world.resolve({"boto"});
  CHECK(count(world.wire.ahead, "core-2") <= 1);  // core 2 itself
}

TEST_CASE("the variants file of the release that would be chosen is sent for") {
  Wired world;
  world.publish("app", "1.0", {"beta"});
  world.publish_variants("beta", "1.0", testing::level_variants({"v1"}));
  world.publish_variants("beta", "2.0", testing::level_variants({"v1"}));
  (void)world.try_resolve({"app"});
  CHECK(has(world.wire.ahead, "beta-2.0-variants.json"));
  CHECK(!has(world.wire.ahead, "beta-1.0-variants.json"));
}

TEST_CASE("a later index is sent for what the earlier one does not have") {
  Wired world;
  testing::MemoryIndex second("https://second.test");
  Telegraph later(second);
  world.sources.indexes.push_back(&later);
  world.publish("app", "1.0", {"beta", "gamma", "delta"});
  world.publish("beta", "1.0");
  for (const char* name : {"beta", "gamma", "delta"})
    second.add_wheel({.name = name, .version = "9.0"});
  world.sources.strategy = index::IndexStrategy::first_index;
  (void)world.try_resolve({"app"});
  CHECK(later.ahead == Names{"gamma", "delta"});
  CHECK(!has(later.asked, "beta"));
}
