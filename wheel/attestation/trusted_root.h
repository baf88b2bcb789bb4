#pragma once
// Whom a user trusts to vouch for attestations: certificate authorities and logs, with their times.
// Format: `trusted_root.json` of Sigstore, the JSON of dev.sigstore.trustroot.v1.TrustedRoot
// (https://github.com/sigstore/protobuf-specs).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/attestation/certificate.h"
#include "wheel/attestation/public_key.h"

namespace axle::wheel {

/// Seconds since 1970, both included; nullopt: without limit.
struct TrustedTime {
  std::optional<std::int64_t> start = std::nullopt;
  std::optional<std::int64_t> end = std::nullopt;

  [[nodiscard]] bool contains(std::int64_t time) const {
    return (!start || *start <= time) && (!end || time <= *end);
  }
};

struct TrustedAuthority {
  std::vector<Certificate> chain;  ///< the root is last
  TrustedTime valid;
};

struct TrustedLog {
  std::string name;  ///< its base URL, for messages
  std::string id;    ///< 32 bytes
  PublicKey key;
  TrustedTime valid;
};

struct TrustedRoot {
  std::vector<TrustedAuthority> authorities;
  std::vector<TrustedLog> logs;              ///< of signatures
  std::vector<TrustedLog> certificate_logs;  ///< RFC 6962

  /// nullptr: none of them has this id.
  [[nodiscard]] static const TrustedLog* find(const std::vector<TrustedLog>& logs,
                                              std::string_view id);
};

inline constexpr std::size_t max_trusted_root_bytes = 4UL << 20;

/// `where`: the file, for errors. Logs whose kind of key is unknown are left out. Errors:
/// malformed; unsupported for another version of the format.
[[nodiscard]] Result<TrustedRoot> parse_trusted_root(std::string_view text,
                                                     const std::string& where);

}  // namespace axle::wheel
