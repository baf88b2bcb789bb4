// What must hold of any family and any machine, tried on torch's: more of something never takes a
// build away.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "detect/nvidia/cuda_drivers.h"
#include "tests/torch/torch_world.h"

namespace axle::testing {
namespace {

/// "2.14 cu130 linux_x86_64"
using Builds = std::set<std::string>;

/// The builds of one release on one platform, and the variants that a family makes of them.
struct Published {
  std::string release;
  std::string_view platform;
  std::set<std::string, std::less<>> labels;
  index::FamilyVariants variants;
};

std::vector<Published> published_by(const index::Family& family) {
  std::vector<Published> all;
  for (const TableRelease& release : builds_table().releases) {
    for (const std::string_view platform : linux_platforms) {
      const auto labels = labels_of(release, platform);
      all.push_back({release.version, platform, labels,
                     variants_of(family, release.version, platform, labels)});
    }
  }
  return all;
}

Builds builds_for(const std::vector<Published>& published, const detect::Machine& machine) {
  Builds fitting;
  for (const Published& one : published) {
    for (const auto& [label, verdict] : verdicts_on(one.variants, one.labels, machine)) {
      if (verdict == Fitness::fits)
        fitting.insert(fmt::format("{} {} {}", one.release, label, one.platform));
    }
  }
  return fitting;
}

/// "" when `more` has all of `fewer`.
std::string lost(const Builds& fewer, const Builds& more) {
  for (const std::string& build : fewer) {
    if (!more.contains(build)) return build;
  }
  return {};
}

/// One GPU of the table for each architecture of a vendor, by the name that --for knows.
std::map<std::string, std::string> one_of_each_architecture(std::string_view vendor) {
  std::map<std::string, std::string> names;
  for (const TableGpu& gpu : builds_table().gpus) {
    if (gpu.vendor == vendor) names.emplace(gpu.arch, gpu.names.front());
  }
  return names;
}

std::vector<detect::Machine> machines_with(std::string_view vendor) {
  std::vector<detect::Machine> machines;
  for (const auto& [arch, name] : one_of_each_architecture(vendor)) {
    if (vendor != "nvidia") {
      machines.push_back(machine_for(name));
      continue;
    }
    for (const char* driver : {"525.60.13", "575.51.03", "595.71.05"})
      machines.push_back(machine_for(fmt::format("{};nvidia:driver={}", name, driver)));
  }
  return machines;
}

/// The family, each build for `vendor` changed.
template <class Change>
index::Family changed(index::Family family, std::string_view vendor, Change change) {
  for (index::FamilyRelease& release : family.releases) {
    for (index::FamilyBuild& build : release.builds) {
      if (family.label(build.label)->vendor == vendor && build.code) change(build);
    }
  }
  return family;
}

/// The vendor's architectures as the family writes them.
std::vector<std::string> architectures(const index::Family& family, std::string_view vendor) {
  std::vector<std::string> names;
  if (vendor == "intel") {
    for (const auto& [name, ips] : family.devices) names.push_back(name);
    return names;
  }
  for (const auto& [arch, name] : one_of_each_architecture(vendor)) names.push_back(arch);
  if (vendor == "nvidia") names.insert(names.end(), {"3.5", "3.7", "5.3", "6.2", "10.1", "12.9"});
  return names;
}

std::vector<Builds> builds_for_each(const index::Family& family,
                                    const std::vector<detect::Machine>& machines) {
  const std::vector<Published> published = published_by(family);
  std::vector<Builds> builds;
  for (const detect::Machine& machine : machines) builds.push_back(builds_for(published, machine));
  return builds;
}

/// `before`: the builds of each machine before the family was changed.
void check_that_nothing_is_lost(const std::vector<Builds>& before, const index::Family& after,
                                const std::vector<detect::Machine>& machines,
                                const std::string& change) {
  const std::vector<Builds> now = builds_for_each(after, machines);
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const std::string missing = lost(before[i], now[i]);
    CHECK_MESSAGE(missing.empty(), fmt::format("{}: {} has lost {}", change,
                                               machines[i].gpus.front().name, missing));
  }
}

}  // namespace

TEST_CASE("a newer NVIDIA driver never loses a build") {
  const std::vector<Published> published = published_by(shipped_torch());
  for (const auto& [arch, name] : one_of_each_architecture("nvidia")) {
    Builds before;
    for (const detect::CudaDriverBranch& branch : detect::cuda_driver_branches) {
      const std::string what = fmt::format("{};nvidia:driver={}", name, branch.driver);
      Builds now = builds_for(published, machine_for(what));
      CHECK_MESSAGE(lost(before, now).empty(), what << " has lost " << lost(before, now));
      before = std::move(now);
    }
    CHECK(before.size() > 20);  // the CPU builds at least
  }
}

TEST_CASE("code for one more architecture never loses a machine") {
  const index::Family family = shipped_torch();
  for (const char* vendor : {"nvidia", "amd", "intel"}) {
    const auto machines = machines_with(vendor);
    const std::vector<Builds> before = builds_for_each(family, machines);
    for (const std::string& arch : architectures(family, vendor)) {
      const index::Family more = changed(family, vendor, [&](index::FamilyBuild& build) {
        if (std::ranges::find(*build.code, arch) == build.code->end()) build.code->push_back(arch);
      });
      check_that_nothing_is_lost(before, more, machines, "with code for " + arch);
    }
  }
}

TEST_CASE("PTX never loses a machine") {
  const index::Family family = shipped_torch();
  const auto machines = machines_with("nvidia");
  const std::vector<Builds> before = builds_for_each(family, machines);
  for (const std::string& arch : architectures(family, "nvidia")) {
    const index::Family more = changed(family, "nvidia", [&](index::FamilyBuild& build) {
      if (!build.ptx) build.ptx.emplace();
      if (std::ranges::find(*build.ptx, arch) == build.ptx->end()) build.ptx->push_back(arch);
    });
    check_that_nothing_is_lost(before, more, machines, "with PTX for " + arch);
  }
}

TEST_CASE("the order of the GPUs on the bus decides nothing") {
  TorchWorld world;
  const std::vector<std::string> several = {
      "nvidia:gpu=gtx1080ti,driver=550.54.14;nvidia:gpu=h100;amd:gpu=mi300x",
      "nvidia:gpu=v100;nvidia:gpu=rtx5090;nvidia:gpu=orin",
      "amd:gpu=rx7900xtx;amd:gpu=780m;intel:gpu=b580",
      "amd:gpu=steamdeck;amd:gpu=mi50;amd:gpu=rx9070",
      "intel:gpu=mtlh;intel:gpu=a770;intel:gpu=pvc",
      "nvidia:gpu=gtx750ti,driver=470.256.02;intel:gpu=b580;amd:gpu=vega64"};
  for (const std::string& what : several) {
    detect::Machine machine = machine_for(what);
    const RuleChoice first = world.choose(machine, "linux_x86_64");
    CHECK_MESSAGE(first.label != "cpu", what);
    std::vector<std::size_t> order = {0, 1, 2};
    const auto gpus = machine.gpus;
    REQUIRE(gpus.size() == order.size());
    while (std::ranges::next_permutation(order).found) {
      for (std::size_t i = 0; i < order.size(); ++i) machine.gpus[i] = gpus[order[i]];
      CHECK_MESSAGE(world.choose(machine, "linux_x86_64") == first, what);
    }
  }
}

TEST_CASE("a GPU of another vendor never loses a build") {
  const std::vector<Published> published = published_by(shipped_torch());
  std::vector<std::string> all;
  for (const char* vendor : {"nvidia", "amd", "intel"}) {
    for (const auto& [arch, name] : one_of_each_architecture(vendor))
      all.push_back(fmt::format("{}:gpu={}", vendor, name));
  }
  std::map<std::string, Builds> alone;
  for (const std::string& one : all) alone[one] = builds_for(published, machine_for(one));
  unsigned pairs = 0;
  for (const std::string& one : all) {
    for (const std::string& other : all) {
      if (one.substr(0, 3) <= other.substr(0, 3)) continue;
      const Builds both = builds_for(published, machine_for(one + ";" + other));
      CHECK_MESSAGE(lost(alone[one], both).empty(), one << ";" << other);
      CHECK_MESSAGE(lost(alone[other], both).empty(), one << ";" << other);
      ++pairs;
    }
  }
  CHECK(pairs > 400);
}

}  // namespace axle::testing
