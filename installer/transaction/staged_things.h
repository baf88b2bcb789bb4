#pragma once
// What is to enter an environment, and how it is created beside it: the store's files linked or
// copied, other files written. Where an environment has returned its links to the files of a wheel
// (store/spare_tree.h), these are used.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "installer/transaction/link_mode.h"
#include "installer/transaction/new_package.h"
#include "installer/tree/leaves.h"

namespace axle::installer {

struct StagedPath {
  std::map<std::string_view, StagedPath> children;  ///< names of the paths of NewFiles
  const NewFile* file = nullptr;
  const NewPackage* package = nullptr;
};

/// A file, or a whole folder.
struct StagedThing {
  StagedPath* node;
  std::string path;  ///< absolute
};

/// Creates each of `things` under `folder`, with its place among them as its name, and the store's
/// files as `mode` says. Spare links come from wheels in `store` alone; those that are not as new
/// ones would be go beside `folder`. Returns of each what list_leaves would: links have the
/// attributes that the store's files had when they were checked, so that they are not checked
/// again. Errors: io, those of place_file.
[[nodiscard]] Result<std::vector<Leaves>> create_things(const std::vector<StagedThing>& things,
                                                        const std::string& folder,
                                                        const std::string& store, LinkMode mode);

}  // namespace axle::installer
