#include "index/publish/static_index.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "index/browse/people_pages.h"
#include "index/http/local_files.h"
#include "index/publish/folder_change.h"
#include "index/publish/index_edit.h"
#include "index/publish/static_project.h"

namespace axle::index {
namespace {

namespace fs = std::filesystem;

/// The projects that change, by name; one without wheels is removed.
using Changes = std::map<std::string, ProjectWheels>;

/// A project that changes is opened once, with its published files.
Result<ProjectWheels*> changed(Changes& changes, const std::string& name,
                               const PublishedIndex& published, Report& report) {
  if (const auto found = changes.find(name); found != changes.end()) return &found->second;
  ProjectWheels wheels;
  if (const auto old = published.find(name); old != published.end()) {
    Result<ProjectWheels> read = ProjectWheels::read(old->second, report);
    if (!read) return std::unexpected(std::move(read.error()));
    wheels = std::move(*read);
  }
  return &changes.emplace(name, std::move(wheels)).first->second;
}

Result<void> write_roots(const std::vector<IndexedProject>& projects, IndexPlace& place,
                         StagedFolder& out) {
  std::vector<std::string> names;
  for (const IndexedProject& project : projects) names.push_back(project.name);
  if (Result<void> done = out.write("simple/index.json", render_root_json(names)); !done)
    return done;
  if (auto done = out.write("simple/index.html", render_root_html(names)); !done) return done;
  return write_people_pages(names, place, [&](std::string_view path, std::string_view text) {
    return out.write(path, text);
  });
}

/// Writes everything into the staged folder: changes, and the rest unchanged.
Result<std::vector<IndexedProject>> write_all(const PublishedIndex& published,
                                              const Changes& changes, IndexPlace& place,
                                              StagedFolder& out) {
  std::map<std::string, StaticProject> described;
  for (const auto& [name, wheels] : changes) {
    if (wheels.empty()) continue;
    Result<StaticProject> project = StaticProject::describe(name, wheels);
    if (!project) return std::unexpected(std::move(project.error()));
    described.emplace(name, std::move(*project));
  }
  std::vector<IndexedProject> projects;
  for (const auto& [name, project] : described) {
    if (Result<void> done = project.write(place.machines(), out); !done)
      return std::unexpected(done.error());
    projects.push_back(project.summary());
  }
  for (const auto& [name, project] : published) {
    if (changes.contains(name)) continue;
    if (Result<void> done = carry_over(name, project, place, out); !done)
      return std::unexpected(done.error());
    projects.push_back(summary_of(name, project));
  }
  std::ranges::sort(projects, {}, &IndexedProject::name);
  if (Result<void> done = write_roots(projects, place, out); !done)
    return std::unexpected(done.error());
  return projects;
}

/// Everything in `folder` is written anew beside it, and takes its place at once.
Result<StaticIndex> add_at_once(const std::vector<ScannedWheel>& wheels, IndexPlace& place,
                                Report& report) {
  const std::string folder = place.folder();
  // From here on nobody else adds to the folder or removes from it.
  auto staged = StagedFolder::create_beside(folder);
  if (!staged) return std::unexpected(std::move(staged.error()));
  const auto in_place = FolderChange::begin(folder);
  if (!in_place) return std::unexpected(in_place.error());
  const Result<PublishedIndex> published = read_published_index(folder);
  if (!published) return std::unexpected(published.error());
  Changes changes;
  for (const ScannedWheel& wheel : wheels) {
    const Result<ProjectWheels*> project = changed(changes, wheel.project, *published, report);
    if (!project) return std::unexpected(project.error());
    if (Result<void> added = (*project)->add(wheel); !added) {
      return std::unexpected(std::move(added.error()));
    }
  }
  auto projects = write_all(*published, changes, place, *staged);
  if (!projects) return std::unexpected(std::move(projects.error()));
  if (Result<void> placed = staged->put_in_place(); !placed) {
    return std::unexpected(std::move(placed.error()));
  }
  return StaticIndex{folder, std::move(*projects)};
}

Result<StaticIndex> add(const std::vector<ScannedWheel>& wheels, IndexPlace& place,
                        Report& report) {
  if (!place.folder().empty()) return add_at_once(wheels, place, report);
  return add_in_place(wheels, place, {}, report);
}

}  // namespace

Result<std::string> resolved_path(const std::string& location) {
  Result<std::string> path = local_path(location);
  if (!path) return path;
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(*path, error);
  if (error) return fail(ErrorKind::io, fmt::format("cannot find {}: {}", *path, error.message()));
  return resolved.string();
}

Result<StaticIndex> build_static_index(const std::string& wheels_folder,
                                       const std::string& out_folder, Report& report) {
  const Result<std::string> to = resolved_path(out_folder);
  if (!to) return std::unexpected(to.error());
  return build_static_index(wheels_folder, *make_folder_place(*to), report);
}

Result<StaticIndex> build_static_index(const std::string& wheels_folder, IndexPlace& place,
                                       Report& report) {
  const Result<std::string> from = resolved_path(wheels_folder);
  if (!from) return std::unexpected(from.error());
  const Result<std::vector<ScannedWheel>> wheels = scan_wheels(*from, place.folder(), report);
  if (!wheels) return std::unexpected(wheels.error());
  return add(*wheels, place, report);
}

Result<StaticIndex> add_to_static_index(const std::vector<std::string>& wheels, IndexPlace& place,
                                        Report& report) {
  const Result<std::vector<ScannedWheel>> scanned = scan_wheels(wheels, report);
  if (!scanned) return std::unexpected(scanned.error());
  return add(*scanned, place, report);
}

Result<std::string> find_static_index(const std::string& out_folder) {
  Result<std::string> to = resolved_path(out_folder);
  if (!to) return to;
  if (const auto published = read_published_index(*to); !published)
    return std::unexpected(published.error());
  return to;
}

}  // namespace axle::index
