#pragma once
// From new packages to the things to add to an environment: staged next to it, compared with the
// existing files.

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "installer/environment/installed.h"
#include "installer/environment/ownership.h"
#include "installer/environment/roots.h"
#include "installer/file_access.h"
#include "installer/transaction/file_conflict.h"
#include "installer/transaction/journal.h"
#include "installer/transaction/link_mode.h"
#include "installer/transaction/new_package.h"
#include "installer/transaction/overwriting.h"
#include "installer/transaction/removal.h"
#include "installer/tree/leaves.h"

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

  /// Creates everything under `folder`, one entry per thing, with the store's files as `mode` says,
  /// and appends the moves to `journal`. Errors: those of place_file.
  [[nodiscard]] Result<void> stage(const std::string& folder, LinkMode mode, Journal& journal);

 private:
  struct StagedPath {
    std::map<std::string_view, StagedPath> children;  ///< names of the paths of NewFiles
    const NewFile* file = nullptr;
    const NewPackage* package = nullptr;
  };
  struct Thing {
    StagedPath* node;
    std::string path;  ///< absolute
  };

  /// What installed packages lose.
  struct Losses {
    std::vector<LostFile> files;
    const NewPackage* by = nullptr;  ///< one of those that have them
  };
  /// `owners`: those of the existing file at the path of `thing`, which is replaced.
  Result<void> replace(Thing thing, const std::vector<Owner>& owners,
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
  /// A file to be created.
  struct StagedFile {
    const NewFile* file;
    const NewPackage* package;
    const std::string* folder;  ///< below the folder of staging; nullptr: it is the thing itself
    StoreTree tree;             ///< that has it, if any
    bool byte_code;
  };
  /// What a thing consists of. It may have ten thousands of files, which therefore share the paths
  /// of their folders.
  struct StagedThing {
    std::string name;  ///< in the folder of staging: a number
    std::list<std::string> folders;
    std::vector<StagedFile> files;  ///< in the order of Leaves
  };
  /// Appends the file of `node`, which is in `folder`.
  Result<void> add_file(const StagedPath& node, const std::string* folder, bool byte_code,
                        StagedThing& thing);
  /// Creates the folders of a thing: `node`, which is at `path`, and those below.
  Result<void> make_folders(const StagedPath& node, int folder_fd, std::string path, bool byte_code,
                            StagedThing& thing);
  /// The same of each of `entering_`, several at once: below `folder_fd`, by their numbers.
  Result<std::vector<StagedThing>> make_all_folders(int folder_fd);
  /// Several threads create the files of `things`, and record those of each in its `leaves`, like
  /// list_leaves but with byte code: links have the attributes that the store's files had when they
  /// were checked, so that they are not checked again.
  Result<void> make_files(const std::vector<StagedThing>& things, int folder_fd,
                          std::vector<Leaves>& leaves) const;
  /// One of them.
  Result<void> make_file(const StagedThing& thing, const StagedFile& file, int folder_fd,
                         Leaf& leaf) const;
  /// That has the file of `node`, which comes after `files`. By several threads.
  Result<StoreTree> store_tree_of(const StagedPath& node, const std::vector<StagedFile>& files);

  const Roots& roots_;
  Removal& removal_;
  LinkMode link_mode_ = LinkMode::best;
  unsigned umask_ = process_umask();
  StagedPath root_;
  std::vector<Thing> entering_;
  std::vector<Thing> contested_;  ///< files whose path is taken
  std::vector<FileConflict> conflicts_;
  std::vector<OverwrittenPath> overwritten_;
  std::list<RewrittenMetadata> rewritten_;
  std::list<StagedPath> rewritten_nodes_;
  std::mutex trees_mutex_;
  std::map<std::string_view, Descriptor> trees_;  ///< the store's, by their paths
};

}  // namespace axle::installer
