// What a user lists and forbids: hashes, overrides, upload times, wheels, and whose URLs count.

#include <doctest/doctest.h>

#include "foundation/text/rfc3339.h"
#include "tests/resolver/solver_world.h"
#include "wheel/hash/listed_hash.h"

using axle::ErrorKind;
using axle::Result;
using axle::plan::Resolution;
using axle::resolver::Request;
using axle::resolver::Requests;
using axle::testing::requirement;
using axle::testing::WheelRecipe;
using axle::testing::World;
using axle::wheel::ListedHash;
using Names = std::vector<std::string>;

namespace {

const std::string other_digits(64, '0');

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

struct Asked {
  World world;
  Requests requests;

  std::string digits(const std::string& file, const std::string& project) {
    auto page = world.index.project(project);
    for (const auto& one : page->files) {
      if (one.filename == file) return one.hash.digits;
    }
    FAIL("no such file: " << file);
    return {};
  }
  void ask(const std::string& text, std::vector<ListedHash> hashes = {}) {
    requests.requirements.push_back({requirement(text), std::move(hashes), "r.txt:1"});
  }
  Result<Resolution> resolve() {
    axle::resolver::Sources sources;
    sources.indexes = {&world.index};
    sources.transport = &world.index;
    world.report.remarks.clear();
    return axle::resolver::resolve(requests, world.target, world.installed, sources, world.options,
                                   world.report);
  }
  Names names() {
    auto resolution = resolve();
    REQUIRE_MESSAGE(resolution.has_value(), resolution.error().message);
    Names result;
    for (const auto& package : resolution->packages) {
      result.push_back(package.name + " " + axle::wheel::render_version(package.version) +
                       (package.variant ? "[" + *package.variant + "]" : ""));
    }
    return result;
  }
  axle::Error error() {
    auto resolution = resolve();
    REQUIRE_FALSE(resolution.has_value());
    return resolution.error();
  }
};

ListedHash sha256(std::string digits) { return {"sha256", std::move(digits)}; }

}  // namespace

TEST_CASE("two packages that were named by URL and name two URLs of a third") {
  World world;
  world.index.add_wheel({"a", "1.0", {"lib @ https://index.test/files/lib-1.0-py3-none-any.whl"}});
  world.index.add_wheel({"b", "1.0", {"lib @ https://index.test/else/lib-1.0-py3-none-any.whl"}});
  world.index.add_wheel({"c", "1.0", {"lib @ https://index.test/files/lib-2.0-py3-none-any.whl"}});
  world.index.add_wheel({"lib", "1.0"});
  world.index.add_wheel({"lib", "2.0"});
  const std::string a = "a @ https://index.test/files/a-1.0-py3-none-any.whl";
  const std::string b = "b @ https://index.test/files/b-1.0-py3-none-any.whl";
  const std::string c = "c @ https://index.test/files/c-1.0-py3-none-any.whl";
  CHECK(world.resolve({a}) == Names{"a 1.0", "lib 1.0"});
  CHECK(world.error({a, b}).message ==
        "lib-1.0-py3-none-any.whl is requested from two places: "
        "https://index.test/else/lib-1.0-py3-none-any.whl and "
        "https://index.test/files/lib-1.0-py3-none-any.whl");
  CHECK(world.error({c, a}).message.contains("two versions of lib are requested"));
}

TEST_CASE("only files count whose hash is listed, and the version that has one is taken") {
  Asked asked;
  asked.world.index.add_wheel({"demo", "1.0"});
  asked.world.index.add_wheel({"demo", "2.0"});
  const std::string one = asked.digits("demo-1.0-py3-none-any.whl", "demo");
  asked.ask("demo>=1", {sha256(other_digits), sha256(one)});
  CHECK(asked.names() == Names{"demo 1.0"});
  const auto resolution = asked.resolve();
  CHECK(resolution->packages[0].listed_hashes.size() == 2);
}

TEST_CASE("a hash that no file has is an error with what was expected and what there is") {
  Asked asked;
  asked.world.index.add_wheel({"demo", "1.0"});
  asked.ask("demo==1.0", {sha256(other_digits)});
  const axle::Error error = asked.error();
  CHECK(error.kind == ErrorKind::mismatch);
  CHECK(contains(error.message, "expected sha256:" + other_digits));
  CHECK(contains(error.message, "got: demo-1.0-py3-none-any.whl has sha256:" +
                                    asked.digits("demo-1.0-py3-none-any.whl", "demo")));
}

TEST_CASE("where the index gives no hash, or another kind, the download decides") {
  Asked asked;
  asked.world.index.add_wheel({"demo", "1.0"}).hash = {};
  asked.ask("demo==1.0", {sha256(other_digits)});
  CHECK(asked.names() == Names{"demo 1.0"});
  Asked kind;
  kind.world.index.add_wheel({"demo", "1.0"});
  kind.ask("demo==1.0", {{"sha512", std::string(128, '0')}});
  CHECK(kind.names() == Names{"demo 1.0"});
}

TEST_CASE("the best variant of those listed is taken, and the better one is named") {
  Asked asked;
  asked.world.publish_variants("demo", "1.0", axle::testing::level_variants({"v1", "v2", "v3"}));
  const std::string v2 = asked.digits("demo-1.0-py3-none-any-v2.whl", "demo");
  const std::string v1 = asked.digits("demo-1.0-py3-none-any-v1.whl", "demo");
  asked.ask("demo==1.0", {sha256(v1), sha256(v2)});
  CHECK(asked.names() == Names{"demo 1.0[v2]"});
  CHECK(asked.world.remarked("v3 would fit better, but its hash is not listed"));
}

TEST_CASE("one hash asks for all: direct requirements, dependencies, constraints") {
  Asked asked;
  asked.world.index.add_wheel({"app", "1.0", {"lib==1.0"}});
  asked.world.index.add_wheel({"lib", "1.0"});
  asked.ask("app==1.0", {sha256(asked.digits("app-1.0-py3-none-any.whl", "app"))});
  axle::Error error = asked.error();
  CHECK(contains(error.message, "lib (lib==1.0 (required by app 1.0))"));
  const std::string lib = asked.digits("lib-1.0-py3-none-any.whl", "lib");
  CHECK(contains(error.hint, "lib==1.0 --hash=sha256:" + lib));
  asked.requests.constraints.push_back({requirement("lib==1.0"), {sha256(lib)}, "c.txt:1"});
  CHECK(asked.names() == Names{"app 1.0", "lib 1.0"});
  asked.ask("lib");  // its constraint has the hash
  CHECK(asked.names() == Names{"app 1.0", "lib 1.0"});
  asked.requests.constraints.clear();
  error = asked.error();
  CHECK(contains(error.message, "a requirement has a hash"));
  CHECK(contains(error.message, "lib (r.txt:1)"));
}

TEST_CASE("two lists for one package count where they agree") {
  Asked asked;
  asked.world.index.add_wheel({"demo", "1.0"});
  const std::string one = asked.digits("demo-1.0-py3-none-any.whl", "demo");
  asked.ask("demo", {sha256(one), sha256(other_digits)});
  asked.requests.constraints.push_back({requirement("demo==1.0"), {sha256(one)}, "c.txt:7"});
  CHECK(asked.names() == Names{"demo 1.0"});
  asked.requests.constraints[0].hashes = {sha256(std::string(64, '1'))};
  CHECK(contains(asked.error().message, "c.txt:7 and r.txt:1 list hashes for demo, but none"));
}

TEST_CASE("--require-hashes asks for pins as well, MD5 proves nothing") {
  Asked asked;
  asked.world.index.add_wheel({"demo", "1.0"});
  const std::string one = asked.digits("demo-1.0-py3-none-any.whl", "demo");
  asked.world.options.require_hashes = true;
  for (const char* text : {"demo", "demo>=1", "demo==1.*", "demo==1.0,>0"}) {
    asked.requests.requirements.clear();
    asked.ask(text, {sha256(one)});
    CHECK(contains(asked.error().message, "these are not: demo"));
  }
  asked.requests.requirements.clear();
  asked.ask("demo===1.0", {sha256(one)});
  CHECK(asked.names() == Names{"demo 1.0"});
  asked.requests.requirements[0].hashes = {{"md5", std::string(32, '0')}};
  CHECK(contains(asked.error().message, "only MD5"));
  asked.requests.requirements[0].hashes.push_back(sha256(one));
  CHECK(asked.names() == Names{"demo 1.0"});
}

TEST_CASE("hashes can be switched off, but not where they are required") {
  Asked asked;
  asked.world.index.add_wheel({"demo", "1.0"});
  asked.ask("demo==1.0", {sha256(other_digits)});
  asked.world.options.verify_hashes = false;
  CHECK(asked.names() == Names{"demo 1.0"});
  asked.world.options.require_hashes = true;
  CHECK(asked.error().kind == ErrorKind::mismatch);
  asked.world.options.require_hashes = false;  // those that are there count, others need none
  asked.world.options.verify_hashes = true;
  CHECK(asked.error().kind == ErrorKind::mismatch);
}

TEST_CASE("an override takes the place of whatever is said of a package") {
  Asked asked;
  asked.world.index.add_wheel({"app", "1.0", {"lib==1.0", "win; sys_platform == 'win32'"}});
  asked.world.index.add_wheel({"lib", "1.0"});
  asked.world.index.add_wheel({"lib", "2.0"});
  asked.world.index.add_wheel({"win", "1.0"});
  asked.ask("app");
  asked.requests.overrides.push_back({requirement("Lib==2.0")});
  CHECK(asked.names() == Names{"app 1.0", "lib 2.0"});
  asked.ask("lib<2");
  CHECK(asked.names() == Names{"app 1.0", "lib 2.0"});
  asked.requests.overrides = {{requirement("lib==2.0; sys_platform == 'win32'")}};
  CHECK(asked.names() == Names{"app 1.0"});
  asked.requests.overrides = {{requirement("win")}};  // its marker goes too
  asked.requests.requirements.pop_back();
  CHECK(asked.names() == Names{"app 1.0", "lib 1.0", "win 1.0"});
}

TEST_CASE("a dependency of an extra stays one when it is overridden") {
  Asked asked;
  WheelRecipe app{"app", "1.0", {"lib==1.0; extra == 'x'"}};
  app.extras = {"x"};
  asked.world.index.add_wheel(app);
  asked.world.index.add_wheel({"lib", "2.0"});
  asked.requests.overrides.push_back({requirement("lib==2.0")});
  asked.ask("app");
  CHECK(asked.names() == Names{"app 1.0"});
  asked.ask("app[x]");
  CHECK(asked.names() == Names{"app 1.0", "lib 2.0"});
}

TEST_CASE("only what was uploaded before the cutoff exists") {
  using axle::text::parse_rfc3339;
  Asked asked;
  asked.world.index.add_wheel({"demo", "1.0"}).uploaded = parse_rfc3339("2024-01-01T00:00:00Z");
  asked.world.index.add_wheel({"demo", "2.0"}).uploaded = parse_rfc3339("2024-06-01T00:00:00Z");
  asked.world.index.add_wheel({"demo", "3.0"});
  asked.world.index.add_wheel({"other", "1.0"});
  asked.ask("demo");
  auto& cutoffs = asked.world.options.cutoffs;
  cutoffs.general = {*parse_rfc3339("2024-06-01T00:00:00Z"), "2024-06-01 (--exclude-newer)"};
  CHECK(asked.names() == Names{"demo 1.0"});
  ++cutoffs.general->time;
  CHECK(asked.names() == Names{"demo 2.0"});
  cutoffs.general->time = 0;
  CHECK(contains(asked.error().hint, "2 files of demo are excluded: uploaded at 2024-06-01 (--ex"));
  CHECK(contains(asked.error().hint, "--exclude-newer-package demo=false"));
  cutoffs.of_package["demo"] = std::nullopt;
  CHECK(asked.names() == Names{"demo 3.0"});
  asked.ask("other");
  CHECK(contains(asked.error().message, "other"));
}

TEST_CASE("a package that may not come as a wheel is refused with the command that builds it") {
  Asked asked;
  asked.world.index.add_wheel({"demo", "1.0"});
  asked.ask("demo==1.0");
  auto& use = asked.world.options.wheel_use;
  use.forbidden["other"] = "no-binary other, from PIP_NO_BINARY";
  CHECK(asked.names() == Names{"demo 1.0"});
  use.forbidden[":all:"] = "no-binary :all:, from pip.conf:3";
  const axle::Error error = asked.error();
  CHECK(error.kind == ErrorKind::conflict);
  CHECK(contains(error.message, "pip.conf:3"));
  CHECK(contains(error.hint, "`uv pip install --no-binary demo demo==1.0`"));
  use.only["demo"] = "only-binary demo";
  CHECK(asked.names() == Names{"demo 1.0"});
  use.forbidden["demo"] = "no-binary demo, from --no-binary";
  CHECK(contains(asked.error().message, "--no-binary"));
}

TEST_CASE("a URL in an index's metadata is followed only where the user names it") {
  Asked asked;
  const std::string url = "https://index.test/files/lib-1.0-py3-none-any.whl";
  asked.world.index.add_wheel({"app", "1.0", {"lib @ " + url}});
  asked.world.index.add_wheel({"lib", "1.0"});
  asked.ask("app");
  const axle::Error error = asked.error();
  CHECK(contains(error.message, "app 1.0 requires lib from " + url));
  CHECK(contains(error.hint, "'lib @ " + url + "'"));
  SUBCASE("as a requirement, perhaps with its hash") {
    asked.ask("lib @ " + url + "#sha256=" + asked.digits("lib-1.0-py3-none-any.whl", "lib"));
    CHECK(asked.names() == Names{"app 1.0", "lib 1.0"});
  }
  SUBCASE("as a constraint") {
    asked.requests.constraints.push_back({requirement("lib @ " + url)});
    CHECK(asked.names() == Names{"app 1.0", "lib 1.0"});
  }
  SUBCASE("an override takes its place") {
    asked.requests.overrides.push_back({requirement("lib==1.0")});
    CHECK(asked.names() == Names{"app 1.0", "lib 1.0"});
  }
  SUBCASE("another URL of the user's does not allow it") {
    asked.world.index.add_wheel_at("https://elsewhere.test", {"lib", "1.0"});
    asked.ask("lib @ https://elsewhere.test/files/lib-1.0-py3-none-any.whl");
    CHECK(contains(asked.error().message, "a URL that you did not request"));
  }
  SUBCASE("what the user named by its URL may name others") {
    asked.requests.requirements.clear();
    asked.ask("app @ https://index.test/files/app-1.0-py3-none-any.whl");
    CHECK(asked.names() == Names{"app 1.0", "lib 1.0"});
  }
  SUBCASE("what is installed is not fetched again") {
    asked.world.installed.push_back(
        {"app", axle::testing::version("1.0"), std::nullopt, {requirement("lib @ " + url)}});
    asked.world.installed.push_back({"lib", axle::testing::version("1.0"), std::nullopt, {}});
    CHECK(asked.names() == Names{"app 1.0", "lib 1.0"});
  }
}

TEST_CASE("an open link on a page that came by https is not used") {
  Asked asked;
  axle::index::PublishedFile& file = asked.world.index.add_wheel({"demo", "1.0"});
  file.exposed = true;
  asked.ask("demo");
  CHECK(contains(asked.error().hint, "plain http link without a hash"));
  CHECK(contains(asked.error().hint, "--trusted-host index.test"));
  asked.world.options.trusted_hosts = {"index.test"};
  CHECK(asked.names() == Names{"demo 1.0"});
}
