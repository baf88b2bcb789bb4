// A library of a wheel whose GPU code is cut, and its sections alone.
#include "binaries/cut/library_cut.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "binaries/cut/bundle_cut.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle::binaries;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const FatbinChoice choice : {FatbinChoice{90, false, false}, {80, true, true}}) {
    if (const auto cut = cut_fatbins(bytes, choice)) {
      axle::fuzz::require(cut->content.size() <= size);
      // What is cut already has nothing to remove.
      const auto again = cut_fatbins(cut->content, choice);
      axle::fuzz::require(again.has_value());
      axle::fuzz::require(again->content == cut->content);
    }
    if (const auto cut = cut_cuda_library(bytes, choice, "fuzz.so"))
      axle::fuzz::require(cut->bytes.size() <= size);
  }
  if (const auto cut = cut_bundles(bytes, "gfx942"))
    axle::fuzz::require(cut->content.size() <= size);
  if (const auto cut = cut_hip_library(bytes, "gfx942", "fuzz.so"))
    axle::fuzz::require(cut->bytes.size() <= size);
  (void)library_processors(bytes, "fuzz.so");
  return 0;
}
