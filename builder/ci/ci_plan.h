#pragma once
// The jobs of a CI system: one for each wheel of the matrix, grouped by what they run on.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "builder/ci/ci_settings.h"
#include "builder/project.h"
#include "foundation/report/error.h"

namespace axle::builder {

struct CiJob {
  std::string name;          ///< "v3", "plain", "null-aarch64": unique
  std::string label;         ///< --variant
  std::string architecture;  ///< --arch
  std::string row;           ///< a hash of all in the table that decides the result
  std::string tools;         ///< programs whose versions decide it, too, separated by blanks
  JobSettings settings;      ///< complete: nothing that a job needs is empty
};

/// Jobs that differ in nothing but their variant.
struct CiGroup {
  std::string name;  ///< "build-x86_64", "cross-aarch64-2": unique
  bool cross = false;
  std::vector<CiJob> jobs;  ///< in the order of the matrix, never empty

  /// What all of them have: runs_on, tags, image, host, setup and slurm.
  [[nodiscard]] const JobSettings& settings() const { return jobs.front().settings; }
};

/// Where wheels are published.
enum class CiTarget : std::uint8_t {
  nothing,
  folder,   ///< an index in a folder
  storage,  ///< one in a storage of S3's kind
  server,   ///< one on a WebDAV server
  uploads   ///< an index that takes uploads
};

struct CiPlan {
  std::string title;                    ///< of the project
  std::string name;                     ///< the same, normalized: of folders, caches
  std::string project;                  ///< its folder, relative to where the jobs begin
  std::string file;                     ///< the CI file, relative to there
  std::vector<std::string> imports;     ///< modules that smoke tests import
  std::vector<std::string> lock_files;  ///< relative to where the jobs begin
  CiTarget target = CiTarget::nothing;
  std::string index;               ///< of a folder, storage or server
  std::string repository_url;      ///< of uploads
  Definitions slurm;               ///< of jobs that build nothing
  std::vector<std::string> setup;  ///< of jobs that build nothing
  std::vector<CiGroup> groups;     ///< never empty
  std::size_t count = 0;           ///< of the jobs in all groups
};

/// What the CI system determines.
struct CiPlaces {
  std::string project;                        ///< CiPlan::project
  std::string file;                           ///< CiPlan::file
  std::size_t largest_group = 1;              ///< a group with more jobs is divided
  std::vector<std::string> setup = {};        ///< where the table says none
  std::vector<std::string> cross_setup = {};  ///< then also, for aarch64 on x86_64
};

/// Errors: malformed (a rule for a job that the matrix lacks, with its place; two rows of one
/// name), unsupported (a test that a job cannot have).
[[nodiscard]] Result<CiPlan> plan_ci(const Project& project, const CiPlaces& places);

}  // namespace axle::builder
