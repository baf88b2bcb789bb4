#include <algorithm>
#include <utility>

#include <doctest/doctest.h>

#include "tests/resolver/worlds/random_world.h"
#include "tests/resolver/worlds/world_complications.h"

namespace axle::testing {
namespace {

void publish(const WorldPackage& package, const WorldRelease& release, World& world) {
  wheel::VariantMetadata variants = level_variants({});
  variants.namespaces.emplace_back("abi_dependency");
  variants.providers["abi_dependency"].builtin = "abi_dependency";
  bool any = false;
  for (const WorldBuild& build : release.builds) {
    WheelRecipe recipe{.name = package.name, .version = release.version};
    std::ranges::replace(recipe.name, '-', '_');
    for (const WorldNeed& need : build.needs) recipe.requires_dist.push_back(need.text);
    recipe.tags = build.tags;
    recipe.label = build.label;
    recipe.requires_python = release.requires_python;
    if (!build.backend.empty()) {
      recipe.version += "+" + build.backend;
      recipe.label.clear();
      world.index.add_wheel_at(family_url, recipe);
      continue;
    }
    index::PublishedFile& file = world.index.add_metadata_of(recipe);
    if (release.yanked) file.yanked = true;
    file.requires_python = release.requires_python;
    if (build.label.empty()) continue;
    any = true;
    wheel::VariantProperties& properties = variants.variants[build.label];
    if (!build.level.empty()) properties.insert({"cpu", "level", build.level});
    if (!build.abi_package.empty())
      properties.insert({"abi_dependency", build.abi_package, build.abi_version});
  }
  if (any) world.index.add_variants(package.name, release.version, variants);
  if (!release.builds.empty()) return;
  index::PublishedFile& sdist = world.index.add_file(
      package.name, package.name + "-" + release.version + ".tar.gz", "no build is made of it");
  if (release.yanked) sdist.yanked = true;
}

void add_gpu(detect::Machine& machine, const std::string& cuda) {
  detect::Gpu gpu;
  gpu.vendor = detect::GpuVendor::nvidia;
  gpu.arch = "9.0";
  gpu.usable = detect::Presence::present;
  machine.gpus.push_back(gpu);
  detect::Driver driver;
  driver.vendor = gpu.vendor;
  driver.api_version = cuda;
  driver.usable = detect::Presence::present;
  machine.drivers.push_back(driver);
}

}  // namespace

WorldAnswer answer(const PublishedWorld& published) {
  World world;
  world.target = cpython(world.machine, published.python_minor, published.python);
  world.options.prereleases = published.prereleases;
  if (!published.family.members.empty()) {
    world.use_families = true;
    world.sources.families = &world.families;
    const auto added = world.families.add_file(family_text(published), "made.toml");
    REQUIRE_MESSAGE(added.has_value(), added.error().message);
  }
  if (!published.family.cuda.empty()) add_gpu(world.machine, published.family.cuda);
  for (const WorldPackage& package : published.packages) {
    for (const WorldRelease& release : package.releases) publish(package, release, world);
  }
  for (const WorldInstalled& one : published.installed) {
    std::vector<std::string> needs;
    for (const WorldNeed& need : one.needs) needs.push_back(need.text);
    world.install(one.name, one.version, needs);
  }
  resolver::Requests requests;
  for (const WorldNeed& need : published.requests)
    requests.requirements.push_back({requirement(need.text)});
  for (const WorldNeed& need : published.constraints)
    requests.constraints.push_back({requirement(need.text)});
  for (const WorldNeed& need : published.overrides)
    requests.overrides.push_back({requirement(need.text)});
  const auto made = resolver::resolve(requests, world.target, world.installed, world.sources,
                                      world.options, world.report);
  WorldAnswer answer;
  answer.solved = made.has_value();
  if (!made) {
    answer.error = made.error().message;
    answer.breaks_installed = !made.error().broken.empty();
    return answer;
  }
  for (const plan::ResolvedPackage& package : made->packages) {
    answer.chosen.push_back({package.name, wheel::render_version(package.version),
                             package.variant.value_or(""), package.already_installed});
  }
  return answer;
}

}  // namespace axle::testing
