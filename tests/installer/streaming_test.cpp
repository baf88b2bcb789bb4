// A wheel that is unpacked while it is downloaded gives what the same wheel gives as a file: tree,
// manifest or error. Nothing enters the store before the whole file was checked.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "installer/store/store.h"
#include "installer/store/streamed_unpacking.h"
#include "tests/installer/sandbox.h"
#include "tests/wheel/zip_builder.h"
#include "wheel/hash/sha256.h"

using namespace axle::installer;
using axle::ErrorKind;
using axle::Result;
using axle::index::HttpRequest;
using axle::index::HttpResponse;
using DataDescriptor = axle::wheel::testing::Descriptor;
using axle::wheel::testing::Member;

namespace {

/// One file on a server, by ranges and whole.
class OneFile final : public axle::index::Transport {
 public:
  Result<HttpResponse> fetch(const HttpRequest& request) override {
    const std::string& file = by_ranges.empty() ? bytes : by_ranges;
    const std::uint64_t from =
        request.tail    ? file.size() - std::min<std::uint64_t>(*request.tail, file.size())
        : request.range ? request.range->offset
                        : 0;
    HttpResponse response;
    response.status = ranges && (request.tail || request.range) ? 206 : 200;
    response.url = request.url;
    response.total_size = file.size();
    if (response.status == 206)
      response.body = file.substr(from, request.range ? request.range->length : std::string::npos);
    return response;
  }
  Result<HttpResponse> download(const HttpRequest& request,
                                const axle::index::BodySink& sink) override {
    ++downloads;
    const std::string_view all = std::string_view(bytes).substr(0, cut);
    for (std::size_t at = 0; at < all.size(); at += step) {
      if (auto taken = sink(std::as_bytes(std::span(all.substr(at, step)))); !taken)
        return std::unexpected(taken.error());
    }
    if (cut < bytes.size() && breaks)
      return axle::fail(ErrorKind::io, "the connection was interrupted");
    HttpResponse response;
    response.status = 200;
    response.url = request.url;
    return response;
  }

  std::string bytes;
  std::string by_ranges;  ///< empty: the same
  bool ranges = true;
  std::size_t step = 1000;
  std::size_t cut = std::string::npos;
  bool breaks = true;  ///< where it is cut; otherwise the file seems to be complete
  int downloads = 0;
};

/// What became of a wheel, without times.
struct Outcome {
  std::string error;
  std::string files;
  std::map<std::string, std::string> tree;

  bool operator==(const Outcome&) const = default;
};

std::string folder_of(const Sandbox& folder) { return folder / "store"; }

struct Case {
  OneFile server;
  axle::plan::ResolvedPackage package;
  bool streamed = false;  ///< the last `acquire` had a listed wheel
  std::stop_source stop;

  explicit Case(std::string bytes) {
    server.bytes = std::move(bytes);
    const Sandbox folder;
    const std::string path = folder / "demo-1.0-py3-none-any.whl";
    write_text(path, server.bytes);
    package = package_of(path);
    package.url = "https://index.example/demo-1.0-py3-none-any.whl";
  }

  Outcome acquire(bool streaming) {
    const Sandbox folder;
    const WheelCheck none = [](const Manifest&, std::string_view) -> Result<void> { return {}; };
    axle::CollectedReport report;
    std::optional<ListedWheel> listed;
    if (streaming) {
      if (auto seen = list_wheel("", package, server, none, report))
        listed = {std::move(*seen), {}};
    }
    streamed = listed.has_value();
    auto wheel = acquire_wheel(folder_of(folder), package, server, none, EntryCheck::content,
                               report, stop.get_token(), listed ? &*listed : nullptr);
    Outcome outcome;
    if (!wheel) {
      outcome.error =
          fmt::format("{} {}", static_cast<int>(wheel.error().kind), wheel.error().message);
      // No entry, and no work in progress.
      if (is_there(folder_of(folder))) CHECK(snapshot(folder_of(folder)).empty());
      return outcome;
    }
    CHECK(wheel->sha256 == axle::wheel::render_hex(axle::wheel::sha256(server.bytes)));
    for (const StoredFile& file : wheel->manifest.files) {
      outcome.files +=
          fmt::format("{} {} {} {}\n", file.path, file.sha256, file.size, file.executable);
    }
    outcome.files += wheel->manifest.dist_info + wheel->manifest.entry_points;
    outcome.tree = snapshot(wheel->tree);
    return outcome;
  }
};

std::string record_of(const std::vector<Member>& members) {
  std::string record = "demo-1.0.dist-info/RECORD,,\n";
  for (const Member& member : members) {
    if (member.name.ends_with('/')) continue;
    record += fmt::format("{},sha256={},{}\n", member.name,
                          axle::wheel::render_base64(axle::wheel::sha256(member.content)),
                          member.content.size());
  }
  return record;
}

std::string text_of(std::size_t size, unsigned seed) {
  std::string text;
  for (unsigned i = seed; text.size() < size; ++i) text += fmt::format("line {}\n", i * i);
  text.resize(size);
  return text;
}

/// `front` and what every wheel has; `late` after RECORD was made.
std::string wheel_of(std::vector<Member> front,
                     const std::function<void(std::vector<Member>&)>& late = {}) {
  front.push_back({.name = "demo-1.0.dist-info/METADATA",
                   .content = "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n",
                   .method = 8});
  front.push_back({.name = "demo-1.0.dist-info/WHEEL",
                   .content = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"});
  front.push_back({.name = "demo-1.0.dist-info/RECORD", .content = record_of(front), .method = 8});
  if (late) late(front);
  return axle::wheel::testing::build_zip(front);
}

std::vector<Member> some_files() {
  return {{.name = "demo/"},
          {.name = "demo/a.py", .content = text_of(3000, 1), .method = 8},
          {.name = "demo/empty.py"},
          {.name = "demo/b.bin", .content = text_of(500, 7)},
          {.name = "demo/tool.sh", .content = "#!/bin/sh\n", .attributes = 0100755U << 16},
          {.name = "demo/c.py",
           .content = text_of(2000, 3),
           .method = 8,
           .descriptor = DataDescriptor::with_signature},
          {.name = "demo/d.py", .content = "x", .descriptor = DataDescriptor::plain_wide},
          {.name = "deep/er/and/deeper/e.py", .content = text_of(90, 4), .method = 8}};
}

std::vector<Member> folder_fixed(std::vector<Member> members) {
  for (Member& member : members)
    if (member.name.ends_with('/')) member.attributes = 040755U << 16;
  return members;
}

}  // namespace

TEST_CASE("a wheel unpacked on its way has the tree and manifest of one unpacked from a file") {
  Case wheel(wheel_of(folder_fixed(some_files())));
  const Outcome file = wheel.acquire(false);
  REQUIRE(file.error.empty());
  CHECK(file.tree.size() > 10);
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{100'000}}) {
    wheel.server.step = step;
    CHECK(wheel.acquire(true) == file);
    CHECK(wheel.streamed);
  }
}

TEST_CASE(
    "members larger than the window and those that take two threads are unpacked on their way") {
  std::vector<Member> members{
      {.name = "demo/first.py", .content = "1"},
      {.name = "demo/large.bin", .content = text_of(40U << 20, 1)},
      {.name = "demo/deflated.bin", .content = text_of(12U << 20, 9), .method = 8},
      {.name = "demo/last.py", .content = "2"}};
  Case wheel(wheel_of(members));
  wheel.server.step = 300'000;
  const Outcome file = wheel.acquire(false);
  REQUIRE(file.error.empty());
  CHECK(wheel.acquire(true) == file);
  CHECK(wheel.streamed);
  CHECK(wheel.server.downloads == 2);
}

TEST_CASE("every damaged byte of a wheel has the same outcome on its way as in a file") {
  const std::string base = wheel_of(folder_fixed(some_files()));
  unsigned streamed = 0;
  unsigned refused = 0;
  for (std::size_t at = 0; at < base.size(); at += 7) {
    std::string bytes = base;
    bytes[at] = static_cast<char>(bytes[at] ^ (at % 2 == 0 ? 0x01 : 0x40));
    Case wheel(std::move(bytes));
    const Outcome file = wheel.acquire(false);
    CAPTURE(at);
    const Outcome on_its_way = wheel.acquire(true);
    // A descriptor stands behind the content: of two contradictions the other one is found first.
    if (wheel.streamed && file.error.find("descriptor that contradicts") != std::string::npos)
      CHECK(on_its_way.error.find("entry \"demo/") != std::string::npos);
    else
      CHECK(on_its_way == file);
    if (!wheel.streamed) continue;
    ++streamed;
    if (!file.error.empty()) ++refused;
  }
  CHECK(streamed > 100);
  CHECK(refused > 80);
}

TEST_CASE("records that lie only in their local header or descriptor are refused on their way") {
  const auto lie = [](const std::function<void(Member&)>& change) {
    return wheel_of(folder_fixed(some_files()),
                    [&](std::vector<Member>& members) { change(members[5]); });
  };
  const std::vector<std::string> wheels = {
      lie([](Member& m) { m.local_name = "demo/x.py"; }),
      lie([](Member& m) { m.local_method = 0; }),
      lie([](Member& m) { m.local_flags = 0; }),
      lie([](Member& m) { m.local_crc = 1; }),
      lie([](Member& m) { m.local_size = 5; }),
      lie([](Member& m) { m.local_packed_size = 5; }),
      lie([](Member& m) { m.descriptor_size = 5; }),
      lie([](Member& m) { m.crc = 5; }),
      lie([](Member& m) { m.size = 1999; }),
      lie([](Member& m) { m.central_size = 2001; }),
      lie([](Member& m) { m.content = text_of(2000, 4); }),
      lie([](Member& m) { m.packed = axle::wheel::testing::deflate(m.content) + "x"; }),
      lie([](Member& m) { m.local_extra = "xyz"; }),
      lie([](Member& m) { m.gap = "hidden"; }),
  };
  for (std::size_t i = 0; i < wheels.size(); ++i) {
    CAPTURE(i);
    Case wheel(wheels[i]);
    const Outcome file = wheel.acquire(false);
    CHECK_FALSE(file.error.empty());
    CHECK(wheel.acquire(true) == file);
  }
}

TEST_CASE("a transfer that is cut at any byte leaves nothing behind") {
  Case wheel(wheel_of(folder_fixed(some_files())));
  for (std::size_t cut = 0; cut < wheel.server.bytes.size(); cut += 41) {
    CAPTURE(cut);
    wheel.server.cut = cut;
    wheel.server.breaks = true;
    CHECK(wheel.acquire(true).error.find("interrupted") != std::string::npos);
    CHECK(wheel.streamed);
    wheel.server.breaks = false;
    CHECK(wheel.acquire(true) == wheel.acquire(false));
  }
}

TEST_CASE("a wrong hash is told as such, also where the damage was found before") {
  for (const bool damaged : {false, true}) {
    Case wheel(wheel_of(folder_fixed(some_files())));
    if (damaged) wheel.server.bytes[200] ^= 1;
    const std::string right = wheel.package.hash.digits;
    wheel.package.hash.digits = damaged ? right : std::string(64, 'a');
    const Outcome refused = wheel.acquire(true);
    CHECK(wheel.streamed);
    CHECK(refused.error.find("has the sha256") != std::string::npos);
    CHECK(refused == wheel.acquire(false));
  }
}

TEST_CASE("a server whose ranges give another file than the download is refused") {
  const std::vector<Member> files = folder_fixed(some_files());
  Case wheel(wheel_of(files));
  SUBCASE("another directory") {
    wheel.server.by_ranges = wheel_of({{.name = "demo/other.py", .content = "evil"}});
  }
  SUBCASE("another RECORD of the same length") {
    std::vector<Member> others = files;
    others[3].content[17] ^= 1;
    wheel.server.by_ranges = wheel_of(others);
    REQUIRE(wheel.server.by_ranges.size() > 1000);
  }
  SUBCASE("a byte of the comment of its end") {
    wheel.server.by_ranges = wheel.server.bytes;
    wheel.server.bytes[wheel.server.bytes.size() - 2] = 3;
    wheel.server.bytes += "abc";
    wheel.package.hash = axle::wheel::expected_sha256(
        axle::wheel::render_hex(axle::wheel::sha256(wheel.server.bytes)));
    wheel.package.size = wheel.server.bytes.size();
    CHECK(wheel.acquire(false).error.empty());
  }
  const Outcome refused = wheel.acquire(true);
  CHECK(wheel.streamed);
  CHECK(refused.error.find("differs from what its server gave of it by ranges") !=
        std::string::npos);
}

TEST_CASE("without ranges or without a size the wheel comes as ever") {
  Case wheel(wheel_of(folder_fixed(some_files())));
  const Outcome file = wheel.acquire(false);
  wheel.server.ranges = false;
  CHECK(wheel.acquire(true) == file);
  CHECK_FALSE(wheel.streamed);
  wheel.server.ranges = true;
  wheel.package.size.reset();
  wheel.package.hash = {};
  CHECK(wheel.acquire(true) == file);
  CHECK(wheel.streamed);
}

TEST_CASE("a request to stop ends a wheel on its way") {
  Case wheel(wheel_of(folder_fixed(some_files())));
  wheel.stop.request_stop();
  CHECK(wheel.acquire(true).error.find("not needed") != std::string::npos);
  CHECK(wheel.streamed);
}

TEST_CASE("a large wheel is listed and then installed from one download") {
  const Sandbox folder;
  std::vector<Member> members = folder_fixed(some_files());
  members.push_back({.name = "demo/large.bin", .content = text_of(17U << 20, 1)});
  Case wheel(wheel_of(members));
  wheel.server.step = 1U << 20;
  axle::plan::Resolution resolution;
  resolution.packages.push_back(wheel.package);
  axle::CollectedReport report;
  const Environment environment = bare_environment(folder / "env");
  const auto done = install(resolution, environment, wheel.server,
                            InstallOptions{.store_folder = folder / "store"}, report);
  REQUIRE_MESSAGE(done.has_value(), done.error().message);
  CHECK(wheel.server.downloads == 1);
  CHECK(read_text(environment.purelib + "/demo/a.py") == text_of(3000, 1));
  CHECK(read_text(environment.purelib + "/demo/large.bin").size() == 17U << 20);
}

TEST_CASE("many processors unpack the same, with a file for what does not fit into memory") {
  // Two members that the window does not hold together; bytes that cannot be packed.
  std::vector<Member> members;
  for (const unsigned seed : {1U, 2U}) {
    std::string content(20U << 20, '\0');
    std::uint32_t state = seed;
    for (char& byte : content)
      byte = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24U);
    members.push_back({.name = fmt::format("demo/{}.bin", seed), .content = std::move(content)});
  }
  for (Member& member : some_files()) members.push_back(std::move(member));
  Case one(wheel_of(folder_fixed(std::move(members))));
  const WheelCheck none = [](const Manifest&, std::string_view) -> Result<void> { return {}; };
  axle::CollectedReport report;
  const auto listed = list_wheel("", one.package, one.server, none, report);
  REQUIRE(listed);
  const auto unpack = [&](unsigned processors) {
    const Sandbox folder;
    const std::string tree = folder / "tree";
    std::filesystem::create_directory(tree);
    Manifest manifest = listed->manifest;
    auto unpacking = StreamedUnpacking::begin(*listed->archive, *listed->seen, tree, manifest,
                                              nullptr, processors);
    REQUIRE(unpacking);
    const std::string_view all = one.server.bytes;
    for (std::size_t at = 0; at < all.size(); at += 100'000)
      CHECK((*unpacking)->put(std::as_bytes(std::span(all.substr(at, 100'000)))));
    CHECK((*unpacking)->finish());
    // Nothing but the tree is left.
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
    std::map<std::string, std::string> hashes;
    for (const auto& [path, content] : snapshot(tree))
      hashes[path] = axle::wheel::render_hex(axle::wheel::sha256(content));
    return hashes;
  };
  const auto alone = unpack(1);
  CHECK(alone.size() > 2);
  for (const unsigned processors : {2U, 4U, 8U}) CHECK(unpack(processors) == alone);
}
