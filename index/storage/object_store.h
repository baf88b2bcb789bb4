#pragma once
// Where a static index is kept that is no folder of this machine: a storage of S3's kind, or a
// WebDAV server. May be used by several threads at once.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "index/http/transport.h"
#include "index/publish/index_place.h"

namespace axle::index {

struct StoredText {
  std::string text;
  std::string etag;  ///< another content has another one; empty: the storage gives none
};

/// What is known of an index when a change of it begins.
struct ReadIndex {
  /// What the pages and variants files were: their ETags, empty for those that were not there.
  std::map<std::string, std::string> etags;
  /// The sha256 of the wheels that pages list beside themselves. By path, like the others.
  std::map<std::string, std::string> wheels;
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  /// As `--out` names it, without a login and a slash at its end.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// Of the object `path`, for messages and `reader`.
  [[nodiscard]] virtual std::string url(std::string_view path) const = 0;
  /// Reads what is below `url("")` with our login or signature, and other URLs without. A page
  /// whose address ends with "/" is read as its index.json.
  [[nodiscard]] virtual Transport& reader() = 0;

  /// Files got their names when they were whole: one of the size that a page lists is that file.
  [[nodiscard]] virtual bool has_whole_files() const = 0;

  /// As IndexPlace::may_lack_html.
  [[nodiscard]] virtual bool may_lack_html() const = 0;

  // Errors: io, with what the server says.

  /// Nullopt: there is none. `sha256` empty: the server does not know it.
  [[nodiscard]] virtual Result<std::optional<StoredObject>> head(std::string_view path) = 0;
  [[nodiscard]] virtual Result<std::optional<StoredText>> get(std::string_view path,
                                                              std::uint64_t max_bytes) = 0;
  /// `read` must outlive the draft, and may still grow. `has_index`: there is one. Error: io, also
  /// if there are other files where it should be.
  [[nodiscard]] virtual Result<std::unique_ptr<IndexDraft>> begin(const ReadIndex& read,
                                                                  bool has_index) = 0;
};

}  // namespace axle::index
