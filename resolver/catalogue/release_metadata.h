#pragma once
// The variant metadata of one release: the index's file, else what the wheels themselves say.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/family/family_variants.h"
#include "index/http/transport.h"
#include "resolver/catalogue/release.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::resolver {

struct ReleaseMetadata {
  /// nullopt: there is none, or it is broken and the variant wheels are to be ignored.
  std::optional<wheel::VariantMetadata> document;
  std::string source;                      ///< URL, or "the wheels' own metadata"
  std::string broken;                      ///< why it was ignored; empty when it is sound
  std::vector<plan::SkippedFile> skipped;  ///< wheels whose own metadata cannot be used
  /// Of a family's builds, else empty (index/family/family_variants.h).
  std::set<std::string, std::less<>> fallback;
  std::map<std::string, std::string, std::less<>> unknown;
  std::map<std::string, std::string, std::less<>> evidence;
};

/// `variant_wheels` are those whose tags fit, best first. Broken metadata is reported and ignored
/// and the plain wheels still count. Errors: mismatch, when the variants file is not the one that
/// the index lists; io; for a direct release whatever is wrong with its wheels.
/// For a family's builds it is made of the family's facts about `platform` (FamilyBuild).
[[nodiscard]] Result<ReleaseMetadata> read_release_metadata(
    std::string_view name, std::string_view platform, const Release& release,
    const std::vector<const CandidateWheel*>& variant_wheels, index::Transport& transport,
    Report& report);

/// A hint: `read_release_metadata` will probably be called for `release`.
void expect_release_metadata(const Release& release, index::Transport& transport);

}  // namespace axle::resolver
