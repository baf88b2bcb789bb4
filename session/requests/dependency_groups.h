#pragma once
// Dependency groups of a pyproject.toml (PEP 735), as `--group [PATH:]NAME` requests them.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "foundation/report/error.h"
#include "session/requests/requirements_file.h"

namespace axle::session {

/// The groups of one file.
class DependencyGroups {
 public:
  /// Checks the names of all groups; the entries of a group only when it is requested, as PEP 735
  /// says. `where`: the file, for errors. Errors: malformed.
  [[nodiscard]] static Result<DependencyGroups> parse(std::string_view text, std::string where);

  DependencyGroups(const DependencyGroups&) = delete;
  DependencyGroups& operator=(const DependencyGroups&) = delete;
  DependencyGroups(DependencyGroups&&) = default;
  DependencyGroups& operator=(DependencyGroups&&) = default;
  ~DependencyGroups() = default;

  /// Adds the requirements of the group `name` and of the groups that it includes, in their order;
  /// a group that an earlier call or another include added is not added again. Errors: not_found
  /// for a group that does not exist; malformed, with line and group.
  [[nodiscard]] Result<void> take(std::string_view name, std::vector<FileRequirement>& into);

  /// The requirements of the group `name` alone and of the groups that it includes, whatever was
  /// taken before. Errors: as above.
  [[nodiscard]] Result<std::vector<FileRequirement>> all_of(std::string_view name);

  /// For messages: as written, in the order of their normalised names.
  [[nodiscard]] std::vector<std::string> names() const;
  /// For `take`: normalised, sorted.
  [[nodiscard]] std::vector<std::string> normalized_names() const;

 private:
  struct Group {
    std::string name;  ///< as written, shortened if it is very long
    const toml::node* entries = nullptr;
    bool taken = false;
  };
  struct Taking;

  explicit DependencyGroups(std::string where) : where_(std::move(where)) {}

  [[nodiscard]] Result<void> take_entry(const toml::node& entry, Taking& taking);
  [[nodiscard]] Result<void> check_uv(std::string_view normalized) const;
  [[nodiscard]] Result<void> open(Group& group, Taking& taking) const;
  [[nodiscard]] std::string origin(const toml::node& entry, const Group& group) const;
  [[nodiscard]] std::string known_names(std::string_view unknown) const;

  std::string where_;
  toml::table document_;
  std::map<std::string, Group, std::less<>> groups_;  ///< by normalised name
};

/// The requirements of `requested`, each "NAME" of ./pyproject.toml or "PATH:NAME". Errors:
/// malformed for another kind of path or name; not_found/io for the file; as above.
[[nodiscard]] Result<std::vector<FileRequirement>> read_dependency_groups(
    const std::vector<std::string>& requested);

/// The file of one of these, as written; it was read before.
[[nodiscard]] std::string file_of_group(const std::string& requested);

/// Whether `requested`, as above, contains the group `name` of `file`.
[[nodiscard]] bool is_requested(const std::string& file, std::string_view name,
                                const std::vector<std::string>& requested);

}  // namespace axle::session
