#pragma once
// Who published a file: a Trusted Publisher of the index (PEP 740), and the one that a user
// expects.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "wheel/attestation/certificate.h"

namespace axle::wheel {

/// What identifies a publisher of one kind.
struct PublisherKey {
  std::string_view name;  ///< "repository"
  bool required = true;   ///< of a publisher; a user may leave out all of them
};

struct PublisherKind {
  std::string_view name;  ///< "GitHub"
  std::span<const PublisherKey> keys;
};

[[nodiscard]] std::span<const PublisherKind> publisher_kinds();
/// nullptr: this version does not know it.
[[nodiscard]] const PublisherKind* find_publisher_kind(std::string_view name);

struct Publisher {
  std::string kind;
  std::map<std::string, std::string, std::less<>> claims = {};  ///< by the names of its keys

  friend bool operator==(const Publisher&, const Publisher&) = default;
};

/// "GitHub, repository o/r, workflow release.yml"
[[nodiscard]] std::string render_publisher(const Publisher& publisher);

/// Whether `publisher` is the one that a user expects: of the same kind, with all claims that are
/// stated. Upper and lower case of a repository are the same, as they are to GitHub and GitLab.
[[nodiscard]] bool is_expected(const Publisher& publisher, const Publisher& expected);

/// Whether the certificate was given to a run of this publisher: the claims of both, as far as a
/// certificate has them (it has no environment). Error: mismatch; unsupported for an unknown kind.
[[nodiscard]] Result<void> check_identity(const Publisher& publisher,
                                          const Certificate& certificate);

}  // namespace axle::wheel
