// Which index gives a package its versions, and what is assigned to one.
#include <doctest/doctest.h>

#include "tests/resolver/solver_world.h"

using namespace axle;
using namespace axle::testing;
using axle::index::IndexStrategy;

namespace {

/// A private index that is asked first and has corp 1.0, and a public one with corp 9.9.
struct TwoIndexes : World {
  TwoIndexes() {
    counted = true;
    own.add_wheel({.name = "corp", .version = "1.0"});
    index.add_wheel({.name = "corp", .version = "9.9"});
    index.add_wheel({.name = "other", .version = "1.0", .requires_dist = {"corp>=2"}});
    index.add_wheel({.name = "loose", .version = "1.0", .requires_dist = {"corp"}});
    sources.indexes = {&own, &index};
    all.indexes = {&own, &index};
    sources.transport = &all;
  }

  /// Each URL from the index that has it.
  struct All final : index::Transport {
    Result<index::HttpResponse> fetch(const index::HttpRequest& request) override {
      for (MemoryIndex* one : indexes) {
        if (request.url.starts_with(one->description())) return one->fetch(request);
      }
      return fail(ErrorKind::io, "nobody serves " + request.url);
    }
    Result<index::HttpResponse> download(const index::HttpRequest& request,
                                         const index::BodySink&) override {
      return fetch(request);
    }
    std::vector<MemoryIndex*> indexes;
  };

  MemoryIndex own{"https://own.test"};
  All all;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("only the first index that has a project is used") {
  TwoIndexes world;
  CHECK(world.resolve({"corp"}) == Names{"corp 1.0"});
  CHECK(world.resolve({"loose"}) == Names{"corp 1.0", "loose 1.0"});
  CHECK(world.index.asked == Names{"loose"});
  for (const char* wanted : {"corp>=2", "other"}) {
    CAPTURE(wanted);
    const Error error = world.error({wanted});
    CHECK(error.message.find("available: 1.0") != std::string::npos);
    CHECK(error.hint.find("https://own.test is the first index that has corp") !=
          std::string::npos);
    CHECK(error.hint.find("https://index.test was not queried") != std::string::npos);
    CHECK(error.hint.find("--index-strategy unsafe-best-match") != std::string::npos);
  }
}

TEST_CASE("a page without files decides too") {
  TwoIndexes world;
  world.index.add_wheel({.name = "held", .version = "1.0"});
  CHECK(world.resolve({"held"}) == Names{"held 1.0"});
  world.own.add_empty_page("held");
  const Error error = world.error({"held"});
  CHECK(error.kind == ErrorKind::not_found);
  CHECK(error.message.find("package held was not found in https://own.test:") != std::string::npos);
  CHECK(error.hint.find("is the first index that has") != std::string::npos);
}

TEST_CASE("a listed wheel that is not there is no reason to trust other indexes") {
  TwoIndexes world;
  world.own.add_file("gone", "gone-1.0-py3-none-any.whl", "").url =
      "https://own.test/files/elsewhere/gone-1.0-py3-none-any.whl";
  const Error error = world.error({"gone"});
  CHECK(error.kind == ErrorKind::not_found);
  CHECK(error.message.contains("gone-1.0-py3-none-any.whl"));
  CHECK_FALSE(error.hint.contains("unsafe-best-match"));
}

TEST_CASE("unsafe-first-match exhausts the first index before the second") {
  TwoIndexes world;
  world.sources.strategy = IndexStrategy::unsafe_first_match;
  CHECK(world.resolve({"corp"}) == Names{"corp 1.0"});
  CHECK(world.resolve({"corp>=2"}) == Names{"corp 9.9"});
  CHECK(world.resolve({"other"}) == Names{"corp 9.9", "other 1.0"});
  // A version whose wheel does not fit is no end of the search.
  world.own.add_wheel({.name = "fits", .version = "2.0", .tags = "cp27-none-any"});
  world.index.add_wheel({.name = "fits", .version = "1.0"});
  CHECK(world.resolve({"fits"}) == Names{"fits 1.0"});
}

TEST_CASE("unsafe-best-match takes the newest of any index") {
  TwoIndexes world;
  world.sources.strategy = IndexStrategy::unsafe_best_match;
  CHECK(world.resolve({"corp"}) == Names{"corp 9.9"});
  CHECK(world.resolve({"corp<9"}) == Names{"corp 1.0"});
  world.own.add_wheel({.name = "corp", .version = "9.9"});
  (void)world.resolve({"corp"});
  CHECK(world.package("corp").source == "https://own.test");
}

TEST_CASE("find-links join the index that decides") {
  TwoIndexes world;
  MemoryIndex links("https://links.test");
  links.add_wheel({.name = "corp", .version = "0.5"});
  world.all.indexes.push_back(&links);
  world.sources.find_links = {&links};
  CHECK(world.resolve({"corp<1"}).front() == "corp 0.5");
  CHECK(world.resolve({"corp"}) == Names{"corp 1.0"});
  CHECK(world.error({"corp>=2"}).message.find("available: 1.0, 0.5") != std::string::npos);
}

TEST_CASE("a package that is assigned to an index comes from nowhere else") {
  TwoIndexes world;
  MemoryIndex hidden("https://hidden.test");
  hidden.add_wheel({.name = "corp", .version = "3.0"});
  resolver::AssignedSource row{"/p/pyproject.toml", &hidden, {}, {}, {}};
  world.sources.assigned["corp"] = {row};
  world.sources.assigned["loose"] = {row};
  const Error absent = world.error({"loose"});
  CHECK(absent.message.find("package loose was not found in https://hidden.test") !=
        std::string::npos);
  CHECK(absent.hint.find("/p/pyproject.toml assigns loose to https://hidden.test only") !=
        std::string::npos);
  CHECK(world.index.asked.empty());
  CHECK(world.own.asked.empty());
}

TEST_CASE("an assignment counts where its marker applies, and the first that does") {
  TwoIndexes world;
  const auto marker = [](const char* text) { return *wheel::parse_marker(text); };
  world.sources.assigned["corp"] = {{"p", &world.own, {}, {}, marker("sys_platform == 'win32'")},
                                    {"p", &world.index, {}, {}, marker("sys_platform == 'linux'")}};
  CHECK(world.resolve({"corp"}) == Names{"corp 9.9"});
  world.sources.assigned["corp"].pop_back();
  CHECK(world.resolve({"corp"}) == Names{"corp 1.0"});
}

TEST_CASE("an assignment to a URL is the wheel itself, and a refused one stops") {
  TwoIndexes world;
  world.sources.assigned["corp"] = {
      {"p", nullptr, "https://index.test/files/corp-9.9-py3-none-any.whl", {}, {}}};
  CHECK(world.resolve({"loose"}) == Names{"corp 9.9", "loose 1.0"});
  CHECK(world.package("corp").direct);
  world.sources.assigned["corp"] = {
      {"p", nullptr, {}, Error{ErrorKind::malformed, "corp is a repository", "build it"}, {}}};
  CHECK(world.error({"loose"}).message == "corp is a repository");
  world.options.dependencies = false;
  CHECK(world.resolve({"loose"}) == Names{"loose 1.0"});
}
