// Records of changes that were not flushed, as they are and with a hash that fits. What is accepted
// stays inside the environment, and the wheel.
#include "installer/durability/unflushed_change.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/fuzz/installer/sealed_text.h"

namespace {

void check(std::string_view text) {
  const auto change = axle::installer::parse_unflushed(text, "fuzz");
  if (!change) return;
  for (const auto& thing : change->leaving) axle::fuzz::require_inside(thing.path);
  for (const auto& package : change->packages) {
    axle::fuzz::require_inside(package.dist_info);
    const auto files = axle::installer::all_files(package);
    if (!files) std::abort();
    for (const auto& file : *files) {
      axle::fuzz::require_inside(file.path);
      if (("/" + file.stored + "/").find("/../") != std::string::npos) std::abort();
    }
  }
  const auto again =
      axle::installer::parse_unflushed(axle::installer::render_unflushed(*change), "again");
  if (!again || *again != *change) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  axle::fuzz::check_sealed(data, size, check);
  return 0;
}
