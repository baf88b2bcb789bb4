#pragma once
// What is built from source, and the seam to whoever builds it. A build runs code of the package:
// nothing is built without the user's consent, nor before the hash of a file was checked. Consent
// is --build for source distributions of an index; whoever names sources by path or URL consents to
// building these. session/ fills it.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/pages/page.h"
#include "plan/resolution.h"
#include "wheel/hash/listed_hash.h"
#include "wheel/version.h"

namespace axle::resolver {

/// A source distribution that is to be built.
struct Sdist {
  std::string name;  ///< of the package, normalised
  wheel::Version version;
  index::PublishedFile file;
  std::string source;                     ///< index or folder it came from
  std::vector<wheel::ListedHash> listed;  ///< it must have one of them; empty: the index's will do
};

/// Sources that somebody names by their place (source_url.h).
struct NamedSource {
  std::string name;  ///< of the package, normalised; empty: what the build says
  std::string url;   ///< with its fragment; no wheel
  std::vector<wheel::ListedHash> listed = {};  ///< an archive must have one; empty: any will do
  bool editable = false;                       ///< a folder, whose modules are used where they are
};

struct BuiltWheel {
  index::PublishedFile file;  ///< on this machine, with the sha256 of its bytes
  plan::BuiltFrom from;
};

class SourceBuilder {
 public:
  virtual ~SourceBuilder() = default;
  /// The wheel of this very package and version that `sdist` makes. Errors: unsupported (its build
  /// failed or took too long), malformed (what it made is not that wheel): another version may do;
  /// mismatch (a hash), io, not_found.
  [[nodiscard]] virtual Result<BuiltWheel> build(const Sdist& sdist) = 0;
  /// The wheel that `source` makes, built once in a run. Errors: as above; mismatch for a wheel of
  /// another package.
  [[nodiscard]] virtual Result<BuiltWheel> build(const NamedSource& source) = 0;
};

struct BuildConsent {
  bool all = false;                          ///< --build
  std::set<std::string, std::less<>> names;  ///< --build=PKG, normalised
  /// Name or ":all:" -> who says that it is not built (uv's no-build).
  std::map<std::string, std::string, std::less<>> refused;
  std::set<std::string, std::less<>> editable;  ///< URLs of folders: -e
  /// The builder gives what a build would say of itself, for a lock, and refuses by itself to run
  /// code for that where `refused` or --only-binary forbid it.
  bool metadata_alone = false;
  SourceBuilder* builder = nullptr;  ///< nullptr: nothing can be built, as for another machine

  [[nodiscard]] bool covers(std::string_view name) const { return all || names.contains(name); }
  /// Who says that `name` is not built; nullptr: nobody.
  [[nodiscard]] const std::string* refuses(std::string_view name) const;
};

}  // namespace axle::resolver
