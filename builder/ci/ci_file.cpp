#include "builder/ci/ci_file.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "builder/ci/quoting.h"
#include "foundation/text/quote.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

struct SystemRow {
  CiSystem system;
  std::string_view file;  ///< relative to the repository
  std::size_t largest_group;
  std::string (*render)(const CiPlan& plan);
  bool sets_up;  ///< its machines have nothing but their system
};

// The most jobs of a matrix: GitHub's limit is 256, GitLab's 200, Slurm's MaxArraySize 1001.
constexpr SystemRow systems[] = {
    {CiSystem::github, ".github/workflows/variants.yml", 256, render_github, true},
    {CiSystem::gitlab, ".gitlab/variants.yml", 200, render_gitlab, true},
    {CiSystem::slurm, "variants.slurm", 1001, render_slurm, false},
    {CiSystem::make, "variants.mk", 1'000'000, render_make, false}};

/// Where version control begins, else the project itself: CI systems start there.
fs::path repository_of(const fs::path& project) {
  std::error_code error;
  for (fs::path folder = project; folder.has_relative_path(); folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", error)) return folder;
  }
  return project;
}

/// Which no program takes for an option.
std::string relative_name(const fs::path& path, const fs::path& folder) {
  std::string name = path.lexically_relative(folder).generic_string();
  return name.starts_with('-') ? "./" + name : name;
}

Result<std::string> checked_name(std::string name) {
  if (is_plain_line(name)) return name;
  return fail(ErrorKind::malformed,
              fmt::format("{}: a path with control characters, or one that is not UTF-8, cannot be "
                          "in a CI file",
                          text::quote(name)),
              "rename it");
}

/// One that is not there would never decide anything.
Result<void> check_lock_files(const fs::path& folder, const CiSettings& ci) {
  for (const std::string& file : ci.lock_files) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / file, ignored)) continue;
    return fail(ErrorKind::not_found,
                fmt::format("{}: tool.axle.ci.lock-files: the project has no file {}",
                            ci.lock_files_place, text::quote(file)),
                "name it relative to pyproject.toml, and make it first");
  }
  return {};
}

Result<void> check_limits(CiSystem system, const CiPlan& plan) {
  constexpr std::size_t most = 2;  // cache:key:files
  if (system != CiSystem::gitlab || plan.lock_files.size() <= most) return {};
  return fail(ErrorKind::unsupported,
              fmt::format("GitLab's cache keys take {} files, and tool.axle.ci.lock-files has {}",
                          most, plan.lock_files.size()),
              "leave out those that others follow from");
}

}  // namespace

Result<CiFile> make_ci_file(const CiRequest& request, Report& report) {
  std::error_code error;
  fs::path folder = fs::weakly_canonical(request.project_folder, error);
  if (!folder.has_filename()) folder = folder.parent_path();
  const auto project = read_project((folder / "pyproject.toml").string(), report);
  if (!project) return std::unexpected(project.error());
  if (auto there = check_lock_files(folder, project->ci); !there)
    return std::unexpected(there.error());
  const SystemRow& row = systems[static_cast<std::size_t>(request.system)];
  const fs::path root = repository_of(folder);
  const fs::path standard = row.sets_up ? root / row.file : folder / row.file;
  const fs::path out =
      request.out.empty() ? standard : fs::weakly_canonical(request.out, error).lexically_normal();

  CiPlaces places;
  auto name = checked_name(relative_name(folder, root));
  if (!name) return std::unexpected(name.error());
  places.project = std::move(*name);
  auto file = checked_name(relative_name(out, root));
  if (!file) return std::unexpected(file.error());
  places.file = std::move(*file);
  places.largest_group = row.largest_group;
  if (row.sets_up) {
    const bool github = request.system == CiSystem::github;
    places.setup = {github ? "pipx install variant-install"
                           : "python3 -m pip install --quiet variant-install"};
    const std::string_view as = github ? "sudo " : "";
    places.cross_setup = {
        fmt::format("{}apt-get -qq update", as),
        fmt::format("{}apt-get -qq install -y --no-install-recommends g++-aarch64-linux-gnu "
                    "qemu-user",
                    as)};
  }
  const auto plan = plan_ci(*project, places);
  if (!plan) return std::unexpected(plan.error());
  if (auto within = check_limits(request.system, *plan); !within)
    return std::unexpected(within.error());
  return CiFile{out.string(), row.render(*plan)};
}

}  // namespace axle::builder
