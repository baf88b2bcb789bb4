#pragma once
// What the attestations of a file were worth when it was chosen to be installed.

#include <string>
#include <vector>

#include "wheel/attestation/verification.h"

namespace axle::plan {

struct AttestationVerdict {
  std::vector<wheel::VerifiedAttestation>
      verified;         ///< all that the file has; empty: it has not passed
  std::string why_not;  ///< empty: it has passed
};

}  // namespace axle::plan
