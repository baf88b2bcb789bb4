// A signature of anybody's: it is not on a text that was made up here.
#include "wheel/bundle/ssh_signature.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"

namespace wheel = axle::wheel;
using axle::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto signature = wheel::parse_ssh_signature(text, "fuzz");
  if (!signature) return 0;
  require(!signature->name_space.empty());
  require(wheel::ssh_key_fingerprint(signature->key).starts_with("SHA256:"));
  require(!wheel::check_ssh_signature(*signature, "a text that nobody has signed", "fuzz"));
  return 0;
}
