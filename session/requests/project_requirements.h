#pragma once
// What the project of a pyproject.toml requires: `-r pyproject.toml`, `--extra NAME`,
// `--all-extras`, with uv's meaning.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "foundation/report/error.h"
#include "session/options.h"
#include "session/requests/requirements_file.h"

namespace axle::session {

/// [project] of one file (PEP 621).
class ProjectRequirements {
 public:
  /// `where`: the file, for errors. Errors: malformed, also without the table and for dependencies
  /// that only a build finds out (`dynamic`).
  [[nodiscard]] static Result<ProjectRequirements> parse(std::string_view text, std::string where);

  ProjectRequirements(const ProjectRequirements&) = delete;
  ProjectRequirements& operator=(const ProjectRequirements&) = delete;
  ProjectRequirements(ProjectRequirements&&) = default;
  ProjectRequirements& operator=(ProjectRequirements&&) = default;
  ~ProjectRequirements() = default;

  [[nodiscard]] const std::string& name() const { return name_; }  ///< normalised
  [[nodiscard]] bool has(const std::string& extra) const { return extras_.contains(extra); }
  /// Normalised, sorted.
  [[nodiscard]] std::vector<std::string> extras() const;

  /// Adds `dependencies`, then those of the extras `wanted` (normalised, of which each is there),
  /// and of what these name of the project itself (`all = ["demo[fast]"]`).
  [[nodiscard]] Result<void> take(std::vector<std::string> wanted,
                                  std::vector<FileRequirement>& into) const;
  /// Those of one extra alone, and of what it names of the project itself.
  [[nodiscard]] Result<void> take_extra(const std::string& extra,
                                        std::vector<FileRequirement>& into) const;
  /// The whole file, and its [project].
  [[nodiscard]] const toml::table& document() const { return document_; }
  [[nodiscard]] const toml::table& table() const { return *document_["project"].as_table(); }

 private:
  struct Taking;

  explicit ProjectRequirements(std::string where) : where_(std::move(where)) {}

  [[nodiscard]] Result<void> read_extras();
  [[nodiscard]] std::unexpected<Error> bad(const toml::node& at, std::string_view why) const;
  [[nodiscard]] Result<void> take_list(const toml::node& list, const std::string& what,
                                       Taking& taking) const;
  [[nodiscard]] Result<void> take_extras(Taking& taking) const;

  std::string where_;
  std::string name_;
  toml::table document_;
  const toml::node* dependencies_ = nullptr;
  std::map<std::string, const toml::node*, std::less<>> extras_;  ///< by normalised name
};

/// By its name, as uv does.
[[nodiscard]] bool is_project_file(std::string_view path);

struct RequestedExtras {
  std::vector<std::string> names;  ///< as written
  bool all = false;
};

[[nodiscard]] RequestedExtras requested_extras(const Arguments& arguments);

/// Whether one of the requested files is `file`, and its extra `name` is wanted.
[[nodiscard]] bool is_extra_requested(const std::string& file, std::string_view name,
                                      const Arguments& arguments);

/// Adds `dependencies` of [project] of each of `files`, and those of its optional ones that are
/// requested; an extra may name others of its own project (`all = ["demo[fast]"]`). Errors:
/// not_found/io for a file; not_found for an extra that none of them has; malformed, also for
/// dependencies that only a build finds out (`dynamic`).
[[nodiscard]] Result<std::vector<FileRequirement>> read_project_requirements(
    const std::vector<std::string>& files, const RequestedExtras& extras);

}  // namespace axle::session
