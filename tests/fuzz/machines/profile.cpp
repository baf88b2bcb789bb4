// Machine profiles. What is accepted must be written and read back as the same machine.
#include "machines/profile.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto profile = axle::machines::parse_profile(text, "fuzz");
  if (!profile) return 0;
  const auto again =
      axle::machines::parse_profile(axle::machines::render_profile(*profile), "again");
  if (!again || !(again->machine == profile->machine)) std::abort();
  if (again->recording != profile->recording) std::abort();
  return 0;
}
