#pragma once
// From new packages to the things to add to an environment: staged next to it, compared with the
// existing files.

#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "installer/environment/installed.h"
#include "installer/environment/ownership.h"
#include "installer/environment/roots.h"
#include "installer/transaction/file_conflict.h"
#include "installer/transaction/journal.h"
#include "installer/transaction/link_mode.h"
#include "installer/transaction/new_package.h"
#include "installer/transaction/overwriting.h"
#include "installer/transaction/removal.h"
#include "installer/transaction/staged_things.h"

namespace axle::installer {

class Staging {
 public:
  Staging(const Roots& roots, Removal& removal) : roots_(roots), removal_(removal) {}

  /// `packages` must be there until all is staged. If two of them have different files at one path,
  /// that is a conflict.
  void add(const std::vector<NewPackage>& packages);

  /// Compares with the environment without what is removed. An existing file that is equal
  /// according to its owners' RECORDs is shared, or replaced if it was edited; any other is a
  /// conflict or, with `consent`, replaced, which the RECORDs of its owners are to say. Errors: io,
  /// and those of rewrite_metadata.
  [[nodiscard]] Result<void> check(const std::vector<InstalledDistribution>& staying,
                                   const OverwriteConsent& consent);

  /// The conflicts found; nothing may be staged if there are any.
  [[nodiscard]] const std::vector<FileConflict>& conflicts() const { return conflicts_; }

  /// The files of installed packages, or of none, that are replaced.
  [[nodiscard]] const std::vector<OverwrittenPath>& overwritten() const { return overwritten_; }

  /// Metadata of a package that stays, for the sake of files that it lost to `by`.
  struct RewrittenMetadata {
    const NewPackage* by;
    NewFile file;
  };
  /// To be moved away only when everything is staged.
  [[nodiscard]] std::list<RewrittenMetadata>& rewritten() { return rewritten_; }

  /// Creates everything under `folder`, one entry per thing, as create_things does, and appends the
  /// moves to `journal`. Errors: those of create_things.
  [[nodiscard]] Result<void> stage(const std::string& folder, const std::string& store,
                                   LinkMode mode, Journal& journal);

 private:
  /// What installed packages lose.
  struct Losses {
    std::vector<LostFile> files;
    const NewPackage* by = nullptr;  ///< one of those that have them
  };
  /// `owners`: those of the existing file at the path of `thing`, which is replaced.
  Result<void> replace(StagedThing thing, const std::vector<Owner>& owners,
                       std::map<const InstalledDistribution*, Losses>& losses);
  Result<void> rewrite(const InstalledDistribution& distribution, const Losses& losses);
  /// Of a module that is replaced: it may seem to be that of the new one.
  Result<void> remove_byte_code(const std::string& module);
  void remove(const std::string& path, const std::string& package);

  static void add_packages(const StagedPath& node, std::set<std::string>& names);
  /// Below the environment's base.
  [[nodiscard]] StagedPath tree_of(const NewPackage& package,
                                   std::vector<FileConflict>& conflicts) const;
  /// Of files at one path, the first of `into` counts.
  void merge(StagedPath& into, StagedPath& from);
  /// The files of `from` have no place beside what is at `there`, unless they are the same.
  void collide(const StagedPath& there, const StagedPath& from);
  static void add_conflict(const StagedPath& there, const NewFile& file, const NewPackage& package,
                           std::vector<FileConflict>& conflicts);
  Result<void> walk(StagedPath& folder, const std::string& path);
  const Roots& roots_;
  Removal& removal_;
  StagedPath root_;
  std::vector<StagedThing> entering_;
  std::vector<StagedThing> contested_;  ///< files whose path is taken
  std::vector<FileConflict> conflicts_;
  std::vector<OverwrittenPath> overwritten_;
  std::list<RewrittenMetadata> rewritten_;
  std::list<StagedPath> rewritten_nodes_;
};

}  // namespace axle::installer
