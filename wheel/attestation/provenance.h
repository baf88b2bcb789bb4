#pragma once
// The provenance file of a distribution, as indexes publish it (PEP 740): who attests what to it,
// with all that is needed to check that. Nothing in it is verified here.
// A log's entry is the JSON of dev.sigstore.rekor.v1.TransparencyLogEntry
// (https://github.com/sigstore/protobuf-specs).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/attestation/publisher.h"

namespace axle::wheel {

/// The proof that an entry is in a log of some size (RFC 6962 §2.1.1).
struct InclusionProof {
  std::uint64_t index = 0;
  std::uint64_t tree_size = 0;
  std::string root_hash;
  std::vector<std::string> hashes;
  std::string checkpoint;  ///< size and root hash, signed by the log
};

/// All hashes, ids and signatures are bytes.
struct LogEntry {
  std::string body;  ///< canonical JSON
  std::string kind;
  std::string version;
  std::string log_id;
  std::uint64_t index = 0;
  std::int64_t integrated_time = 0;    ///< seconds since 1970
  std::string signed_entry_timestamp;  ///< the log's promise; with it the time is the log's
  InclusionProof proof;
};

struct Attestation {
  std::string certificate;  ///< DER
  LogEntry entry;
  std::string statement;  ///< in-toto, JSON
  std::string signature;
};

struct AttestationBundle {
  Publisher publisher;
  std::vector<Attestation> attestations;
};

struct Provenance {
  std::vector<AttestationBundle> bundles;
};

/// A longer provenance is refused; real ones have 10 to 30 kB.
inline constexpr std::size_t max_provenance_bytes = 4UL << 20;

/// `where`: the file or URL, for errors. Keys that are not known are ignored, as PEP 740 says of
/// new ones; so are attestations of publishers of an unknown kind, whose form nobody knows here.
/// Errors: malformed, with the place; unsupported for another version.
[[nodiscard]] Result<Provenance> parse_provenance(std::string_view text, const std::string& where);

}  // namespace axle::wheel
