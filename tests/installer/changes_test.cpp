// What a plan says before it is applied: what enters and leaves, and which files stand in the way.
#include "installer/transaction/changes.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "installer/environment/installed.h"
#include "tests/installer/sandbox.h"

using namespace axle::installer;
using axle::ErrorKind;
using axle::Result;
using axle::index::HttpRequest;
using axle::index::HttpResponse;

namespace {

using Lines = std::vector<std::string>;
using Members = std::vector<axle::wheel::WheelMember>;

/// Gives parts of files, as most servers do, and never a whole one.
class PartsTransport final : public axle::index::Transport {
 public:
  Result<HttpResponse> fetch(const HttpRequest& request) override {
    const std::string& file = files.at(request.url);
    HttpResponse response;
    response.url = request.url;
    response.status = 206;
    response.total_size = file.size();
    const std::size_t length =
        request.tail ? std::min<std::size_t>(*request.tail, file.size()) : request.range->length;
    const std::size_t offset = request.tail ? file.size() - length : request.range->offset;
    response.body = file.substr(offset, length);
    return response;
  }
  Result<HttpResponse> download(const HttpRequest& request, const axle::index::BodySink&) override {
    return axle::fail(ErrorKind::io, "nothing is downloaded here: " + request.url);
  }

  std::map<std::string, std::string> files;
};

struct Workplace {
  Sandbox folder;
  Environment environment = bare_environment(folder / "env");
  InstallOptions options{.store_folder = folder / "store"};
  MemoryTransport transport;
  axle::CollectedReport report;

  std::string wheel(const std::string& name, const std::string& version, Members members) {
    return make_wheel(folder / "dist", name, version, std::move(members));
  }
  void put(const Lines& wheels) {
    REQUIRE(install(resolution_of(wheels), environment, transport, options, report));
  }
  Changes foresee(const PackageSet& set) { return foresee_with(set, transport); }
  Changes foresee_with(const PackageSet& set, axle::index::Transport& by) {
    const auto before = snapshot(folder.path());
    auto changes = foresee_changes(set, environment, &by, options, report);
    REQUIRE(changes.has_value());
    CHECK(changes->prepared == nullptr);
    CHECK(snapshot(folder.path()) == before);
    return std::move(*changes);
  }
  /// The one conflict of the wheel b 1 with `members`: foreseen, planned, and what refuses it.
  FileConflict conflict_of(Members members) {
    const PackageSet set{resolution_of({wheel("b", "1", std::move(members))}), {}};
    const auto before = snapshot(folder / "env");
    Changes foreseen = foresee(set);
    REQUIRE(foreseen.conflicts.size() == 1);
    auto planned = plan_changes(set, environment, &transport, options, report);
    REQUIRE(planned.has_value());
    REQUIRE(planned->conflicts.size() == 1);
    CHECK(planned->conflicts[0].path == foreseen.conflicts[0].path);
    CHECK(planned->conflicts[0].error.message == foreseen.conflicts[0].error.message);
    const auto applied = apply(*planned, report);
    REQUIRE_FALSE(applied.has_value());
    CHECK(applied.error().kind == ErrorKind::conflict);
    CHECK(applied.error().message == foreseen.conflicts[0].error.message);
    CHECK(snapshot(folder / "env") == before);
    return std::move(foreseen.conflicts[0]);
  }
  [[nodiscard]] std::string site(std::string_view name) const {
    return environment.purelib + "/" + std::string(name);
  }
  Lines listed() {
    Lines lines;
    const auto installed = list_installed(environment, report);
    REQUIRE(installed.has_value());
    for (const auto& distribution : *installed)
      lines.push_back(distribution.name + " " +
                      axle::wheel::render_version(distribution.metadata.version));
    return lines;
  }
};

Lines lines_of(const std::vector<Change>& changes) {
  Lines lines;
  for (const Change& change : changes) lines.push_back(change.name + " " + change.version);
  return lines;
}

}  // namespace

TEST_CASE("foreseen changes are those that are made, and nothing is written for them") {
  Workplace work;
  work.put({work.wheel("a", "1", {{"a.py", "1"}}), work.wheel("k", "1", {{"k.py", "1"}})});
  auto kept = package_of(work.wheel("k", "1", {{"k.py", "1"}}));
  kept.already_installed = true;
  const PackageSet set{{{package_of(work.wheel("a", "2", {{"a.py", "2"}})), kept}}, {}};
  const Changes foreseen = work.foresee(set);
  CHECK(lines_of(foreseen.installed) == Lines{"a 2"});
  CHECK(lines_of(foreseen.removed) == Lines{"a 1"});
  CHECK(lines_of(foreseen.kept) == Lines{"k 1"});
  CHECK(foreseen.conflicts.empty());
  CHECK(foreseen.unlisted.empty());
  const auto made =
      install(set.present, work.environment, work.transport, work.options, work.report);
  REQUIRE(made.has_value());
  CHECK(lines_of(made->installed) == lines_of(foreseen.installed));
  CHECK(lines_of(made->removed) == lines_of(foreseen.removed));
  CHECK(lines_of(made->kept) == lines_of(foreseen.kept));
}

TEST_CASE("what shall be there and what shall not is one transaction") {
  Workplace work;
  work.put({work.wheel("old", "1", {{"shared.py", "1"}}), work.wheel("k", "1", {{"k.py", "1"}})});
  const PackageSet set{resolution_of({work.wheel("new", "1", {{"shared.py", "2"}})}), {"old"}};
  const Changes foreseen = work.foresee(set);
  CHECK(foreseen.conflicts.empty());
  CHECK(lines_of(foreseen.removed) == Lines{"old 1"});
  auto planned = plan_changes(set, work.environment, &work.transport, work.options, work.report);
  REQUIRE(planned.has_value());
  REQUIRE(apply(*planned, work.report));
  CHECK(planned->prepared == nullptr);
  CHECK(work.listed() == Lines{"k 1", "new 1"});
  CHECK(read_text(work.site("shared.py")) == "2");
}

TEST_CASE("a removal is foreseen as it is made") {
  Workplace work;
  work.put({work.wheel("a", "1", {{"a.py", "1"}}), work.wheel("k", "1", {{"k.py", "1"}})});
  const Changes foreseen = work.foresee({{}, {"A", "missing"}});
  CHECK(lines_of(foreseen.removed) == Lines{"a 1"});
  REQUIRE(work.report.remarks.size() == 1);
  CHECK(work.report.remarks[0].message.contains("missing"));
  const auto none =
      foresee_changes({{}, {"missing"}}, work.environment, nullptr, work.options, work.report);
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().kind == ErrorKind::not_found);
}

TEST_CASE("each kind of file conflict is foreseen with the file, the package and the owner") {
  Workplace work;
  work.put({work.wheel(
      "a", "1",
      {{"a/x.py", "1"}, {"a-1.dist-info/entry_points.txt", "[console_scripts]\nrun = a:main\n"}})});
  write_text(work.site("mine.py"), "mine");
  write_text(work.site("folder/inside"), "mine");
  SUBCASE("a file of another package") {
    const FileConflict conflict = work.conflict_of({{"a/x.py", "2"}});
    CHECK(conflict.path == work.site("a/x.py"));
    CHECK(conflict.package == "b 1");
    CHECK(conflict.owner == "a 1");
  }
  SUBCASE("a script of another package") {
    const FileConflict conflict =
        work.conflict_of({{"b-1.dist-info/entry_points.txt", "[console_scripts]\nrun = b:main\n"}});
    CHECK(conflict.path == work.folder / "env/bin/run");
    CHECK(conflict.owner == "a 1");
  }
  SUBCASE("a script that the wheel ships, rewritten for the environment") {
    const FileConflict conflict =
        work.conflict_of({{"b-1.data/scripts/run", "#!python\nprint()\n", true}});
    CHECK(conflict.path == work.folder / "env/bin/run");
    CHECK(conflict.owner == "a 1");
  }
  SUBCASE("a file of nobody") {
    const FileConflict conflict = work.conflict_of({{"mine.py", "2"}});
    CHECK(conflict.package == "b 1");
    CHECK(conflict.owner.empty());
    CHECK(conflict.error.message.contains("no package owns"));
  }
  SUBCASE("a file where a folder is to be") {
    const FileConflict conflict = work.conflict_of({{"mine.py/x.py", "2"}});
    CHECK(conflict.path == work.site("mine.py"));
    CHECK(conflict.error.message.contains("is a file"));
  }
  SUBCASE("a folder where a file is to be") {
    const FileConflict conflict = work.conflict_of({{"folder", "2"}});
    CHECK(conflict.package == "b 1");
    CHECK(conflict.error.message.contains("is a folder"));
  }
}

TEST_CASE("two new packages with different files at one place conflict, with the same do not") {
  Workplace work;
  const Changes differ = work.foresee({resolution_of({work.wheel("c", "1", {{"n.py", "1"}}),
                                                      work.wheel("d", "1", {{"n.py", "2"}})}),
                                       {}});
  REQUIRE(differ.conflicts.size() == 1);
  CHECK(differ.conflicts[0].path == work.site("n.py"));
  CHECK(differ.conflicts[0].package == "d 1");
  CHECK(differ.conflicts[0].owner == "c 1");
  CHECK(work.foresee({resolution_of({work.wheel("c", "2", {{"n.py", "1"}}),
                                     work.wheel("d", "2", {{"n.py", "1"}})}),
                      {}})
            .conflicts.empty());
}

TEST_CASE("all conflicts are foreseen, and none of those that --overwrite settles") {
  Workplace work;
  work.put({work.wheel("a", "1", {{"x.py", "1"}, {"y.py", "1"}, {"same.py", "1"}})});
  const PackageSet set{
      resolution_of({work.wheel("b", "1", {{"x.py", "2"}, {"y.py", "2"}, {"same.py", "1"}})}), {}};
  CHECK(work.foresee(set).conflicts.size() == 2);
  work.options.overwrite = true;
  CHECK(work.foresee(set).conflicts.empty());
}

TEST_CASE("a wheel on a server is looked into by parts, else nothing is known of its files") {
  Workplace work;
  write_text(work.site("b.py"), "mine");
  auto package = package_of(
      work.wheel("b", "1", {{"b.py", "2"}, {"b-1.data/scripts/run", "#!python\nprint()\n", true}}));
  PartsTransport parts;
  const std::string url = "https://files.test/" + package.filename;
  parts.files[url] = read_text(work.folder / ("dist/" + package.filename));
  package.url = url;
  const PackageSet set{{{package}}, {}};
  const Changes looked = work.foresee_with(set, parts);
  CHECK(looked.unlisted.empty());
  REQUIRE(looked.conflicts.size() == 1);
  CHECK(looked.conflicts[0].path == work.site("b.py"));
  const Changes blind = work.foresee(set);
  CHECK(lines_of(blind.installed) == Lines{"b 1"});
  CHECK(blind.conflicts.empty());
  REQUIRE(blind.unlisted.size() == 1);
  CHECK(blind.unlisted[0].package == "b 1");
  CHECK_FALSE(blind.unlisted[0].reason.empty());
}

TEST_CASE("a wheel that is not what it was chosen as cannot be foreseen either") {
  Workplace work;
  auto package = package_of(work.wheel("b", "1", {{"b.py", "2"}}));
  package.variant = "v3";
  const PackageSet set{{{package}}, {}};
  const auto foreseen =
      foresee_changes(set, work.environment, &work.transport, work.options, work.report);
  REQUIRE_FALSE(foreseen.has_value());
  CHECK(foreseen.error().kind == ErrorKind::mismatch);
  const auto planned =
      plan_changes(set, work.environment, &work.transport, work.options, work.report);
  REQUIRE_FALSE(planned.has_value());
  CHECK(planned.error().message == foreseen.error().message);
}
