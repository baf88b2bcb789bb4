#pragma once
// Builds wheels from source by pip or uv, and keeps them (kept_wheels.h): of what never changes, a
// file or a commit, to use them again; of a folder until the store has the wheel, and to repair it.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "installer/work_folder.h"
#include "resolver/request/source_builder.h"
#include "resolver/request/source_url.h"
#include "session/attestations/attestation_checks.h"
#include "session/builds/build_tool.h"
#include "session/builds/kept_wheels.h"

namespace axle::session {

class SourceBuilds final : public resolver::SourceBuilder {
 public:
  /// What is made of sources.
  enum class Product : std::uint8_t {
    wheel,    ///< for the machine itself
    metadata  ///< a wheel for any machine, of their metadata alone (metadata_wheel.h)
  };
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
  explicit SourceBuilds(Setup setup, Product product = Product::wheel)
      : setup_(std::move(setup)), product_(product) {}

  [[nodiscard]] const Setup& setup() const { return setup_; }

  [[nodiscard]] Result<resolver::BuiltWheel> build(const resolver::Sdist& sdist) override;
  [[nodiscard]] Result<resolver::BuiltWheel> build(const resolver::NamedSource& source) override;

 private:
  /// One build: what is wanted, and where its parts are.
  struct Build {
    AwaitedWheel awaited;
    std::string title;          ///< "demo 1.0", or the place
    plan::BuiltFrom from = {};  ///< what is known of it so far
    std::optional<installer::WorkFolder> work = {};
  };

  /// <cache>/builds, or a temporary folder.
  [[nodiscard]] Result<std::string> folder();
  [[nodiscard]] Result<const BuildTool*> tool();
  /// Finds tool and folder, before anything is kept or made. For metadata the tool is not needed
  /// before it has to run.
  [[nodiscard]] Result<void> prepare();
  /// That something may be built at all, and by what.
  [[nodiscard]] Result<void> find_tool();
  /// Whether code may be run to learn what `name`, which may be empty, needs. Error: conflict, with
  /// who forbids it.
  [[nodiscard]] Result<void> check_allowed(const std::string& name,
                                           const std::string& project) const;
  /// Where the wheel of what `identity` says is kept.
  [[nodiscard]] std::string place_of(const std::string& identity) const;
  /// What is kept of `identity`, if that is what is awaited.
  [[nodiscard]] Result<std::optional<resolver::BuiltWheel>> kept(const Build& build,
                                                                 const std::string& identity) const;
  [[nodiscard]] Result<void> open_work(Build& build);
  /// Downloads the file of `package` and checks its hashes; its sha256. `file`: where it is then.
  [[nodiscard]] Result<std::string> fetch(plan::ResolvedPackage package, const Build& build,
                                          std::string& file);
  /// That the file with that hash is attested, as far as the user requires it.
  [[nodiscard]] Result<void> check_attestations(const plan::ResolvedPackage& package,
                                                const std::string& sha256);
  [[nodiscard]] Result<resolver::BuiltWheel> build_archive(const resolver::NamedSource& named,
                                                           const resolver::SourceUrl& source,
                                                           Build& build);
  [[nodiscard]] Result<resolver::BuiltWheel> build_folder(const resolver::SourceUrl& source,
                                                          bool editable, Build& build);
  [[nodiscard]] Result<resolver::BuiltWheel> build_repository(const resolver::SourceUrl& source,
                                                              Build& build);
  [[nodiscard]] Result<resolver::BuiltWheel> build_named(const resolver::NamedSource& named,
                                                         const resolver::SourceUrl& source);
  /// The file of an archive, unpacked; the folder of the project in it.
  [[nodiscard]] Result<std::string> unpack(const Build& build, const std::string& file,
                                           const std::string& subdirectory);
  /// The wheel of the project in a folder. `identity`: of what it is made; empty: nobody will look
  /// for it.
  [[nodiscard]] Result<resolver::BuiltWheel> make_of_project(const Build& build,
                                                             const std::string& project,
                                                             const std::string& identity);
  /// Has the tool build what lies at `place`, a file or a folder, and keeps the wheel.
  [[nodiscard]] Result<resolver::BuiltWheel> make(const Build& build, const std::string& place,
                                                  const std::string& identity);
  [[nodiscard]] Result<void> run(const Build& build, const std::string& place,
                                 const std::string& wheels);
  [[nodiscard]] resolver::BuiltWheel finished(const Build& build, index::PublishedFile wheel) const;

  /// Checks what `made` has, and keeps it.
  [[nodiscard]] Result<resolver::BuiltWheel> keep(const Build& build, const std::string& identity);

  Setup setup_;
  Product product_;
  std::optional<BuildTool> tool_;
  std::string folder_;
  std::optional<installer::WorkFolder> temporary_;
  std::map<std::string, resolver::BuiltWheel, std::less<>> named_;  ///< of this run, by URL
};

/// AXLE_BUILD_TIMEOUT, else an hour; a value that is not a duration is reported and ignored.
[[nodiscard]] std::chrono::milliseconds build_time_limit(Report& report);

}  // namespace axle::session
