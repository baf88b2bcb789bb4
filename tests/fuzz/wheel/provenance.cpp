// A provenance of anybody's: whatever parses is looked at as if it were to be verified, against a
// trusted root without anybody in it, which accepts nothing.
#include "wheel/attestation/provenance.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"
#include "wheel/attestation/certificate.h"
#include "wheel/attestation/log_proof.h"
#include "wheel/attestation/publisher.h"
#include "wheel/attestation/verification.h"

namespace wheel = axle::wheel;
using axle::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto provenance = wheel::parse_provenance(text, "fuzz");
  if (!provenance) return 0;
  const wheel::TrustedRoot nobody{};
  for (const wheel::AttestationBundle& bundle : provenance->bundles) {
    require(wheel::is_expected(bundle.publisher, bundle.publisher));
    for (const wheel::Attestation& attestation : bundle.attestations) {
      (void)wheel::proved_root(attestation.entry.body, attestation.entry.proof);
      if (const auto certificate = wheel::Certificate::parse(attestation.certificate)) {
        (void)wheel::check_identity(bundle.publisher, *certificate);
        (void)certificate->signed_part_without("1.3.6.1.4.1.11129.2.4.2");
        (void)certificate->may_sign();
        (void)certificate->issuer_among({}, attestation.entry.integrated_time);
      }
      require(!wheel::verify_attestation(attestation, bundle.publisher, {}, nobody));
    }
  }
  return 0;
}
