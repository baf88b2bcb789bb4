// From each place that is told while content is unpacked, the rest can be unpacked without what is
// before it; from a place that nobody told nothing but an error or a wrong checksum comes.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <libdeflate.h>

#include "tests/wheel/zip_builder.h"
#include "wheel/hash/sha256.h"
#include "wheel/zip/zip_reader.h"

using namespace axle::wheel;
using axle::Result;
using axle::wheel::testing::Descriptor;
using axle::wheel::testing::Member;

namespace {

/// Text, numbers and noise in turn: short and long blocks, and stored ones.
std::string mixed(std::size_t size) {
  std::string text;
  std::uint32_t state = 1;
  for (unsigned part = 0; text.size() < size; ++part) {
    for (unsigned i = 0; i < 20'000 && part % 3 == 0; ++i) text += fmt::format("line {}\n", i * i);
    for (unsigned i = 0; i < 150'000 && part % 3 == 1; ++i) {
      state = state * 1664525 + 1013904223;
      text += static_cast<char>(state >> 24);
    }
    if (part % 3 == 2) text.append(300'000, static_cast<char>(part));
  }
  text.resize(size);
  return text;
}

std::string deflate_at(int level, std::string_view content) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(level);
  REQUIRE(compressor != nullptr);
  std::string packed(libdeflate_deflate_compress_bound(compressor, content.size()), '\0');
  packed.resize(libdeflate_deflate_compress(compressor, content.data(), content.size(),
                                            packed.data(), packed.size()));
  libdeflate_free_compressor(compressor);
  return packed;
}

struct Archive {
  std::string bytes;
  ZipReader reader;

  explicit Archive(Member member)
      : bytes(axle::wheel::testing::build_zip(
            {{.name = "before", .content = "x"}, std::move(member), {.name = "z"}})),
        reader(std::move(*ZipReader::open_directory(memory_source(bytes), "test"))) {}
  [[nodiscard]] const ZipEntry& entry() const { return reader.entries()[1]; }
};

/// Only what is behind an offset is there.
class Rest final : public ByteSource {
 public:
  Rest(std::string_view bytes, std::uint64_t from) : bytes_(bytes), from_(from) {}
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    if (offset < from_ || out.size() > bytes_.size() - offset)
      return axle::fail(axle::ErrorKind::io, "not there");
    const auto part = std::as_bytes(std::span(bytes_.substr(offset, out.size())));
    std::ranges::copy(part, out.begin());
    return {};
  }

 private:
  std::string_view bytes_;
  std::uint64_t from_;
};

struct Unpacked {
  std::string text;
  std::vector<ContentPlace> places;
};

Unpacked unpack(const Archive& archive, std::uint64_t every) {
  Unpacked all;
  const PlacesWanted wanted{every, [&](const ContentPlace& place) {
                              CHECK(place.size == all.text.size());
                              all.places.push_back(place);
                            }};
  Rest source(archive.bytes, 0);
  const auto done = archive.reader.read_in_order(
      source, archive.entry(),
      [&](std::span<const std::byte> bytes) -> Result<void> {
        all.text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return {};
      },
      &wanted);
  REQUIRE(done);
  return all;
}

Result<std::string> unpack_rest(const Archive& archive, const ContentPlace& place,
                                std::string_view before) {
  std::string text;
  Rest source(archive.bytes, place.data_offset + place.packed_bits / 8);
  const auto window = before.substr(before.size() - std::min(before.size(), ContentPlace::window));
  const auto done = archive.reader.continue_in_order(
      source, archive.entry(), place, std::as_bytes(std::span(window)),
      [&](std::span<const std::byte> bytes) -> Result<void> {
        text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return {};
      });
  if (!done) return std::unexpected(done.error());
  return text;
}

}  // namespace

TEST_CASE("content goes on from every place that was told, whatever made the deflate stream") {
  const std::string content = mixed(6'000'000);
  for (const int level : {0, 1, 6, 9, 12}) {
    for (const auto descriptor : {Descriptor::none, Descriptor::with_signature}) {
      CAPTURE(level);
      const Archive archive({.name = "member",
                             .content = content,
                             .method = 8,
                             .descriptor = descriptor,
                             .packed = deflate_at(level, content)});
      const std::uint64_t every = 20'000;
      const Unpacked all = unpack(archive, every);
      REQUIRE(all.text == content);
      REQUIRE(all.places.size() > 5);
      std::uint64_t last = 0;
      for (const ContentPlace& place : all.places) {
        CHECK(place.packed_bits / 8 >= last + every);
        last = place.packed_bits / 8;
        CHECK(ZipReader::may_be_place(archive.entry(), place));
        const auto rest =
            unpack_rest(archive, place, std::string_view(content).substr(0, place.size));
        REQUIRE_MESSAGE(rest.has_value(), rest.error().message);
        CHECK(*rest == std::string_view(content).substr(place.size));
      }
    }
  }
}

TEST_CASE("blocks that are longer than the wanted distance are passed over") {
  // One block of fixed codes: a stream without any place.
  const std::string content(40'000'000, 'x');
  const Archive archive({.name = "member", .content = content, .method = 8});
  CHECK(unpack(archive, 100).text == content);
}

TEST_CASE(
    "stored content goes on anywhere, and its descriptor's signature is found across places") {
  const std::string content = mixed(3'000'000);
  const Archive archive({.name = "member", .content = content});
  const Unpacked all = unpack(archive, 500'000);
  REQUIRE(all.places.size() >= 5);
  for (const ContentPlace& place : all.places) {
    const auto rest = unpack_rest(archive, place, std::string_view(content).substr(0, place.size));
    REQUIRE(rest.has_value());
    CHECK(*rest == std::string_view(content).substr(place.size));
  }
  const std::string lying = std::string(1000, 'a') + "PK\x07\x08" + std::string(1000, 'b');
  const Archive split({.name = "member", .content = lying, .descriptor = Descriptor::plain});
  const ContentPlace inside{split.entry().header_offset + 36, 8 * 1002, 1002,
                            libdeflate_crc32(0, lying.data(), 1002)};
  const auto rest = unpack_rest(split, inside, std::string_view(lying).substr(0, 1002));
  REQUIRE_FALSE(rest.has_value());
  CHECK(rest.error().message.find("signature of a data descriptor") != std::string::npos);
}

TEST_CASE("places that nobody told end with an error, and never with other content") {
  const std::string content = mixed(2'000'000);
  const Archive archive({.name = "member", .content = content, .method = 8});
  const Unpacked all = unpack(archive, 50'000);
  REQUIRE(all.places.size() > 2);
  const ContentPlace good = all.places[2];
  const std::string_view before = std::string_view(content).substr(0, good.size);
  for (std::uint64_t bits = 0; bits < 8 * archive.entry().compressed_size + 64; bits += 1237) {
    ContentPlace place = good;
    place.packed_bits = bits;
    if (place.packed_bits != good.packed_bits) CHECK_FALSE(unpack_rest(archive, place, before));
  }
  const auto bent = [&](auto change) {
    ContentPlace place = good;
    change(place);
    CHECK_FALSE(unpack_rest(archive, place, before));
  };
  bent([](ContentPlace& place) { ++place.size; });
  bent([](ContentPlace& place) { place.size = ~std::uint64_t{0}; });
  bent([](ContentPlace& place) { place.crc32 ^= 1; });
  bent([](ContentPlace& place) { place.data_offset = 0; });
  bent([](ContentPlace& place) { ++place.data_offset; });
  bent([](ContentPlace& place) { place.data_offset = ~std::uint64_t{0}; });
  bent([](ContentPlace& place) { place.packed_bits = ~std::uint64_t{0}; });
  CHECK_FALSE(unpack_rest(archive, good, before.substr(before.size() - 100)));
  std::string other(before);
  other[other.size() - 5] ^= 1;
  const auto rest = unpack_rest(archive, good, other);
  // What nothing refers back to may differ: the caller's window is the caller's.
  if (rest) CHECK(*rest == std::string_view(content).substr(good.size));
}

TEST_CASE("a hash goes on from every midpoint") {
  const std::string text = mixed(100'000);
  const auto bytes = std::as_bytes(std::span(text));
  const std::string whole = render_hex(sha256(text));
  for (std::size_t at = 0; at <= text.size(); at += 64 * 97) {
    Sha256 first;
    first.update(bytes.first(at));
    CHECK(render_hex(first.so_far()) == render_hex(sha256(text.substr(0, at))));
    const Sha256Midpoint point = first.midpoint();
    CHECK(point.bytes == at);
    Sha256 second(point);
    second.update(bytes.subspan(at));
    CHECK(render_hex(second.finish()) == whole);
    first.update(bytes.subspan(at));
    CHECK(render_hex(first.finish()) == whole);
  }
  // The count of bits has two words.
  Sha256Midpoint far;
  far.bytes = (std::uint64_t{1} << 40) + 64;
  CHECK(Sha256(far).midpoint() == far);
}
