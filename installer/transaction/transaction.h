#pragma once
// Changes an environment, whole or not at all: after kill -9, a full disk or a write error at any
// point the next command finds the old or the new state, or makes it so.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "installer/environment/environment.h"
#include "plan/resolution.h"

namespace axle::installer {

struct Change {
  std::string name;
  std::string version;
  std::optional<std::string> variant;
};

struct Outcome {
  std::vector<Change> installed;
  std::vector<Change> removed;
  std::vector<Change> kept;
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

/// Downloads (hash and size verified), validates each archive whole before the first write, unpacks
/// into the store, verifies every RECORD hash, and changes the environment in one transaction:
/// replaced versions are removed by their RECORD. Packages that are `already_installed` are kept.
/// Errors: mismatch (hash, size, RECORD), malformed (archive), io (permission, space: nothing
/// changed), conflict (a file that another package or nobody owns; a kept package that another
/// command changed meanwhile), unsupported (a RECORD with sha384 or sha512 hashes; externally
/// managed is the caller's).
[[nodiscard]] Result<Outcome> install(const plan::Resolution& resolution,
                                      const Environment& environment, index::Transport& transport,
                                      const InstallOptions& options, Report& report);

/// Names that are not installed are passed over with a warning, as pip does; errors: not_found
/// (none is), unsupported (no RECORD, or outside of the environment), io.
[[nodiscard]] Result<Outcome> uninstall(const std::vector<std::string>& names,
                                        const Environment& environment, Report& report);

}  // namespace axle::installer
