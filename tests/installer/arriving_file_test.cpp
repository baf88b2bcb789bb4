// A window of a file between one who receives and several who read, and a sink that works behind.
#include "installer/store/arriving_file.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>

#include "foundation/system/parallel.h"
#include "installer/store/following_sink.h"
#include "tests/installer/sandbox.h"

using namespace axle::installer;
using axle::ErrorKind;

namespace {

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>((i * i + i / 251) & 0xFF);
  return bytes;
}

Descriptor nameless_file() {
  const Sandbox sandbox;
  const std::string path = sandbox / "aside";
  return Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

}  // namespace

TEST_CASE("every part reads its own bytes through a window smaller than the file and than a part") {
  const std::vector<std::byte> whole = pattern(300'000);
  std::vector<std::uint64_t> begins{0, 10, 500, 501};
  for (std::uint64_t at = 100'000; at < 290'000; at += 777) begins.push_back(at);
  constexpr std::uint64_t parts_end = 290'500;
  bool has_file = false;
  SUBCASE("all of it in memory") {}
  SUBCASE("with a file for what does not fit") { has_file = true; }
  for (const std::size_t step : {std::size_t{1}, std::size_t{999}, std::size_t{70'000}}) {
    ArrivingFile file(begins, parts_end, 4096, 0, has_file ? nameless_file() : Descriptor());
    std::atomic<int> refused = 0;
    std::thread receiver([&] {
      for (std::size_t at = 0; at < whole.size(); at += step)
        if (!file.put(std::span(whole).subspan(at, std::min(step, whole.size() - at)))) ++refused;
      file.end();
    });
    std::atomic<int> wrong = 0;
    axle::system::for_each_at_once(begins.size(), 4, [&](std::size_t i) {
      ArrivingFile::Part part(file, i);
      const std::uint64_t end = i + 1 < begins.size() ? begins[i + 1] : parts_end;
      std::vector<std::byte> got(1000);
      for (std::uint64_t at = begins[i]; at < end; at += 1000) {
        const auto out = std::span(got).first(std::min<std::uint64_t>(1000, end - at));
        if (!part.read(at, out) || !std::equal(out.begin(), out.end(), whole.begin() + long(at)))
          ++wrong;
        // The last read may be repeated.
        if (!part.read(at, out.first(1)) || out[0] != whole[at]) ++wrong;
      }
    });
    receiver.join();
    CHECK(wrong == 0);
    CHECK(refused == 0);
  }
}

TEST_CASE("who waits for bytes that do not come gets an error and the receiver never hangs") {
  const std::vector<std::byte> whole = pattern(100'000);
  std::byte one{};
  SUBCASE("the file ends early") {
    ArrivingFile file({0, 50}, 100'000, 4096);
    CHECK(file.put(std::span(whole).first(60)));
    file.end();
    ArrivingFile::Part first(file, 0);
    CHECK(first.read(0, std::span(&one, 1)));
    std::vector<std::byte> more(20);
    const auto got = first.read(45, more);
    REQUIRE_FALSE(got);
    CHECK(got.error().kind == ErrorKind::io);
  }
  SUBCASE("the rest is dropped while the receiver waits for room") {
    ArrivingFile file({0, 50}, 100'000, 4096);
    std::thread receiver([&] { (void)file.put(whole); });
    {
      ArrivingFile::Part first(file, 0);
      CHECK(first.read(0, std::span(&one, 1)));
      file.drop_rest();
      CHECK_FALSE(first.read(10, std::span(&one, 1)));
    }
    receiver.join();
  }
  SUBCASE("all parts are finished before the end") {
    ArrivingFile file({0, 50}, 60, 4096);
    {
      const ArrivingFile::Part second(file, 1);
    }
    {
      const ArrivingFile::Part first(file, 0);
    }
    CHECK(file.put(whole));
  }
  SUBCASE("a part is not read before its last read nor beyond the parts") {
    ArrivingFile file({0, 50}, 60, 4096);
    CHECK(file.put(std::span(whole).first(100)));
    ArrivingFile::Part second(file, 1);
    CHECK_FALSE(second.read(49, std::span(&one, 1)));
    CHECK(second.read(55, std::span(&one, 1)));
    CHECK_FALSE(second.read(54, std::span(&one, 1)));
    CHECK_FALSE(second.read(60, std::span(&one, 1)));
  }
}

TEST_CASE("with a file for what does not fit nobody waits for room") {
  const std::vector<std::byte> whole = pattern(300'000);
  SUBCASE("all comes before anything is read, also over the edge between memory and file") {
    ArrivingFile file({0, 50}, 300'000, 4096, 0, nameless_file());
    CHECK(file.put(whole));
    file.end();
    ArrivingFile::Part first(file, 0);
    ArrivingFile::Part second(file, 1);
    std::vector<std::byte> got(50);
    REQUIRE(first.read(0, got));
    CHECK(std::equal(got.begin(), got.end(), whole.begin()));
    got.resize(2000);
    for (std::size_t at = 50; at < whole.size(); at += 1999) {
      const auto out = std::span(got).first(std::min<std::size_t>(2000, whole.size() - at));
      REQUIRE(second.read(at, out));
      CHECK(std::equal(out.begin(), out.end(), whole.begin() + long(at)));
    }
  }
  SUBCASE("a file that cannot be written is an error of the receiver") {
    ArrivingFile file({0, 50}, 300'000, 4096, 0,
                      Descriptor(::open("/dev/full", O_RDWR | O_CLOEXEC)));
    const auto put = file.put(whole);
    REQUIRE_FALSE(put);
    CHECK(put.error().kind == ErrorKind::io);
    CHECK(put.error().message.contains("No space left"));
    file.drop_rest();
  }
  SUBCASE("what is not wanted any more is not written either") {
    ArrivingFile file({0, 50}, 300'000, 4096, 0, nameless_file());
    REQUIRE(file.put(std::span(whole).first(100'000)));
    file.drop_rest();
    CHECK(file.put(std::span(whole).subspan(100'000)));
    ArrivingFile::Part first(file, 0);
    std::byte one{};
    CHECK_FALSE(first.read(0, std::span(&one, 1)));
  }
}

TEST_CASE("a sink that works behind takes all bytes in order and tells its errors") {
  const std::vector<std::byte> whole = pattern(1'000'000);
  SUBCASE("all bytes") {
    std::vector<std::byte> got;
    FollowingSink sink([&](auto bytes) -> axle::Result<void> {
      got.insert(got.end(), bytes.begin(), bytes.end());
      return {};
    });
    for (std::size_t at = 0; at < whole.size(); at += 7777)
      REQUIRE(
          sink.take(std::span(whole).subspan(at, std::min<std::size_t>(7777, whole.size() - at))));
    REQUIRE(sink.finish());
    CHECK(got == whole);
  }
  SUBCASE("an error ends it") {
    int calls = 0;
    FollowingSink sink([&](auto) -> axle::Result<void> {
      if (++calls < 3) return {};
      return axle::fail(ErrorKind::io, "full");
    });
    axle::Result<void> taken;
    for (int i = 0; i < 1000 && taken; ++i) taken = sink.take(std::span(whole).first(10));
    REQUIRE_FALSE(taken);
    CHECK(taken.error().message == "full");
    CHECK_FALSE(sink.finish());
    CHECK(calls == 3);
  }
  SUBCASE("an exception comes out where the bytes go in") {
    FollowingSink sink([](auto) -> axle::Result<void> { throw std::runtime_error("thrown"); });
    CHECK_THROWS_AS(
        {
          for (int i = 0; i < 1000; ++i) static_cast<void>(sink.take(std::span(whole).first(10)));
        },
        std::runtime_error);
  }
  SUBCASE("it is given up while it works") {
    FollowingSink sink([](auto) -> axle::Result<void> {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return {};
    });
    for (int i = 0; i < 8; ++i) REQUIRE(sink.take(std::span(whole).first(10)));
  }
}
