#pragma once
// That a certificate was published when it was issued: the promise of a log of certificates that
// is embedded in it (RFC 6962 §3.3).

#include <string_view>

#include "foundation/report/error.h"
#include "wheel/attestation/certificate.h"
#include "wheel/attestation/trusted_root.h"

namespace axle::wheel {

/// `issuer_key`: as of Certificate::key_bytes. As with Sigstore's own clients there is exactly one
/// promise, and it is required. Error: mismatch.
[[nodiscard]] Result<void> check_certificate_timestamp(const Certificate& certificate,
                                                       std::string_view issuer_key,
                                                       const TrustedRoot& root);

}  // namespace axle::wheel
