#pragma once
// Where the files of a model lie that a command was given: models are published as files, as
// folders, and as zip archives in a package.

#include <optional>
#include <string>

#include "foundation/report/error.h"
#include "foundation/system/descriptor.h"
#include "installer/work_folder.h"
#include "session/session.h"

namespace axle::session {

class ModelPlace {
 public:
  /// `given` as it is, unless it is a zip archive ("*.zip") or a folder in which nothing but one
  /// archive can be a model: then the archive's files, unpacked. They are kept in the cache, by
  /// what tells whether the archive has changed; without a cache, among temporary files as long as
  /// this object. Errors: malformed, unsupported (as of wheel::ZipReader; several archives), io.
  [[nodiscard]] static Result<ModelPlace> find(Session& session, const std::string& given);

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit ModelPlace(std::string path) : path_(std::move(path)) {}

  std::string path_;
  system::Descriptor cache_lock_;
  std::optional<installer::WorkFolder> temporary_;
};

}  // namespace axle::session
