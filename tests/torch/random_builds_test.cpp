// Builds that nobody publishes: any mixture of compiled code and PTX, judged by Axle and by torch's
// rule. torch's own lists never have PTX for what they have no code for.

#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/torch/torch_world.h"

namespace axle::testing {
namespace {

const std::vector<std::string> capabilities = {
    "3.5", "3.7", "5.0", "5.2", "5.3", "6.0",  "6.1",  "6.2",  "7.0",  "7.2",  "7.5",
    "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.1", "10.3", "11.0", "12.0", "12.1"};

class RandomBuilds {
 public:
  explicit RandomBuilds(index::Family start) : family(std::move(start)) {}

  index::Family family;
  std::vector<TableRelease> table;  ///< the same builds

  /// Other lists for every NVIDIA build.
  void shuffle() {
    table.clear();
    for (index::FamilyRelease& release : family.releases) {
      TableRelease& row = table.emplace_back();
      row.version = release.version;
      for (index::FamilyBuild& build : release.builds) {
        if (family.label(build.label)->vendor != "nvidia") continue;
        build.code = some_of(capabilities);
        if (build.code->empty()) build.code.reset();
        build.ptx = once_in(2) ? some_of(capabilities) : std::vector<std::string>{};
        row.builds.push_back({build.label, build.platform, build.code, build.ptx});
      }
    }
  }

 private:
  bool once_in(unsigned times) { return random_() % times == 0; }

  std::vector<std::string> some_of(const std::vector<std::string>& all) {
    std::vector<std::string> some;
    for (const std::string& one : all) {
      if (once_in(6)) some.push_back(one);
    }
    return some;
  }

  std::mt19937 random_{20261120};
};

}  // namespace

TEST_CASE("builds made up at random are judged as torch would judge them") {
  RandomBuilds random(shipped_torch());
  unsigned judged = 0;
  unsigned differ = 0;
  for (const std::string& arch : capabilities) {
    random.shuffle();
    for (const std::string& driver : drivers_at_each_floor()) {
      const std::string what = fmt::format("nvidia:sm={},driver={}", arch, driver);
      const detect::Machine machine = machine_for(what);
      for (const TableRelease& release : random.table) {
        for (const TableBuild& build : release.builds) {
          const Fitness theirs = judge(build, {{{{}, "nvidia", arch}}, driver});
          const Fitness ours = verdicts_on(variants_of(random.family, release.version,
                                                       build.platform, {build.label}),
                                           {build.label}, machine)
                                   .at(build.label);
          ++judged;
          if (ours == theirs || ++differ > 20) continue;
          FAIL_CHECK(fmt::format("{} with code {} and PTX {} on {}", build.label,
                                 fmt::join(build.code.value_or(std::vector<std::string>{}), " "),
                                 fmt::join(*build.ptx, " "), what));
        }
      }
    }
  }
  CHECK(differ == 0);
  CHECK(judged > 30'000);
  MESSAGE(judged << " builds judged");
}

}  // namespace axle::testing
