// Dependencies: the solver over an index in memory.

#include "resolver/solver/solver.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/resolver/solver_world.h"

using axle::ErrorKind;
using axle::testing::World;
namespace wheel = axle::wheel;
using Names = std::vector<std::string>;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the newest version is taken, with its dependencies and who wants them") {
  World world;
  world.index.add_wheel({"app", "1.0"});
  world.index.add_wheel({"app", "1.10", {"lib >=2", "other"}});
  world.index.add_wheel({"app", "1.9"});
  world.index.add_wheel({"lib", "2.0", {"other<3"}});
  world.index.add_wheel({"lib", "1.0"});
  world.index.add_wheel({"other", "2.5"});
  world.index.add_wheel({"other", "3.0"});
  CHECK(world.resolve({"App"}) == Names{"app 1.10", "lib 2.0", "other 2.5"});
  CHECK(world.package("app").requested);
  CHECK_FALSE(world.package("lib").requested);
  CHECK(world.package("other").required_by == Names{"app 1.10", "lib 2.0"});
  CHECK(world.package("app").dependencies.size() == 2);
  CHECK(world.package("lib").hash.sha256().size() == 64);
  CHECK(world.package("lib").size.has_value());
  CHECK(world.package("lib").url == "https://index.test/files/lib-2.0-py3-none-any.whl");
}

TEST_CASE("--no-deps asks for nothing beyond what is named") {
  World world;
  world.index.add_wheel({"app", "1.0", {"missing"}});
  world.options.dependencies = false;
  CHECK(world.resolve({"app"}) == Names{"app 1.0"});
}

TEST_CASE("markers decide which dependencies apply") {
  World world;
  world.index.add_wheel({"app",
                         "1.0",
                         {"win; sys_platform == 'win32'", "linux; sys_platform == 'linux'",
                          "old; python_version < '3.9'"}});
  world.index.add_wheel({"linux", "1.0"});
  CHECK(world.resolve({"app", "win; sys_platform == 'win32'"}) == Names{"app 1.0", "linux 1.0"});
}

TEST_CASE("extras bring their dependencies, also through the package itself") {
  World world;
  axle::testing::WheelRecipe app{.name = "app", .version = "1.0"};
  app.requires_dist = {"base", "tea; extra == 'hot'", "ice; extra == 'cold'",
                       "app[hot,cold]; extra == 'all'"};
  app.extras = {"hot", "cold", "all"};
  world.index.add_wheel(app);
  for (const char* name : {"base", "tea", "ice"}) world.index.add_wheel({name, "1.0"});
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "base 1.0"});
  CHECK(world.resolve({"app[hot]"}) == Names{"app 1.0", "base 1.0", "tea 1.0"});
  CHECK(world.resolve({"app[all]"}) == Names{"app 1.0", "base 1.0", "ice 1.0", "tea 1.0"});
  CHECK(world.report.remarks.empty());
  CHECK(world.resolve({"app[lukewarm]"}) == Names{"app 1.0", "base 1.0"});
  CHECK(world.remarked("app 1.0 has no extra lukewarm"));
}

TEST_CASE("an extra that is requested late is added to a package that was chosen before") {
  World world;
  axle::testing::WheelRecipe lib{.name = "lib", .version = "1.0"};
  lib.requires_dist = {"codec; extra == 'fast'"};
  lib.extras = {"fast"};
  world.index.add_wheel(lib);
  world.index.add_wheel({"codec", "1.0"});
  world.index.add_wheel({"app", "1.0", {"lib[fast]"}});
  CHECK(world.resolve({"lib", "app"}) == Names{"app 1.0", "codec 1.0", "lib 1.0"});
}

TEST_CASE("cycles of dependencies end") {
  World world;
  world.index.add_wheel({"egg", "1.0", {"hen>=1"}});
  world.index.add_wheel({"hen", "1.0", {"egg==1.0"}});
  CHECK(world.resolve({"egg"}) == Names{"egg 1.0", "hen 1.0"});
}

TEST_CASE(
    "a later requirement narrows a package that was chosen before, and what it brought goes") {
  World world;
  world.index.add_wheel({"lib", "2.0", {"only-of-two"}});
  world.index.add_wheel({"lib", "1.0"});
  world.index.add_wheel({"only_of_two", "1.0"});
  world.index.add_wheel({"app", "1.0", {"lib<2"}});
  CHECK(world.resolve({"lib", "app"}) == Names{"app 1.0", "lib 1.0"});
}

TEST_CASE("a conflict names both requirements and what requires them") {
  World world;
  world.index.add_wheel({"a", "1.0", {"c<2"}});
  world.index.add_wheel({"b", "1.0", {"c>=2"}});
  world.index.add_wheel({"c", "1.0"});
  world.index.add_wheel({"c", "2.0"});
  const auto error = world.error({"a", "b"});
  CHECK(error.kind == ErrorKind::conflict);
  CHECK(contains(error.message, "c<2 (required by a 1.0)"));
  CHECK(contains(error.message, "c>=2 (required by b 1.0)"));
  const auto own = world.error({"a", "c==2.0"});
  CHECK(own.kind == ErrorKind::conflict);
  CHECK(contains(own.message, "c==2.0 (requested)"));
  CHECK(contains(own.message, "c<2 (required by a 1.0)"));
}

TEST_CASE("a conflict is solved by an older version of the package at hand") {
  World world;
  world.index.add_wheel({"a", "1.0", {"c<2"}});
  world.index.add_wheel({"b", "3.0", {"c>=2"}});
  world.index.add_wheel({"b", "2.0", {"c>=2"}});
  world.index.add_wheel({"b", "1.0", {"c"}});
  world.index.add_wheel({"c", "1.0"});
  world.index.add_wheel({"c", "2.0"});
  CHECK(world.resolve({"a", "b"}) == Names{"a 1.0", "b 1.0", "c 1.0"});
  CHECK(world.remarked("b 1.0 is chosen, not 3.0"));
  CHECK(world.resolve({"b", "a"}) == Names{"a 1.0", "b 1.0", "c 1.0"});
}

TEST_CASE("what keeps a newer release out is said also where it is not part of the answer") {
  World world;
  world.index.add_wheel({"app", "2.0", {"mid"}});
  world.index.add_wheel({"app", "1.0"});
  world.index.add_wheel({"mid", "2.0", {"core>=3"}});
  world.index.add_wheel({"mid", "1.0", {"core>=2"}});
  for (const char* version : {"1.0", "2.0", "3.0"}) world.index.add_wheel({"core", version});
  CHECK(world.resolve({"app", "core<2"}) == Names{"app 1.0", "core 1.0"});
  CHECK(
      world.remarked("app 1.0 is chosen, not 2.0: no version of core satisfies all requirements: "
                     "core<2 (requested), core>=3 (required by mid 2.0)"));
}

TEST_CASE("where one side has no way out the other goes back") {
  World world;
  for (const char* version : {"1.0", "2.0", "3.0"}) world.index.add_wheel({"a", version, {"c<2"}});
  world.index.add_wheel({"b", "5.0", {"c>=2"}});
  world.index.add_wheel({"b", "4.0", {"c<2"}});
  world.index.add_wheel({"c", "1.0"});
  world.index.add_wheel({"c", "2.0"});
  CHECK(world.resolve({"b", "a"}) == Names{"a 3.0", "b 4.0", "c 1.0"});
}

TEST_CASE("an older version with an unavailable dependency is not a solution") {
  World world;
  world.index.add_wheel({"a", "1.0", {"c<2"}});
  world.index.add_wheel({"b", "2.0", {"c>=2"}});
  world.index.add_wheel({"b", "1.0", {"nowhere"}});
  world.index.add_wheel({"c", "1.0"});
  world.index.add_wheel({"c", "2.0"});
  const auto error = world.error({"a", "b"});
  CHECK(error.kind == ErrorKind::conflict);
  CHECK(contains(error.message, "c>=2 (required by b 2.0)"));
}

TEST_CASE(
    "where the versions without a conflict do not fit the machine, the conflict says so too") {
  World world;
  world.index.add_wheel({"b", "2.0", {"c>=2"}});
  world.index.add_wheel({.name = "b", .version = "1.0", .tags = "cp27-none-any"});
  world.index.add_wheel({"c", "1.0"});
  world.index.add_wheel({"c", "2.0"});
  const auto error = world.error({"b", "c<2"});
  CHECK(error.kind == ErrorKind::conflict);
  CHECK(contains(error.message, "c<2 (requested)"));
  CHECK(contains(error.message, "c>=2 (required by b 2.0)"));
  const auto lines = axle::plan::short_lines(error.conflict);
  CHECK(std::ranges::any_of(lines, [](const std::string& line) {
    return contains(line, "b 1.0 cannot be used: no wheel of b 1.0 fits this machine");
  }));
  // Where another package has the other side, another version of it may still be a way out.
  world.index.add_wheel({"a", "1.0", {"c<2"}});
  CHECK(world.error({"a", "b"}).kind == ErrorKind::conflict);
  world.index.add_wheel({"a", "0.9", {"c"}});
  CHECK(world.resolve({"a", "b"}) == Names{"a 0.9", "b 2.0", "c 2.0"});
}

TEST_CASE("without an index and a folder the error says that there is nowhere to look") {
  World world;
  world.sources.indexes.clear();
  const auto error = world.error({"corp"});
  CHECK(error.kind == ErrorKind::not_found);
  CHECK(contains(error.message, "no index or find-links location is configured for corp"));
}

TEST_CASE("requirements that contradict each other end in an answer or a conflict") {
  World world;
  world.index.add_wheel({"a", "2.0", {"b==1.0"}});
  world.index.add_wheel({"a", "1.0", {"b==2.0"}});
  world.index.add_wheel({"b", "1.0", {"a==1.0"}});
  world.index.add_wheel({"b", "2.0", {"a==2.0"}});
  CHECK(world.error({"a"}).kind == ErrorKind::conflict);
  CHECK(world.error({"b", "a"}).kind == ErrorKind::conflict);
}

TEST_CASE(
    "a package that is nowhere is not found, and the error says where was looked and for whom") {
  World world;
  world.index.add_wheel({"app", "1.0", {"ghost>1"}});
  const auto error = world.error({"app"});
  CHECK(error.kind == ErrorKind::not_found);
  CHECK(contains(error.message, "ghost"));
  CHECK(contains(error.message, "https://index.test"));
  CHECK(contains(error.message, "required by app 1.0"));
  CHECK_FALSE(error.hint.empty());
  CHECK(contains(world.error({"phantom"}).message, "requested"));
}

TEST_CASE("a version that is nowhere is not found, and the error says what there is") {
  World world;
  world.index.add_wheel({"lib", "1.0"});
  world.index.add_wheel({"lib", "2.0"}).yanked = true;
  const auto error = world.error({"lib>=3"});
  CHECK(error.kind == ErrorKind::not_found);
  CHECK(contains(error.message, "lib>=3"));
  CHECK(contains(error.message, "2.0 (yanked), 1.0"));
}

TEST_CASE("pre-releases are taken when asked for or when there is nothing else") {
  World world;
  world.index.add_wheel({"lib", "1.0"});
  world.index.add_wheel({"lib", "2.0rc1"});
  world.index.add_wheel({"beta", "0.1b1"});
  world.index.add_wheel({"beta", "0.1a1"});
  CHECK(world.resolve({"lib", "beta"}) == Names{"beta 0.1b1", "lib 1.0"});
  CHECK(world.resolve({"lib>=2.0rc1"}) == Names{"lib 2.0rc1"});
  CHECK(world.resolve({"lib>1.5"}) == Names{"lib 2.0rc1"});
  world.options.prereleases = axle::resolver::Prereleases::allow;
  CHECK(world.resolve({"lib"}) == Names{"lib 2.0rc1"});
}

TEST_CASE("yanked files are taken only when pinned, with a warning") {
  World world;
  world.index.add_wheel({"lib", "1.0"});
  auto& yanked = world.index.add_wheel({"lib", "1.1"});
  yanked.yanked = true;
  yanked.yanked_reason = "broken build";
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0"});
  CHECK(world.resolve({"lib>=1.0,<2"}) == Names{"lib 1.0"});
  CHECK(world.report.remarks.empty());
  CHECK(world.resolve({"lib==1.1"}) == Names{"lib 1.1"});
  CHECK(world.remarked("lib 1.1 is yanked: broken build"));
  CHECK(world.resolve({"lib===1.1"}) == Names{"lib 1.1"});
  CHECK(world.error({"lib==1.1.*"}).kind == ErrorKind::not_found);
}

TEST_CASE("requires-python decides, and a broken one is ignored with a warning") {
  World world;
  world.index.add_wheel({"lib", "3.0"}).requires_python = ">=3.12";
  world.index.add_wheel({"lib", "2.0"}).requires_python = ">=3.7.*bad";
  CHECK(world.resolve({"lib"}) == Names{"lib 2.0"});
  CHECK(world.remarked("requires-python of lib"));
  CHECK(world.remarked("lib 2.0 is chosen, not the newest"));
  world.target.python_version = axle::testing::version("3.12.0rc1");
  CHECK(world.resolve({"lib"}) == Names{"lib 3.0"});
}

TEST_CASE("requires-python inside the wheel counts where the index is silent") {
  World world;
  axle::testing::WheelRecipe newest{.name = "lib", .version = "2.0"};
  newest.requires_python = ">=3.12";
  world.index.add_wheel(newest);
  world.index.add_wheel({"lib", "1.0"});
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0"});
  CHECK(world.remarked("needs Python >=3.12"));
}

TEST_CASE("constraints narrow but ask for nothing") {
  World world;
  world.index.add_wheel({"app", "1.0", {"lib"}});
  for (const char* version : {"1.0", "2.0", "3.0"}) world.index.add_wheel({"lib", version});
  world.constraints = {"lib<3", "unrelated==9"};
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "lib 2.0"});
  world.constraints = {"lib<1"};
  const auto error = world.error({"app"});
  CHECK(contains(error.message, "lib<1 (constraint)"));
}

TEST_CASE("older releases are tried when the metadata of the newest is bad") {
  World world;
  world.index.add_wheel({"lib", "2.0", {"what? is this"}});
  world.index.add_wheel({"lib", "1.0"});
  CHECK(world.resolve({"lib"}) == Names{"lib 1.0"});
  CHECK(world.remarked("lib 1.0 is chosen, not the newest"));
}

TEST_CASE("metadata that is not the listed one is read from the wheel, not looked for elsewhere") {
  World world;
  world.index.add_wheel({"lib", "1.0"});
  world.index.add_wheel({"lib", "2.0"}).metadata_sha256 = std::string(64, '0');
  CHECK(world.resolve({"lib"}) == Names{"lib 2.0"});
  CHECK(world.remarked("lib-2.0-py3-none-any.whl.metadata"));
  CHECK(world.remarked("https://index.test"));
}

TEST_CASE("metadata is read from the archive where the index publishes none") {
  World world;
  world.index.add_wheel({"app", "1.0", {"lib"}}).has_metadata = false;
  world.index.add_wheel({"lib", "1.0"});
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "lib 1.0"});
}

TEST_CASE("resolving twice gives the same answer, and each page and metadata file is read once") {
  World world;
  world.counted = true;
  world.index.add_wheel({"a", "1.0", {"c<3", "d"}});
  world.index.add_wheel({"b", "1.0", {"c", "d[x]"}});
  for (const char* version : {"1.0", "2.0", "3.0"}) world.index.add_wheel({"c", version, {"d"}});
  world.index.add_wheel({"d", "1.0", {"a"}});
  const Names first = world.resolve({"b", "a"});
  std::vector<std::string> fetched = world.index.fetched;
  std::ranges::sort(fetched);
  CHECK(std::ranges::adjacent_find(fetched) == fetched.end());
  CHECK(world.resolve({"b", "a"}) == first);
}

TEST_CASE("a dependency that is nowhere, or has no wheel that fits, sends its owner back") {
  World world;
  world.index.add_wheel({"app", "3.0", {"ghost"}});
  world.index.add_wheel({"app", "2.0", {"old-python"}});
  world.index.add_wheel({"app", "1.0", {"lib"}});
  world.index.add_wheel({.name = "old_python", .version = "1.0", .tags = "cp27-none-any"});
  world.index.add_wheel({"lib", "1.0"});
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "lib 1.0"});
  CHECK(world.remarked("app 1.0 is chosen, not 3.0"));
  CHECK_MESSAGE(contains(world.error({"app>=2"}).message, "ghost"),
                world.error({"app>=2"}).message);
}

TEST_CASE("packages whose releases move in step meet at the newest versions that go together") {
  World world;
  for (int minor = 1; minor <= 60; ++minor) {
    const std::string at = "1." + std::to_string(minor);
    world.index.add_wheel({"core", at, {minor < 30 ? "http<2" : "http>=2"}});
    world.index.add_wheel({"tools", at, {"core==" + at}});
  }
  for (const char* at : {"1.9", "2.0"}) world.index.add_wheel({"http", at});
  world.index.add_wheel({"app", "1.0", {"tools", "core<1.50"}});
  CHECK(world.resolve({"app", "http<2"}) ==
        Names{"app 1.0", "core 1.29", "http 1.9", "tools 1.29"});
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "core 1.49", "http 2.0", "tools 1.49"});
}

TEST_CASE("the next variant of a version is tried before an older version") {
  World world;
  wheel::VariantMetadata metadata = axle::testing::level_variants({"v3", "v2"});
  for (const char* at : {"1.0", "2.0"}) {
    for (const auto& [label, properties] : metadata.variants) {
      axle::testing::WheelRecipe recipe{.name = "fast", .version = at};
      recipe.requires_dist = {label == "v3" ? "lib>=2" : "lib"};
      recipe.label = label;
      recipe.variants = metadata;
      world.index.add_wheel(recipe);
    }
    world.index.add_variants("fast", at, metadata);
  }
  for (const char* at : {"1.0", "2.0"}) world.index.add_wheel({"lib", at});
  CHECK(world.resolve({"fast"}) == Names{"fast 2.0[v3]", "lib 2.0"});
  CHECK(world.resolve({"fast", "lib<2"}) == Names{"fast 2.0[v2]", "lib 1.0"});
  world.options.pinned_variants = {{"fast", "v3"}};
  CHECK(world.error({"fast", "lib<2"}).kind == ErrorKind::conflict);
}

TEST_CASE("an extra counts in the search as its package does") {
  World world;
  for (const char* at : {"1.0", "2.0"}) {
    axle::testing::WheelRecipe app{.name = "app", .version = at};
    app.requires_dist = {std::string("codec") + (std::string(at) == "2.0" ? ">=2" : "") +
                         "; extra == 'fast'"};
    app.extras = {"fast"};
    world.index.add_wheel(app);
    world.index.add_wheel({"codec", at});
  }
  CHECK(world.resolve({"app[fast]"}) == Names{"app 2.0", "codec 2.0"});
  CHECK(world.resolve({"app[fast]", "codec<2"}) == Names{"app 1.0", "codec 1.0"});
  CHECK(world.resolve({"app", "codec<2"}) == Names{"app 2.0", "codec 1.0"});
}

TEST_CASE("what is installed stays while it can, and gives way where it is in the way") {
  World world;
  for (const char* at : {"1.0", "2.0"}) world.index.add_wheel({"lib", at});
  world.index.add_wheel({"app", "1.0", {"lib"}});
  world.index.add_wheel({"app", "2.0", {"lib>=2"}});
  world.install("lib", "1.0");
  CHECK(world.resolve({"app==1.0"}) == Names{"app 1.0", "=lib 1.0"});
  CHECK(world.resolve({"app"}) == Names{"app 2.0", "lib 2.0"});
  world.index.fetched.clear();
  CHECK(world.resolve({"lib"}) == Names{"=lib 1.0"});
  CHECK(world.index.fetched.empty());
}

TEST_CASE("a dependency's bound is no wish for pre-releases, its need of one is") {
  World world;
  for (const char* at : {"1.0", "2.0rc1"}) world.index.add_wheel({"lib", at});
  world.index.add_wheel({"bound", "1.0", {"lib<3.0.dev0"}});
  world.index.add_wheel({"eager", "1.0", {"lib>=2.0rc1"}});
  CHECK(world.resolve({"bound"}) == Names{"bound 1.0", "lib 1.0"});
  CHECK(world.resolve({"bound", "eager"}) == Names{"bound 1.0", "eager 1.0", "lib 2.0rc1"});
}

TEST_CASE("what is asked for first is preferred") {
  World world;
  for (const char* name : {"x", "y"}) {
    world.index.add_wheel({name, "1.0", {"c"}});
    world.index.add_wheel({name, "2.0", {std::string(name) == "x" ? "c>=2" : "c<2"}});
  }
  for (const char* at : {"1.0", "2.0"}) world.index.add_wheel({"c", at});
  CHECK(world.resolve({"x", "y"}) == Names{"c 2.0", "x 2.0", "y 1.0"});
  CHECK(world.resolve({"y", "x"}) == Names{"c 1.0", "x 1.0", "y 2.0"});
}

TEST_CASE("what only an abandoned version asked for is not taken") {
  World world;
  world.index.add_wheel({"app", "1.0", {"lib"}});
  world.index.add_wheel({"app", "2.0", {"lib==3.0rc1", "ghost"}});
  world.index.add_wheel({"tool", "1.0", {"old"}});
  world.index.add_wheel({"tool", "2.0", {"old==1.1", "ghost"}});
  for (const char* at : {"2.0", "3.0rc1"}) world.index.add_wheel({"lib", at});
  world.index.add_wheel({"old", "1.0"});
  world.index.add_wheel({"old", "1.1"}).yanked = true;
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "lib 2.0"});
  CHECK(world.resolve({"tool"}) == Names{"old 1.0", "tool 1.0"});
  world.options.prereleases = axle::resolver::Prereleases::allow;
  CHECK(world.resolve({"app"}) == Names{"app 1.0", "lib 3.0rc1"});
  CHECK(world.resolve({"tool"}) == Names{"old 1.0", "tool 1.0"});
}
