#pragma once
// Axle's own configuration: [tool.axle] of the project's pyproject.toml, and the user's
// `axle/config.toml` in XDG_CONFIG_HOME. What else [tool.axle] says is for `variant build`.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/command_failure.h"
#include "session/settings/machine_classes.h"
#include "session/settings/settings.h"
#include "session/settings/user_defaults.h"
#include "wheel/attestation/publisher.h"

namespace axle::session {

/// From whom files of a package must be, and where that is said: "pyproject.toml:12".
struct ExpectedPublisher {
  wheel::Publisher publisher;
  std::string origin;
};

/// What a project alone says: of the environments that it is locked for.
struct ProjectEnvironments {
  std::vector<MachineClass> classes;         ///< in the file's order
  bool by_class = false;                     ///< environments = "by-class"
  bool fewest_builds = false;                ///< minimize = "builds"
  std::optional<std::uint64_t> budget = {};  ///< of each class, in bytes
  std::optional<std::vector<Stated>> default_groups;
  std::vector<Stated> indexes;  ///< as of --index: URL, path or NAME=URL; paths are absolute
};

/// What one file says.
struct AxleConfig {
  std::optional<Stated> attestations;
  std::optional<Stated> trusted_root;     ///< an absolute path
  std::optional<Stated> allowed_signers;  ///< the same; only the user says whom to trust
  std::map<std::string, ExpectedPublisher, std::less<>> publishers;  ///< by normalised name
  UserDefaults defaults;                                             ///< of the user's file alone
  ProjectEnvironments environments;                                  ///< of a project's alone
};

/// [tool.axle] of a pyproject.toml, or the user's file. `where`: its path, absolute. Errors:
/// malformed, with the line, also for an unknown key.
[[nodiscard]] Result<AxleConfig> parse_project_config(std::string_view text,
                                                      const std::string& where);
[[nodiscard]] Result<AxleConfig> parse_user_config(std::string_view text, const std::string& where);

struct AxleConfigs {
  AxleConfig project;  ///< of the nearest pyproject.toml with [tool.axle], from here upwards
  AxleConfig user;
};

/// Errors: usage, for a file that is not valid or cannot be read.
[[nodiscard]] Outcome<AxleConfigs> read_axle_configs();
/// The project's alone; the user's alone.
[[nodiscard]] Outcome<AxleConfig> read_project_config();
[[nodiscard]] Outcome<AxleConfig> read_user_config();

}  // namespace axle::session
