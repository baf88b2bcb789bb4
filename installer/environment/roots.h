#pragma once
// The folders of an environment with symbolic links resolved, and which paths inside them are
// Axle's to touch.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "foundation/report/error.h"
#include "installer/environment/environment.h"

namespace axle::installer {

/// Component-wise: "/a/v" contains "/a/v/x" and itself, never "/a/victim". Both paths normal.
[[nodiscard]] bool contains_path(std::string_view folder, std::string_view path);

class Roots {
 public:
  std::string base;  ///< everything lies below; holds `.axle`
  std::string purelib;
  std::string platlib;
  std::string scripts;
  std::string data;
  std::string include;

  /// Where the lock and the transaction live.
  [[nodiscard]] std::string state_folder() const { return base + "/.axle"; }
  /// A folder that is never removed or replaced as a whole: a root or something above one.
  [[nodiscard]] bool is_fixed_folder(std::string_view path) const;
  /// The environment's own files, whatever the case: the state folder, pyvenv.cfg, the
  /// interpreters, activation.
  [[nodiscard]] bool is_reserved(std::string_view path) const;
};

/// Error: not_found or io (a folder that does not resolve), unsupported (folders without a common
/// base).
[[nodiscard]] Result<Roots> find_roots(const Environment& environment);

/// Resolves paths as they would be opened for creation: every folder on the way with links
/// followed, the last component itself not. Remembers folders.
class PathResolver {
 public:
  explicit PathResolver(const Roots& roots) : roots_(roots) {}
  /// `path` absolute. nullopt: it leads outside the environment, to its base, or is malformed.
  /// Error: io (where it leads cannot be told).
  [[nodiscard]] Result<std::optional<std::string>> resolve(std::string_view path);

 private:
  const Roots& roots_;
  std::unordered_map<std::string, std::string> folders_;
};

}  // namespace axle::installer
