#pragma once
// Which environments have symbolic links into a store (--link-mode symlink): what they point to
// must stay.
//
//   <store>/linked/<sha256 of the path>   the path of such an environment's base folder

#include <map>
#include <string>
#include <vector>

#include "foundation/report/error.h"

namespace axle::installer {

/// To be called before the first link of the environment `base` is visible. Error: io.
[[nodiscard]] Result<void> remember_linked(const std::string& store, const std::string& base);

struct LinkedEnvironments {
  /// Folder of an entry -> the environments that have links to its files.
  std::map<std::string, std::vector<std::string>> by_entry = {};
  std::vector<std::string> ended = {};  ///< records of environments that have none any more
};

/// Looks through the environments that the store knows. Error: io (the store's records, or one of
/// the environments, cannot be read: what it links is unknown).
[[nodiscard]] Result<LinkedEnvironments> find_linked(const std::string& store);

}  // namespace axle::installer
