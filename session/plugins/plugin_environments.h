#pragma once
// Environments for Python plugins, made by Axle's own installer of plain wheels only and kept under
// the cache folder by what was resolved:
//
//   <cache>/plugins/<hash of interpreter and wheels>/   an ordinary virtual environment
//
// A folder appears with one rename, so it is always complete. One that was not used for 30 days is
// removed when another is created.

#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "installer/environment/environment.h"
#include "plan/resolution.h"
#include "providers/plugins/environments.h"
#include "resolver/request/sources.h"
#include "session/attestations/attestation_checks.h"

namespace axle::session {

/// What the interpreter of the environment in `place` reads, which is based on the same
/// installation as `environment`: the whole environment, and bin, lib and lib64 of the
/// installation, since the folders next to these may be a home folder.
[[nodiscard]] std::vector<std::string> readable_folders(const std::string& place,
                                                        const installer::Environment& environment);

/// Moves a new environment to its place. If another command was faster, its environment is used.
[[nodiscard]] Result<void> place_environment(const std::string& made, const std::string& place);

/// Removes what is in `kept` and has not been used for 30 days, and leftovers of interrupted runs.
void discard_unused(const std::string& kept);

class InstalledEnvironments final : public plugins::Environments {
 public:
  /// `environment` says which Python, `sources` where packages come from, `attestations` what is
  /// asked of them (nullptr: nothing); with an empty `cache_folder` the environments are removed
  /// with this object. All must outlive it.
  InstalledEnvironments(const installer::Environment& environment, const resolver::Sources& sources,
                        AttestationChecks* attestations, std::string cache_folder, Report& report)
      : environment_(environment),
        sources_(sources),
        attestations_(attestations),
        cache_folder_(std::move(cache_folder)),
        report_(report) {}
  ~InstalledEnvironments() override;
  InstalledEnvironments(const InstalledEnvironments&) = delete;
  InstalledEnvironments& operator=(const InstalledEnvironments&) = delete;

  [[nodiscard]] std::expected<plugins::PluginEnvironment, plugins::PluginFailure> environment_with(
      const std::vector<std::string>& requirements) override;

 private:
  /// <cache>/plugins, or a temporary folder.
  [[nodiscard]] Result<std::string> folder();
  [[nodiscard]] Result<plan::Resolution> resolve(const std::vector<std::string>& requirements,
                                                 Report& report);
  [[nodiscard]] Result<void> make(const std::string& place, const plan::Resolution& resolution,
                                  Report& report);

  const installer::Environment& environment_;
  const resolver::Sources& sources_;
  AttestationChecks* attestations_;
  std::string cache_folder_;
  std::string temporary_;
  Report& report_;
};

}  // namespace axle::session
