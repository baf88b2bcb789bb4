// Damage at random: whatever happens to a valid archive, it is refused or its content has the right
// checksum. Nothing crashes (the sanitizer builds run this too).
#include <random>
#include <string>

#include <doctest/doctest.h>
#include <libdeflate.h>

#include "tests/wheel/zip_builder.h"
#include "wheel/wheel_writer.h"
#include "wheel/zip/zip_reader.h"

namespace {

using namespace axle::wheel;
using namespace axle::wheel::testing;

std::string base_archive() {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "line " + std::to_string(i * i) + "\n";
  return build_zip({{.name = "pkg/", .attributes = 040755U << 16},
                    {.name = "pkg/a.py", .content = text, .method = 8},
                    {.name = "pkg/b.py", .content = "stored"},
                    {.name = "pkg/c.py",
                     .content = text + "again",
                     .method = 8,
                     .descriptor = Descriptor::with_signature},
                    {.name = "pkg/d.py",
                     .content = "wide",
                     .version_needed = 45,
                     .local_extra = extra_block(1, little_endian(4, 8) + little_endian(4, 8)),
                     .local_packed_size = 0xFFFFFFFF,
                     .local_size = 0xFFFFFFFF}},
                   {.zip64_end = true});
}

struct Readings {
  bool opened = false;
  unsigned read = 0;
  unsigned refused = 0;
};

/// Opens and reads all; every content that is given must have the checksum and size of its entry.
Readings exercise(const std::string& bytes) {
  Readings readings;
  const ZipLimits limits{.max_total_size = 64U << 20};
  for (const bool lazy : {false, true}) {
    const auto reader = lazy ? ZipReader::open_directory(memory_source(bytes), "x.whl", limits)
                             : ZipReader::open(memory_source(bytes), "x.whl", limits);
    if (!reader) continue;
    readings.opened = true;
    for (const ZipEntry& entry : reader->entries()) {
      const auto text = reader->read_text(entry, 64U << 20);
      if (!text) {
        ++readings.refused;
        continue;
      }
      ++readings.read;
      REQUIRE(text->size() == entry.size);
      REQUIRE(libdeflate_crc32(0, text->data(), text->size()) == entry.crc32);
    }
  }
  return readings;
}

}  // namespace

TEST_CASE("flipped bits never crash the reader nor give content with a wrong checksum") {
  const std::string base = base_archive();
  REQUIRE(exercise(base).read == 10);
  std::mt19937 random(20261120);
  unsigned opened = 0;
  unsigned refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = base;
    const unsigned flips = 1 + random() % 3;
    for (unsigned i = 0; i < flips; ++i) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1U << (random() % 8));
    }
    const Readings readings = exercise(bytes);
    opened += readings.opened ? 1 : 0;
    refused += readings.refused;
  }
  // The test tests something: many damaged archives open, and their damaged entries are found.
  CHECK(opened > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("every truncation of an archive is refused") {
  const std::string base = base_archive();
  for (std::size_t length = 0; length < base.size(); ++length) {
    const std::string bytes = base.substr(0, length);
    REQUIRE_FALSE(ZipReader::open(memory_source(bytes), "x.whl").has_value());
    REQUIRE_FALSE(ZipReader::open_directory(memory_source(bytes), "x.whl").has_value());
  }
}

TEST_CASE("interesting numbers in every field never crash the reader") {
  const std::string base = base_archive();
  const std::uint64_t numbers[] = {0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF};
  unsigned refused = 0;
  for (std::size_t position = 0; position + 4 <= base.size(); ++position) {
    for (const std::uint64_t number : numbers) {
      for (const std::size_t width : {std::size_t{2}, std::size_t{4}}) {
        std::string bytes = base;
        bytes.replace(position, width, little_endian(number, width));
        refused += exercise(bytes).opened ? 0 : 1;
      }
    }
  }
  CHECK(refused > 1000);
}
