// Allowed signers: who is found has the key, and may sign for the namespace.
#include "wheel/bundle/allowed_signers.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"

namespace wheel = axle::wheel;
using axle::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto signers = wheel::parse_allowed_signers(text, "fuzz");
  if (!signers) return 0;
  require(!wheel::find_allowed_signer(*signers, "nobody's key", "axle-bundle", 0));
  for (const wheel::AllowedSigner& signer : *signers) {
    require(!signer.principals.empty() && !signer.key.empty());
    const auto found =
        wheel::find_allowed_signer(*signers, signer.key, "axle-bundle", 1'800'000'000);
    require(!found || ((*found)->key == signer.key && !(*found)->authority));
  }
  return 0;
}
