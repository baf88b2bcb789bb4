#pragma once
// Finds the plugin that an argument refers to: a shared object, a program, or a Python plugin as a
// wheel, a project's folder or a module of the environment.

#include <memory>
#include <string>

#include "providers/plugins/plugin.h"
#include "session/command_failure.h"
#include "session/session.h"

namespace axle::session {

/// A folder that is removed with the object.
class TemporaryFolder {
 public:
  /// Under `parent`; `path()` is empty if none could be created.
  explicit TemporaryFolder(const std::string& parent);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct LocatedPlugin {
  plugins::Plugin plugin;
  std::unique_ptr<TemporaryFolder> unpacked;  ///< for a wheel: what `plugin` needs
};

/// `--namespace` selects one of several, and sets it for a module. Programs and shared objects are
/// run in the sandbox to report theirs; it stays empty if they do not answer.
[[nodiscard]] Outcome<LocatedPlugin> locate_plugin(Session& session, const std::string& word);

}  // namespace axle::session
