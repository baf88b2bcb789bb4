// Histories of environments, as they are and with a hash that fits: what is read is rendered to
// text that reads back the same.
#include "installer/history/history.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/installer/sealed_text.h"

namespace {

void check(std::string_view text) {
  const auto history = axle::installer::parse_history(text, "fuzz");
  if (!history) return;
  for (const auto& package : history->installed) (void)axle::installer::package_again(package);
  const auto again =
      axle::installer::parse_history(axle::installer::render_history(*history), "again");
  if (!again || *again != *history) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  axle::fuzz::check_sealed(data, size, check);
  return 0;
}
