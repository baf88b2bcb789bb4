#pragma once
// Checks an attestation without any network: what Sigstore's clients check of a bundle
// (https://docs.sigstore.dev/about/bundle/), and what PEP 740 says of the statement in it.

#include <cstdint>
#include <string>

#include "foundation/report/error.h"
#include "wheel/attestation/provenance.h"
#include "wheel/attestation/trusted_root.h"

namespace axle::wheel {

/// The file that an attestation should be about.
struct AttestedFile {
  std::string filename;
  std::string sha256;  ///< 64 hex digits, lower case; empty: not known yet
};

struct VerifiedAttestation {
  Publisher publisher;
  std::string predicate;  ///< its type: a URI
  std::string sha256;     ///< of the file that it is about
  std::string log;        ///< the base URL of the log that has it
  std::uint64_t log_index = 0;
  std::int64_t logged_at = 0;  ///< seconds since 1970
};

/// Whether `publisher` attests `file`: the signature on the statement, the statement, the
/// certificate's chain, purpose, timestamp and identity, the log's entry with its proof,
/// checkpoint, promise and content. Errors: mismatch, malformed, unsupported, with the reason.
[[nodiscard]] Result<VerifiedAttestation> verify_attestation(const Attestation& attestation,
                                                             const Publisher& publisher,
                                                             const AttestedFile& file,
                                                             const TrustedRoot& root);

}  // namespace axle::wheel
