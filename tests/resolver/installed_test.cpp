// What is installed, direct wheels, several sources.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "index/http/url.h"
#include "tests/resolver/solver_world.h"

using axle::ErrorKind;
using axle::testing::MemoryIndex;
using axle::testing::requirement;
using axle::testing::World;
using Names = std::vector<std::string>;

namespace plan = axle::plan;
namespace resolver = axle::resolver;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

struct TwoVersions : World {
  TwoVersions() {
    index.add_wheel({"app", "1.0", {"lib"}});
    index.add_wheel({"app", "2.0", {"lib>=1"}});
    index.add_wheel({"lib", "1.0"});
    index.add_wheel({"lib", "2.0"});
  }
};

struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "axle-resolver-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

}  // namespace

TEST_CASE("what is installed and satisfies everybody is kept, its missing dependencies come") {
  TwoVersions world;
  world.install("app", "1.0", {"lib"});
  CHECK(world.resolve({"app"}) == Names{"=app 1.0", "lib 2.0"});
  world.install("lib", "1.0");
  CHECK(world.resolve({"app"}) == Names{"=app 1.0", "=lib 1.0"});
  CHECK(world.package("app").requested);
  CHECK(world.resolve({"app>1"}) == Names{"app 2.0", "=lib 1.0"});
  CHECK(world.resolve({"app", "lib>=2"}) == Names{"=app 1.0", "lib 2.0"});
}

TEST_CASE("--upgrade takes the newest of what is named and leaves the rest") {
  TwoVersions world;
  world.install("app", "1.0", {"lib"});
  world.install("lib", "1.0");
  world.options.upgrade = true;
  CHECK(world.resolve({"app"}) == Names{"app 2.0", "=lib 1.0"});
  CHECK(world.resolve({"app", "lib"}) == Names{"app 2.0", "lib 2.0"});
}

TEST_CASE("--reinstall keeps nothing") {
  TwoVersions world;
  world.install("app", "1.0", {"lib"});
  world.install("lib", "1.0");
  world.options.reinstall = true;
  CHECK(world.resolve({"app==1.0"}) == Names{"app 1.0", "lib 2.0"});
}

TEST_CASE("an installed package that stands in the way is replaced") {
  TwoVersions world;
  world.install("app", "1.0", {"lib<2"});
  CHECK(world.resolve({"app", "lib==2.0"}) == Names{"app 2.0", "lib 2.0"});
}

TEST_CASE("an installed package outside of the request that breaks is warned of") {
  TwoVersions world;
  world.install("bystander", "7.0", {"lib<2"});
  CHECK(world.resolve({"lib"}) == Names{"lib 2.0"});
  CHECK(world.remarked("bystander 7.0, which is installed, requires lib<2"));
}

TEST_CASE("an installed variant is kept unless another one or none is asked for") {
  World world;
  world.publish_variants("lib", "1.0", axle::testing::level_variants({"v2", "v3", "null"}));
  world.index.add_wheel({"lib", "1.0"});
  world.install("lib", "1.0", {}, "v2");
  CHECK(world.resolve({"lib"}) == Names{"=lib 1.0[v2]"});
  world.options.pinned_variants = {{"lib", "v3"}};
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0[v3]"});
  world.options.pinned_variants = {{"lib", "v2"}};
  CHECK(world.resolve({"lib"}) == Names{"=lib 1.0[v2]"});
  world.options.pinned_variants.clear();
  world.options.plain_only = {"lib"};
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0"});
}

TEST_CASE("a wheel named by URL is taken as it is, with the hash of its fragment") {
  TwoVersions world;
  const std::string url = "https://index.test/files/app-1.0-py3-none-any.whl";
  CHECK(world.resolve({"app @ " + url + "#sha256=" + std::string(64, 'a')}) ==
        Names{"app 1.0", "lib 2.0"});
  CHECK(world.package("app").direct);
  CHECK(world.package("app").url == url);
  CHECK(world.package("app").hash.sha256() == std::string(64, 'a'));
  CHECK(world.error({"lib @ " + url}).kind == ErrorKind::mismatch);
  const auto conflict = world.error({"app @ " + url, "app>=2"});
  CHECK(conflict.kind == ErrorKind::conflict);
  CHECK(contains(conflict.message, "app>=2 (requested)"));
  const auto source = world.error({"app @ https://index.test/files/app-1.0.tar.gz"});
  CHECK(source.kind == ErrorKind::conflict);
  CHECK(contains(source.message, "a build is for this machine"));
}

TEST_CASE(
    "local wheels are resolved by their own metadata, and the labels of one release compete") {
  TwoVersions world;
  TemporaryFolder folder;
  MemoryIndex maker("");
  const auto metadata = axle::testing::level_variants({"v2", "v3", "v9"});
  std::vector<std::string> paths;
  resolver::Requests requests;
  for (const char* label : {"v2", "v3", "v9"}) {
    axle::testing::WheelRecipe recipe{.name = "own", .version = "1.0", .requires_dist = {"lib"}};
    recipe.label = label;
    recipe.variants = metadata;
    const auto& file = maker.add_wheel(recipe);
    axle::index::HttpRequest request;
    request.url = file.url;
    const auto bytes = maker.fetch(request);
    const std::string path = folder.path / file.filename;
    std::ofstream(path, std::ios::binary) << bytes->body;
    paths.push_back(path);
    requests.requirements.push_back({requirement("own @ " + axle::index::file_url(path))});
  }
  // File URLs are the real transport's; the index stays in memory.
  const auto transport = axle::index::make_transport({});
  world.options.dependencies = false;
  const auto resolution =
      resolver::resolve(requests, world.target, {}, {{&world.index}, {}, transport.get()},
                        world.options, world.report);
  REQUIRE_MESSAGE(resolution.has_value(), resolution.error().message);
  REQUIRE(resolution->packages.size() == 1);
  CHECK(resolution->packages[0].variant == "v3");
  CHECK(resolution->packages[0].direct);
  CHECK(resolution->packages[0].requested);
  CHECK(resolution->packages[0].size == std::filesystem::file_size(paths[1]));
}

TEST_CASE("unsafe-first-match asks on for a version, and releases are never merged across") {
  MemoryIndex first("https://first.test");
  MemoryIndex second("https://second.test");
  World world;
  first.add_wheel({"lib", "1.0"});
  second.add_wheel({"lib", "1.0", {}, "cp311-cp311-manylinux_2_28_x86_64"});
  second.add_wheel({"lib", "2.0"});
  const auto source_of = [&](const std::string& text, axle::index::Transport& transport) {
    const auto resolution =
        resolver::resolve({.requirements = {{requirement(text)}}}, world.target, {},
                          {{&first, &second},
                           {},
                           &transport,
                           nullptr,
                           axle::index::IndexStrategy::unsafe_first_match},
                          {}, world.report);
    REQUIRE_MESSAGE(resolution.has_value(), resolution.error().message);
    const plan::ResolvedPackage& package = resolution->packages.at(0);
    return package.source + " " + package.filename;
  };
  CHECK(source_of("lib", first) == "https://first.test lib-1.0-py3-none-any.whl");
  CHECK(source_of("lib>1", second) == "https://second.test lib-2.0-py3-none-any.whl");
}

TEST_CASE("find-links join the index, the local copy first among equals") {
  MemoryIndex links("https://links.test");
  World world;
  world.index.add_wheel({"lib", "1.0"});
  world.index.add_wheel({"lib", "3.0"});
  links.add_wheel({"lib", "2.0"});
  links.add_wheel({"lib", "3.0"});
  const auto source_of = [&](const std::string& text, axle::index::Transport& transport) {
    const auto resolution =
        resolver::resolve({.requirements = {{requirement(text)}}}, world.target, {},
                          {{&world.index}, {&links}, &transport}, {}, world.report);
    REQUIRE_MESSAGE(resolution.has_value(), resolution.error().message);
    return resolution->packages[0].source;
  };
  CHECK(source_of("lib", links) == "https://links.test");
  CHECK(source_of("lib<3", links) == "https://links.test");
  CHECK(source_of("lib<2", world.index) == "https://index.test");
}
