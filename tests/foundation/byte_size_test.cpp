#include "foundation/text/byte_size.h"

#include <cstdint>

#include <doctest/doctest.h>

using axle::text::render_bytes;
using axle::text::render_memory;

namespace {

struct Row {
  std::uint64_t bytes;
  const char* text;
};

constexpr std::uint64_t mebibyte = 1ULL << 20;
constexpr std::uint64_t gibibyte = 1ULL << 30;

}  // namespace

TEST_CASE("sizes of files have three digits") {
  for (const Row& row : {Row{0, "0 B"},
                         {999, "999 B"},
                         {1000, "1.00 kB"},
                         {9'994, "9.99 kB"},
                         {9'996, "10.0 kB"},
                         {44'310, "44.3 kB"},
                         {99'960, "100 kB"},
                         {999'499, "999 kB"},
                         {999'500, "1.00 MB"},
                         {34'000'000, "34.0 MB"},
                         {1'700'000'000, "1.70 GB"},
                         {5'000'000'000'000'000, "5000 TB"}}) {
    CHECK(render_bytes(row.bytes) == row.text);
  }
}

TEST_CASE("sizes of memory are whole") {
  for (const Row& row : {Row{0, "0 MiB"},
                         {300 * mebibyte, "300 MiB"},
                         {64 * mebibyte + 1, "64 MiB"},
                         {gibibyte, "1 GiB"},
                         {1500 * mebibyte, "1500 MiB"},
                         {2 * gibibyte, "2 GiB"},
                         {4 * gibibyte, "4 GiB"},
                         {81559 * mebibyte, "80 GiB"}}) {
    CHECK(render_memory(row.bytes) == row.text);
  }
}
