#pragma once
// Requirements in, one wheel a package out. A worklist that goes back to older versions of the
// package at hand and reports a conflict between packages with both requirements.

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/family/family_book.h"
#include "index/http/transport.h"
#include "index/pages/source.h"
#include "plan/installed_package.h"
#include "plan/resolution.h"
#include "resolver/choice/provider_algorithm.h"
#include "wheel/hash/listed_hash.h"
#include "wheel/marker.h"
#include "wheel/tag.h"

namespace axle::resolver {

/// Where the wheels shall run.
struct Target {
  const detect::Machine* machine = nullptr;  ///< never null
  wheel::SupportedTags tags{{}};
  wheel::MarkerEnvironment markers;  ///< of the interpreter
  wheel::Version python_version;     ///< python_full_version
};

/// Files uploaded at this time or later do not exist.
struct UploadCutoff {
  std::int64_t time = 0;  ///< as PublishedFile::uploaded
  std::string text;       ///< for messages: "2024-06-01T00:00:00Z (--exclude-newer)"
};

struct UploadCutoffs {
  std::optional<UploadCutoff> general;
  /// nullopt: none holds for this package. Normalised names.
  std::map<std::string, std::optional<UploadCutoff>, std::less<>> of_package;

  /// The one that holds for `name`; nullptr: none.
  [[nodiscard]] const UploadCutoff* find(std::string_view name) const;
};

/// --no-binary and --only-binary: of which packages wheels may be used. What names a package wins
/// over ":all:"; of two that name it, the one that forbids.
struct WheelUse {
  std::map<std::string, std::string, std::less<>> forbidden;  ///< name or ":all:" -> who says so
  std::set<std::string, std::less<>> allowed;                 ///< names

  /// Who forbids wheels of `name`; nullptr: nobody.
  [[nodiscard]] const std::string* forbids(std::string_view name) const;
};

struct Options {
  bool dependencies = true;  ///< false: --no-deps
  bool prereleases = false;  ///< --pre
  bool upgrade =
      false;  ///< -U: requested packages only, as pip's default strategy "only-if-needed"
  bool reinstall = false;
  bool variants = true;                           ///< --no-variants
  std::set<std::string, std::less<>> plain_only;  ///< --no-variants=PKG, normalised names
  std::map<std::string, std::string, std::less<>> pinned_variants;  ///< --variant PKG=LABEL
  /// Family -> label: --torch-backend. Taken whether the machine can run it or not.
  std::map<std::string, std::string, std::less<>> forced_labels;
  bool allow_backend_change = false;  ///< --allow-backend-change
  /// Families whose installed label may change: --torch-backend auto.
  std::set<std::string, std::less<>> open_families;
  /// Namespaces without which nothing may be chosen that has builds for them: --require.
  std::set<std::string, std::less<>> required;
  ProviderPolicy providers;
  UploadCutoffs cutoffs;
  WheelUse wheel_use;
  std::vector<std::string> trusted_hosts;  ///< "host" or "host:port": plain http will do
  /// Everything must be pinned and have a hash: --require-hashes. Not set: everything must have a
  /// hash as soon as one thing has (pip's rule).
  std::optional<bool> require_hashes;
  bool verify_hashes = true;  ///< false: listed hashes do not count, unless they are required
};

/// What the user asks for, and what stands beside it.
struct Request {
  wheel::Requirement requirement;
  std::vector<wheel::ListedHash> hashes = {};  ///< the file must have one of them; empty: any file
  std::string origin = {};                     ///< "requirements.txt:3"; empty: the command line
};

struct Requests {
  std::vector<Request> requirements = {};
  std::vector<std::string> wheel_files = {};  ///< paths of local wheels
  std::vector<Request> constraints = {};
  /// They take the place of all that anybody requires of the same names (uv's overrides).
  std::vector<Request> overrides = {};
};

/// Which of several indexes gives a package its versions; the names are uv's.
enum class IndexStrategy : std::uint8_t {
  first_index,         ///< the first that has a page for the project decides about it alone
  unsafe_first_match,  ///< the versions of an earlier index before those of a later one
  unsafe_best_match,   ///< the newest version of any
};

/// Where a package comes from and nowhere else: a row of a project's [tool.uv.sources].
struct AssignedSource {
  std::string origin;              ///< for messages: "/src/pyproject.toml"
  index::Source* index = nullptr;  ///< the only index that is asked for it
  std::string url;                 ///< instead of an index: the wheel itself
  std::optional<Error> refusal;    ///< instead: why the package cannot be had (a repository)
  std::optional<wheel::Marker> marker;
};

/// Everything the solver reads. An index whose page cannot be read ends the search; only one that
/// does not have the project (404) makes way for the next.
struct Sources {
  std::vector<index::Source*> indexes;     ///< in the order in which they are asked
  std::vector<index::Source*> find_links;  ///< their candidates join those of the index
  index::Transport* transport = nullptr;   ///< for metadata and variants files; never null
  index::FamilyBook* families = nullptr;   ///< nullptr: index families are silent
  IndexStrategy strategy = IndexStrategy::first_index;
  /// By normalised name; the first whose marker applies counts, direct or transitive.
  std::map<std::string, std::vector<AssignedSource>, std::less<>> assigned = {};
  /// METADATA that was read out of whole wheels, by URL: counts before what an index gives.
  std::map<std::string, std::string, std::less<>> true_metadata = {};
};

/// One package of a plan that is refused, as it is and as it would be.
struct PlannedChange {
  std::string name;
  std::string installed_version;
  std::string installed_backend;  ///< empty: not known
  std::string version;
  std::string backend;  ///< empty: not known
};

/// An installed package that a plan would break: it needs what the plan takes away.
struct Breakage {
  std::string name;
  std::string version;
  std::string needs;  ///< "torch==2.10.*", "torch 2.10 (its version says so)"
  std::string gets;   ///< "torch 2.15.0+cu132"
};

/// Why there is no resolution, and the plan that was refused, if there was one.
struct Unresolved : Error {
  std::vector<PlannedChange> changes = {};  ///< of backends
  std::vector<Breakage> broken = {};
};

/// Errors: not_found (no such package: where was looked), unsupported (versions exist, but no wheel
/// or no variant fits: each with its reason; exit 3), conflict (both requirements and who wants
/// them; a plan that changes the backend of what is installed unasked, or breaks an installed
/// package), malformed/mismatch/io from what was read.
[[nodiscard]] std::expected<plan::Resolution, Unresolved> resolve(
    const Requests& requests, const Target& target,
    const std::vector<plan::InstalledPackage>& installed, const Sources& sources,
    const Options& options, Report& report);

/// Like the failure part of `resolve` for one release, kept as data: the decision that an
/// `unsupported` error renders, for `explain` and --json.
struct Explanation {
  std::string name;
  wheel::Version version;
  plan::Decision decision;
  std::optional<plan::ResolvedPackage> chosen;
};

/// Newest version that the requirement allows, with every variant's verdict, chosen or not.
[[nodiscard]] Result<Explanation> explain(const wheel::Requirement& requirement,
                                          const Target& target, const Sources& sources,
                                          const Options& options, Report& report);

}  // namespace axle::resolver
