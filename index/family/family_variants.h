#pragma once
// Converts a family's facts to variant metadata, so that families and published variants are ranked
// in the same way.

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "index/family/family.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::index {

/// The namespace for the order of labels: most important, static.
inline constexpr std::string_view order_ns = "priority";

/// The variants of one release of one member on one platform.
///
/// The namespaces, most important first: `priority` (static, one value per label: the file's
/// order), `nvidia`, `amd` and `intel` as their providers define them, and `axle` for what those
/// cannot express: code that torch does not run on integrated GPUs although the number suggests it,
/// PTX, and that there is a GPU at all.
struct FamilyVariants {
  wheel::VariantMetadata document;
  std::set<std::string, std::less<>> fallback;  ///< labels that are only used if nothing else fits
  /// Labels whose requirements are not fully known, with what is unknown. Their properties are
  /// those of the label itself.
  std::map<std::string, std::string, std::less<>> unknown;
  /// label -> what it was built for, its source, date and confidence, for display.
  std::map<std::string, std::string, std::less<>> evidence;
};

/// `labels`: those of the release's files. Labels that the family does not list are omitted from
/// the document (nothing is known about them), but included in `unknown`.
[[nodiscard]] FamilyVariants family_variants(const Family& family, std::string_view member,
                                             const wheel::Version& version,
                                             std::string_view platform,
                                             const std::set<std::string, std::less<>>& labels);

}  // namespace axle::index
