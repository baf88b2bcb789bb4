#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/resolver/worlds/random_world.h"
#include "tests/resolver/worlds/world_complications.h"

namespace axle::testing {
namespace {

/// The second index of a world, which is asked before the other one.
constexpr const char* first_url = "https://first.test";

/// Each URL from the index that has it.
class BothIndexes final : public index::Transport {
 public:
  BothIndexes(MemoryIndex& first, MemoryIndex& second) : first_(first), second_(second) {}

  Result<index::HttpResponse> fetch(const index::HttpRequest& request) override {
    return (request.url.starts_with(first_url) ? first_ : second_).fetch(request);
  }
  Result<index::HttpResponse> download(const index::HttpRequest& request,
                                       const index::BodySink& sink) override {
    return (request.url.starts_with(first_url) ? first_ : second_).download(request, sink);
  }

 private:
  MemoryIndex& first_;
  MemoryIndex& second_;
};

/// Makes the wheel that the world has for a source distribution.
class WorldBuilder final : public resolver::SourceBuilder {
 public:
  explicit WorldBuilder(MemoryIndex& index) : index_(index) {}
  void knows(const std::string& url, const WheelRecipe& recipe) { recipes_[url] = recipe; }

  Result<resolver::BuiltWheel> build(const resolver::Sdist& sdist) override {
    const auto recipe = recipes_.find(sdist.file.url);
    if (recipe == recipes_.end())
      return fail(ErrorKind::unsupported, sdist.file.filename + " cannot be built");
    MemoryIndex made;
    const index::PublishedFile file = made.add_wheel(recipe->second);
    index::HttpRequest request;
    request.url = file.url;
    const index::PublishedFile& there =
        index_.add_file("made", file.filename, made.fetch(request)->body);
    return resolver::BuiltWheel{there, {sdist.file.filename, sdist.file.url, {}, "dice"}};
  }
  Result<resolver::BuiltWheel> build(const resolver::NamedSource& source) override {
    return fail(ErrorKind::unsupported, source.url + " is no sdist of an index");
  }

 private:
  MemoryIndex& index_;
  std::map<std::string, WheelRecipe> recipes_;
};

std::vector<std::string> texts(const std::vector<WorldNeed>& needs) {
  std::vector<std::string> texts;
  for (const WorldNeed& need : needs) texts.push_back(need.text);
  return texts;
}

void publish_sdist(const WorldPackage& package, const WorldRelease& release, MemoryIndex& index,
                   WorldBuilder& builder) {
  index::PublishedFile& sdist = index.add_file(
      package.name, package.name + "-" + release.version + ".tar.gz", "no build is made of it");
  if (release.yanked) sdist.yanked = true;
  sdist.requires_python = release.requires_python;
  if (!release.sdist_builds) return;
  WheelRecipe recipe{.name = package.name, .version = release.version};
  std::ranges::replace(recipe.name, '-', '_');
  recipe.requires_dist = texts(release.sdist_needs);
  recipe.requires_python = release.requires_python;
  builder.knows(sdist.url, recipe);
}

void publish(const WorldPackage& package, const WorldRelease& release, MemoryIndex& index) {
  wheel::VariantMetadata variants = level_variants({});
  variants.namespaces.emplace_back("abi_dependency");
  variants.providers["abi_dependency"].builtin = "abi_dependency";
  bool any = false;
  for (const WorldBuild& build : release.builds) {
    WheelRecipe recipe{.name = package.name, .version = release.version};
    std::ranges::replace(recipe.name, '-', '_');
    recipe.requires_dist = texts(build.needs);
    recipe.tags = build.tags;
    recipe.label = build.label;
    recipe.requires_python = release.requires_python;
    if (!build.backend.empty()) {
      recipe.version += "+" + build.backend;
      recipe.label.clear();
      index.add_wheel_at(family_url, recipe);
      continue;
    }
    index::PublishedFile& file = index.add_metadata_of(recipe);
    if (release.yanked) file.yanked = true;
    file.requires_python = release.requires_python;
    if (build.label.empty()) continue;
    any = true;
    wheel::VariantProperties& properties = variants.variants[build.label];
    if (!build.level.empty()) properties.insert({"cpu", "level", build.level});
    if (build.also_v4) properties.insert({"cpu", "level", "v4"});
    if (!build.abi_package.empty())
      properties.insert({"abi_dependency", build.abi_package, build.abi_version});
  }
  if (any) index.add_variants(package.name, release.version, variants);
}

index::IndexStrategy strategy_called(const std::string& name) {
  if (name == "unsafe-first-match") return index::IndexStrategy::unsafe_first_match;
  return name == "unsafe-best-match" ? index::IndexStrategy::unsafe_best_match
                                     : index::IndexStrategy::first_index;
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
  if (published.prereleases) world.options.prereleases = resolver::Prereleases::allow;
  if (!published.family.members.empty()) {
    world.use_families = true;
    world.sources.families = &world.families;
    const auto added = world.families.add_file(family_text(published), "made.toml");
    REQUIRE_MESSAGE(added.has_value(), added.error().message);
  }
  if (!published.family.cuda.empty()) add_gpu(world.machine, published.family.cuda);
  MemoryIndex first(first_url);
  BothIndexes both(first, world.index);
  WorldBuilder builder(world.index);
  if (!published.strategy.empty()) {
    world.sources.indexes = {&first, &world.index};
    world.sources.transport = &both;
    world.sources.strategy = strategy_called(published.strategy);
  }
  world.options.builds.builder = &builder;
  world.options.builds.names = {published.built.begin(), published.built.end()};
  for (const WorldPackage& package : published.packages) {
    for (const WorldRelease& release : package.releases) {
      const bool in_first = !published.strategy.empty() && release.index == 0;
      MemoryIndex& index = in_first ? first : world.index;
      publish(package, release, index);
      if (release.sdist || release.builds.empty()) publish_sdist(package, release, index, builder);
    }
    if (package.assigned.empty()) continue;
    world.sources.assigned[package.name] = {
        {"made", package.assigned == "0" ? &first : &world.index, {}, {}, {}}};
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
    answer.changes_backend = !made.error().changes.empty();
    return answer;
  }
  for (const plan::ResolvedPackage& package : made->packages) {
    const bool second = !published.strategy.empty() && package.source != first_url;
    answer.chosen.push_back({package.name, wheel::render_version(package.version),
                             package.variant.value_or(""), package.already_installed,
                             second && !package.already_installed ? 1U : 0U});
  }
  return answer;
}

}  // namespace axle::testing
