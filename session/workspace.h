#pragma once
// Everything that resolving needs, assembled from the arguments, the configuration and the
// environment.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "foundation/system/descriptor.h"
#include "index/bundle/bundle.h"
#include "index/family/family_book.h"
#include "index/http/transport.h"
#include "index/pages/source.h"
#include "installer/environment/environment.h"
#include "installer/environment/installed.h"
#include "plan/installed_package.h"
#include "resolver/explain/explanation.h"
#include "resolver/request/options.h"
#include "resolver/request/requests.h"
#include "resolver/request/sources.h"
#include "session/attestations/attestation_checks.h"
#include "session/builds/source_builds.h"
#include "session/command_failure.h"
#include "session/plugins/plugin_environments.h"
#include "session/plugins/trusted_plugins.h"
#include "session/requests/remote_text.h"
#include "session/session.h"
#include "session/settings/settings.h"
#include "session/target/target.h"

namespace axle::session {

/// --python, --system, VIRTUAL_ENV, CONDA_PREFIX, .venv. `or_system`: a command that changes
/// nothing may fall back to the python3 on the path, and so may one whose packages go elsewhere.
/// `meanwhile`: as in installer::EnvironmentRequest.
[[nodiscard]] Outcome<installer::Environment> open_environment(
    Session& session, bool or_system,
    const std::function<void(const std::string& python, const std::string& prefix)>& meanwhile =
        {});

/// The interpreter of the environment that open_environment would open, without starting it.
[[nodiscard]] Outcome<std::string> find_own_interpreter(const Session& session);

/// What a new environment is based on: --python, else the python3 on the path.
[[nodiscard]] Outcome<installer::Environment> find_base_interpreter(Session& session);

/// Reads requirements files from servers, for `session` and its environment (as above).
[[nodiscard]] RemoteText remote_files(Session& session, bool or_system);

/// Adds words of --no-binary and --only-binary: as in pip, an entry in one list removes the same
/// entry from the other.
void apply_formats(const std::vector<FormatWord>& words, resolver::WheelUse& use);

struct Workspace {
  system::Descriptor cache_lock;  ///< shared: nobody removes what is in the cache meanwhile
  installer::Environment environment;
  StatedTarget stated;  ///< where it differs from `environment`
  Settings settings;
  std::shared_ptr<const index::Bundle> bundle;  ///< nullptr: packages do not come from one
  std::unique_ptr<index::Transport> transport;
  std::unique_ptr<index::FamilyBook> families;  ///< nullptr: families do not apply
  std::vector<std::unique_ptr<index::Source>> owned_sources;
  resolver::Sources sources;
  resolver::Requests requests;
  /// Where they were read from, besides the command line: paths, "-" for stdin, or URLs.
  std::vector<std::string> request_files;
  resolver::Options options;
  std::unique_ptr<AttestationChecks> attestations;  ///< nullptr: nothing is asked of them
  std::unique_ptr<SourceBuilds> source_builds;      ///< `options.builds.builder` points to it
  std::unique_ptr<InstalledEnvironments> plugin_environments;
  std::unique_ptr<TrustedPlugins> plugins;  ///< `options.providers.plugins` points to it
};

/// What a command does with what it chooses.
enum class Purpose : std::uint8_t {
  install,  ///< into an environment, which must be there
  show,     ///< nothing; where there is no environment, the system's interpreter counts
  save,  ///< as files, likewise; folders are not editable, since those wheels are of this machine
};

/// Errors: usage for invalid arguments; what is wrong with the environment.
[[nodiscard]] Outcome<std::unique_ptr<Workspace>> open_workspace(Session& session, Purpose purpose);

/// For a resolution that failed because nothing fits: the requested packages that have no wheel for
/// `target`, with the verdict on each.
[[nodiscard]] std::vector<resolver::Explanation> explain_misfits(const Workspace& workspace,
                                                                 const resolver::Target& target);

[[nodiscard]] std::vector<plan::InstalledPackage> installed_packages(
    const std::vector<installer::InstalledDistribution>& distributions);

}  // namespace axle::session
