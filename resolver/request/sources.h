#pragma once
// Where packages come from.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "index/family/family_book.h"
#include "index/http/transport.h"
#include "index/pages/index_strategy.h"
#include "index/pages/source.h"
#include "wheel/marker.h"

namespace axle::resolver {

/// Where a package comes from and nowhere else: a row of a project's [tool.uv.sources].
struct AssignedSource {
  std::string origin;              ///< for messages: "/src/pyproject.toml"
  index::Source* index = nullptr;  ///< the only index that is asked for it
  std::string url;                 ///< instead of an index: the wheel or its sources
  std::optional<Error> refusal;    ///< instead: why the package cannot be had
  std::optional<wheel::Marker> marker;
};

/// All that is read for a resolution. An index whose page cannot be read ends the search; only one
/// that does not have the project (404) makes way for the next.
struct Sources {
  std::vector<index::Source*> indexes;     ///< in the order in which they are asked
  std::vector<index::Source*> find_links;  ///< their candidates join those of the index
  index::Transport* transport = nullptr;   ///< for metadata and variants files; never null
  index::FamilyBook* families = nullptr;   ///< nullptr: index families are silent
  index::IndexStrategy strategy = index::IndexStrategy::first_index;
  /// By normalised name; the first whose marker applies counts, direct or transitive.
  std::map<std::string, std::vector<AssignedSource>, std::less<>> assigned = {};
  /// METADATA that was read out of whole wheels, by URL: counts before what an index gives.
  std::map<std::string, std::string, std::less<>> true_metadata = {};
  /// Nothing is requested: a version of which something is not in the cache is left out (uv's
  /// rule).
  bool offline = false;
};

}  // namespace axle::resolver
