#pragma once
// The `[project]` table (PEP 621, 639) and the resulting files in a wheel's .dist-info.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/documents/toml_reader.h"
#include "foundation/report/error.h"
#include "wheel/version.h"
#include "wheel/wheel_writer.h"

namespace axle::builder {

struct EntryPointGroup {
  std::string name;  ///< "console_scripts"
  std::vector<std::pair<std::string, std::string>> entries;
};

struct ProjectMetadata {
  std::string name;  ///< as written
  wheel::Version version;
  std::string summary;
  std::string requires_python;
  std::vector<std::string> requires_dist;  ///< including extras' requirements, with their marker
  std::vector<std::string> extras;         ///< normalised
  std::string readme_file;                 ///< relative to the project
  std::string readme_text;                 ///< in the table itself
  std::string readme_type;                 ///< "text/markdown"
  std::string license_expression;
  std::string license_text;                ///< of the old table form
  std::string license_file;                ///< of the old table form
  std::vector<std::string> license_files;  ///< as listed; empty: the usual names
  bool license_files_stated = false;
  std::vector<std::string> keywords;
  std::vector<std::string> classifiers;
  std::vector<std::pair<std::string, std::string>> urls;
  std::vector<std::pair<std::string, std::string>> people;  ///< METADATA field, value
  std::vector<EntryPointGroup> entry_points;
};

/// Errors are added to the table's reading. Variant markers (PEP 825) in requirements are rejected
/// unless `variant_markers`: no released installer can parse them.
[[nodiscard]] ProjectMetadata read_project_metadata(documents::TomlTable& project,
                                                    bool variant_markers);

/// METADATA, entry_points.txt and the licence files, without the ones that depend on the build.
/// `folder` is the project's; files that `[project]` refers to are read from it. Errors: not_found,
/// malformed (a file outside of the project, or too large for a text), unsupported.
[[nodiscard]] Result<std::vector<wheel::WheelMember>> render_dist_info(
    const ProjectMetadata& metadata, const std::string& folder, std::string_view dist_info);

}  // namespace axle::builder
