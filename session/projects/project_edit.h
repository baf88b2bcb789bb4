#pragma once
// Changes requirements in the text of a pyproject.toml. Comments, order, quoting and indentation of
// everything else stay as they are; the changed text is read again and must mean the old document
// with the change, and nothing else.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::session {

/// A list of requirements in a pyproject.toml.
struct RequirementList {
  enum class Kind : std::uint8_t {
    dependencies,  ///< [project] dependencies
    extra,         ///< [project.optional-dependencies] NAME
    group          ///< [dependency-groups] NAME (PEP 735)
  };
  Kind kind = Kind::dependencies;
  std::string name = {};  ///< of extra or group; any spelling of it

  [[nodiscard]] std::string shown() const;  ///< "dependencies", "the extra fast", "the group dev"
};

/// A file before and after a change.
struct ProjectEdit {
  std::string file;      ///< absolute
  std::string old_text;  ///< empty: there is no file yet
  std::string new_text;
  /// What was changed, for messages: "torch>=2.15.0", in the order in which it was asked for.
  std::vector<std::string> changed = {};

  [[nodiscard]] bool is_empty() const { return old_text == new_text; }
};

/// Adds `requirement` (PEP 508) to `list`, which is made if it is not there: sorted, if the list
/// is; else at its end. What has the same name, and the same marker or none stated, is changed
/// instead: extras are added, a version or URL replaces the old one, and without either those stay.
/// Errors: malformed for a text that is no requirement; conflict if several of that name, with
/// markers, are there; unsupported if the text cannot be changed without changing more than that.
[[nodiscard]] Result<void> add_requirement(ProjectEdit& edit, const RequirementList& list,
                                           std::string_view requirement);

/// Removes all requirements of that name. Errors: not_found (the hint says where it is), as above.
[[nodiscard]] Result<void> remove_requirement(ProjectEdit& edit, const RequirementList& list,
                                              std::string_view name);

/// Gives the requirements of `list` that state neither version nor URL the lower bound of
/// `versions`, by normalised names. Errors: as of add_requirement.
[[nodiscard]] Result<void> bound_requirements(
    ProjectEdit& edit, const RequirementList& list,
    const std::map<std::string, std::string, std::less<>>& versions);

/// Writes the new text in the place of the old one, or back. Errors: io; mismatch, if the file is
/// not what it was when it was read.
[[nodiscard]] Result<void> write_edit(const ProjectEdit& edit);
[[nodiscard]] Result<void> take_back(const ProjectEdit& edit);

}  // namespace axle::session
