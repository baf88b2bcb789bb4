#pragma once
// What the tests of the installer work on: temporary folders, wheels made for the occasion,
// environments with and without a real interpreter.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/http/transport.h"
#include "installer/environment/environment.h"
#include "installer/transaction/changes.h"
#include "plan/resolution.h"
#include "wheel/wheel_writer.h"

namespace axle::installer {

/// A folder that disappears with its object.
class Sandbox {
 public:
  /// Below `parent`, or the temporary folder.
  explicit Sandbox(const std::string& parent = {});
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(std::string_view name) const;

 private:
  std::string path_;
};

void write_text(const std::string& path, std::string_view text);
[[nodiscard]] std::string read_text(const std::string& path);
[[nodiscard]] bool is_there(const std::string& path);

/// Everything below `folder` but its `.axle`: path -> content ("/" for a folder, "-> …" for a
/// link).
[[nodiscard]] std::map<std::string, std::string> snapshot(const std::string& folder);

/// METADATA and WHEEL for a pure wheel, RECORD computed; `members` are added to them.
[[nodiscard]] std::string wheel_bytes(const std::string& name, const std::string& version,
                                      std::vector<wheel::WheelMember> members,
                                      const std::string& more_metadata = {});
/// The same as a file name-version-py3-none-any.whl in `folder`; returns its path.
std::string make_wheel(const std::string& folder, const std::string& name,
                       const std::string& version, std::vector<wheel::WheelMember> members,
                       const std::string& more_metadata = {});

/// The package that a resolver would give for the wheel at `path`, hash and size filled in.
[[nodiscard]] plan::ResolvedPackage package_of(const std::string& path);
[[nodiscard]] plan::Resolution resolution_of(const std::vector<std::string>& paths);

/// The folders of a virtual environment for Python 3.11 under `prefix`, without an interpreter in
/// it.
[[nodiscard]] Environment bare_environment(const std::string& prefix);

/// A real one. nullopt, and a word on stderr, when this machine cannot make it.
[[nodiscard]] std::optional<std::string> make_venv(const std::string& prefix);

/// Answers every URL from memory; counts.
class MemoryTransport final : public index::Transport {
 public:
  Result<index::HttpResponse> fetch(const index::HttpRequest& request) override;
  Result<index::HttpResponse> download(const index::HttpRequest& request,
                                       const index::BodySink& sink) override;

  std::map<std::string, std::string> files;
  int downloads = 0;
};

struct CommandResult {
  int status = 0;  ///< exit code, 128 + signal
  std::string out;
  std::string err;
};
/// Runs `arguments` with `settings` ("NAME=value") added to the environment; a limit of two
/// minutes.
CommandResult run_command(std::vector<std::string> arguments,
                          const std::vector<std::string>& settings = {});
/// The same without root's rights; nullopt, and a word on stderr, when root cannot drop them.
[[nodiscard]] std::optional<CommandResult> run_as_nobody(const std::vector<std::string>& arguments);

/// The driver beside this test program, and the shim.
[[nodiscard]] std::string beside_test(std::string_view name);

}  // namespace axle::installer
