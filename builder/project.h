#pragma once
// A project as its pyproject.toml describes it: its metadata ([project]), its variants ([variant],
// PEP 850's build-side draft) and how they are built ([tool.axle]).

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/ci/ci_settings.h"
#include "builder/project_metadata.h"
#include "builder/table/row_settings.h"
#include "builder/toolchains/toolchain.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::builder {

/// [tool.axle.cmake]
struct CMakeSettings {
  std::string source;  ///< relative to the project
  std::string build_type = "Release";
  Definitions define;
};

/// One wheel: of a product of axes, of [[tool.axle.variant]], or of a label of [variant].
struct MatrixRow {
  std::string label;         ///< empty: the plain wheel
  std::string architecture;  ///< "x86_64"; empty: that of the machine that builds
  RowSettings settings;      ///< with those of all rows
  std::string place;         ///< "pyproject.toml:12", for errors
};

struct Project {
  ProjectMetadata metadata;
  std::optional<wheel::VariantMetadata> variants;  ///< absent: plain wheels only
  std::vector<std::string> packages;               ///< folders and modules of Python code
  std::string python_tag = "py3";
  std::optional<CMakeSettings> cmake;
  std::string back_end;  ///< its package; empty: [build-system] is missing
  std::map<std::string, StatedCompilers> toolchains;  ///< by architecture
  std::string place;                                  ///< "pyproject.toml", for errors
  std::vector<std::string> allowed_instructions;      ///< names of capabilities: CodeDeclaration
  std::vector<std::string> allowed_libraries;  ///< that the machine must provide: "libcuda.so.1"
  CiSettings ci;                               ///< [tool.axle.ci]
  std::vector<MatrixRow> matrix;               ///< never empty

  /// Whether the back end makes its wheels: [tool.axle] lists neither packages nor a CMake project.
  /// [project] is the back end's then, and only its name is read, if it has one.
  [[nodiscard]] bool is_of_back_end() const {
    return packages.empty() && !cmake && !back_end.empty();
  }
  [[nodiscard]] const wheel::VariantProperties& properties_of(const MatrixRow& row) const;
};

/// `where` is the file named in errors. Checks everything that does not need a compiler: every
/// label has properties and a valid name, every namespace a provider, every property is known to
/// its provider, single-valued features have one value. Errors: malformed and unsupported, with
/// line and key.
[[nodiscard]] Result<Project> parse_project(std::string_view text, const std::string& where,
                                            Report& report);

/// The same, of a file; not_found if there is none.
[[nodiscard]] Result<Project> read_project(const std::string& file, Report& report);

}  // namespace axle::builder
