#pragma once
// Changes to an environment: planned, shown (--dry-run) or applied atomically: after kill -9, a
// full disk or a write error at any point the next command finds the old or the new state, or
// restores it.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "installer/environment/environment.h"
#include "installer/history/history.h"
#include "installer/store/wheel_facts.h"
#include "installer/transaction/file_conflict.h"
#include "installer/transaction/link_mode.h"
#include "installer/transaction/overwriting.h"
#include "plan/resolution.h"

namespace axle::installer {

/// The requested state of an environment; packages that are not named are not changed.
struct PackageSet {
  plan::Resolution present = {};         ///< to be installed
  std::vector<std::string> absent = {};  ///< names of packages to be removed
};

struct InstallOptions {
  std::string store_folder;  ///< unpacked wheels, by hash; on the environment's file system they
                             ///< are hard-linked
  std::string cache_folder = {};  ///< as of list_installed
  /// Wheels are taken from it, too, and nothing is written there: of a cache that cannot be.
  std::string read_only_store = {};
  /// The store's own copies are compared by hash before they are used.
  bool verify_store = false;
  LinkMode link_mode = LinkMode::best;
  /// Of the history, which this is recorded as.
  HistoryStep step = HistoryStep::change;
  /// What an undo undoes, or a redo makes again: if it is not the next one by then, that is a
  /// conflict.
  std::optional<RecordedChange> recorded = {};
  bool compiles_byte_code = false;  ///< modules are installed with their byte code
  /// --overwrite: files that belong to another package, or to none, are replaced.
  bool overwrite = false;
  /// Receives the METADATA of wheels that differs from what they were chosen by, by URL: resolving
  /// again with it (resolver::Sources::true_metadata) uses the correct one.
  std::map<std::string, std::string, std::less<>>* other_metadata = nullptr;
  /// Receives what the wheels to be installed say, by URL.
  WheelFactsByUrl* facts = nullptr;
};

/// The internal state for applying the changes, including the locked environment.
struct PreparedChanges;

struct Change {
  std::string name;
  std::string version;
  std::optional<std::string> variant;
};

/// A wheel whose files are only known after the download.
struct UnlistedWheel {
  std::string package;  ///< "name version"
  std::string reason;
};

struct Changes {
  std::vector<Change> installed;
  std::vector<Change> removed;
  std::vector<Change> kept;
  /// Files whose paths are taken: with any of them the changes cannot be applied.
  std::vector<FileConflict> conflicts;
  /// Files of packages, or of none, in whose place those of other packages come (--overwrite), or
  /// stay because that was settled before.
  std::vector<OverwrittenPath> overwritten;
  /// Packages whose files are not checked for conflicts. Empty except for foreseen changes.
  std::vector<UnlistedWheel> unlisted;
  /// Holds the environment's lock. Null: there is nothing to do, or the changes are only foreseen.
  std::unique_ptr<PreparedChanges> prepared;

  Changes();
  Changes(Changes&&) noexcept;
  Changes& operator=(Changes&&) noexcept;
  ~Changes();
};

/// Looks for files in the way in the directories of large wheels, read by ranges, before those are
/// downloaded. Downloads the wheels (hash and size verified), validates each archive completely
/// before the first write, unpacks into the store, verifies every RECORD hash, locks the
/// environment and compares: replaced versions are removed by their RECORD, packages that are
/// `already_installed` are kept. Names of `absent` that are not installed are skipped with a
/// warning, as in pip. In the environment nothing is changed, except that an interrupted
/// transaction is completed. Byte code is compiled after all other checks of the wheels.
/// `transport` may be null if `present` is empty. Errors: mismatch (hash, size, RECORD), malformed
/// (archive), io, conflict (a kept package that another command changed in the meantime),
/// unsupported (a RECORD with sha384 or sha512 hashes, a package without RECORD or outside of the
/// environment; the caller checks for externally managed ones), not_found (none of `absent` is
/// installed).
[[nodiscard]] Result<Changes> plan_changes(const PackageSet& set, const Environment& environment,
                                           index::Transport* transport,
                                           const InstallOptions& options, Report& report);

/// The same for display: nothing is locked, downloaded completely or written. The files of a wheel
/// that is not in the store are read from the archive's directory by ranges; if that is not
/// possible, the wheel is `unlisted`.
[[nodiscard]] Result<Changes> foresee_changes(const PackageSet& set, const Environment& environment,
                                              index::Transport* transport,
                                              const InstallOptions& options, Report& report);

/// Runs one transaction, after which the environment is unlocked. Errors: conflict (the first of
/// `conflicts`; nothing was changed), io (permission, space: nothing was changed).
[[nodiscard]] Result<void> apply(Changes& changes, Report& report);

/// Plans and applies.
[[nodiscard]] Result<Changes> install(const plan::Resolution& resolution,
                                      const Environment& environment, index::Transport& transport,
                                      const InstallOptions& options, Report& report);
[[nodiscard]] Result<Changes> uninstall(const std::vector<std::string>& names,
                                        const Environment& environment,
                                        const InstallOptions& options, Report& report);

}  // namespace axle::installer
