#pragma once
// Which installed package owns a file, according to the RECORDs.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "foundation/report/error.h"
#include "installer/environment/installed.h"
#include "installer/environment/roots.h"
#include "wheel/record.h"

namespace axle::installer {

/// RECORD of an installed distribution. Errors: not_found, malformed, io.
[[nodiscard]] Result<std::vector<wheel::RecordEntry>> read_record(
    const InstalledDistribution& distribution);

/// The same as it is written. Errors: not_found, malformed (too long), io.
[[nodiscard]] Result<std::string> read_record_text(const InstalledDistribution& distribution);

/// Its rows, one by one. Error: malformed, after rows that were good.
[[nodiscard]] Result<void> for_each_record_row(
    const InstalledDistribution& distribution, std::string_view record,
    const std::function<void(const wheel::RecordRow&)>& take);

/// The path that `distribution`'s RECORD lists as `listed`; nullopt if it is outside the
/// environment. Error: io.
[[nodiscard]] Result<std::optional<std::string>> record_target(
    const InstalledDistribution& distribution, std::string_view listed, PathResolver& resolver);

struct Owner {
  const InstalledDistribution* distribution;
  std::string sha256;                 ///< as in its RECORD; may be empty
  std::optional<std::uint64_t> size;  ///< the same

  [[nodiscard]] std::string title() const;  ///< "name version"
};

/// All owners of those `paths` (absolute, resolved) that one of `distributions` lists, in their
/// order; they must outlive the result. Of a malformed RECORD every line counts whose path can be
/// read; a missing one is skipped. Error: io.
[[nodiscard]] Result<std::unordered_map<std::string, std::vector<Owner>>> find_owners(
    const std::unordered_set<std::string>& paths,
    const std::vector<InstalledDistribution>& distributions, const Roots& roots);

}  // namespace axle::installer
