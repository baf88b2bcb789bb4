// Each build of torch on each machine, and the choice: Axle beside torch's own rule, transcribed
// from its documents (torch_rule.cpp) over the table that the shipped family is made of.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/torch/torch_world.h"

namespace axle::testing {
namespace {

struct Case {
  std::string what;  ///< for --for
  RuleMachine machine;
};

std::vector<Case> with_each_driver(const std::string& what, const TableGpu& gpu) {
  if (gpu.vendor != "nvidia") return {{what, {{gpu}, {}}}};
  std::vector<Case> cases;
  for (const std::string& driver : drivers_at_each_floor())
    cases.push_back({fmt::format("{};nvidia:driver={}", what, driver), {{gpu}, driver}});
  return cases;
}

/// Every GPU of the table by its name, and compute capabilities that no GPU there has: one that is
/// not out yet, Tegras, Keplers.
std::vector<Case> single_gpus() {
  std::vector<Case> cases{{"none", {}}};
  for (const TableGpu& gpu : builds_table().gpus) {
    for (const std::string& name : gpu.names) {
      for (Case& one : with_each_driver(name, gpu)) cases.push_back(std::move(one));
    }
  }
  for (const char* arch : {"3.5", "3.7", "5.3", "6.2", "10.1", "13.0"}) {
    const std::string what = fmt::format("nvidia:sm={}", arch);
    for (Case& one : with_each_driver(what, {{}, "nvidia", arch})) cases.push_back(std::move(one));
  }
  return cases;
}

/// One GPU of each architecture beside those of other vendors.
std::vector<Case> mixed_gpus() {
  std::map<std::string, TableGpu> gpus;
  for (const TableGpu& gpu : builds_table().gpus) gpus.emplace(gpu.arch, gpu);
  std::vector<Case> cases;
  for (const auto& [first_arch, first] : gpus) {
    for (const auto& [second_arch, second] : gpus) {
      if (first.vendor <= second.vendor) continue;
      const bool nvidia = first.vendor == "nvidia";
      for (const char* driver : {"450.80.02", "550.54.14", "580.65.06"}) {
        const std::string stated = nvidia ? fmt::format(",driver={}", driver) : std::string();
        cases.push_back({fmt::format("{}:gpu={}{};{}:gpu={}", first.vendor, first.names.front(),
                                     stated, second.vendor, second.names.front()),
                         {{first, second}, nvidia ? driver : ""}});
        if (!nvidia) break;
      }
    }
  }
  return cases;
}

std::string name_of(Fitness verdict) {
  return verdict == Fitness::fits ? "fits" : verdict == Fitness::unknown ? "unknown" : "misfit";
}

/// A Jetson is aarch64, a card fits into either.
std::vector<std::string_view> platforms_of(const detect::Machine& machine) {
  if (machine.cpu.arch == detect::Arch::aarch64) return {"linux_aarch64"};
  return {"linux_x86_64", "linux_aarch64"};
}

}  // namespace

TEST_CASE("every build of torch is judged on every machine as torch itself judges it") {
  const index::Family family = shipped_torch();
  unsigned judged = 0;
  unsigned differ = 0;
  std::map<Fitness, unsigned> seen;
  std::vector<std::pair<Case, detect::Machine>> machines;
  for (const Case& one : single_gpus()) machines.emplace_back(one, machine_for(one.what));
  for (const TableRelease& release : builds_table().releases) {
    for (const std::string_view platform : linux_platforms) {
      const auto labels = labels_of(release, platform);
      const auto variants = variants_of(family, release.version, platform, labels);
      for (const auto& [one, machine] : machines) {
        const Verdicts ours = verdicts_on(variants, labels, machine);
        for (const TableBuild& build : release.builds) {
          if (build.platform != platform || !has_label(build)) continue;
          const Fitness theirs = judge(build, one.machine);
          ++judged;
          ++seen[theirs];
          if (ours.at(build.label) == theirs) continue;
          if (++differ > 20) continue;  // that is enough to read
          FAIL_CHECK(fmt::format("torch {} {} {} on {}: {}, by torch's rule {}", release.version,
                                 build.label, platform, one.what, name_of(ours.at(build.label)),
                                 name_of(theirs)));
        }
      }
    }
  }
  CHECK(differ == 0);
  CHECK(judged > 100'000);
  for (const Fitness verdict : {Fitness::fits, Fitness::unknown, Fitness::misfit})
    CHECK_MESSAGE(seen[verdict] > 1000, name_of(verdict));
  MESSAGE(judged << " builds judged, " << seen[Fitness::fits] << " fit, " << seen[Fitness::unknown]
                 << " unknown");
}

TEST_CASE("the solver takes the release and the build that torch's rule prefers") {
  TorchWorld world;
  unsigned chosen = 0;
  unsigned differ = 0;
  std::map<std::string, unsigned> labels;
  std::vector<Case> cases = single_gpus();
  for (Case& one : mixed_gpus()) cases.push_back(std::move(one));
  for (const Case& one : cases) {
    const detect::Machine machine = machine_for(one.what);
    for (const std::string_view platform : platforms_of(machine)) {
      const RuleChoice theirs = choose_by_rule(platform, one.machine);
      const RuleChoice ours = world.choose(machine, platform);
      ++chosen;
      ++labels[theirs.label];
      if (ours == theirs || ++differ > 20) continue;
      FAIL_CHECK(fmt::format("{} {}: torch {} ({}), by the rule {} ({})", one.what, platform,
                             ours.release, ours.label, theirs.release, theirs.label));
    }
  }
  CHECK(differ == 0);
  CHECK(chosen > 3500);
  CHECK(labels.size() >= 8);
  MESSAGE(chosen << " machines, " << labels.size() << " different builds chosen");
}

TEST_CASE("what is not known counts where that release is asked for, and nowhere else") {
  TorchWorld world;
  const detect::Machine arc = machine_for("b580");
  CHECK(world.choose(arc, "linux_x86_64") == RuleChoice{"2.14", "xpu"});
  CHECK(world.choose(arc, "linux_x86_64", "torch==2.15.1") == RuleChoice{"2.15", "xpu"});
  CHECK(world.remarked("does not know which GPUs the build xpu"));

  const detect::Machine blackwell = machine_for("rtx5090;nvidia:driver=575.51.03");
  CHECK(world.choose(blackwell, "linux_x86_64") == RuleChoice{"2.11", "cu129"});
  CHECK(world.choose(blackwell, "linux_x86_64", "torch==2.12.1") == RuleChoice{"2.12", "cu129"});
  CHECK(world.remarked("does not know which GPUs the build cu129"));
  // What is known and fits comes first, even where it is older.
  const detect::Machine hopper = machine_for("h100;nvidia:driver=575.51.03");
  CHECK(world.choose(hopper, "linux_x86_64", "torch==2.12.1") == RuleChoice{"2.12", "cu126"});
}

TEST_CASE("one label has other code in other releases") {
  const index::Family family = shipped_torch();
  const detect::Machine volta = machine_for("v100;nvidia:driver=570.26");
  const auto cu128 = [&](const char* release) {
    const auto variants = variants_of(family, release, "linux_x86_64", {"cu128"});
    return verdicts_on(variants, {"cu128"}, volta).at("cu128");
  };
  CHECK(cu128("2.7") == Fitness::misfit);
  CHECK(cu128("2.8") == Fitness::fits);
  CHECK(cu128("2.10") == Fitness::fits);
  CHECK(cu128("2.11") == Fitness::misfit);
}

TEST_CASE("the table and the transcription hold what the documents say") {
  const auto serves = [](std::vector<std::string> code, const char* gpu) {
    const TableBuild build{"cu130", "linux_x86_64", std::move(code), std::vector<std::string>{}};
    return judge(build, {{{{}, "nvidia", gpu}}, "580.65.06"}) == Fitness::fits;
  };
  CHECK(serves({"8.6"}, "8.9"));
  CHECK(serves({"10.0"}, "10.3"));
  CHECK(serves({"12.0"}, "12.1"));
  CHECK(serves({"11.0"}, "10.1"));
  CHECK_FALSE(serves({"8.0", "8.6"}, "8.7"));
  CHECK_FALSE(serves({"7.0"}, "7.2"));
  CHECK_FALSE(serves({"10.0"}, "11.0"));
  CHECK(is_older_driver("570.26", "570.124.06"));
  CHECK(is_older_driver("575.64.05", "580"));
  CHECK_FALSE(is_older_driver("580", "580"));
  CHECK(builds_table().releases.size() >= 12);
  CHECK(builds_table().gpus.size() >= 65);
}

}  // namespace axle::testing
