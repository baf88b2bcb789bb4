// --overwrite: the order in which packages count as installed, and what a plan says of it.
#include "installer/transaction/overwriting.h"

#include <doctest/doctest.h>

#include "installer/environment/overwritten.h"
#include "tests/installer/sandbox.h"
#include "wheel/requirement.h"

using namespace axle::installer;
using axle::plan::ResolvedPackage;

namespace {

using Names = std::vector<std::string>;

ResolvedPackage package(const std::string& name, const Names& needs, bool requested = false) {
  ResolvedPackage made;
  made.name = name;
  made.requested = requested;
  for (const std::string& need : needs) {
    auto requirement = axle::wheel::parse_requirement(need);
    REQUIRE(requirement.has_value());
    made.dependencies.push_back(std::move(*requirement));
  }
  return made;
}

Names in_order(const std::vector<ResolvedPackage>& packages) {
  std::vector<const ResolvedPackage*> pointers;
  for (const ResolvedPackage& one : packages) pointers.push_back(&one);
  Names names;
  for (const std::size_t i : installation_order(pointers)) names.push_back(packages[i].name);
  return names;
}

}  // namespace

TEST_CASE("a package comes after what it requires, what is named last, else the name decides") {
  CHECK(in_order({package("a", {}), package("b", {})}) == Names{"a", "b"});
  CHECK(in_order({package("a", {"C >= 1"}), package("b", {}), package("c", {})}) ==
        Names{"b", "c", "a"});
  CHECK(in_order({package("a", {}, true), package("b", {})}) == Names{"b", "a"});
  // Also after what is only required of another one that is named.
  CHECK(in_order({package("a", {}, true), package("b", {"c"}, true), package("c", {})}) ==
        Names{"c", "a", "b"});
  CHECK(in_order({package("a", {"b"}), package("b", {"a"}), package("c", {"c", "missing"})}) ==
        Names{"c", "a", "b"});
  CHECK(in_order({}).empty());
}

TEST_CASE("what is planned and foreseen names the file, who has it and whose it was") {
  const Sandbox folder;
  const Environment environment = bare_environment(folder / "env");
  InstallOptions options{.store_folder = folder / "store", .overwrite = true};
  MemoryTransport transport;
  axle::CollectedReport report;
  const auto wheel = [&](const char* name, const char* content) {
    return make_wheel(folder / "dist", name, "1", {{"n.py", content}, {"same.py", ""}});
  };
  const PackageSet both{resolution_of({wheel("a", "1"), wheel("b", "22")}), {}};
  const auto foreseen = foresee_changes(both, environment, &transport, options, report);
  REQUIRE(foreseen.has_value());
  CHECK(foreseen->conflicts.empty());
  REQUIRE(foreseen->overwritten.size() == 1);
  CHECK(foreseen->overwritten[0].path == environment.purelib + "/n.py");
  CHECK(foreseen->overwritten[0].package == "b 1");
  CHECK(foreseen->overwritten[0].owner == "a 1");
  REQUIRE(install(both.present, environment, transport, options, report).has_value());
  CHECK(read_text(environment.purelib + "/n.py") == "22");
  const auto lost = read_overwritten(environment.purelib + "/a-1.dist-info");
  REQUIRE(lost.has_value());
  CHECK(*lost == OverwrittenFiles{{"n.py", "b"}});
  // A third one, over both.
  const auto third =
      install(resolution_of({wheel("c", "333")}), environment, transport, options, report);
  REQUIRE(third.has_value());
  REQUIRE(third->overwritten.size() == 2);
  CHECK(third->overwritten[0].owner == "a 1");
  CHECK(third->overwritten[1].owner == "b 1");
}

TEST_CASE("a list of overwritten files that has another form is refused, a missing one is empty") {
  const Sandbox folder;
  CHECK(read_overwritten(folder.path()) == OverwrittenFiles());
  for (const char* text : {"", "[]", "{\"a.py\": 1}", "{\"a.py\": \"b\""}) {
    write_text(folder / "axle-overwritten.json", text);
    CHECK_FALSE(read_overwritten(folder.path()).has_value());
  }
  write_text(folder / "axle-overwritten.json", render_overwritten({{"a, b.py", "c"}}));
  CHECK(read_overwritten(folder.path()) == OverwrittenFiles{{"a, b.py", "c"}});
}
