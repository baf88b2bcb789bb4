// The log of a partial wheel: what is whole counts, up to the first line that is not.
#include "installer/store/partial_log.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace axle::installer;
using axle::wheel::ContentPlace;
using axle::wheel::Sha256Midpoint;

namespace {

const std::string wheel_hash(64, 'a');
constexpr std::uint64_t wheel_size = 10'000'000;

Sha256Midpoint hash_at(std::uint64_t bytes) {
  return {bytes, {1, 2, 3, 0xffffffff, 5, 6, 7, static_cast<std::uint32_t>(bytes)}};
}

constexpr ContentPlace place{1000, 8 * 5000 + 3, 20'000, 0xdeadbeef};

std::string whole_log() {
  return render_log_head(wheel_hash, wheel_size) + render_log_line(hash_at(64)) +
         render_log_line(std::size_t{0}) + render_log_line(7, place) +
         render_log_line(hash_at(640)) + render_log_line(std::size_t{3});
}

std::optional<PartialLog> parse(std::string_view text) {
  return parse_partial_log(text, wheel_hash, wheel_size);
}

}  // namespace

TEST_CASE("a log says what was written into it") {
  const std::string text = whole_log();
  const auto log = parse(text);
  REQUIRE(log);
  CHECK(log->hashes == std::vector{hash_at(64), hash_at(640)});
  CHECK(log->done == std::set<std::size_t>{0, 3});
  REQUIRE(log->places.size() == 1);
  CHECK(log->places.at(7) == place);
  CHECK(log->length == text.size());
  ContentPlace later = place;
  later.size = 30'000;
  CHECK(parse(text + render_log_line(7, later))->places.at(7) == later);
}

TEST_CASE(
    "states of the hash are in their order, where a later command began before the last one") {
  const auto log =
      parse(whole_log() + render_log_line(hash_at(128)) + render_log_line(hash_at(192)));
  REQUIRE(log);
  CHECK(log->hashes == std::vector{hash_at(64), hash_at(128), hash_at(192)});
}

TEST_CASE("the log of another wheel is none") {
  CHECK_FALSE(parse_partial_log(whole_log(), std::string(64, 'b'), wheel_size));
  CHECK_FALSE(parse_partial_log(whole_log(), wheel_hash, wheel_size + 1));
  CHECK_FALSE(parse(""));
  CHECK_FALSE(parse("axle-partial-wheel 2"));
}

TEST_CASE("a torn tail does not count, wherever it is torn") {
  const std::string text = whole_log();
  const std::size_t head = render_log_head(wheel_hash, wheel_size).size();
  for (std::size_t length = 0; length < text.size(); ++length) {
    CAPTURE(length);
    const auto log = parse(std::string_view(text).substr(0, length));
    REQUIRE(log.has_value() == (length >= head));
    if (!log) continue;
    // Up to the end of a line, and what is written there afterwards counts.
    CHECK(log->length <= length);
    CHECK(text[log->length - 1] == '\n');
    const auto longer = parse(text.substr(0, log->length) + render_log_line(hash_at(6400)));
    REQUIRE(longer);
    CHECK(longer->hashes.back() == hash_at(6400));
    CHECK(longer->hashes.size() == log->hashes.size() + 1);
  }
}

TEST_CASE("of a line with a flipped bit nothing counts, nor of those behind it") {
  const std::string text = whole_log();
  const std::size_t head = render_log_head(wheel_hash, wheel_size).size();
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char bit : {1, 16}) {
      std::string bent = text;
      bent[at] = static_cast<char>(bent[at] ^ bit);
      const auto log = parse(bent);
      CHECK(log.has_value() == (at >= head));
      if (log) CHECK(log->length <= at);
    }
  }
}

TEST_CASE("numbers that no wheel of this size has do not count") {
  const std::string head = render_log_head(wheel_hash, wheel_size);
  const auto counts = [&](const std::string& lines) {
    return parse(head + lines)->length == head.size() + lines.size();
  };
  CHECK(counts(render_log_line(hash_at(640))));
  CHECK_FALSE(counts(render_log_line(hash_at(0))));
  CHECK_FALSE(counts(render_log_line(hash_at(65))));
  CHECK_FALSE(counts(render_log_line(hash_at(wheel_size + 64 - wheel_size % 64))));
  CHECK(counts(render_log_line(7, place)));
  ContentPlace far = place;
  far.packed_bits = 8 * wheel_size;
  CHECK_FALSE(counts(render_log_line(7, far)));
  far.data_offset = wheel_size + 1;
  far.packed_bits = 0;
  CHECK_FALSE(counts(render_log_line(7, far)));
  far.data_offset = ~std::uint64_t{0};
  CHECK_FALSE(counts(render_log_line(7, far)));
}
