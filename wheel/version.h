#pragma once
// PEP 440 versions (packaging.python.org "Version specifiers"): parse, normalise, compare.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/release_numbers.h"

namespace axle::wheel {

enum class PreRelease : std::uint8_t { alpha, beta, candidate };

/// One part of a local version label; numbers compare above letters.
using LocalPart = std::variant<std::uint64_t, std::string>;

class Version {
 public:
  std::uint64_t epoch = 0;
  ReleaseNumbers release;  ///< as written, trailing zeros kept; never empty
  std::optional<std::pair<PreRelease, std::uint64_t>> pre;
  std::optional<std::uint64_t> post;
  std::optional<std::uint64_t> dev;
  std::vector<LocalPart> local;  ///< lower case; empty when there is none

  [[nodiscard]] bool is_prerelease() const { return pre.has_value() || dev.has_value(); }
  /// Without local label: what "public version" means in PEP 440.
  [[nodiscard]] Version public_version() const;

  /// PEP 440 order; 1.0 == 1.0.0.
  friend std::strong_ordering operator<=>(const Version& left, const Version& right);
  friend bool operator==(const Version& left, const Version& right) {
    return (left <=> right) == std::strong_ordering::equal;
  }
};

/// The order without local labels: what "<=" and "==" of a specifier without one see.
[[nodiscard]] std::strong_ordering compare_public(const Version& left, const Version& right);
/// The order of release segments alone, the shorter one padded with zeros.
[[nodiscard]] std::strong_ordering compare_release(const Version& left, const Version& right);

/// Accepts every spelling PEP 440 allows (v1.0-ALPHA.1, whitespace around). Error: malformed.
[[nodiscard]] Result<Version> parse_version(std::string_view text);
/// Normalised spelling, trailing zeros kept: "1!2.0a1.post2.dev3+ubuntu.1".
[[nodiscard]] std::string render_version(const Version& version);

}  // namespace axle::wheel
