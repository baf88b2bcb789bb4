#pragma once
// The folders of an environment with symbolic links resolved, and which paths inside them Axle may
// change.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "foundation/report/error.h"
#include "installer/environment/environment.h"

namespace axle::installer {

/// By components: "/a/v" contains "/a/v/x" and itself, but not "/a/victim". Both paths normal.
[[nodiscard]] bool contains_path(std::string_view folder, std::string_view path);

class Roots {
 public:
  std::string base;  ///< everything is below it; contains `.axle`
  std::string purelib;
  std::string platlib;
  std::string scripts;
  std::string data;
  std::string include;

  /// The folder of the lock and the transaction.
  [[nodiscard]] std::string state_folder() const { return base + "/.axle"; }
  /// A folder that is never removed or replaced as a whole: a root or a parent of one.
  [[nodiscard]] bool is_fixed_folder(std::string_view path) const;
  /// The environment's own files, whatever the case: the state folder, pyvenv.cfg, the
  /// interpreters, activation.
  [[nodiscard]] bool is_reserved(std::string_view path) const;
  /// Whether anything in `folder` itself may be reserved, whatever its name.
  [[nodiscard]] bool may_have_reserved(std::string_view folder) const;
};

/// Error: not_found or io (a folder that cannot be resolved), unsupported (folders without a common
/// base).
[[nodiscard]] Result<Roots> find_roots(const Environment& environment);

/// Resolves paths as for creation: links are followed in every folder on the way, but not in the
/// last component. Caches folders.
class PathResolver {
 public:
  explicit PathResolver(const Roots& roots);
  /// `path` absolute. nullopt: it is outside the environment, is its base, or is malformed. Error:
  /// io (its target cannot be determined).
  [[nodiscard]] Result<std::optional<std::string>> resolve(std::string_view path);

 private:
  struct Folder {
    std::optional<std::string> real;  ///< without links; "" for "/"; nullopt: it cannot exist
    bool exists = true;
  };
  /// `path` normal, without a final slash. Error: io.
  Result<const Folder*> find(std::string_view path);
  /// Follows it if it is a link.
  static Result<void> look_into(Folder& folder);

  const Roots& roots_;
  std::unordered_map<std::string, Folder> folders_;
  /// Neighbours in a RECORD lie in one folder, as a rule: the last one as it was written, and what
  /// it is, with a `real` path.
  std::string last_path_;
  const Folder* last_ = nullptr;
};

}  // namespace axle::installer
