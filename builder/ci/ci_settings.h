#pragma once
// [tool.axle.ci]: what a CI system is told that does not follow from the matrix.

#include <optional>
#include <string>
#include <vector>

#include "builder/table/row_settings.h"
#include "foundation/documents/toml_reader.h"

namespace axle::builder {

/// How one job runs, in [tool.axle.ci] for all jobs and in [[tool.axle.ci.jobs]] for some. Unset
/// and empty: what follows from the row.
struct JobSettings {
  std::vector<std::string> runs_on = {};               ///< GitHub: labels of the runner
  std::vector<std::string> tags = {};                  ///< GitLab: those of the runner
  std::string image = {};                              ///< GitLab: the container
  std::string host = {};                               ///< the runner's architecture: "x86_64"
  std::optional<std::vector<std::string>> setup = {};  ///< shell lines before the job's own
  std::string smoke = {};    ///< "native", "required", "emulated" or "none"
  std::string machine = {};  ///< --for of an emulated one
  std::string python = {};   ///< the interpreter that is emulated
  std::string root = {};     ///< the folder with its C library
  Definitions slurm = {};    ///< options of sbatch, without "--"
};

/// One of [[tool.axle.ci.jobs]].
struct JobRule {
  std::vector<std::string> labels = {};  ///< "plain": the plain wheel; empty: all
  std::string architecture = {};         ///< empty: all
  JobSettings settings = {};
  std::string place = {};  ///< "pyproject.toml:12", for errors
};

struct CiSettings {
  std::optional<std::vector<std::string>> imports = {};  ///< modules that smoke tests import
  std::vector<std::string> lock_files = {};              ///< what they say decides the result, too
  std::string lock_files_place = {};                     ///< "pyproject.toml:12", for errors
  /// `variant index build`: a folder, s3://BUCKET/PREFIX or https://HOST/FOLDER
  std::string index = {};
  std::string repository_url = {};  ///< `variant publish`
  JobSettings of_all = {};
  std::vector<JobRule> rules = {};
};

/// `ci` of [tool.axle]. Every text is one line without control characters, and no address has a
/// login: everybody reads a CI file.
[[nodiscard]] CiSettings read_ci_settings(documents::TomlTable& axle);

/// What `above` says replaces what `below` says.
[[nodiscard]] JobSettings overlaid(JobSettings below, const JobSettings& above);

}  // namespace axle::builder
