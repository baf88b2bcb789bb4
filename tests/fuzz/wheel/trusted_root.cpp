// A trusted root: one that parses has somebody to trust.
#include "wheel/attestation/trusted_root.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"

namespace wheel = axle::wheel;
using axle::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto root = wheel::parse_trusted_root(text, "fuzz");
  if (!root) return 0;
  require(!root->authorities.empty() && !root->logs.empty() && !root->certificate_logs.empty());
  for (const wheel::TrustedAuthority& authority : root->authorities) {
    require(!authority.chain.empty());
    (void)authority.chain.front().issuer_among(authority.chain, 0);
  }
  for (const wheel::TrustedLog& log : root->logs) {
    require(wheel::TrustedRoot::find(root->logs, log.id) != nullptr);
    (void)log.key.has_signed("", "");
  }
  return 0;
}
