// Answers for several classes become the packages of one lock.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/plan/lock/made_lock.h"
#include "wheel/wheel_name.h"

namespace axle::plan {
namespace {

ResolvedPackage resolved(const std::string& name, const std::string& version) {
  ResolvedPackage package;
  package.name = name;
  package.version = *wheel::parse_version(version);
  package.filename = wheel::wheel_distribution(name) + "-" + version + "-py3-none-any.whl";
  package.wheel_name = *wheel::parse_wheel_name(package.filename);
  package.url = "https://files.example/" + package.filename;
  package.hash = wheel::expected_sha256(digits('a'));
  package.source = "https://index.example/simple/";
  return package;
}

std::vector<wheel::Requirement> requirements(const std::vector<std::string>& texts) {
  std::vector<wheel::Requirement> parsed;
  for (const std::string& text : texts) parsed.push_back(*wheel::parse_requirement(text));
  return parsed;
}

ClassAnswer answer(const char* name, std::vector<ResolvedPackage> packages) {
  return {{name, "none", "3.12", "arch = x86_64"}, {std::move(packages)}};
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("equal files are one entry, different ones are several, sorted by name and version") {
  ResolvedPackage old_torch = resolved("torch", "2.9");
  ResolvedPackage new_torch = resolved("torch", "2.10");
  const auto packages = join_answers({answer("b", {new_torch, resolved("demo", "1.0")}),
                                      answer("a", {resolved("demo", "1.0"), old_torch})},
                                     "/srv/project");
  REQUIRE(packages.size() == 3);
  CHECK(packages[0].name == "demo");
  CHECK(packages[0].classes == Texts{"b", "a"});
  CHECK(wheel::render_version(packages[1].version) == "2.9");
  CHECK(packages[1].classes == Texts{"a"});
  CHECK(packages[2].classes == Texts{"b"});
}

TEST_CASE("a marker that holds in every class is left out, one of some stays") {
  ResolvedPackage here = resolved("demo", "1.0");
  here.needs.always =
      requirements({"A_b>=1; python_version >= '3.8'", "c; sys_platform == 'linux'"});
  ResolvedPackage there = resolved("demo", "1.0");
  there.needs.always =
      requirements({"A_b>=1; python_version >= '3.8'", "d; sys_platform == 'darwin'"});
  there.needs.extras["x"] = requirements({"e; extra == 'x'"});
  const auto packages =
      join_answers({answer("linux", {here}), answer("mac", {there})}, "/srv/project");
  REQUIRE(packages.size() == 1);
  CHECK(packages[0].needs.always ==
        Texts{"a-b>=1", "c; sys_platform == \"linux\"", "d; sys_platform == \"darwin\""});
  CHECK(packages[0].needs.extras.at("x") == Texts{"e"});
}

TEST_CASE("one file with needs that no marker tells apart is two entries") {
  ResolvedPackage here = resolved("demo", "1.0");
  here.needs.always = requirements({"runtime-gpu"});
  ResolvedPackage there = resolved("demo", "1.0");
  there.needs.always = requirements({"runtime"});
  const auto packages = join_answers({answer("gpu", {here, resolved("runtime-gpu", "1.0")}),
                                      answer("cpu", {there, resolved("runtime", "1.0")})},
                                     "/srv/project");
  REQUIRE(packages.size() == 4);
  CHECK(packages[0].classes == Texts{"gpu"});
  CHECK(packages[1].classes == Texts{"cpu"});
}

TEST_CASE("places below the lock are relative, and no login is kept") {
  ResolvedPackage below = resolved("below", "1.0");
  below.url = "file:///srv/my%20project/wheels/below-1.0-py3-none-any.whl";
  below.source = "/srv/my project/wheels";
  ResolvedPackage beside = resolved("beside", "1.0");
  beside.url = "file:///srv/my%20project2/beside-1.0-py3-none-any.whl";
  beside.source = "/srv/my project2";
  ResolvedPackage remote = resolved("remote", "1.0");
  remote.url = "https://me:secret@files.example/remote-1.0-py3-none-any.whl";
  ResolvedPackage own = resolved("own", "1.0");
  own.direct = true;
  own.built_from =
      BuiltFrom{"own", "file:///srv/my%20project", "", "pip 26.3", BuiltFrom::Kind::folder};
  const auto packages =
      join_answers({answer("a", {below, beside, own, remote})}, "/srv/my project");
  REQUIRE(packages.size() == 4);
  CHECK(packages[0].url == "wheels/below-1.0-py3-none-any.whl");
  CHECK(packages[0].source == "wheels");
  CHECK(absolute_place(packages[0].url, "/srv/my project") == below.url);
  CHECK(packages[1].url == beside.url);
  CHECK(packages[1].source == beside.source);
  CHECK(packages[2].built_from->url == ".");
  CHECK(packages[2].built_from->builder.empty());
  CHECK(packages[2].source.empty());
  CHECK(packages[2].url.empty());
  CHECK(absolute_place(".", "/srv/my project") == "file:///srv/my%20project");
  CHECK(packages[3].url == "https://files.example/remote-1.0-py3-none-any.whl");
}

TEST_CASE("what is named by its place and lies beside the project stays beside it") {
  const auto kept = [](const std::string& place) {
    ResolvedPackage sources = resolved("own", "1.0");
    sources.direct = true;
    sources.built_from = BuiltFrom{"own", place, "", "pip 26.3", BuiltFrom::Kind::folder};
    const auto packages = join_answers({answer("a", {sources})}, "/home/me/apps/one", {"own"});
    REQUIRE(packages.size() == 1);
    const std::string& url = packages[0].built_from->url;
    CHECK(absolute_place(url, "/home/me/apps/one") == place);
    return url;
  };
  CHECK(kept("file:///home/me/apps/one/part") == "part");
  CHECK(kept("file:///home/me/apps/one%20more") == "../one%20more");
  CHECK(kept("file:///home/me/apps/on") == "../on");
  CHECK(kept("file:///home/me/apps") == "..");
  CHECK(kept("file:///home/me") == "../..");
  CHECK(kept("file:///home/me/lib/part") == "../../lib/part");
  CHECK(kept("file:///srv/part") == "file:///srv/part");
  ResolvedPackage wheel = resolved("own", "1.0");
  wheel.direct = true;
  wheel.url = "file:///home/me/apps/own-1.0-py3-none-any.whl";
  CHECK(join_answers({answer("a", {wheel})}, "/home/me/apps/one", {"own"})[0].url ==
        "../own-1.0-py3-none-any.whl");
  // Whoever writes an absolute place means that one.
  CHECK(join_answers({answer("a", {wheel})}, "/home/me/apps/one")[0].url == wheel.url);
}

TEST_CASE("the source of a family's build is the index of its label") {
  ResolvedPackage torch = resolved("torch", "2.9.0+cu130");
  torch.family = "torch";
  torch.variant = "cu130";
  torch.source = "https://wheels.example/{version}/whl/{label}";
  const auto packages = join_answers({answer("a", {torch})}, "/srv/project");
  CHECK(packages[0].source == "https://wheels.example/2.9.0/whl/cu130");
}

TEST_CASE("answers go through a lock and come out as plans") {
  ResolvedPackage demo = resolved("demo", "1.0");
  demo.requested = true;
  demo.needs.always = requirements({"dep>=1; python_version >= '3'"});
  ResolvedPackage variant = resolved("dep", "2.0");
  variant.variant = "v3";
  variant.variant_properties = {{"x86_64", "level", "v3"}};
  variant.supported_properties = variant.variant_properties;
  variant.filename = "dep-2.0-py3-none-any-v3.whl";
  variant.wheel_name = *wheel::parse_wheel_name(variant.filename);
  variant.required_by = {"demo 1.0"};
  const ClassAnswer one = answer("a", {demo, variant});
  Lock lock;
  lock.made_by = "axle";
  lock.inputs = digits('0');
  lock.classes = {one.about};
  lock.requests.project = {"demo"};
  lock.packages = join_answers({one}, "/srv/project");
  const auto again = parse_lock(render_lock(lock), "axle.lock");
  REQUIRE_MESSAGE(again, again.error().message);
  const auto reached = locked_closure(*again, "a", {}, {});
  REQUIRE(reached);
  const auto plan = as_resolution(*reached, "/srv/project");
  REQUIRE(plan);
  REQUIRE(plan->packages.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const ResolvedPackage& before = one.resolution.packages[i];
    const ResolvedPackage& after = plan->packages[i];
    CHECK(after.name == before.name);
    CHECK(after.filename == before.filename);
    CHECK(after.url == before.url);
    CHECK(after.hash == before.hash);
    CHECK(after.variant == before.variant);
    CHECK(after.variant_properties == before.variant_properties);
    CHECK(after.supported_properties == before.supported_properties);
    CHECK(after.requested == before.requested);
    CHECK(after.required_by == before.required_by);
    CHECK(after.source == before.source);
  }
}

}  // namespace axle::plan
