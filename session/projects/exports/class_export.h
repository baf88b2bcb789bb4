#pragma once
// A class of a lock, for the tools that people keep: each format is one row and one function.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "plan/lock/lock.h"
#include "resolver/predicate/predicate.h"

namespace axle::session {

/// What is exported. It is valid as long as the lock.
struct ClassExport {
  const plan::LockedClass& about;
  resolver::Predicate holds;                   ///< `about.holds`, parsed
  std::vector<plan::ReachedPackage> packages;  ///< sorted by name
  std::string folder;                          ///< of the lock, absolute
};

struct ExportFormat {
  std::string_view name;   ///< "requirements"
  std::string_view begin;  ///< of the file's name, before ".CLASS."
  std::string_view end;    ///< behind it: "txt"
  /// Errors: unsupported: the format cannot say what the class has, and what to do instead.
  Result<std::string> (*render)(const ClassExport& one, Report& report);

  /// "pylock.train.toml"
  [[nodiscard]] std::string file_name(std::string_view class_name) const;
};

[[nodiscard]] std::span<const ExportFormat> export_formats();
/// nullptr: there is none of that name.
[[nodiscard]] const ExportFormat* find_export_format(std::string_view name);

// One a file.
[[nodiscard]] Result<std::string> render_requirements(const ClassExport& one, Report& report);
[[nodiscard]] Result<std::string> render_pylock(const ClassExport& one, Report& report);
[[nodiscard]] Result<std::string> render_uv_sources(const ClassExport& one, Report& report);
[[nodiscard]] Result<std::string> render_conda(const ClassExport& one, Report& report);
[[nodiscard]] Result<std::string> render_node_affinity(const ClassExport& one, Report& report);
[[nodiscard]] Result<std::string> render_slurm(const ClassExport& one, Report& report);
[[nodiscard]] Result<std::string> render_oci(const ClassExport& one, Report& report);

/// What the formats of packages say above: the class, its machine, its Python and its predicate.
[[nodiscard]] std::string describe_class(const ClassExport& one);

/// pip, uv and conda read no file name with a label. Error: unsupported, if there is one.
[[nodiscard]] Result<void> refuse_labels(const ClassExport& one, std::string_view format);

/// The index that most packages of no family come from, absolute; empty: no package comes from one
/// that others can be told by its URL.
[[nodiscard]] std::string main_index(const ClassExport& one);

/// The lines of a requirements file with hashes, an entry a package, without the index.
struct RequirementLines {
  std::vector<std::string> lines;    ///< "demo==1.0 --hash=sha256:…", "demo @ URL --hash=…"
  std::vector<std::string> without;  ///< of packages without a hash: "-e /srv/project"
};
[[nodiscard]] RequirementLines requirement_lines(const ClassExport& one);

}  // namespace axle::session
