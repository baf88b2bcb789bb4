#include "tests/resolver/worlds/random_world.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <utility>

#include "tests/resolver/worlds/world_complications.h"

namespace axle::testing {
namespace {

/// In ascending order; packages have some of them.
constexpr std::array ladder = {"1.0",   "1.1", "2.0rc1", "2.0",      "2.0.post1",
                               "3.0b1", "3.0", "3.1",    "4.0.dev1", "4.0"};

class WorldDice {
 public:
  WorldDice(std::uint32_t seed, const WorldShape& shape) : engine_(seed), shape_(shape) {}

  PublishedWorld world();

 private:
  std::size_t below(std::size_t bound) { return engine_() % bound; }
  bool in_hundred(std::size_t chances) { return below(100) < chances; }
  const std::string& name() { return names_[below(names_.size())]; }

  std::string specifiers();
  WorldNeed need(std::string of);
  WorldNeed need_of(const std::string& owner, const WorldBuild& build);
  WorldRelease release(const std::string& owner, const std::string& version);
  WorldBuild build(const std::string& owner, std::size_t place);
  WorldPackage package(const std::string& of);
  void install(PublishedWorld& world);

  std::mt19937 engine_;
  WorldShape shape_;
  std::vector<std::string> names_;
  std::size_t density_ = 2;
};

std::string WorldDice::specifiers() {
  const std::string some = ladder.at(below(ladder.size()));
  switch (below(20)) {
    case 0:
    case 1:
    case 2:
      return "==" + some;
    case 3:
    case 4:
    case 5:
      return "<" + some;
    case 6:
      return "<=" + some;
    case 7:
    case 8:
      return ">=" + some;
    case 9:
      return ">" + some;
    case 10:
      return "!=" + some;
    case 11:
      return "==" + std::to_string(1 + below(4)) + ".*";
    case 12:
      return "~=" + std::string(in_hundred(50) ? "2.0" : "3.0");
    case 13:
      return ">=" + some + ",!=" + std::string(ladder.at(below(ladder.size())));
    case 14:
      return ">=1.1,<" + std::string(in_hundred(50) ? "3.0" : "4");
    default:
      return {};
  }
}

WorldNeed WorldDice::need(std::string of) {
  WorldNeed need;
  need.name = std::move(of);
  need.specifiers = specifiers();
  if (in_hundred(12)) need.extras.push_back(in_hundred(70) ? "x" : "y");
  need.text = need.name;
  if (!need.extras.empty()) need.text += "[" + need.extras.front() + "]";
  need.text += need.specifiers;
  return need;
}

WorldNeed WorldDice::need_of(const std::string& owner, const WorldBuild& build) {
  std::vector<std::string> markers;
  WorldNeed made = need(in_hundred(3) ? "ghost" : name());
  if (made.name == owner) {
    if (made.extras.empty()) made.extras.push_back("y");
    made.specifiers.clear();
    made.text = owner + "[" + made.extras.front() + "]";
  }
  if (made.name == owner || in_hundred(15)) {
    made.extra = in_hundred(70) ? "x" : "y";
    markers.push_back("extra == '" + made.extra + "'");
  }
  if (in_hundred(6)) {
    markers.emplace_back("sys_platform == 'linux'");
  } else if (in_hundred(6)) {
    markers.emplace_back("python_version < '3.9'");
    made.holds = false;
  } else if (in_hundred(6)) {
    markers.emplace_back("variant_label == 'v2'");
    made.holds = build.label == "v2";
  }
  for (std::size_t i = 0; i < markers.size(); ++i)
    made.text += (i == 0 ? "; " : " and ") + markers[i];
  return made;
}

WorldBuild WorldDice::build(const std::string& owner, std::size_t place) {
  WorldBuild made;
  if (place > 0) {
    const std::size_t kind = below(10);
    if (kind == 0) {
      made.label = "null";
    } else {
      const bool levelled = kind < 8;
      if (levelled) made.level = "v" + std::to_string(1 + below(4));
      if (!levelled || in_hundred(15)) {
        made.abi_package = name();
        made.abi_version = std::to_string(1 + below(4));
        if (in_hundred(30)) made.abi_version += ".0";
      }
      if (made.abi_package == owner) made.abi_package.clear();
      made.label = made.level;
      if (!made.abi_package.empty())
        made.label += (levelled ? "_" : "") + made.abi_package + made.abi_version;
      if (made.label.empty()) made.label = "null";
    }
    made.fits = made.level != "v4";
  }
  if (in_hundred(6)) {
    made.tags = "cp311-cp311-win_amd64";
    made.fits = false;
  }
  for (std::size_t count = below(density_ + 1); count > 0; --count)
    made.needs.push_back(need_of(owner, made));
  return made;
}

WorldRelease WorldDice::release(const std::string& owner, const std::string& version) {
  WorldRelease made;
  made.version = version;
  made.yanked = in_hundred(7);
  if (in_hundred(5)) {
    made.requires_python = ">=3.12";
    made.python_fits = false;
  }
  if (in_hundred(3)) return made;
  const std::size_t variants = in_hundred(40) ? below(shape_.variants + 1) : 0;
  const bool plain = variants == 0 || in_hundred(60);
  std::vector<std::string> labels;
  for (std::size_t place = plain ? 0 : 1; place <= variants; ++place) {
    WorldBuild one = build(owner, place);
    if (std::ranges::find(labels, one.label) != labels.end()) continue;
    labels.push_back(one.label);
    made.builds.push_back(std::move(one));
  }
  return made;
}

WorldPackage WorldDice::package(const std::string& of) {
  WorldPackage made{of, {}};
  const std::size_t count = 1 + below(shape_.releases);
  std::vector<std::size_t> steps;
  while (steps.size() < std::min(count, ladder.size())) {
    const std::size_t step = below(ladder.size());
    // Pre-releases are rarer than other versions.
    const bool early = step == 2 || step == 5 || step == 8;
    if (early && !in_hundred(40)) continue;
    if (std::ranges::find(steps, step) == steps.end()) steps.push_back(step);
  }
  std::ranges::sort(steps);
  for (const std::size_t step : steps) made.releases.push_back(release(of, ladder.at(step)));
  return made;
}

void WorldDice::install(PublishedWorld& world) {
  for (std::size_t count = 1 + below(3); count > 0; --count) {
    WorldInstalled one{name(), ladder.at(below(ladder.size())), {}};
    const auto is_it = [&](const WorldInstalled& other) { return other.name == one.name; };
    if (std::ranges::any_of(world.installed, is_it)) continue;
    const auto package = std::ranges::find(world.packages, one.name, &WorldPackage::name);
    const auto release = std::ranges::find(package->releases, one.version, &WorldRelease::version);
    const bool published = release != package->releases.end() && !release->builds.empty();
    for (std::size_t needs = published ? 0 : below(3); needs > 0; --needs)
      one.needs.push_back(need_of(one.name, {}));
    if (published && release->builds.front().label.empty())
      one.needs = release->builds.front().needs;
    world.installed.push_back(std::move(one));
  }
}

PublishedWorld WorldDice::world() {
  PublishedWorld world;
  world.prereleases = in_hundred(5);
  density_ = 1 + below(4);
  const std::size_t count = 2 + below(shape_.packages - 1);
  for (std::size_t i = 0; i < count; ++i)
    names_.push_back(std::string(1, static_cast<char>('a' + i)));
  for (const std::string& of : names_) world.packages.push_back(package(of));
  for (std::size_t requests = 1 + below(3); requests > 0; --requests)
    world.requests.push_back(need(in_hundred(1) ? "ghost" : name()));
  if (in_hundred(15)) world.constraints.push_back(need(name()));
  if (in_hundred(8)) world.overrides.push_back(need(name()));
  // A constraint asks for no extras.
  for (WorldNeed& constraint : world.constraints) {
    constraint.extras.clear();
    constraint.text = constraint.name + constraint.specifiers;
  }
  if (in_hundred(20)) install(world);
  return world;
}

}  // namespace

PublishedWorld random_world(std::uint32_t seed, const WorldShape& shape) {
  PublishedWorld world = WorldDice(seed, shape).world();
  world.seed = seed;
  complicate(world);
  return world;
}

}  // namespace axle::testing
