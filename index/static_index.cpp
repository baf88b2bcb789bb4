#include "index/static_index.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "index/index_pages.h"
#include "index/local_files.h"
#include "index/release_variants.h"
#include "index/staged_folder.h"
#include "index/wheel_scan.h"

namespace axle::index {
namespace {

using WheelsByVersion = std::map<wheel::Version, std::vector<const ScannedWheel*>>;

/// Everything of one project that is written.
struct Project {
  IndexedProject summary;
  std::vector<std::string> versions;
  std::vector<ListedFile> files;
  std::vector<VariantsFile> variants;
  std::vector<const ScannedWheel*> wheels;
};

Result<Project> describe_project(const std::string& name, const WheelsByVersion& releases) {
  Project project;
  project.summary.name = name;
  std::set<std::string> labels;
  for (const auto& [version, wheels] : releases) {
    project.versions.push_back(wheel::render_version(version));
    for (const ScannedWheel* wheel : wheels) {
      project.files.push_back({wheel->filename, wheel->sha256, wheel->size, wheel->requires_python,
                               wheel->metadata_sha256});
      project.wheels.push_back(wheel);
      if (wheel->name.is_variant()) labels.insert(wheel->name.label);
    }
    Result<std::optional<VariantsFile>> variants = combine_variants(wheels);
    if (!variants) return std::unexpected(std::move(variants.error()));
    if (*variants) {
      project.files.push_back(
          {(*variants)->filename, (*variants)->sha256, (*variants)->text.size(), {}, {}});
      project.variants.push_back(std::move(**variants));
    }
  }
  for (const ListedFile& file : project.files) project.summary.files.push_back(file.filename);
  project.summary.labels.assign(labels.begin(), labels.end());
  return project;
}

Result<void> write_project(const Project& project, StagedFolder& out) {
  const std::string folder = "simple/" + project.summary.name + '/';
  for (const ScannedWheel* wheel : project.wheels) {
    const std::string path = folder + wheel->filename;
    if (Result<void> done = out.link(wheel->path, path); !done) return done;
    if (Result<void> done = out.write(path + ".metadata", wheel->metadata_text); !done) return done;
  }
  for (const VariantsFile& file : project.variants) {
    if (Result<void> done = out.write(folder + file.filename, file.text); !done) return done;
  }
  const std::string json =
      render_project_json(project.summary.name, project.versions, project.files);
  if (Result<void> done = out.write(folder + "index.json", json); !done) return done;
  return out.write(folder + "index.html", render_project_html(project.summary.name, project.files));
}

Result<void> write_all(const std::vector<Project>& projects, StagedFolder& out) {
  std::vector<std::string> names;
  for (const Project& project : projects) {
    names.push_back(project.summary.name);
    if (Result<void> done = write_project(project, out); !done) return done;
  }
  if (Result<void> done = out.write("simple/index.json", render_root_json(names)); !done)
    return done;
  return out.write("simple/index.html", render_root_html(names));
}

/// Only an index, an empty folder or nothing is replaced: never somebody's other files.
Result<void> check_replaceable(const std::filesystem::path& folder) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(folder, error);
  if (!std::filesystem::exists(status)) return {};
  bool replaceable = std::filesystem::is_directory(status);
  if (replaceable) {
    std::filesystem::directory_iterator entry(folder, error);
    bool empty = true;
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      empty = false;
      replaceable = replaceable && entry->path().filename() == "simple";
    }
    replaceable = replaceable && !error &&
                  (empty || std::filesystem::exists(folder / "simple" / "index.json", error));
  }
  if (replaceable) return {};
  return fail(ErrorKind::io,
              fmt::format("{} holds something else than a package index; it stays as it is",
                          folder.string()),
              "choose a folder that does not exist yet or holds an index");
}

Result<std::string> resolved_path(const std::string& location) {
  Result<std::string> path = local_path(location);
  if (!path) return path;
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(*path, error);
  if (error) return fail(ErrorKind::io, fmt::format("cannot find {}: {}", *path, error.message()));
  return resolved.string();
}

}  // namespace

Result<StaticIndex> build_static_index(const std::string& wheels_folder,
                                       const std::string& out_folder, Report& report) {
  const Result<std::string> from = resolved_path(wheels_folder);
  const Result<std::string> to = resolved_path(out_folder);
  if (!from || !to) return std::unexpected(from ? to.error() : from.error());
  if (Result<void> replaceable = check_replaceable(*to); !replaceable) {
    return std::unexpected(replaceable.error());
  }
  const Result<std::vector<ScannedWheel>> wheels = scan_wheels(*from, *to, report);
  if (!wheels) return std::unexpected(wheels.error());

  std::map<std::string, WheelsByVersion> grouped;
  for (const ScannedWheel& wheel : *wheels) {
    grouped[wheel.project][wheel.name.version].push_back(&wheel);
  }
  std::vector<Project> projects;
  for (const auto& [name, releases] : grouped) {
    Result<Project> project = describe_project(name, releases);
    if (!project) return std::unexpected(std::move(project.error()));
    projects.push_back(std::move(*project));
  }

  Result<StagedFolder> staged = StagedFolder::create_beside(*to);
  if (!staged) return std::unexpected(std::move(staged.error()));
  if (Result<void> written = write_all(projects, *staged); !written) {
    return std::unexpected(std::move(written.error()));
  }
  if (Result<void> placed = staged->put_in_place(); !placed) {
    return std::unexpected(std::move(placed.error()));
  }
  StaticIndex index;
  index.folder = *to;
  for (Project& project : projects) index.projects.push_back(std::move(project.summary));
  return index;
}

}  // namespace axle::index
