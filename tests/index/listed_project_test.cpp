// A page by release: what is kept of it is what was parsed, or it is parsed again.
#include "index/pages/listed_project.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "index/pages/source.h"
#include "tests/index/sample_wheels.h"
#include "tests/support/index_server.h"

using namespace axle::index;
using axle::CollectedReport;
using axle::test::IndexServer;
using axle::test::TemporaryFolder;

namespace {

/// More than is read at once of a form.
constexpr std::size_t many = 500;

constexpr const char* digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Of everything that a file can have, some; and more releases, newer ones.
std::string rich_page(std::size_t more = 0) {
  std::string files;
  const auto add = [&](std::string_view name, std::string_view more) {
    files += fmt::format(R"({}{{"filename":"{}","url":"../../f/{}"{}}})", files.empty() ? "" : ",",
                         name, name, more);
  };
  const std::string hashes = fmt::format(R"(,"hashes":{{"sha256":"{}"}})", digest);
  add("x-1.0-py3-none-any.whl", hashes + R"(,"size":3,"requires-python":">=3.9","yanked":true)");
  add("x-1.0.tar.gz", R"(,"hashes":{"md5":"ab"},"yanked":"broken","requires-python":">=3.9")");
  add("x-1.0.0-1-py3-none-any.whl", R"(,"hashes":{},"upload-time":"2026-05-04T12:30:45.5Z")");
  add("x-2.0rc1-py3-none-any-x86_64_v3.whl", hashes + R"(,"core-metadata":true)");
  add("x-2.0rc1-variants.json", hashes);
  add("x-2.0-py3-none-any.whl",
      fmt::format(R"(,"hashes":{{"sha256":"{}","sha512":"cd"}},"core-metadata":{{"sha256":"{}"}})",
                  digest, std::string(64, 'a')));
  // The beginning of the one before, another one, without the file's name in it, and none again.
  const auto provenance = [](std::string_view url) {
    return fmt::format(R"(,"hashes":{{}},"provenance":"{}")", url);
  };
  add("x-2.0-cp311-none-any.whl",
      provenance("https://index.example/integrity/x/2.0/x-2.0-cp311-none-any.whl/provenance"));
  add("x-2.0-cp312-none-any.whl",
      provenance("https://index.example/integrity/x/2.0/x-2.0-cp312-none-any.whl/provenance"));
  add("x-2.0-cp313-none-any.whl", provenance("https://other.example/42"));
  add("x-2.0-cp314-none-any.whl", provenance("https://other.example/x-2.0-cp314-none-any.whl"));
  add("x-2.0-cp315-none-any.whl", R"(,"hashes":{},"provenance":null)");
  add("x-10-variants.json", "");
  add("x-nonsense.exe", "");
  add("x-1970-py3-none-any.whl", R"(,"upload-time":"1969-01-01T00:00:00Z","size":0)");
  for (std::size_t i = 0; i < more; ++i)
    add(fmt::format("x-{}-py3-none-any.whl", 3000 + i), hashes);
  return R"({"meta":{"api-version":"1.1"},"name":"x","files":[)" + files + "]}";
}

ProjectPage parsed(const std::string& body) {
  CollectedReport report;
  auto page = parse_json_page(body, "https://index.example/simple/x/", report);
  REQUIRE(page);
  page->name = "x";
  return std::move(*page);
}

void check_same(const ListedProject& listed, const ProjectPage& page) {
  const ProjectPage again = listed.page("x");
  CHECK(again.files == page.files);
  CHECK(again.url == page.url);
  CHECK(again.absent == page.absent);
  const ReleaseGroups groups = group_by_release(page.files, "x");
  REQUIRE(listed.release_count() == groups.releases.size());
  for (std::size_t place = 0; place < groups.releases.size(); ++place) {
    ReleaseFiles files;
    for (const GroupedFile& file : groups.releases[place].files)
      files.add(file.kind, page.files[file.place]);
    const ReleaseSummary own = summarize(files);
    const ReleaseFiles kept = listed.files(place);
    CHECK(kept.wheels == files.wheels);
    CHECK(kept.sdists == files.sdists);
    CHECK(kept.variants_file == files.variants_file);
    const auto counts = [](std::string_view name, std::string_view python) {
      return name.size() % 2 == 0 || !python.empty();
    };
    std::erase_if(files.wheels, [&](const PublishedFile& file) {
      return !counts(file.filename, file.requires_python);
    });
    const ReleaseFiles some = listed.files(place, counts);
    CHECK(some.wheels == files.wheels);
    CHECK(some.sdists == files.sdists);
    CHECK(some.variants_file == files.variants_file);
    const ReleaseSummary summary = listed.summary(place);
    CHECK(summary.version == groups.releases[place].text);
    CHECK(summary.wheels == own.wheels);
    CHECK(summary.sdists == own.sdists);
    CHECK(summary.maybe_labelled == own.maybe_labelled);
    CHECK(summary.yanked_wheels == own.yanked_wheels);
    CHECK(summary.all_yanked == own.all_yanked);
  }
}

/// An index with one page and a cache, which every command opens anew.
struct Setup {
  explicit Setup(std::size_t more = 0) : server(folder.path()) {
    axle::test::write_file(folder / "simple/x/index.json", rich_page(more));
  }
  struct Command {
    CollectedReport report;
    std::unique_ptr<Transport> transport;
    std::unique_ptr<Source> source;
  };
  std::unique_ptr<Command> command(const std::string& way = "") const {
    auto made = std::make_unique<Command>();
    TransportOptions options;
    options.retries = 0;
    options.timeout_seconds = 30;
    made->transport = make_caching_transport(make_transport(options), {cache.path()});
    made->source = make_simple_source(server.url(way + "/simple"), *made->transport, made->report);
    return made;
  }
  std::string only(std::string_view ending) const {
    std::string found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(cache.path())) {
      const std::string path = entry.path();
      const bool is_form = path.ends_with(".form");
      if (entry.is_regular_file() && is_form == (ending == ".form")) found = path;
    }
    return found;
  }

  TemporaryFolder folder;
  TemporaryFolder cache;
  IndexServer server;
};

}  // namespace

TEST_CASE("what is kept of a page is the page") {
  const ProjectPage page = parsed(rich_page());
  CHECK(page.files.size() == 14);
  check_same(ListedProject(page, "x"), page);
  const ProjectPage empty = parsed(R"({"meta":{"api-version":"1.1"},"name":"x","files":[]})");
  check_same(ListedProject(empty, "x"), empty);
  CHECK(ListedProject({"x", "https://index.example", {}, true}, "x").absent());
}

TEST_CASE("releases are numbered without their files") {
  const ListedProject listed(parsed(rich_page()), "x");
  std::vector<std::string> versions;
  for (std::size_t place = 0; place < listed.release_count(); ++place)
    versions.emplace_back(listed.summary(place).version);
  CHECK(versions == std::vector<std::string>{"1970", "2.0", "2.0rc1", "1.0"});
  CHECK(listed.summary(2).maybe_labelled == 1);
  CHECK(listed.summary(3).wheels == 2);
  CHECK(listed.summary(3).yanked_wheels);
  CHECK(!listed.summary(3).all_yanked);
  CHECK(listed.file_count() == 14);
}

TEST_CASE("a cached page is parsed once, and its body is not read again") {
  Setup setup;
  const auto first = setup.command("/-fresh")->source->project("x");
  REQUIRE(first);
  REQUIRE(!setup.only(".form").empty());
  // Whoever read the body would find it damaged, and ask the server.
  std::string entry = axle::test::read_file(setup.only(""));
  entry.back() = '!';
  const auto modified = std::filesystem::last_write_time(setup.only(""));
  axle::test::write_file(setup.only(""), entry);
  std::filesystem::last_write_time(setup.only(""), modified);
  setup.server.forget();
  const auto command = setup.command("/-fresh");
  const auto listed = command->source->listing("x");
  REQUIRE(listed);
  check_same(*listed, *first);
  CHECK(setup.server.seen().empty());
}

TEST_CASE("a page that the server confirms is not parsed again, and one that changed is") {
  const Setup setup;
  const auto first = setup.command()->source->project("x");
  REQUIRE(first);
  const auto form = axle::test::read_file(setup.only(".form"));
  CHECK(setup.command()->source->project("x")->files == first->files);
  CHECK(axle::test::read_file(setup.only(".form")) == form);
  axle::test::write_file(setup.folder / "simple/x/index.json",
                         R"({"meta":{"api-version":"1.1"},"name":"x","files":[]})");
  CHECK(setup.command()->source->project("x")->files.empty());
  CHECK(setup.command()->source->project("x")->files.empty());
  CHECK(axle::test::read_file(setup.only(".form")) != form);
}

TEST_CASE("of a damaged form nothing is taken") {
  const Setup setup;
  const auto page = setup.command("/-fresh")->source->project("x");
  REQUIRE(page);
  const std::string path = setup.only(".form");
  const std::string form = axle::test::read_file(path);
  const auto check_damaged = [&](const std::string& bytes) {
    axle::test::write_file(path, bytes);
    const auto command = setup.command("/-fresh");
    const auto listed = command->source->listing("x");
    REQUIRE(listed);
    check_same(*listed, *page);
    CHECK(command->report.remarks.empty());
    CHECK(axle::test::read_file(path) == form);
  };
  for (std::size_t at = 0; at < form.size(); ++at) {
    std::string bytes = form;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
    check_damaged(bytes);
  }
  for (std::size_t length = 0; length < form.size(); length += 13)
    check_damaged(form.substr(0, length));
}

TEST_CASE("a form that is read in parts is the page") {
  Setup setup(many);
  const auto page = setup.command("/-fresh")->source->project("x");
  REQUIRE(page);
  CHECK(std::filesystem::file_size(setup.only(".form")) > 32'768);
  setup.server.forget();
  const auto command = setup.command("/-fresh");
  check_same(*command->source->listing("x"), *page);
  CHECK(setup.server.seen().empty());
}

TEST_CASE("a hint opens the page, which is then there without another look") {
  Setup setup;
  const auto page = setup.command("/-fresh")->source->project("x");
  REQUIRE(page);
  setup.server.forget();
  const auto command = setup.command("/-fresh");
  command->source->prefetch("x");
  std::filesystem::remove_all(setup.cache / "http-2");
  check_same(*command->source->listing("x"), *page);
  CHECK(setup.server.seen().empty());
}

TEST_CASE("a form that disappears or is cut while it is used is made again") {
  const Setup setup(many);
  const auto page = setup.command("/-fresh")->source->project("x");
  REQUIRE(page);
  for (const bool cut : {false, true}) {
    const auto command = setup.command("/-fresh");
    const auto listed = command->source->listing("x");
    REQUIRE(listed);
    if (cut) {
      std::filesystem::resize_file(setup.only(".form"), 100);
    } else {
      std::filesystem::remove(setup.only(".form"));
    }
    check_same(*listed, *page);
  }
}

TEST_CASE("without its copy and without the server a damaged form gives no files, and a word") {
  const Setup setup(many);
  REQUIRE(setup.command("/-fresh")->source->project("x"));
  const auto command = setup.command("/-fresh");
  const auto listed = command->source->listing("x");
  REQUIRE(listed);
  std::filesystem::remove(setup.only(".form"));
  std::filesystem::remove(setup.only(""));
  axle::test::write_file(setup.folder / "simple/x/index.json", "no page");
  CHECK(listed->files(many).wheels.empty());
  CHECK(listed->page("x").files.empty());
  REQUIRE(command->report.remarks.size() == 1);
  CHECK(command->report.remarks[0].message.contains("is damaged, and cannot be read again"));
}

TEST_CASE("what is wrong with a page is said each time that it is used") {
  const Setup setup;
  axle::test::write_file(
      setup.folder / "simple/x/index.json",
      R"({"meta":{"api-version":"1.1"},"name":"x","files":[{"filename":"x/y","url":"z"}]})");
  for (int time = 0; time < 2; ++time) {
    const auto command = setup.command("/-fresh");
    CHECK(command->source->project("x")->files.empty());
    CHECK(command->report.remarks.size() == 1);
  }
  CHECK(setup.only(".form").empty());
}

TEST_CASE("a token in a page's URL is not kept") {
  const Setup setup;
  const auto command = setup.command();
  const auto source = make_simple_source(setup.server.url("/simple?token=secret"),
                                         *command->transport, command->report);
  REQUIRE(source->project("x"));
  const std::string form = axle::test::read_file(setup.only(".form"));
  CHECK(!form.empty());
  CHECK(!form.contains("secret"));
}
