// Releases that have to be built: candidates where nothing else is left, and with consent only.

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/resolver/solver_world.h"

namespace axle::testing {
namespace {

using Strings = std::vector<std::string>;

/// Makes the wheels that it was told of; every other build fails.
class StubBuilder final : public resolver::SourceBuilder {
 public:
  explicit StubBuilder(MemoryIndex& index) : index_(index) {}

  Result<resolver::BuiltWheel> build(const resolver::Sdist& sdist) override {
    const std::string title = sdist.name + " " + wheel::render_version(sdist.version);
    return make(title, {sdist.file.filename, sdist.file.url, {}, "a stub"});
  }
  Result<resolver::BuiltWheel> build(const resolver::NamedSource& source) override {
    return make(source.url, {"sources", source.url, {}, "a stub"});
  }

  std::map<std::string, WheelRecipe> recipes;  ///< by name and version, or by URL
  Strings built;

 private:
  Result<resolver::BuiltWheel> make(const std::string& title, plan::BuiltFrom from) {
    built.push_back(title);
    const auto recipe = recipes.find(title);
    if (recipe == recipes.end()) return fail(ErrorKind::unsupported, title + " cannot be built");
    MemoryIndex made;
    const index::PublishedFile file = made.add_wheel(recipe->second);
    index::HttpRequest request;
    request.url = file.url;
    const index::PublishedFile& there =
        index_.add_file("made", file.filename, made.fetch(request)->body);
    return resolver::BuiltWheel{there, std::move(from)};
  }

  MemoryIndex& index_;
};

struct SourceWorld : World {
  SourceWorld() {
    counted = true;
    options.builds.builder = &builder;
    options.builds.all = true;
  }
  void sdist(const std::string& name, const std::string& version, const Strings& needs = {}) {
    sdist_that_fails(name, version);
    builder.recipes[name + " " + version] = {
        .name = name, .version = version, .requires_dist = needs};
  }
  void sdist_that_fails(const std::string& name, const std::string& version) {
    index.add_file(name, name + "-" + version + ".tar.gz", "source");
  }
  void wheel(const std::string& name, const std::string& version, const Strings& needs = {}) {
    index.add_wheel({.name = name, .version = version, .requires_dist = needs});
  }

  StubBuilder builder{index};
};

}  // namespace

TEST_CASE("a wheel is better than a newer source distribution, which is better than nothing") {
  SourceWorld world;
  world.wheel("a", "1.0");
  world.sdist("a", "2.0");
  world.sdist("a", "3.0");
  CHECK(world.resolve({"a"}) == Strings{"a 1.0"});
  CHECK(world.builder.built.empty());
  CHECK(world.resolve({"a>1"}) == Strings{"a 3.0"});
  CHECK(world.builder.built == Strings{"a 3.0"});
  REQUIRE(world.package("a").built_from);
  CHECK(world.package("a").built_from->filename == "a-3.0.tar.gz");
}

TEST_CASE(
    "a source distribution is built before a pre-release that nobody in the answer asks for") {
  SourceWorld world;
  world.sdist("a", "0.5");
  world.wheel("a", "1.0", {"b"});
  world.wheel("a", "2.0rc1");
  world.wheel("b", "1.0", {"a==2.0rc1"});
  CHECK(world.resolve({"a"}) == Strings{"a 0.5"});
  world.options.builds.all = false;
  CHECK(world.resolve({"a"}) == Strings{"a 2.0rc1"});
}

TEST_CASE("where a pre-release is needed in any case nothing is built instead of a wheel") {
  SourceWorld world;
  world.wheel("a", "1.0", {"b"});
  world.sdist("a", "1.1", {"b"});
  world.wheel("a", "2.0", {"b<3"});
  world.wheel("b", "4.0.dev1");
  world.index.add_wheel({.name = "b", .version = "3.0", .requires_python = ">=3.12"})
      .requires_python = ">=3.12";
  CHECK(world.resolve({"a"}) == Strings{"a 1.0", "b 4.0.dev1"});
}

TEST_CASE("a build that fails rules out its version, once, with a word") {
  SourceWorld world;
  world.sdist("a", "1.0");
  world.sdist_that_fails("a", "2.0");
  CHECK(world.resolve({"a"}) == Strings{"a 1.0"});
  CHECK(world.builder.built == Strings{"a 2.0", "a 1.0"});
  CHECK(world.remarked("a 2.0 cannot be built"));
  const auto unresolved = world.error({"a>=2"});
  CHECK(unresolved.message.contains("a 2.0 cannot be built"));
}

TEST_CASE("only what the user consents to is built") {
  SourceWorld world;
  world.sdist("a", "1.0", {"b"});
  world.sdist("b", "1.0");
  world.options.builds.all = false;
  CHECK(world.error({"a"}).hint.contains("variant install --build=a a==1.0"));
  CHECK(world.builder.built.empty());
  world.options.builds.names = {"a"};
  CHECK(world.error({"a"}).message.contains("b 1.0 has no wheel"));
  CHECK(world.builder.built == Strings{"a 1.0"});
  world.options.builds.names = {"a", "b"};
  CHECK(world.resolve({"a"}) == Strings{"a 1.0", "b 1.0"});
  world.options.wheel_use.only[":all:"] = "only-binary :all:, from pip.conf";
  const auto refused = world.error({"b"});
  CHECK(refused.hint == "its source distribution is not built: only-binary :all:, from pip.conf");
  world.options.wheel_use.forbidden["b"] = "no-binary b, from --no-binary";
  CHECK(world.resolve({"b"}) == Strings{"b 1.0"});
}

TEST_CASE("a source distribution is built without a listed hash only where none is required") {
  SourceWorld world;
  world.sdist("a", "1.0");
  world.options.require_hashes = true;
  CHECK_FALSE(world.try_resolve({"a==1.0"}));
  CHECK(world.builder.built.empty());
}

TEST_CASE("of random worlds, a solution from wheels is kept, and one with builds is found") {
  std::mt19937 random(20261123);  // NOLINT(cert-msc51-cpp): the same on every run
  const auto below = [&](unsigned end) { return static_cast<unsigned>(random() % end); };
  unsigned of_wheels = 0;
  unsigned with_builds = 0;
  unsigned none = 0;
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    SourceWorld world;
    SourceWorld as_wheels;  // the same, with every release a wheel
    SourceWorld only_wheels;
    const std::string names = "abcde";
    for (const char name : names) {
      const unsigned versions = 1 + below(3);
      for (unsigned version = 1; version <= versions; ++version) {
        Strings needs;
        for (unsigned count = below(3); count > 0; --count) {
          const char* const comparisons[] = {"<=", ">=", "=="};
          needs.push_back(std::string(1, names[below(5)]) + comparisons[below(3)] +
                          std::to_string(1 + below(3)) + ".0");
        }
        const std::string package(1, name);
        const std::string at = std::to_string(version) + ".0";
        as_wheels.wheel(package, at, needs);
        if (below(3) == 0) {
          world.sdist(package, at, needs);
          only_wheels.sdist_that_fails(package, at);
        } else {
          world.wheel(package, at, needs);
          only_wheels.wheel(package, at, needs);
        }
      }
    }
    only_wheels.options.builds.all = false;
    const Strings asked = {"a", "b>=2", "c<3"};
    const bool solvable = as_wheels.try_resolve(asked).has_value();
    if (only_wheels.try_resolve(asked)) {
      ++of_wheels;
      CHECK(world.resolve(asked) == only_wheels.resolve(asked));
      CHECK(world.builder.built.empty());
    } else {
      CHECK(world.try_resolve(asked).has_value() == solvable);
      ++(solvable ? with_builds : none);
    }
    std::ranges::sort(world.builder.built);
    CHECK(std::ranges::adjacent_find(world.builder.built) == world.builder.built.end());
  }
  CHECK(of_wheels > 30);
  CHECK(with_builds > 30);
  CHECK(none > 30);
}

TEST_CASE(
    "sources that are named by their place are built, and what they make is the only release") {
  SourceWorld world;
  world.options.builds.all = false;
  const std::string place = "git+https://h.example/a@v1";
  world.wheel("a", "2.0");
  world.wheel("b", "1.0");
  world.wheel("b", "2.0");
  world.builder.recipes[place] = {.name = "a", .version = "1.0", .requires_dist = {"b<2"}};
  CHECK(world.resolve({"a @ " + place}) == Strings{"a 1.0", "b 1.0"});
  CHECK(world.resolve({"a @ " + place, "a>=1"}) == Strings{"a 1.0", "b 1.0"});
  CHECK_FALSE(world.try_resolve({"a @ " + place, "a>=2"}).has_value());
  CHECK_FALSE(world.try_resolve({"a @ " + place, "b>=2"}).has_value());
  CHECK_FALSE(world.try_resolve({"a @ " + place, "a @ https://h.example/a-1.0.zip"}).has_value());
  world.builder.built.clear();
  world.options.builds.refused["a"] = "the test";
  CHECK_FALSE(world.try_resolve({"a @ " + place}).has_value());
  CHECK(world.builder.built.empty());
}

TEST_CASE("sources that only metadata names are built with consent") {
  SourceWorld world;
  world.options.builds.all = false;
  const std::string place = "git+https://h.example/a@v1";
  const std::string top = "git+https://h.example/top";
  world.builder.recipes[place] = {.name = "a", .version = "1.0"};
  world.builder.recipes[top] = {.name = "top", .version = "1.0", .requires_dist = {"a @ " + place}};
  CHECK_FALSE(world.try_resolve({"top @ " + top}).has_value());
  CHECK(std::ranges::find(world.builder.built, place) == world.builder.built.end());
  CHECK(world.resolve({"top @ " + top, "a @ " + place}) == Strings{"a 1.0", "top 1.0"});
  world.options.builds.names.insert("a");
  CHECK(world.resolve({"top @ " + top}) == Strings{"a 1.0", "top 1.0"});
}

}  // namespace axle::testing
