#include "tests/resolver/solver_world.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace axle::testing {

wheel::Requirement requirement(std::string_view text) {
  auto parsed = wheel::parse_requirement(text);
  REQUIRE_MESSAGE(parsed.has_value(), text);
  return std::move(*parsed);
}

wheel::Version version(std::string_view text) {
  auto parsed = wheel::parse_version(text);
  REQUIRE_MESSAGE(parsed.has_value(), text);
  return std::move(*parsed);
}

wheel::VariantMetadata level_variants(const std::vector<std::string>& labels) {
  wheel::VariantMetadata metadata;
  metadata.schema_version = "0.2.0";
  metadata.namespaces = {"cpu"};
  metadata.providers["cpu"].static_properties = {{"level", {"v3", "v2", "v1"}}};
  for (const std::string& label : labels) {
    metadata.variants[label] = label == "null" ? wheel::VariantProperties{}
                                               : wheel::VariantProperties{{"cpu", "level", label}};
  }
  return metadata;
}

resolver::Target cpython_311(const detect::Machine& machine) {
  return cpython(machine, 11, "3.11.7");
}

resolver::Target cpython(const detect::Machine& machine, std::uint32_t minor,
                         const std::string& full_version) {
  const std::string short_version = "3." + std::to_string(minor);
  resolver::Target target;
  wheel::TagTarget tags;
  tags.python_minor = minor;
  tags.architecture = "x86_64";
  tags.libc_family = "glibc";
  tags.libc_major = 2;
  tags.libc_minor = 36;
  target.machine = &machine;
  target.tags = wheel::supported_tags(tags);
  target.python_version = version(full_version);
  target.markers.strings = {{"python_version", short_version},
                            {"python_full_version", full_version},
                            {"os_name", "posix"},
                            {"sys_platform", "linux"},
                            {"platform_machine", "x86_64"},
                            {"platform_system", "Linux"},
                            {"platform_python_implementation", "CPython"},
                            {"implementation_name", "cpython"},
                            {"implementation_version", full_version},
                            {"platform_release", "6.1.0"},
                            {"platform_version", "#1"}};
  return target;
}

World::World() {
  sources.indexes = {&index};
  sources.transport = &index;
  target = cpython_311(machine);
}

void World::install(const std::string& name, const std::string& at,
                    const std::vector<std::string>& dependencies,
                    std::optional<std::string> variant) {
  plan::InstalledPackage package;
  package.name = name;
  package.version = version(at);
  package.variant = std::move(variant);
  for (const std::string& text : dependencies) package.dependencies.push_back(requirement(text));
  installed.push_back(std::move(package));
}

void World::publish_variants(const std::string& name, const std::string& at,
                             const wheel::VariantMetadata& metadata) {
  for (const auto& [label, properties] : metadata.variants) {
    WheelRecipe recipe{.name = name, .version = at};
    recipe.label = label;
    recipe.variants = metadata;
    index.add_wheel(recipe);
  }
  index.add_variants(name, at, metadata);
}

std::expected<plan::Resolution, resolver::Unresolved> World::try_resolve(
    const std::vector<std::string>& requirements) {
  resolver::Requests requests;
  for (const std::string& text : requirements) requests.requirements.push_back({requirement(text)});
  for (const std::string& text : constraints) requests.constraints.push_back({requirement(text)});
  sources.families = use_families ? &families : nullptr;
  report.remarks.clear();
  auto resolution = resolver::resolve(requests, target, installed, sources, options, report);
  if (!counted) check_without_whole_decisions(requests, resolution);
  return resolution;
}

void World::check_without_whole_decisions(
    const resolver::Requests& requests,
    const std::expected<plan::Resolution, resolver::Unresolved>& resolution) const {
  resolver::Options brief = options;
  brief.whole_decisions = !options.whole_decisions;
  CollectedReport other_report;
  const auto other = resolver::resolve(requests, target, installed, sources, brief, other_report);
  REQUIRE(other.has_value() == resolution.has_value());
  if (!other) {
    CHECK(other.error().message == resolution.error().message);
    CHECK(other.error().hint == resolution.error().hint);
    return;
  }
  const auto wheels = [](const plan::Resolution& all) {
    std::vector<std::string> urls;
    for (const plan::ResolvedPackage& package : all.packages)
      urls.push_back(package.name + " " + package.url + " " + package.decision.chosen_because);
    return urls;
  };
  CHECK(wheels(*other) == wheels(*resolution));
  const auto texts = [](const CollectedReport& of) {
    std::vector<std::string> all;
    for (const Remark& remark : of.remarks) all.push_back(remark.message + "\n" + remark.hint);
    return all;
  };
  CHECK(texts(other_report) == texts(report));
}

std::vector<std::string> World::resolve(const std::vector<std::string>& requirements) {
  auto resolution = try_resolve(requirements);
  REQUIRE_MESSAGE(resolution.has_value(), resolution.error().message);
  last = std::move(*resolution);
  std::vector<std::string> result;
  for (const plan::ResolvedPackage& package : last.packages) {
    std::string text = package.name + " " + wheel::render_version(package.version);
    if (package.variant) text += "[" + *package.variant + "]";
    result.push_back((package.already_installed ? "=" : "") + text);
  }
  return result;
}

resolver::Unresolved World::error(const std::vector<std::string>& requirements) {
  auto resolution = try_resolve(requirements);
  REQUIRE_FALSE(resolution.has_value());
  return std::move(resolution).error();
}

bool World::remarked(std::string_view part) const {
  return std::ranges::any_of(report.remarks, [&](const Remark& remark) {
    return remark.message.find(part) != std::string::npos ||
           remark.hint.find(part) != std::string::npos;
  });
}

const plan::ResolvedPackage& World::package(std::string_view name) const {
  const auto found = std::ranges::find(last.packages, name, &plan::ResolvedPackage::name);
  REQUIRE(found != last.packages.end());
  return *found;
}

}  // namespace axle::testing
