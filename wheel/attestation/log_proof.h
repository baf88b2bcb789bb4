#pragma once
// That an entry is in a log: the proof up to the root of its Merkle tree (RFC 6962 §2.1.1), the
// log's signature on that root, and its promise with the time.

#include "foundation/report/error.h"
#include "wheel/attestation/provenance.h"
#include "wheel/attestation/trusted_root.h"

namespace axle::wheel {

/// The root hash that a tree of `proof.tree_size` entries has if `body` is its entry
/// `proof.index`. Error: mismatch for a proof of another length, or an index beyond the tree.
[[nodiscard]] Result<std::string> proved_root(std::string_view body, const InclusionProof& proof);

/// All three; returns the log. Error: mismatch.
[[nodiscard]] Result<const TrustedLog*> check_log_entry(const LogEntry& entry,
                                                        const TrustedRoot& root);

}  // namespace axle::wheel
