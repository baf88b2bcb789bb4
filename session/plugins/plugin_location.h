#pragma once
// Which plugin a word on the command line means: a shared object, a program, or a Python plugin as
// a wheel, a project's folder or a module of the environment.

#include <memory>
#include <string>

#include "providers/plugins/plugin.h"
#include "session/command_failure.h"
#include "session/session.h"

namespace axle::session {

/// A folder that goes when this does.
class TemporaryFolder {
 public:
  /// Under `parent`; `path()` is empty where none could be made.
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
  std::unique_ptr<TemporaryFolder> unpacked;  ///< of a wheel: what `plugin` needs
};

/// `--namespace` chooses one of several, and says it of a module. Programs and shared objects are
/// asked for theirs, confined; it stays empty where they do not answer.
[[nodiscard]] Outcome<LocatedPlugin> locate_plugin(Session& session, const std::string& word);

}  // namespace axle::session
