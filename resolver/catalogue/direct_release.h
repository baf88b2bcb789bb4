#pragma once
// The one release of a package that is named by path or URL: of wheels, or of sources, which are
// built.

#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/pages/page.h"
#include "resolver/catalogue/release.h"
#include "resolver/request/options.h"
#include "resolver/request/want.h"
#include "wheel/hash/listed_hash.h"
#include "wheel/tag.h"

namespace axle::resolver {

/// What is known of a package that is named by URL.
struct NamedPlaces {
  std::vector<std::string> urls;  ///< each once
  /// Those of them whose sources the user consents to building; for others --build must.
  std::vector<std::string> consented;
  std::vector<wheel::ListedHash> listed;  ///< an archive must have one of them; empty: any will do
  bool hash_required = false;             ///< nothing is built without one
};

/// The places that `wants` name, and `more`, which nobody consented to. `assigned`: where the
/// project of the user says that the package comes from; may be empty. Errors: as of listed_hashes.
[[nodiscard]] Result<NamedPlaces> named_places(std::string_view name,
                                               const std::vector<const Want*>& wants,
                                               const std::string& assigned,
                                               const std::vector<std::string>& more = {});

/// The release that the wheels at `places` make up: labels of one version are one release, from
/// which the best is chosen. Sources are the only place: what they make is the release. Errors:
/// malformed (neither), mismatch (of another package), conflict (two versions; it may not be
/// built), those of SourceBuilder.
[[nodiscard]] Result<Release> direct_release(std::string_view name, const NamedPlaces& places,
                                             const Options& options,
                                             const wheel::SupportedTags& tags);

}  // namespace axle::resolver
