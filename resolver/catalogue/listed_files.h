#pragma once
// What the hashes of requirements files mean for the resolver (pip's --require-hashes mode).

#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "index/pages/page.h"
#include "resolver/catalogue/release.h"
#include "resolver/request/options.h"
#include "resolver/request/requests.h"
#include "resolver/request/want.h"
#include "wheel/hash/listed_hash.h"

namespace axle::resolver {

/// Whether listed hashes count, and whether everything must have one.
struct HashRules {
  bool count = true;
  bool required = false;
  bool pinned = false;  ///< everything must be pinned with == as well
};

/// --require-hashes, or any hash in any file of the user's.
[[nodiscard]] HashRules hash_rules(const Requests& requests, const Options& options);

/// Of the hashes that `wants` list, those that all who list any agree on; MD5 left out. Error:
/// conflict (they agree on none, or none but MD5 is listed).
[[nodiscard]] Result<std::vector<wheel::ListedHash>> listed_hashes(
    std::string_view name, const std::vector<const Want*>& wants);

/// Requirements of the user's, those with markers that do not hold here left out, against the
/// rules. Error: conflict, with all that lack a pin or a hash.
[[nodiscard]] Result<void> check_listed(const std::vector<const Request*>& requirements,
                                        const std::vector<const Request*>& constraints,
                                        const HashRules& rules);

/// Packages of the solution for which nobody lists a hash. `lines`: what to add, one a package.
[[nodiscard]] Error hashes_missing(const std::vector<std::string>& packages,
                                   const std::vector<std::string>& lines);

/// Files that would fit here are not among those listed.
[[nodiscard]] Error no_listed_file(std::string_view name, const Release& release,
                                   const std::vector<const CandidateWheel*>& unlisted,
                                   const std::vector<wheel::ListedHash>& listed);

}  // namespace axle::resolver
