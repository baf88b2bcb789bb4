#pragma once
// PEP 440 version specifiers: ">=1.2,<2", "==1.*", "~=2.1", "===exact".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/version.h"

namespace axle::wheel {

enum class Comparison : std::uint8_t {
  equal,          ///< ==
  not_equal,      ///< !=
  less,           ///< <
  less_equal,     ///< <=
  greater,        ///< >
  greater_equal,  ///< >=
  compatible,     ///< ~=
  arbitrary       ///< ===
};

struct Specifier {
  Comparison comparison = Comparison::equal;
  Version version;        ///< not used for `arbitrary`
  bool wildcard = false;  ///< "==1.*", "!=1.*"
  std::string text;       ///< the version as written: what `===` compares

  /// Whether `candidate` lies inside, pre-releases included (their admission is the set's
  /// question).
  [[nodiscard]] bool contains(const Version& candidate) const;
  /// The specifier names a pre-release, which PEP 440 takes as leave to pick one: never "!=".
  [[nodiscard]] bool admits_prereleases() const;
};

class SpecifierSet {
 public:
  std::vector<Specifier> specifiers;

  /// All hold. Pre-releases count like any other version here.
  [[nodiscard]] bool contains(const Version& candidate) const;
  /// Some specifier does.
  [[nodiscard]] bool admits_prereleases() const;
  [[nodiscard]] bool empty() const { return specifiers.empty(); }
};

/// One clause, white space around and after the operator allowed. Error: malformed.
[[nodiscard]] Result<Specifier> parse_specifier(std::string_view clause);
/// "" is the empty set; empty clauses (">=1,,<2") are skipped, as `packaging` does. Error:
/// malformed, naming the clause.
[[nodiscard]] Result<SpecifierSet> parse_specifiers(std::string_view text);
/// Clauses in the given order, their versions as written, joined by ",", no spaces.
[[nodiscard]] std::string render_specifiers(const SpecifierSet& set);

}  // namespace axle::wheel
