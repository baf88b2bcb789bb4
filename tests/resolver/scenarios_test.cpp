// The rules that scenarios of other resolvers test, in worlds of our own. packse_scenarios.py runs
// theirs.

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/resolver/solver_world.h"

namespace axle::testing {
namespace {

using Strings = std::vector<std::string>;

/// "name version [yanked] [sdist] [python=SPEC] [tags=TAGS]: need | need"
void publish(World& world, const std::string& line) {
  const std::size_t colon = std::min(line.find(':'), line.size());
  std::istringstream head(line.substr(0, colon));
  WheelRecipe recipe;
  head >> recipe.name >> recipe.version;
  bool yanked = false;
  bool sdist = false;
  for (std::string word; head >> word;) {
    yanked = yanked || word == "yanked";
    sdist = sdist || word == "sdist";
    if (word.starts_with("python=")) recipe.requires_python = word.substr(7);
    if (word.starts_with("tags=")) recipe.tags = word.substr(5);
  }
  for (std::size_t at = colon + 1; at < line.size();) {
    const std::size_t end = std::min(line.find(" | ", at), line.size());
    recipe.requires_dist.push_back(line.substr(at, end - at));
    at = end + 3;
  }
  if (sdist) {
    world.index.add_file(recipe.name, recipe.name + "-" + recipe.version + ".tar.gz", "unused");
    return;
  }
  index::PublishedFile& file = world.index.add_metadata_of(recipe);
  file.yanked = yanked;
  file.requires_python = recipe.requires_python;
}

/// "name version, name version", or "refused".
std::string answer(const Strings& published, const Strings& asked) {
  World world;
  for (const std::string& line : published) publish(world, line);
  const auto made = world.try_resolve(asked);
  if (!made) return "refused";
  std::string text;
  for (const plan::ResolvedPackage& package : made->packages)
    text +=
        (text.empty() ? "" : ", ") + package.name + " " + wheel::render_version(package.version);
  return text;
}

TEST_CASE("scenarios: local, post and development versions in ranges") {
  const Strings lib = {"lib 1.0",      "lib 1.2+a",  "lib 1.2+b", "lib 1.2.post1",
                       "lib 1.3.dev1", "lib 1.3rc1", "lib 2.0"};
  CHECK(answer(lib, {"lib==1.2"}) == "lib 1.2+b");
  CHECK(answer(lib, {"lib==1.2+a"}) == "lib 1.2+a");
  CHECK(answer(lib, {"lib<=1.2"}) == "lib 1.2+b");
  CHECK(answer(lib, {"lib>1.2,<1.3"}) == "refused");
  CHECK(answer(lib, {"lib>=1.2,<1.3"}) == "lib 1.2.post1");
  CHECK(answer(lib, {"lib>1.2.post0,<1.3"}) == "lib 1.2.post1");
  CHECK(answer(lib, {"lib!=2.0"}) == "lib 1.2.post1");
  CHECK(answer(lib, {"lib~=1.2,<2"}) == "lib 1.2.post1");
}

TEST_CASE("scenarios: pre-releases count where they are named, or nothing else is there") {
  const Strings lib = {"lib 1.0", "lib 2.0a1", "lib 2.0b1", "lib 2.0rc1"};
  CHECK(answer(lib, {"lib"}) == "lib 1.0");
  CHECK(answer(lib, {"lib>=2.0a1"}) == "lib 2.0rc1");
  CHECK(answer(lib, {"lib>1.0"}) == "lib 2.0rc1");
  CHECK(answer(lib, {"lib<2.0"}) == "lib 1.0");
  CHECK(answer({"lib 1.0a1", "lib 1.0a2"}, {"lib"}) == "lib 1.0a2");
  CHECK(answer({"lib 1.0", "lib 2.0rc1", "app 1.0:lib>1.0"}, {"app"}) == "app 1.0, lib 2.0rc1");
}

TEST_CASE("scenarios: yanked releases count where they are pinned") {
  const Strings lib = {"lib 1.0", "lib 1.1 yanked", "app 1.0:lib==1.1", "app 2.0 yanked"};
  CHECK(answer(lib, {"lib"}) == "lib 1.0");
  CHECK(answer(lib, {"lib>1.0"}) == "refused");
  CHECK(answer(lib, {"lib==1.1"}) == "lib 1.1");
  CHECK(answer(lib, {"app"}) == "app 1.0, lib 1.1");
  CHECK(answer({"lib 1.0 yanked"}, {"lib"}) == "refused");
}

TEST_CASE("scenarios: extras") {
  const Strings app = {"app 1.0:lib<2; extra == 'old' | lib>=2; extra == 'new'", "lib 1.0",
                       "lib 2.0"};
  CHECK(answer(app, {"app"}) == "app 1.0");
  CHECK(answer(app, {"app[old]"}) == "app 1.0, lib 1.0");
  CHECK(answer(app, {"app[new]"}) == "app 1.0, lib 2.0");
  CHECK(answer(app, {"app[old]", "app[new]"}) == "refused");
  CHECK(answer(app, {"app[old,absent]"}) == "app 1.0, lib 1.0");
  // The newest release does not know the extra; that is no reason for an older one.
  CHECK(answer({"app 1.0:lib; extra == 'x'", "app 2.0", "lib 1.0"}, {"app[x]"}) == "app 2.0");
}

TEST_CASE("scenarios: what is missing, excluded or made for another Python makes way") {
  CHECK(answer({"app 1.0", "app 2.0:ghost"}, {"app"}) == "app 1.0");
  CHECK(answer({"app 1.0:ghost"}, {"app"}) == "refused");
  CHECK(answer({"app 1.0", "app 2.0 python=>=3.12"}, {"app"}) == "app 1.0");
  CHECK(answer({"app 1.0 python=<3.9", "app 2.0 python=>=3.12"}, {"app"}) == "refused");
  CHECK(answer({"app 1.0", "app 2.0 tags=py3-none-win_amd64"}, {"app"}) == "app 1.0");
  CHECK(answer({"app 1.0", "app 2.0 sdist"}, {"app"}) == "app 1.0");
  CHECK(answer({"app 1.0 sdist"}, {"app"}) == "refused");
  CHECK(answer({"app 1.0"}, {"app!=1.0"}) == "refused");
  CHECK(answer({"app 1.0:lib!=2.0", "lib 1.0", "lib 2.0"}, {"app", "lib"}) == "app 1.0, lib 1.0");
}

TEST_CASE("scenarios: going back over the right package") {
  // Through one more package than is in conflict.
  const Strings indirect = {"a 1.0",          "a 2.0:inner<2", "b 1.0:inner",
                            "b 2.0:inner>=2", "inner 1.0",     "inner 2.0:a<2"};
  CHECK(answer(indirect, {"b", "a"}) == "a 1.0, b 2.0, inner 2.0");
  CHECK(answer(indirect, {"a", "b"}) == "a 2.0, b 1.0, inner 1.0");
  // A range of versions is excluded by a third.
  const Strings range = {"a 1.0:b==1.0", "a 2.0:b==2.0", "a 2.1:b==2.0", "a 3.0:b==3.0", "b 1.0",
                         "b 2.0",        "b 3.0",        "c 1.0:a<2.0",  "c 2.0:a>=3.0"};
  CHECK(answer(range, {"a", "b>=2,<3", "c"}) == "refused");
  CHECK(answer(range, {"a", "b>=2,<3"}) == "a 2.1, b 2.0");
}

}  // namespace
}  // namespace axle::testing
