// A large wheel whose download ended early is continued by the next attempt: little is fetched
// again, and whatever the partial wheel says or has, only the right wheel enters the store.
#include "installer/store/partial_wheel.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>

#include "installer/store/store.h"
#include "tests/installer/sandbox.h"
#include "tests/wheel/zip_builder.h"
#include "wheel/hash/sha256.h"

using namespace axle::installer;
using axle::ErrorKind;
using axle::Result;
using axle::index::HttpRequest;
using axle::index::HttpResponse;

using axle::wheel::testing::Member;

namespace {

/// One file on a server that ends transfers early, and counts what it gives.
class EndingServer final : public axle::index::Transport {
 public:
  Result<HttpResponse> fetch(const HttpRequest& request) override {
    const std::uint64_t from =
        request.tail ? bytes.size() - std::min<std::uint64_t>(*request.tail, bytes.size())
                     : request.range->offset;
    HttpResponse response;
    response.status = 206;
    response.url = request.url;
    response.total_size = bytes.size();
    response.body = bytes.substr(from, request.range ? request.range->length : std::string::npos);
    return response;
  }
  Result<HttpResponse> download(const HttpRequest& request,
                                const axle::index::BodySink& sink) override {
    ++downloads;
    HttpResponse response;
    response.url = request.url;
    response.total_size = bytes.size();
    response.status = request.range ? 206 : 200;
    if (request.range && rest_status != 206) {
      response.status = rest_status;
      return response;
    }
    const std::uint64_t from = request.range ? request.range->offset : 0;
    begins.push_back(from);
    const std::string_view all = std::string_view(bytes).substr(0, cut);
    constexpr std::size_t step = 100'000;
    for (std::size_t at = from; at < all.size(); at += step) {
      const auto part = all.substr(at, step);
      given += part.size();
      if (auto taken = sink(std::as_bytes(std::span(part))); !taken)
        return std::unexpected(taken.error());
    }
    if (cut < bytes.size()) return axle::fail(ErrorKind::io, "the connection was interrupted");
    return response;
  }

  std::string bytes;
  std::size_t cut = std::string::npos;
  int rest_status = 206;
  int downloads = 0;
  std::uint64_t given = 0;
  std::vector<std::uint64_t> begins;
};

std::string noise(std::size_t size, std::uint32_t seed) {
  std::string text;
  text.reserve(size);
  for (std::uint32_t state = seed; text.size() < size;) {
    state = state * 1664525 + 1013904223;
    text += static_cast<char>(state >> 24);
    if (state % 5 == 0) text.append(6, 'a');
  }
  text.resize(size);
  return text;
}

/// Of some 10 MB: small files, large ones of both kinds, folders, a file with a descriptor.
const std::string& large_wheel() {
  static const std::string bytes = [] {
    std::vector<Member> members{
        {.name = "demo/", .attributes = 040755U << 16},
        {.name = "demo/first.py", .content = "1", .method = 8},
        {.name = "demo/deflated.bin", .content = noise(7U << 20, 1), .method = 8},
        {.name = "demo/stored.bin", .content = noise(3U << 20, 2)},
        {.name = "demo/described.bin",
         .content = noise(2U << 20, 3),
         .method = 8,
         .descriptor = axle::wheel::testing::Descriptor::with_signature},
        {.name = "demo/tool.sh", .content = "#!/bin/sh\n", .attributes = 0100755U << 16}};
    for (unsigned i = 0; i < 60; ++i) {
      members.push_back({.name = fmt::format("demo/small/{}.py", i),
                         .content = noise(20'000 + i, 10 + i),
                         .method = 8});
    }
    std::string record = "demo-1.0.dist-info/RECORD,,\n";
    members.push_back({.name = "demo-1.0.dist-info/METADATA",
                       .content = "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n",
                       .method = 8});
    members.push_back(
        {.name = "demo-1.0.dist-info/WHEEL",
         .content = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"});
    for (const Member& member : members) {
      if (member.name.ends_with('/')) continue;
      record += fmt::format("{},sha256={},{}\n", member.name,
                            axle::wheel::render_base64(axle::wheel::sha256(member.content)),
                            member.content.size());
    }
    members.push_back({.name = "demo-1.0.dist-info/RECORD", .content = record, .method = 8});
    return axle::wheel::testing::build_zip(members);
  }();
  return bytes;
}

struct Attempts {
  Sandbox folder;
  EndingServer server;
  axle::plan::ResolvedPackage package;
  std::string said;

  Attempts() {
    server.bytes = large_wheel();
    static const axle::plan::ResolvedPackage large = [this] {
      const std::string path = folder / "demo-1.0-py3-none-any.whl";
      write_text(path, large_wheel());
      auto made = package_of(path);
      made.url = "https://index.example/demo-1.0-py3-none-any.whl";
      return made;
    }();
    package = large;
  }

  [[nodiscard]] std::string store() const { return folder / "store"; }
  [[nodiscard]] std::string partial() const {
    return store() + "/partial-" + std::string(package.hash.sha256());
  }
  [[nodiscard]] std::string tree() const { return partial() + "/entry/tree"; }

  /// The error, or nothing.
  std::string attempt(std::size_t cut = std::string::npos) {
    server.cut = cut;
    server.given = 0;
    const WheelCheck none = [](const Manifest&, std::string_view) -> Result<void> { return {}; };
    axle::CollectedReport report;
    auto seen = list_wheel("", package, server, none, report);
    REQUIRE(seen.has_value());
    ListedWheel listed{std::move(*seen), {}};
    auto wheel = acquire_wheel(store(), package, server, none, EntryCheck::size_and_time, report,
                               {}, &listed);
    said.clear();
    for (const axle::Remark& remark : report.remarks) said += remark.message + "\n";
    return wheel ? "" : wheel.error().message;
  }

  /// The wheel is in the store as it would be from one download, and nothing else is.
  void check_whole() const {
    CHECK_FALSE(is_there(partial()));
    static const auto expected = [] {
      Attempts plain;
      CHECK(plain.attempt().empty());
      auto tree = snapshot(plain.entry() + "/tree");
      REQUIRE(tree.size() > 60);
      return tree;
    }();
    CHECK(snapshot(entry() + "/tree") == expected);
    // By content, and as its own manifest says.
    EndingServer none_needed;
    const WheelCheck none = [](const Manifest&, std::string_view) -> Result<void> { return {}; };
    axle::CollectedReport report;
    CHECK(acquire_wheel(store(), package, none_needed, none, EntryCheck::content, report));
    CHECK(none_needed.downloads == 0);
    for (const auto& one : std::filesystem::directory_iterator(store()))
      CHECK(one.path().filename() == "wheels");
  }
  [[nodiscard]] std::string entry() const {
    return store() + "/wheels/" + std::string(package.hash.sha256());
  }
};

void change_byte(const std::string& path, std::size_t at) {
  std::string text = read_text(path);
  REQUIRE(at < text.size());
  text[at] = static_cast<char>(text[at] ^ 0x40);
  write_text(path, text);
}

}  // namespace

TEST_CASE("wherever a download ends, the next one goes on there") {
  const std::size_t size = large_wheel().size();
  for (std::size_t cut = 2U << 20; cut < size; cut += size / 7) {
    CAPTURE(cut);
    Attempts wheel;
    CHECK(wheel.attempt(cut).find("interrupted") != std::string::npos);
    CHECK(is_there(wheel.partial()));
    CHECK(wheel.attempt().empty());
    CHECK(wheel.said.find("are here from an earlier command") != std::string::npos);
    // A distance of places or a small file, and a distance of hashes.
    CHECK(wheel.server.given <= size - cut + (1U << 20) + (600U << 10));
    wheel.check_whole();
  }
}

TEST_CASE("a download that ends again and again is fetched about once in all") {
  Attempts wheel;
  const std::size_t size = large_wheel().size();
  std::uint64_t given = 0;
  for (std::size_t cut = 2U << 20; cut < size; cut += 2U << 20) {
    CHECK_FALSE(wheel.attempt(cut).empty());
    given += wheel.server.given;
  }
  CHECK(wheel.attempt().empty());
  given += wheel.server.given;
  CHECK(given < size + 5 * (1U << 20));
  CHECK(std::ranges::is_sorted(wheel.server.begins));
  wheel.check_whole();
}

TEST_CASE("a damaged log leads to the right wheel") {
  const std::vector<std::function<void(const std::string&, std::size_t)>> damages = {
      [](const std::string& log, std::size_t length) { change_byte(log, length / 10); },
      [](const std::string& log, std::size_t length) { change_byte(log, length / 2); },
      [](const std::string& log, std::size_t length) { change_byte(log, length - 1); },
      [](const std::string& log, std::size_t length) {
        std::filesystem::resize_file(log, length / 2);
      },
      [](const std::string& log, std::size_t) { std::filesystem::resize_file(log, 0); },
      [](const std::string& log, std::size_t) { std::filesystem::remove(log); }};
  for (const auto& damage : damages) {
    Attempts wheel;
    CHECK_FALSE(wheel.attempt(large_wheel().size() / 2).empty());
    const std::string log = wheel.partial() + "/log";
    damage(log, read_text(log).size());
    CHECK(wheel.attempt().empty());
    wheel.check_whole();
  }
}

TEST_CASE("damaged files are unpacked again, and none that was put there stays") {
  Attempts wheel;
  const std::size_t size = large_wheel().size();
  CHECK_FALSE(wheel.attempt(size - (2U << 20)).empty());
  const std::string outside = wheel.folder / "outside";
  std::filesystem::create_directory(outside);
  SUBCASE("a finished file") { change_byte(wheel.tree() + "/demo/deflated.bin", 3'000'000); }
  SUBCASE("a finished file is shorter") {
    std::filesystem::resize_file(wheel.tree() + "/demo/stored.bin", 100);
  }
  SUBCASE("a small one is gone") { std::filesystem::remove(wheel.tree() + "/demo/small/3.py"); }
  SUBCASE("one more file") { write_text(wheel.tree() + "/demo/evil.py", "evil"); }
  SUBCASE("a link for a file") {
    write_text(outside + "/target", "mine");
    std::filesystem::remove(wheel.tree() + "/demo/first.py");
    std::filesystem::create_symlink(outside + "/target", wheel.tree() + "/demo/first.py");
  }
  SUBCASE("a link for a folder") {
    std::filesystem::remove_all(wheel.tree() + "/demo/small");
    std::filesystem::create_directory_symlink(outside, wheel.tree() + "/demo/small");
  }
  SUBCASE("a file that is in two folders") {
    std::filesystem::remove(wheel.tree() + "/demo/first.py");
    write_text(outside + "/target", "1");
    std::filesystem::create_hard_link(outside + "/target", wheel.tree() + "/demo/first.py");
  }
  SUBCASE("a folder for a file") {
    std::filesystem::remove(wheel.tree() + "/demo/first.py");
    std::filesystem::create_directory(wheel.tree() + "/demo/first.py");
  }
  CHECK(wheel.attempt().empty());
  wheel.check_whole();
  const std::string target = outside + "/target";
  if (is_there(target)) CHECK(std::filesystem::hard_link_count(target) == 1);
  CHECK(snapshot(outside).size() <= 1);
}

TEST_CASE("a damaged file that was not finished is noticed") {
  Attempts wheel;
  const std::size_t size = large_wheel().size();
  CHECK_FALSE(wheel.attempt(size / 3).empty());
  const std::string file = wheel.tree() + "/demo/deflated.bin";
  REQUIRE(std::filesystem::file_size(file) > 1'500'000);
  REQUIRE(std::filesystem::file_size(file) < 7U << 20);
  change_byte(file, 1'000'000);
  CHECK(wheel.attempt().empty());
  wheel.check_whole();
}

TEST_CASE("a partial wheel that lies with checks that fit cannot enter the store") {
  Attempts wheel;
  const std::size_t size = large_wheel().size();
  CHECK_FALSE(wheel.attempt(size - (2U << 20)).empty());
  std::string log = render_log_head(wheel.package.hash.sha256(), size);
  SUBCASE("another state of the hash") {
    log = read_text(wheel.partial() + "/log");
    log += render_log_line({(size - (1U << 20)) / 64 * 64, {1, 2, 3, 4, 5, 6, 7, 8}});
    for (std::size_t i = 0; i < 70; ++i) log += render_log_line(i);
  }
  SUBCASE("places that are none") {
    log = read_text(wheel.partial() + "/log");
    for (std::size_t i = 0; i < 75; ++i)
      log += render_log_line(i, {100 * i + 40, 8 * 10'000 + i % 8, 10'000, 0});
  }
  SUBCASE("members that do not exist") {
    log += render_log_line({1U << 20, {}});
    log += render_log_line(~std::size_t{0});
    log += render_log_line(~std::size_t{0}, {0, 0, 0, 0});
  }
  write_text(wheel.partial() + "/log", log);
  CHECK(wheel.attempt().empty());
  wheel.check_whole();
}

TEST_CASE("a file that the server has replaced does not enter, and nothing stays") {
  Attempts wheel;
  CHECK_FALSE(wheel.attempt(large_wheel().size() / 2).empty());
  // Behind what is here, or before it: then the hash of the whole still fits to what was received.
  SUBCASE("behind") {
    wheel.server.bytes[large_wheel().size() - (1U << 20)] ^= 1;
    const std::string error = wheel.attempt();
    CHECK(error.find("has the sha256") != std::string::npos);
    CHECK(wheel.said.find("is downloaded from its beginning") != std::string::npos);
    CHECK(wheel.server.begins.back() == 0);
    CHECK(snapshot(wheel.store()).empty());
    wheel.server.bytes = large_wheel();
    CHECK(wheel.attempt().empty());
  }
  SUBCASE("before") {
    wheel.server.bytes[1'000'000] ^= 1;
    CHECK(wheel.attempt().empty());
  }
  wheel.check_whole();
}

TEST_CASE("a server that gives no rest is asked for the whole") {
  for (const int status : {200, 416, 403}) {
    Attempts wheel;
    CHECK_FALSE(wheel.attempt(large_wheel().size() / 2).empty());
    wheel.server.rest_status = status;
    CHECK(wheel.attempt().empty());
    CHECK(wheel.server.begins.back() == 0);
    wheel.check_whole();
  }
  Attempts wheel;
  CHECK_FALSE(wheel.attempt(large_wheel().size() / 2).empty());
  wheel.server.rest_status = 503;
  CHECK(wheel.attempt().find("returned 503") != std::string::npos);
  CHECK(is_there(wheel.partial()));
}

TEST_CASE("while one command has the partial wheel another one downloads on its own") {
  Attempts wheel;
  CHECK_FALSE(wheel.attempt(large_wheel().size() / 2).empty());
  {
    const auto held =
        WorkFolder::take_over(wheel.store(), "partial-" + std::string(wheel.package.hash.sha256()));
    REQUIRE((held && *held));
    CHECK(wheel.attempt().empty());
    CHECK(wheel.server.begins.back() == 0);
    CHECK(is_there(wheel.partial()));
  }
  wheel.check_whole();
}

TEST_CASE("what nobody goes on with is removed") {
  Attempts wheel;
  CHECK_FALSE(wheel.attempt(large_wheel().size() / 2).empty());
  SUBCASE("when the wheel enters the store in another way") {
    const WheelCheck none = [](const Manifest&, std::string_view) -> Result<void> { return {}; };
    axle::CollectedReport report;
    wheel.server.cut = std::string::npos;
    CHECK(acquire_wheel(wheel.store(), wheel.package, wheel.server, none, EntryCheck::size_and_time,
                        report));
  }
  SUBCASE("after a week") {
    const auto age = [&](int days) {
      const auto then =
          std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * days);
      std::filesystem::last_write_time(wheel.partial() + "/log", then);
      remove_forgotten_partial_wheels(wheel.store());
    };
    age(6);
    CHECK(is_there(wheel.partial()));
    age(8);
  }
  CHECK_FALSE(is_there(wheel.partial()));
}

TEST_CASE("where a file cannot be written, nothing is kept that fills the disk") {
  Attempts wheel;
  struct rlimit before = {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {1U << 20, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string error = wheel.attempt();
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  CHECK(error.find("File too large") != std::string::npos);
  CHECK(snapshot(wheel.store()).empty());
  CHECK(wheel.attempt().empty());
  wheel.check_whole();
}

TEST_CASE("a wheel without a sha256 of its own, or with other hashes, is not kept") {
  Attempts wheel;
  SUBCASE("no hash") { wheel.package.hash = {}; }
  SUBCASE("a listed one that cannot be continued") {
    wheel.package.listed_hashes = {{"sha512", std::string(128, 'a')},
                                   {"sha256", std::string(wheel.package.hash.sha256())}};
  }
  CHECK_FALSE(wheel.attempt(large_wheel().size() / 2).empty());
  CHECK(snapshot(wheel.store()).empty());
}
