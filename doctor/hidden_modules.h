#pragma once
// Which modules of an environment, and of Python itself, others with their names hide: Python's
// path finder (its documentation, "The import system") on the folders of sys.path.

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "doctor/finding.h"
#include "doctor/import_names.h"
#include "doctor/installed_files.h"
#include "doctor/search_path.h"

namespace axle::doctor {

/// A module that is not imported.
struct HiddenModule {
  std::string name;                                ///< or that of the package that it is in
  std::string file;                                ///< that hides it
  std::string own;                                 ///< its own one
  const InstalledPackageFiles* package = nullptr;  ///< nullptr: Python's own
  std::size_t place = 0;                           ///< of its own folder on the path, or behind it
  std::vector<std::size_t> hiders = {};  ///< the places that hide it, of which the first does
};

/// Only what comes before without belonging to the environment counts as hiding something.
class HiddenModules {
 public:
  /// `path` outlives it.
  HiddenModules(const InstalledFiles& files, const SearchPath& path, Findings& findings);

  /// By the place of the folder on the path that hides them; the folders of one .pth file together,
  /// at the first of them.
  [[nodiscard]] const std::map<std::size_t, std::vector<HiddenModule>>& all() const {
    return hidden_;
  }
  /// Whether something is hidden by what is in `folder`.
  [[nodiscard]] bool hides(const std::string& folder) const;
  /// The places that hide something.
  [[nodiscard]] const std::set<std::size_t>& hiders() const { return hiders_; }

 private:
  /// Names that a folder provides to this interpreter, with the file that it takes for each.
  using Modules = std::map<std::string, ImportName, std::less<>>;

  /// The module `name` ("nvidia.cudnn") in the folder at `place`; nullptr: none.
  const ImportName* module_at(std::size_t place, const std::string& name);
  void find_standard(const std::string& name);
  /// `folder`: of the module, on the path.
  void find(HiddenModule module, const std::string& folder);
  void keep(HiddenModule module);
  [[nodiscard]] std::size_t finding_place(std::size_t place) const;

  const SearchPath& path_;
  Findings& findings_;
  std::vector<std::string> real_;  ///< the folders with links resolved
  /// Of a place, and of a folder in it that is a part of a namespace ("nvidia").
  std::map<std::pair<std::size_t, std::string>, Modules> modules_;
  std::map<std::size_t, std::vector<HiddenModule>> hidden_;
  std::set<std::size_t> hiders_;
};

}  // namespace axle::doctor
