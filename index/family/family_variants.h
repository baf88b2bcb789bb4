#pragma once
// A family's facts as variant metadata, so that families and published variants go through one
// ranking.

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "index/family/family.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::index {

/// The namespace of the labels' order: the first in importance, static.
inline constexpr std::string_view order_ns = "priority";

/// The variants of one release of one member on one platform.
///
/// The namespaces, most important first: `priority` (static, one place a label: the file's order),
/// `nvidia`, `amd` and `intel` as their providers define them, and `axle` for what those cannot
/// say: code that torch does not run on integrated GPUs though the number suggests it, PTX, and
/// that there is a GPU at all.
struct FamilyVariants {
  wheel::VariantMetadata document;
  std::set<std::string, std::less<>> fallback;  ///< labels that count only where nothing else fits
  /// Labels whose needs are not fully known, with what is not known. Their properties are what the
  /// label itself says.
  std::map<std::string, std::string, std::less<>> unknown;
  /// label -> what it was built for, its source, date and confidence, for people.
  std::map<std::string, std::string, std::less<>> evidence;
};

/// `labels`: those that the release has files of. Labels that the family does not list are left out
/// of the document (nothing is known of them), but stand in `unknown`.
[[nodiscard]] FamilyVariants family_variants(const Family& family, std::string_view member,
                                             const wheel::Version& version,
                                             std::string_view platform,
                                             const std::set<std::string, std::less<>>& labels);

}  // namespace axle::index
