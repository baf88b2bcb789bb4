#include "tests/resolver/classes/class_world.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "detect/nvidia/cuda_drivers.h"
#include "detect/os/macos.h"
#include "wheel/system_platform.h"

namespace axle::testing {

using resolver::Atom;
using resolver::AtomKind;
using resolver::FactValues;
using resolver::Predicate;

std::optional<resolver::Target> target_on(const detect::Machine& machine) {
  if (machine.os.system == "Freebsd") return std::nullopt;
  const std::string arch = machine.cpu.arch == detect::Arch::other
                               ? machine.cpu.machine
                               : std::string(detect::render_arch(machine.cpu.arch));
  resolver::Target target = cpython_311(machine);
  wheel::TagTarget platform;
  platform.python_minor = 11;
  platform.architecture = arch;
  platform.libc_family = machine.libc.family;
  platform.libc_major = machine.libc.major;
  platform.libc_minor = machine.libc.minor;
  if (machine.os.system == wheel::windows_system)
    platform.platforms = {wheel::windows_platform(arch)};
  if (machine.os.system == wheel::mac_system)
    platform.platforms =
        wheel::mac_platforms(detect::macos_version(machine.os).value_or(detect::MacosVersion{}),
                             wheel::machine_name(wheel::mac_system, arch));
  if (platform.platforms == std::vector<std::string>{""}) platform.platforms = {"any"};
  target.tags = wheel::supported_tags(platform);
  wheel::put_system_markers(target.markers, machine.os.system, arch);
  auto& strings = target.markers.strings;
  strings["platform_release"] = machine.os.kernel;
  strings["platform_version"] = "";
  return target;
}

namespace {

/// A Linux has a C library, a Mac a version of macOS, and no other system has them.
bool is_of_system(std::string_view fact, std::string_view value, const FactValues& machine) {
  const std::string_view system = resolver::value_of(machine, "system");
  if (system.empty()) return true;
  if (fact == "libc") return value.empty() != (system == "linux");
  if (fact == "macos") return value.empty() != (system == "darwin");
  return true;
}

void multiply(std::vector<FactValues>& machines, const std::string& fact,
              const std::vector<std::string>& values) {
  std::vector<FactValues> more;
  for (const FactValues& machine : machines) {
    for (const std::string& value : values) {
      if (!is_of_system(fact, value, machine)) continue;
      more.push_back(machine);
      if (!value.empty()) more.back().emplace(fact, value);
    }
  }
  machines = std::move(more);
}

}  // namespace

std::vector<FactValues> machines_of(const Grid& grid) {
  std::vector<FactValues> machines = {{}};
  // What the others depend on first, so that there are never many.
  if (const auto systems = grid.find("system"); systems != grid.end())
    multiply(machines, "system", systems->second);
  for (const auto& [fact, values] : grid) {
    if (fact != "system") multiply(machines, fact, values);
  }
  // Facts that contradict each other are no machine's.
  std::erase_if(machines, [&](const FactValues& facts) {
    const FactValues back = resolver::facts_of(resolver::machine_with(facts), {});
    return std::ranges::any_of(grid, [&](const auto& row) {
      return resolver::value_of(back, row.first) != resolver::value_of(facts, row.first);
    });
  });
  return machines;
}

resolver::ClassSolver ClassWorld::solver(const std::vector<std::string>& texts,
                                         std::size_t most_solves) {
  requests = {};
  for (const std::string& text : texts) requests.requirements.push_back({requirement(text)});
  for (const std::string& text : constraints) requests.constraints.push_back({requirement(text)});
  sources.families = use_families ? &families : nullptr;
  answers_.clear();
  return {requests, options, sources, target_on, report, most_solves};
}

std::string ClassWorld::answer(const FactValues& facts) {
  const auto [known, is_new] = answers_.try_emplace(facts);
  if (!is_new) return known->second;
  const detect::Machine alone = resolver::machine_with(facts);
  const auto on = target_on(alone);
  if (!on) return known->second;
  CollectedReport unheard;
  const auto resolution = resolver::resolve(requests, *on, {}, sources, options, unheard);
  if (resolution) known->second = resolver::answer_of(*resolution);
  return known->second;
}

namespace {

std::string fact_of(const Atom& atom) {
  if (atom.fact == "glibc" || atom.fact == "musl") return "libc";
  if (atom.fact == "cpu") return "cpu " + atom.values.front();
  return atom.fact == "cuda" ? "driver" : atom.fact;
}

std::string bound_of(const Atom& atom) {
  return atom.fact == "driver" ? std::string(detect::cuda_of_driver(atom.values.front()))
                               : atom.values.front();
}

bool is_next(const Atom& atom, const std::string& value) {
  if (!value.contains('+')) {
    const auto& known = resolver::known_values(fact_of(atom));
    return value.empty() || atom.fact == "libc" || std::ranges::find(known, value) != known.end();
  }
  const std::size_t plus = value.find('+');
  const auto listed = [&](const std::string& one) {
    return std::ranges::find(atom.values, one) != atom.values.end();
  };
  return !listed("mixed") && listed(value.substr(0, plus)) && listed(value.substr(plus + 1));
}

/// The values by which an atom can be widened in one step, of those in the grid.
std::vector<std::string> next_values(const Atom& atom, const std::vector<std::string>& all) {
  std::vector<std::string> next;
  const bool versioned = atom.fact == "glibc" || atom.fact == "musl";
  const auto version = [&](const std::string& value) {
    return versioned && value.starts_with(atom.fact) ? value.substr(atom.fact.size() + 1)
           : versioned                               ? std::string()
                                                     : value;
  };
  std::vector<std::string> sorted = all;
  std::ranges::sort(sorted, resolver::is_older);
  switch (atom.kind) {
    case AtomKind::has:
      return {""};
    case AtomKind::lacks:
      return {"has"};
    case AtomKind::at_least:
      for (const std::string& value : sorted) {
        if (version(value).empty() == versioned && !value.empty()) continue;
        if (resolver::is_older(version(value), bound_of(atom))) next = {value};
      }
      return next;
    case AtomKind::below:
      for (const std::string& value : sorted) {
        if (versioned && version(value).empty()) continue;
        if (next.empty() && !resolver::is_older(version(value), bound_of(atom))) next = {value};
      }
      return next;
    default:
      for (const std::string& value : sorted) {
        const std::string word = atom.fact == "libc" ? value.substr(0, value.find(' '))
                                 : value.empty()     ? "none"
                                                     : value;
        const bool in = atom.kind == AtomKind::none
                            ? value.empty()
                            : std::ranges::find(atom.values, word) != atom.values.end();
        const bool always = atom.fact == "arch" || atom.fact == "system";
        // What nobody knows yet is no next value; of mixtures those of GPUs that are in.
        if (!in && !(value.empty() && always) && is_next(atom, value)) next.push_back(value);
      }
      return next;
  }
}

}  // namespace

void ClassWorld::check_weakest(const Predicate& holds, const FactValues& own, const Grid& grid) {
  INFO(resolver::render_predicate(holds));
  const std::string mine = answer(own);
  REQUIRE_FALSE(mine.empty());
  CHECK(resolver::misfits(holds, own).empty());
  const std::vector<FactValues> machines = machines_of(grid);
  unsigned inside = 0;
  for (const FactValues& facts : machines) {
    if (!resolver::misfits(holds, facts).empty()) continue;
    ++inside;
    std::string text;
    for (const auto& [fact, value] : facts) text += fact + "=" + value + " ";
    INFO(text);
    CHECK(answer(facts) == mine);
  }
  CHECK(inside > 0);
  for (std::size_t i = 0; i < holds.atoms.size(); ++i) {
    const Atom& atom = holds.atoms[i];
    const auto row = grid.find(fact_of(atom));
    REQUIRE_MESSAGE(row != grid.end(), fact_of(atom));
    Predicate others = holds;
    others.atoms.erase(others.atoms.begin() + static_cast<std::ptrdiff_t>(i));
    for (const std::string& value : next_values(atom, row->second)) {
      bool differs = false;
      for (const FactValues& facts : machines) {
        if (resolver::value_of(facts, row->first) != value) continue;
        if (!resolver::misfits(others, facts).empty()) continue;
        differs = differs || answer(facts) != mine;
      }
      INFO(resolver::render_atom(atom));
      INFO(value);
      CHECK(differs);
    }
  }
}

void publish_builds(World& world, const std::string& name, const std::string& version,
                    const std::map<std::string, std::vector<std::string>>& labels,
                    const std::string& wheel_tags,
                    const std::map<std::string, std::vector<std::string>>& needs,
                    const std::map<std::string, std::uint64_t>& bytes) {
  wheel::VariantMetadata metadata;
  metadata.schema_version = "0.2.0";
  metadata.namespaces = {"nvidia", "amd", "intel", "x86_64", "aarch64", "axle"};
  for (const std::string& ns : metadata.namespaces) metadata.providers[ns].builtin = ns;
  if (labels.size() == 1) {
    // Nothing but a plain build.
    WheelRecipe plain{.name = name, .version = version};
    plain.tags = wheel_tags;
    world.index.add_wheel(plain);
    return;
  }
  for (const auto& [label, properties] : labels) {
    wheel::VariantProperties& all = metadata.variants[label];
    for (const std::string& text : properties) all.insert(*wheel::parse_property(text));
  }
  std::set<std::string> used;
  for (const auto& [label, properties] : metadata.variants) {
    for (const wheel::Property& property : properties) used.insert(property.ns);
  }
  std::erase_if(metadata.namespaces, [&](const std::string& ns) { return !used.contains(ns); });
  std::erase_if(metadata.providers, [&](const auto& row) { return !used.contains(row.first); });
  for (const auto& [label, properties] : labels) {
    WheelRecipe recipe{.name = name, .version = version};
    recipe.label = label;
    recipe.tags = wheel_tags;
    recipe.variants = metadata;
    if (const auto own = needs.find(label); own != needs.end()) recipe.requires_dist = own->second;
    index::PublishedFile& file = world.index.add_wheel(recipe);
    if (const auto size = bytes.find(label); size != bytes.end()) file.size = size->second;
  }
  world.index.add_variants(name, version, metadata);
}

}  // namespace axle::testing
