#pragma once
// Core metadata: the METADATA file (PEP 566, 643, 685 …), as far as an installer and an index need
// it.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/requirement.h"
#include "wheel/specifier.h"
#include "wheel/version.h"

namespace axle::wheel {

struct CoreMetadata {
  std::string metadata_version;
  std::string name;
  Version version;
  SpecifierSet requires_python;
  std::vector<Requirement> requires_dist;
  std::vector<std::string> provides_extra;  ///< normalised
  std::string summary;
  /// Every header field in file order, continued lines joined by "\n" without their indent: what
  /// `show` prints and lossless for the rest.
  std::vector<std::pair<std::string, std::string>> fields;
  std::string description;  ///< the body after the headers
  /// What is wrong but stops nothing (an unreadable Requires-Python, say), for the caller's Report.
  std::vector<std::string> remarks;
};

/// `where` names the file in errors. Text that is not UTF-8 is fixed with U+FFFD. Errors:
/// malformed (no Name or Version, one of them given twice with two meanings, a requirement that
/// does not parse), unsupported (Metadata-Version with an unknown major).
[[nodiscard]] Result<CoreMetadata> parse_core_metadata(std::string_view text,
                                                       std::string_view where);

/// The text of `metadata` with nothing but the fields that `parse_core_metadata` interprets, of
/// which it makes the same but for `fields` and `description`. nullopt: there are remarks.
[[nodiscard]] std::optional<std::string> essential_metadata(const CoreMetadata& metadata);

/// `essential`, of essential_metadata, without what it requires and the extras of that.
[[nodiscard]] std::string without_requirements(std::string_view essential);

}  // namespace axle::wheel
