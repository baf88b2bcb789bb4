#pragma once
// What lies in the cache folder:
//
//   store/wheels/<sha256>/          a wheel, unpacked (installer/store/store.h)
//   store/byte-code/<sha256>-…/     its byte code for an interpreter (installer/store/byte_code.h)
//   store/partial-<sha256>/         a wheel that did not come to its end (partial_wheel.h)
//   store/linked/<sha256>           an environment with symbolic links into it
//   http-2/<digit>/<digits>[.form]  an answer of a server, and what was read from it
//   builds/<digits>/                a wheel that was built from source
//   plugins/<digits>/               an environment of a plugin
//   variant-builds/<digits>/        where variants of a project were built, and their wheels
//   models/<digits>/                a model, unpacked (models/model_place.h)
//   plugin-failures/, interpreters/, detect/   answers of programs, a file each
//   tuning-1/layers.json            how the runtime's layers are run fastest (runtime/tune)
//   installed/<sha256>              what an environment's packages say (site_snapshot.h)
//   mirrors/work-<digits>/          files on their way to a mirror in a storage
//   store/work-…, builds/work-…, models/work-…, http-2/drafts/…, removed-…   unfinished
//
// Everything else is a stranger's: it is never touched.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "foundation/report/error.h"

namespace axle::session {

enum class CacheKind : std::uint8_t {
  wheels,
  byte_code,
  partial_wheels,
  built_wheels,
  pages,
  metadata,
  first_downloads,  ///< hashes of files for which an index has none
  plugin_environments,
  plugin_failures,
  models,       ///< unpacked from archives
  build_trees,  ///< in which variants of a project were built
  interpreters,
  environments,  ///< what their packages say of themselves, and that they are as their lock has it
  drivers,
  tuning,     ///< measurements of the runtime's layers
  leftovers,  ///< unfinished, unusable, or in the format of an older version
};

struct CacheKindName {
  std::string_view key;   ///< in JSON
  std::string_view name;  ///< for people, in the plural
};
[[nodiscard]] CacheKindName name_of(CacheKind kind);
[[nodiscard]] std::span<const CacheKind> cache_kinds();

struct CachedThing {
  CacheKind kind = CacheKind::leftovers;
  /// Files or folders, without links; in the order in which they are to be removed.
  std::vector<std::string> paths = {};
  std::set<std::string> packages = {};  ///< normalised names, as far as they are known
  std::int64_t used = 0;                ///< seconds since 1970
  std::uint64_t bytes = 0;
  std::uint64_t shared = 0;  ///< of these in files that environments have a link to
  std::vector<std::string> linked_from = {};  ///< environments with symbolic links into it
};

struct CacheContents {
  std::vector<CachedThing> things = {};
  /// Made by a later version of Axle, or a link to another place; with the reason.
  std::vector<std::string> left_alone = {};
};

/// Of an existing folder. Errors: io; unsupported: there is something in it that Axle does not put
/// there, so it is another folder.
[[nodiscard]] Result<CacheContents> look_through(const std::string& folder);

/// Counts what removing files sets free: a file with several names only with its last one.
class FreedBytes {
 public:
  /// `path` and everything below it, without following links, as if it were removed now.
  void add(const std::string& path);
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  std::map<std::pair<dev_t, ino_t>, std::uint64_t> seen_;
  std::uint64_t bytes_ = 0;
};

}  // namespace axle::session
