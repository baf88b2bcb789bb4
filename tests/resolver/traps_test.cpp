// Shapes of real indexes that make solvers look at everything: what is read stays bounded, and the
// answer is one that people want. A build is looked at when its metadata is read.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/resolver/solver_world.h"

namespace axle::testing {
namespace {

using Strings = std::vector<std::string>;

std::string at(std::size_t minor) { return "1." + std::to_string(minor); }

struct TrapWorld : World {
  TrapWorld() { counted = true; }
  void publish(const std::string& name, const std::string& at, const Strings& needs = {},
               const std::string& requires_python = {}) {
    index
        .add_metadata_of({.name = name,
                          .version = at,
                          .requires_dist = needs,
                          .requires_python = requires_python})
        .requires_python = requires_python;
  }
  /// Builds that were looked at, in all attempts.
  [[nodiscard]] std::size_t looked_at() const { return index.fetched.size(); }
};

TEST_CASE("trap: two packages that move in step, and one that pins an old one of them") {
  constexpr std::size_t releases = 1000;
  TrapWorld world;
  for (std::size_t i = 0; i < releases; ++i) {
    world.publish("boto3", at(i), {"botocore>=" + at(i) + ",<" + at(i + 1)});
    world.publish("botocore", at(i), {i < 400 ? "urllib3>=1.25,<1.27" : "urllib3>=1.25,<3"});
  }
  for (std::size_t i = 0; i < 60; ++i) {
    world.publish("aiobotocore", at(i), {"botocore>=" + at(10 * i) + ",<" + at(10 * i + 3)});
    world.publish("s3fs", at(i), {"aiobotocore~=" + at(i) + ".0"});
  }
  for (const char* one : {"1.25", "1.26", "2.0", "2.1"}) world.publish("urllib3", one);
  SUBCASE("what pins comes first") {
    CHECK(world.resolve({"s3fs", "boto3", "urllib3<2"}) == Strings{"aiobotocore 1.59",
                                                                   "boto3 1.592", "botocore 1.592",
                                                                   "s3fs 1.59", "urllib3 1.26"});
    CHECK(world.looked_at() < 900);
  }
  SUBCASE("the old one is asked for") {
    CHECK(world.resolve({"boto3", "botocore<1.30", "urllib3<2"}) ==
          Strings{"boto3 1.29", "botocore 1.29", "urllib3 1.26"});
    CHECK(world.looked_at() < 1100);
  }
  SUBCASE("what is pinned comes first") {
    const Strings made = world.resolve({"boto3", "s3fs", "urllib3<2"});
    CHECK(made.size() == 5);
    CHECK(world.looked_at() < 2500);
  }
}

TEST_CASE("trap: missing lower bounds do not end at a release of ten years ago") {
  TrapWorld world;
  world.publish("a", "1.0");
  world.publish("a", "2.0", {"c>=1"});
  world.publish("b", "1.0");  // before it needed anything
  for (std::size_t i = 1; i < 300; ++i) world.publish("b", "2." + std::to_string(i), {"a<2"});
  world.publish("c", "1.0");
  CHECK(world.resolve({"b", "a"}) == Strings{"a 1.0", "b 2.299"});
  CHECK(world.looked_at() < 20);
}

TEST_CASE("trap: a low Python, for which hundreds of releases are too new") {
  TrapWorld world;
  for (std::size_t i = 0; i < 500; ++i) {
    const bool fits = i < 50;
    world.publish("lib", at(i), {}, fits ? ">=3.8" : ">=3.12");
    world.publish("app", at(i), {"lib>=" + at(i)});
  }
  CHECK(world.resolve({"app"}) == Strings{"app 1.49", "lib 1.49"});
  CHECK(world.looked_at() < 600);
}

TEST_CASE("trap: extras by the hundred, each with a dependency without a lower bound") {
  constexpr std::size_t extras = 1000;
  TrapWorld world;
  Strings needs = {"core>=2"};
  std::string all = "flow[";
  WheelRecipe flow{.name = "flow", .version = "1.0"};
  for (std::size_t i = 0; i < extras; ++i) {
    const std::string name = "p" + std::to_string(i);
    needs.push_back(name + "; extra == '" + name + "'");
    all += (i == 0 ? "" : ",") + name;
    for (std::size_t version = 0; version < 5; ++version)
      world.publish(name, at(version), {version < 3 ? "core" : "core<3"});
  }
  needs.push_back(all + "]; extra == 'all'");
  flow.requires_dist = needs;
  world.index.add_metadata_of(flow);
  for (const char* one : {"1.0", "2.0", "3.0"}) world.publish("core", one);
  const Strings made = world.resolve({"flow[all]"});
  CHECK(made.size() == extras + 2);
  CHECK(std::ranges::find(made, "core 2.0") != made.end());
  CHECK(std::ranges::find(made, "p999 1.4") != made.end());
  CHECK(world.looked_at() < 3 * extras);
}

TEST_CASE("trap: each of thirty extras conflicts with each other one") {
  TrapWorld world;
  Strings needs;
  Strings asked;
  for (std::size_t i = 0; i < 30; ++i) {
    const std::string name = "x" + std::to_string(i);
    needs.push_back("lib==" + at(i) + "; extra == '" + name + "'");
    asked.push_back("app[" + name + "]");
    world.publish("lib", at(i));
  }
  for (std::size_t i = 0; i < 20; ++i) world.publish("app", at(i), needs);
  CHECK(world.error(asked).kind == ErrorKind::conflict);
  CHECK(world.looked_at() < 100);
  CHECK(world.resolve({"app[x3]"}) == Strings{"app 1.19", "lib 1.3"});
}

TEST_CASE("trap: a chain of 10,000 packages, whole and broken at its end") {
  constexpr std::size_t length = 10'000;
  TrapWorld world;
  const auto name = [](std::size_t i) { return "p" + std::to_string(i); };
  for (std::size_t i = 0; i < length; ++i) world.publish(name(i), "1.0", {name(i + 1)});
  world.publish(name(length), "1.0");
  CHECK(world.resolve({"p0"}).size() == length + 1);
  CHECK(world.looked_at() == length + 1);
  const auto error = world.error({"p0", name(length) + ">=2"});
  CHECK(error.message.size() < 2000);
}

TEST_CASE("trap: 100,000 versions of which the newest cannot be used") {
  TrapWorld world;
  constexpr std::size_t releases = 100'000;
  for (std::size_t i = 0; i < releases; ++i) {
    // Some need what is not there, some another Python, some are sound.
    world.publish("lib", at(i), i > releases - 200 ? Strings{"ghost"} : Strings{},
                  i > releases - 50'000 && i <= releases - 200 ? ">=3.12" : "");
  }
  CHECK(world.resolve({"lib"}) == Strings{"lib " + at(releases - 50'000)});
  CHECK(world.looked_at() < 300);
}

}  // namespace
}  // namespace axle::testing
