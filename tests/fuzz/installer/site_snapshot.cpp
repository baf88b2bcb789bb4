// Snapshots of a folder of packages, as they are and with a seal that fits. What is accepted is
// written as it was read.
#include "installer/environment/site_snapshot.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/installer/sealed_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto check = [](std::string_view text) {
    const auto snapshot = axle::installer::parse_site_snapshot(text, "/site", "fuzz");
    if (!snapshot) return;
    const auto again = axle::installer::parse_site_snapshot(
        axle::installer::render_site_snapshot(*snapshot, "/site"), "/site", "fuzz");
    if (!again || *again != *snapshot) std::abort();
  };
  axle::fuzz::check_sealed(data, size, check, axle::installer::Seal::crc32);
  return 0;
}
