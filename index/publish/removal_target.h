#pragma once
// What `variant index remove` and `yank` are told.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/publish/index_pages.h"
#include "wheel/version.h"

namespace axle::index {

/// What to remove from an index.
struct RemovalTarget {
  std::string project;                    ///< normalised
  std::optional<wheel::Version> version;  ///< absent: all versions
  std::string file;                       ///< a wheel's file name; empty: any
  std::string text;                       ///< as written, for messages
};

/// "NAME", "NAME==VERSION" (exactly this one, including the local label) or the name or path of a
/// wheel file. Error: malformed.
[[nodiscard]] Result<RemovalTarget> parse_removal_target(std::string_view text);

/// Whether it names that wheel of its project; `labels`: empty, or one of them.
[[nodiscard]] bool names_wheel(const RemovalTarget& target, const ListedFile& wheel,
                               const std::vector<std::string>& labels);

/// The error not_found: `listed` is what the project has, `projects` what the index has instead of
/// it.
[[nodiscard]] Error nothing_there(const RemovalTarget& target,
                                  const std::vector<std::string>& labels,
                                  const std::vector<std::string>& listed,
                                  const std::vector<std::string>& projects);

}  // namespace axle::index
