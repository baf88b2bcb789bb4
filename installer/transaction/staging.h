#pragma once
// From new packages to the things that enter an environment: staged beside it, checked against what
// is there.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "installer/descriptor.h"
#include "installer/environment/installed.h"
#include "installer/environment/roots.h"
#include "installer/transaction/file_conflict.h"
#include "installer/transaction/journal.h"
#include "installer/transaction/leaves.h"
#include "installer/transaction/new_package.h"
#include "installer/transaction/removal.h"

namespace axle::installer {

class Staging {
 public:
  Staging(const Roots& roots, Removal& removal) : roots_(roots), removal_(removal) {}

  /// `package` must outlive this. Where two packages put different files at one place, that is a
  /// conflict.
  void add(const NewPackage& package);

  /// Compares with the environment less what is removed. A file that is there already and equal by
  /// the RECORD of its owner is shared, or replaced where it was edited since; any other is a
  /// conflict, unless `overwrite`: then it leaves too. Error: io.
  [[nodiscard]] Result<void> check(const std::vector<InstalledDistribution>& staying,
                                   bool overwrite);

  /// Those that were found; nothing may be staged while there is one.
  [[nodiscard]] const std::vector<FileConflict>& conflicts() const { return conflicts_; }

  /// Makes everything under `folder`, one entry a thing, by hard links to the store where the file
  /// system allows and the permissions there are those of a new file, else by copies, and appends
  /// the moves to `journal`. Error: io.
  [[nodiscard]] Result<void> stage(const std::string& folder, Journal& journal);

 private:
  struct StagedPath {
    std::map<std::string, StagedPath, std::less<>> children;
    const NewFile* file = nullptr;
    const NewPackage* package = nullptr;
  };
  struct Thing {
    StagedPath* node;
    std::string path;  ///< absolute
  };

  static void add_packages(const StagedPath& node, std::set<std::string>& names);
  Result<void> walk(StagedPath& folder, const std::string& path);
  /// Notes in `leaves` what it makes, as list_leaves would: links are as the store's files were
  /// when they were looked at, so that these are not looked at again. `below`: the path below the
  /// thing.
  Result<void> make(const StagedPath& node, int folder_fd, const std::string& name,
                    const std::string& below, Leaves& leaves);
  enum class Made : std::uint8_t { linked, written };
  Result<Made> make_file(const StagedPath& node, int folder_fd, const std::string& name);

  [[nodiscard]] unsigned new_file_mode(bool executable) const {
    return (executable ? 0777U : 0666U) & ~umask_;
  }

  const Roots& roots_;
  Removal& removal_;
  unsigned umask_ = process_umask();
  StagedPath root_;
  std::vector<Thing> entering_;
  std::vector<Thing> contested_;  ///< files at whose place there is one
  std::vector<FileConflict> conflicts_;
  std::map<const NewPackage*, Descriptor> trees_;
};

}  // namespace axle::installer
