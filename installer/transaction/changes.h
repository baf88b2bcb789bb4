#pragma once
// Changes to an environment: planned, shown (--dry-run) or applied, whole or not at all: after
// kill -9, a full disk or a write error at any point the next command finds the old or the new
// state, or makes it so.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "installer/environment/environment.h"
#include "installer/transaction/file_conflict.h"
#include "plan/resolution.h"

namespace axle::installer {

/// What is asked of an environment; what the set does not name stays as it is.
struct PackageSet {
  plan::Resolution present = {};         ///< should be there
  std::vector<std::string> absent = {};  ///< names of what should not be there
};

struct InstallOptions {
  std::string
      store_folder;  ///< unpacked wheels, by hash; on the environment's file system links are made
  /// The store's own copies are compared by hash before they are taken.
  bool verify_store = false;
  bool overwrite = false;  ///< replace files that another package or nobody owns
  /// Takes the METADATA of wheels that contradict what they were chosen by, by URL: resolving again
  /// with it (resolver::Sources::true_metadata) goes by the truth.
  std::map<std::string, std::string, std::less<>>* other_metadata = nullptr;
};

/// What is needed to apply changes, and only that: the locked environment among it.
struct PreparedChanges;

struct Change {
  std::string name;
  std::string version;
  std::optional<std::string> variant;
};

/// A wheel of which only the download would tell the files.
struct UnlistedWheel {
  std::string package;  ///< "name version"
  std::string reason;
};

struct Changes {
  std::vector<Change> installed;
  std::vector<Change> removed;
  std::vector<Change> kept;
  /// Files at whose places there are others: with any of them the changes cannot be applied.
  std::vector<FileConflict> conflicts;
  /// Whose files count in no conflict. Empty but for foreseen changes.
  std::vector<UnlistedWheel> unlisted;
  /// Holds the environment's lock. Null: there is nothing to do, or the changes are only foreseen.
  std::unique_ptr<PreparedChanges> prepared;

  Changes();
  Changes(Changes&&) noexcept;
  Changes& operator=(Changes&&) noexcept;
  ~Changes();
};

/// Downloads the wheels (hash and size verified), validates each archive whole before the first
/// write, unpacks into the store, verifies every RECORD hash, locks the environment and compares:
/// replaced versions leave by their RECORD, packages that are `already_installed` are kept. Names
/// of `absent` that are not installed are skipped with a warning, as pip does. In the
/// environment nothing is changed but that an interrupted transaction is ended. `transport` may be
/// null where `present` is empty. Errors: mismatch (hash, size, RECORD), malformed (archive), io,
/// conflict (a kept package that another command changed meanwhile), unsupported (a RECORD with
/// sha384 or sha512 hashes, a package without RECORD or outside of the environment; externally
/// managed is the caller's), not_found (none of `absent` is installed).
[[nodiscard]] Result<Changes> plan_changes(const PackageSet& set, const Environment& environment,
                                           index::Transport* transport,
                                           const InstallOptions& options, Report& report);

/// The same to be shown: nothing is locked, downloaded whole or written. The files of a wheel that
/// is not in the store are read from the archive's directory by ranges; where that cannot be done,
/// the wheel is `unlisted`.
[[nodiscard]] Result<Changes> foresee_changes(const PackageSet& set, const Environment& environment,
                                              index::Transport* transport,
                                              const InstallOptions& options, Report& report);

/// One transaction, after which the environment is free again. Errors: conflict (the first of
/// `conflicts`; nothing was changed), io (permission, space: nothing was changed).
[[nodiscard]] Result<void> apply(Changes& changes, Report& report);

/// Plans and applies.
[[nodiscard]] Result<Changes> install(const plan::Resolution& resolution,
                                      const Environment& environment, index::Transport& transport,
                                      const InstallOptions& options, Report& report);
[[nodiscard]] Result<Changes> uninstall(const std::vector<std::string>& names,
                                        const Environment& environment, Report& report);

}  // namespace axle::installer
