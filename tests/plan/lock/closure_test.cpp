// What a selection leads to in a class, and the plan that an installer gets of it.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/plan/lock/made_lock.h"

namespace axle::plan {
namespace {

wheel::MarkerEnvironment markers_on(const char* platform) {
  wheel::MarkerEnvironment markers;
  markers.strings = {{"sys_platform", platform}, {"python_version", "3.12"}};
  return markers;
}

std::vector<ReachedPackage> reached(const Lock& lock, const char* class_name,
                                    const LockSelection& wanted, const char* platform = "linux") {
  auto packages = locked_closure(lock, class_name, wanted, markers_on(platform));
  REQUIRE_MESSAGE(packages, packages.error().message);
  return *packages;
}

std::vector<std::string> titles(const std::vector<ReachedPackage>& packages) {
  std::vector<std::string> texts;
  for (const ReachedPackage& one : packages)
    texts.push_back(one.package->name + " " + wheel::render_version(one.package->version));
  return texts;
}

using Titles = std::vector<std::string>;

}  // namespace

TEST_CASE("requests, extras of requirements, and markers decide what a class gets") {
  const Lock lock = made_lock();
  CHECK(titles(reached(lock, "laptop", {})) ==
        Titles{"demo 1.0", "figures 2.1", "torch 2.9.0+cpu"});
  CHECK(titles(reached(lock, "train", {})) ==
        Titles{"demo 1.0", "figures 2.1", "toolkit 13.0", "torch 2.9.0+cu130"});
  CHECK(titles(reached(lock, "mac", {}, "darwin")) ==
        Titles{"demo 1.0", "figures 2.1", "tool 5.0", "torch 2.9.0+cpu"});
}

TEST_CASE("extras and groups of the project are taken where they are wanted") {
  const Lock lock = made_lock();
  const LockSelection all{{"serve"}, {"dev"}};
  CHECK(titles(reached(lock, "train", all)) == Titles{"checker 1.2", "demo 1.0", "figures 2.1",
                                                      "kernel 0.3", "toolkit 13.0",
                                                      "torch 2.9.0+cu130"});
  CHECK(titles(reached(lock, "laptop", {{}, {"dev"}, false})) == Titles{"checker 1.2"});
  const auto unknown = locked_closure(lock, "laptop", {{"sreve"}, {}}, markers_on("linux"));
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().kind == ErrorKind::not_found);
  CHECK(unknown.error().message == "the lock has no extra \"sreve\"");
  CHECK(unknown.error().hint.contains("did you mean serve?"));
  const auto no_class = locked_closure(lock, "trian", {}, markers_on("linux"));
  REQUIRE_FALSE(no_class);
  CHECK(no_class.error().message == "the lock has no class \"trian\"");
  CHECK(no_class.error().hint.contains("did you mean train?"));
}

TEST_CASE("who asked for a package, and who requires it") {
  const Lock lock = made_lock();
  const auto packages = reached(lock, "train", {});
  CHECK(packages[0].requested);
  CHECK(packages[0].extras == Titles{"plot"});
  CHECK(packages[0].required_by.empty());
  CHECK_FALSE(packages[1].requested);
  CHECK(packages[1].required_by == Titles{"demo"});
  CHECK(packages[3].requested);
  CHECK(packages[3].required_by == Titles{"demo"});
  REQUIRE(packages[0].dependencies.size() == 2);
  CHECK(packages[0].dependencies[0].name == "torch");
  CHECK(packages[0].dependencies[1].name == "figures");
}

TEST_CASE("what stands for another distribution meets needs of that") {
  Lock lock = made_lock();
  lock.packages[2].stands_for = {"pictures"};
  lock.packages[1].needs.extras = {{"plot", {"pictures>=9"}}};
  const auto again = parse_lock(render_lock(lock), "axle.lock");
  REQUIRE_MESSAGE(again, again.error().message);
  CHECK(titles(reached(*again, "laptop", {})) ==
        Titles{"demo 1.0", "figures 2.1", "torch 2.9.0+cpu"});
}

TEST_CASE("markers of a variant see its label and what is supported of it") {
  Lock lock = made_lock();
  LockedPackage& kernel = lock.packages[4];
  REQUIRE(kernel.variant == "sm90");
  kernel.needs.always = {"figures; variant_label == \"sm90\"",
                         "toolkit; \"x86_64 :: level :: v3\" not in variant_properties"};
  const auto packages = reached(lock, "train", {{"serve"}, {}, false});
  CHECK(titles(packages) == Titles{"figures 2.1", "kernel 0.3"});
}

TEST_CASE("a circle of needs ends") {
  Lock lock = made_lock();
  lock.packages[2].needs.always = {"demo[plot]"};
  CHECK(titles(reached(lock, "laptop", {})) ==
        Titles{"demo 1.0", "figures 2.1", "torch 2.9.0+cpu"});
}

TEST_CASE("a plan has what the resolver would have given") {
  const Lock lock = made_lock();
  const auto plan = as_resolution(reached(lock, "train", {{"serve"}, {"dev"}}), "/srv/my project");
  REQUIRE(plan);
  REQUIRE(plan->packages.size() == 6);
  const ResolvedPackage& checker = plan->packages[0];
  REQUIRE(checker.built_from);
  CHECK(checker.built_from->url == "file:///srv/my%20project/tools/checker");
  CHECK(checker.built_from->editable);
  CHECK(checker.direct);
  CHECK(checker.url.empty());
  const ResolvedPackage& demo = plan->packages[1];
  CHECK(demo.url == "https://files.example/demo-1.0-py3-none-any.whl");
  CHECK(demo.hash == wheel::expected_sha256(digits('b')));
  CHECK(demo.wheel_name.distribution == "demo");
  CHECK(demo.size == 1000);
  CHECK(demo.requested);
  CHECK_FALSE(demo.direct);
  CHECK(demo.provenance == "https://index.example/integrity/demo");
  const ResolvedPackage& kernel = plan->packages[3];
  CHECK(kernel.variant == "sm90");
  CHECK(kernel.supported_properties.size() == 2);
  CHECK(kernel.url == "file:///srv/my%20project/wheels/kernel-0.3-py3-none-any-sm90.whl");
  CHECK(kernel.decision.has_variants);
  const ResolvedPackage& torch = plan->packages[5];
  CHECK(torch.family == "torch");
  CHECK_FALSE(torch.decision.has_variants);
  CHECK(torch.required_by == std::vector<std::string>{"demo 1.0"});
  CHECK(torch.dependencies.size() == 1);
}

}  // namespace axle::plan
