#pragma once
// Removes things from the cache, for a command that holds its lock (cache_lock.h). A folder leaves
// its place with one rename, so that what is visible is complete also if the command is killed; the
// next one removes the rest.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "session/cache/cache_contents.h"

namespace axle::session {

struct CacheRemoval {
  std::map<CacheKind, std::size_t> removed = {};
  std::uint64_t freed = 0;          ///< bytes
  std::optional<Error> error = {};  ///< the first thing that could not be removed
};

enum class Dry : std::uint8_t { no, run };

/// With Dry::run nothing is removed; what would be is counted.
[[nodiscard]] CacheRemoval remove_things(const std::string& folder,
                                         const std::vector<CachedThing>& things, Dry dry);

/// Removes the folders of the cache that are empty now.
void remove_empty_folders(const std::string& folder);

/// Whether `variant cache prune` removes it: unfinished or unusable, or not used for so long that
/// it is not expected to be. `now` in seconds since 1970.
[[nodiscard]] bool is_unused(const CachedThing& thing, std::int64_t now);

/// A wheel that differs from what was unpacked, or byte code from what was compiled.
struct DamagedThing {
  CachedThing thing;
  std::string what;                ///< "demo-1.0-py3-none-any.whl"
  std::vector<std::string> facts;  ///< "demo.py has another content"
};
struct CacheCheck {
  std::size_t wheels = 0;     ///< compared
  std::size_t byte_code = 0;  ///< of so many wheels, compared
  std::vector<DamagedThing> damaged = {};
};
/// Compares unpacked and built wheels, and byte code, with the hashes recorded for them.
[[nodiscard]] CacheCheck check_things(const std::vector<CachedThing>& things);

}  // namespace axle::session
