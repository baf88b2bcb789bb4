#pragma once
// Builds source distributions by pip or uv, and keeps the wheels under the cache folder:
//
//   <cache>/builds/<hash of sdist, interpreter and tool>/<wheel>, …/sha256
//
// A folder appears with one rename, so it is always complete. One that was not used for 30 days is
// removed when another is created.

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "installer/store/work_folder.h"
#include "resolver/request/sdist_builder.h"
#include "session/attestations/attestation_checks.h"
#include "session/builds/build_tool.h"

namespace axle::session {

class SdistBuilds final : public resolver::SdistBuilder {
 public:
  struct Setup {
    const installer::Environment& environment;
    const Settings& settings;
    const resolver::WheelUse& wheel_use;
    index::Transport& transport;
    AttestationChecks* attestations;  ///< nullptr: nothing is asked of them
    std::string cache_folder;         ///< empty: wheels are kept as long as this object
    std::chrono::milliseconds time_limit;
    Report& report;  ///< for --verbose: what the tool prints, as it does
  };
  /// Everything that `setup` refers to must outlive it.
  explicit SdistBuilds(Setup setup) : setup_(std::move(setup)) {}

  [[nodiscard]] Result<resolver::BuiltWheel> build(const resolver::Sdist& sdist) override;

 private:
  /// <cache>/builds, or a temporary folder.
  [[nodiscard]] Result<std::string> folder();
  [[nodiscard]] Result<const BuildTool*> tool();
  /// Where the wheel of the source distribution with that hash is kept.
  [[nodiscard]] std::string place_of(const std::string& kept, const std::string& sha256) const;
  /// Downloads it into `file` and checks its hashes; its sha256.
  [[nodiscard]] Result<std::string> fetch(const resolver::Sdist& sdist, const std::string& file);
  /// That the source distribution with that hash is attested, as far as the user requires it.
  [[nodiscard]] Result<void> check_attestations(const resolver::Sdist& sdist,
                                                const std::string& sha256);
  /// Runs the tool; `wheels` is where it puts the wheel.
  [[nodiscard]] Result<void> run(const resolver::Sdist& sdist, const std::string& file,
                                 const std::string& wheels);

  Setup setup_;
  std::optional<BuildTool> tool_;
  std::optional<installer::WorkFolder> temporary_;
};

/// AXLE_BUILD_TIMEOUT, else an hour; a value that is not a duration is reported and ignored.
[[nodiscard]] std::chrono::milliseconds build_time_limit(Report& report);

}  // namespace axle::session
