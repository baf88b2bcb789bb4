#pragma once
// Plugins made on the spot.

#include <string>
#include <string_view>

#include "providers/plugins/plugin.h"

namespace testing {

/// A temporary folder, gone with the object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// An executable file.
  [[nodiscard]] std::string program(std::string_view name, std::string_view text) const;
  /// An executable plugin of namespace `acme`, a Python script: `import`s of the usual are there.
  [[nodiscard]] axle::plugins::Plugin executable(std::string_view body) const;
  /// A Python plugin of namespace `acme`: module `acme`, in an environment of its own.
  [[nodiscard]] axle::plugins::Plugin python(std::string_view module,
                                             std::string_view plugin_api) const;

 private:
  std::string path_;
};

/// The script's words for a sound answer.
inline constexpr std::string_view answer =
    "\nprint(json.dumps({'namespace': 'acme', 'features': [{'name': 'speed', 'multi_value': True, "
    "'values': ['fast', 'slow']}]}))\n";

/// "" when python3 is there, else why the test is skipped.
[[nodiscard]] std::string python_missing();

}  // namespace testing
