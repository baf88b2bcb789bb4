#include "index/publish/static_index.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/nearest.h"
#include "index/http/local_files.h"
#include "index/publish/static_project.h"
#include "wheel/requirement.h"

namespace axle::index {
namespace {

namespace fs = std::filesystem;

/// The projects that change, by name; one without wheels is removed.
using Changes = std::map<std::string, ProjectWheels>;

Result<std::string> resolved_path(const std::string& location) {
  Result<std::string> path = local_path(location);
  if (!path) return path;
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(*path, error);
  if (error) return fail(ErrorKind::io, fmt::format("cannot find {}: {}", *path, error.message()));
  return resolved.string();
}

/// A project that changes is opened once, with its published files.
Result<ProjectWheels*> changed(Changes& changes, const std::string& name,
                               const PublishedIndex& published, IndexPlace& place, Report& report) {
  if (const auto found = changes.find(name); found != changes.end()) return &found->second;
  ProjectWheels wheels;
  if (const auto old = published.find(name); old != published.end()) {
    Result<ProjectWheels> read = ProjectWheels::read(old->second, place, report);
    if (!read) return std::unexpected(std::move(read.error()));
    wheels = std::move(*read);
  }
  return &changes.emplace(name, std::move(wheels)).first->second;
}

Result<void> write_roots(const std::vector<IndexedProject>& projects, IndexDraft& out) {
  std::vector<std::string> names;
  for (const IndexedProject& project : projects) names.push_back(project.name);
  if (Result<void> done = out.write("simple/index.json", render_root_json(names)); !done)
    return done;
  return out.write("simple/index.html", render_root_html(names));
}

/// Writes everything into the staged folder: changes, and the rest unchanged.
Result<std::vector<IndexedProject>> write_all(const PublishedIndex& published,
                                              const Changes& changes, IndexDraft& out) {
  std::map<std::string, StaticProject> described;
  for (const auto& [name, wheels] : changes) {
    if (wheels.empty()) continue;
    Result<StaticProject> project = StaticProject::describe(name, wheels);
    if (!project) return std::unexpected(std::move(project.error()));
    described.emplace(name, std::move(*project));
  }
  std::vector<IndexedProject> projects;
  for (const auto& [name, project] : described) {
    if (Result<void> done = project.write(out); !done) return std::unexpected(done.error());
    projects.push_back(project.summary());
  }
  for (const auto& [name, project] : published) {
    if (changes.contains(name)) {
      const auto left = described.find(name);
      for (const std::string& file : project.files) {
        if (left == described.end() || !left->second.has_file(file))
          out.leave_out(fmt::format("simple/{}/{}", name, file));
      }
      continue;
    }
    if (Result<void> done = carry_over(name, project, out); !done)
      return std::unexpected(done.error());
    projects.push_back(summary_of(name, project));
  }
  std::ranges::sort(projects, {}, &IndexedProject::name);
  if (Result<void> done = write_roots(projects, out); !done) return std::unexpected(done.error());
  return projects;
}

std::vector<std::string> names_of(const PublishedIndex& published) {
  std::vector<std::string> names;
  for (const auto& [name, project] : published) names.push_back(name);
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t most_names = 20;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most_names; ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most_names) text += fmt::format(" and {} more", names.size() - most_names);
  return text;
}

bool names_wheel(const RemovalTarget& target, const PublishedWheel& published,
                 const std::vector<std::string>& labels) {
  const auto name = wheel::parse_wheel_name(published.filename);
  if (!name) return false;
  if (!labels.empty() && std::ranges::find(labels, name->label) == labels.end()) return false;
  if (!target.file.empty()) return target.file == published.filename;
  return !target.version || *target.version == name->version;
}

Error nothing_there(const RemovalTarget& target, const std::vector<std::string>& labels,
                    const PublishedIndex& published) {
  Error error{ErrorKind::not_found,
              fmt::format("the index has no {}{}", target.text,
                          labels.empty() ? "" : " with the variant " + joined(labels))};
  const auto project = published.find(target.project);
  if (project != published.end()) {
    error.hint = "it has " + joined(project->second.listed);
  } else {
    const std::vector<std::string> names = names_of(published);
    error.hint = published.empty()
                     ? "it has no projects"
                     : text::suggest(target.project, names, "its projects are " + joined(names));
  }
  return error;
}

/// By project: the names of the wheels to remove.
using Removed = std::map<std::string, std::set<std::string>>;

Result<void> take_out(const RemovalTarget& target, const std::vector<std::string>& labels,
                      const PublishedIndex& published, Removed& removed) {
  bool found = false;
  for (const auto& [name, project] : published) {
    if (target.file.empty() && target.project != name) continue;
    for (const PublishedWheel& one : project.wheels) {
      if (!names_wheel(target, one, labels)) continue;
      removed[name].insert(one.filename);
      found = true;
    }
  }
  if (!found) return std::unexpected(nothing_there(target, labels, published));
  return {};
}

/// Only the remaining ones are opened: damaged ones can be removed.
Result<Changes> changes_without(const Removed& removed, const PublishedIndex& published,
                                IndexPlace& place, Report& report) {
  Changes changes;
  for (const auto& [name, files] : removed) {
    PublishedProject left = published.at(name);
    std::erase_if(left.wheels,
                  [&](const PublishedWheel& wheel) { return files.contains(wheel.filename); });
    Result<ProjectWheels> wheels = ProjectWheels::read(left, place, report);
    if (!wheels) return std::unexpected(std::move(wheels.error()));
    changes.emplace(name, std::move(*wheels));
  }
  return changes;
}

/// Files that were listed before and no longer are.
Result<std::vector<RemovedFile>> gone_files(const PublishedIndex& published,
                                            const Changes& changes) {
  std::vector<RemovedFile> gone;
  for (const auto& [name, wheels] : changes) {
    const Result<StaticProject> left = StaticProject::describe(name, wheels);
    if (!left) return std::unexpected(left.error());
    const std::set<std::string> stays(left->summary().files.begin(), left->summary().files.end());
    for (const std::string& file : published.at(name).listed) {
      if (!stays.contains(file)) gone.push_back({name, file});
    }
  }
  return gone;
}

Result<std::vector<IndexedProject>> put_in_place(const PublishedIndex& published,
                                                 const Changes& changes, IndexDraft& draft,
                                                 Report& report) {
  auto projects = write_all(published, changes, draft);
  if (!projects) return projects;
  if (Result<void> placed = draft.put_in_place(report); !placed) {
    return std::unexpected(std::move(placed.error()));
  }
  return projects;
}

Result<StaticIndex> add(const std::vector<ScannedWheel>& wheels, IndexPlace& place,
                        Report& report) {
  // From here on nobody else adds to a folder or removes from it.
  auto draft = place.begin();
  if (!draft) return std::unexpected(std::move(draft.error()));
  std::set<std::string> projects_of_wheels;
  for (const ScannedWheel& wheel : wheels) projects_of_wheels.insert(wheel.project);
  const Result<PublishedIndex> published = place.read(&projects_of_wheels);
  if (!published) return std::unexpected(published.error());
  Changes changes;
  for (const ScannedWheel& wheel : wheels) {
    const Result<ProjectWheels*> project =
        changed(changes, wheel.project, *published, place, report);
    if (!project) return std::unexpected(project.error());
    if (Result<void> added = (*project)->add(wheel); !added) {
      return std::unexpected(std::move(added.error()));
    }
  }
  auto projects = put_in_place(*published, changes, **draft, report);
  if (!projects) return std::unexpected(std::move(projects.error()));
  return StaticIndex{place.name(), std::move(*projects)};
}

/// The projects that may have what is removed; nullopt: any may.
std::optional<std::set<std::string>> projects_of(const std::vector<RemovalTarget>& targets) {
  std::set<std::string> projects;
  for (const RemovalTarget& target : targets) {
    if (target.file.empty()) {
      projects.insert(target.project);
      continue;
    }
    const auto name = wheel::parse_wheel_name(target.file);
    if (!name) return std::nullopt;
    projects.insert(wheel::normalize_name(name->distribution));
  }
  return projects;
}

}  // namespace

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

Result<RemovalTarget> parse_removal_target(std::string_view text) {
  RemovalTarget target;
  target.text = text;
  if (text.ends_with(".whl")) {
    target.file = text.substr(text.rfind('/') + 1);
    return target;
  }
  const std::size_t equals = text.find("==");
  const std::string_view name = text.substr(0, equals);
  if (!wheel::is_valid_name(name)) {
    return fail(ErrorKind::malformed,
                fmt::format("\"{}\" is not a valid package, release or wheel name", text),
                "use NAME, NAME==VERSION or the file name of a wheel");
  }
  target.project = wheel::normalize_name(name);
  if (equals == std::string_view::npos) return target;
  Result<wheel::Version> version = wheel::parse_version(text.substr(equals + 2));
  if (!version) return std::unexpected(within(std::string(text), std::move(version.error())));
  target.version = std::move(*version);
  return target;
}

Result<RemovedFiles> remove_from_static_index(const std::string& out_folder,
                                              const std::vector<RemovalTarget>& targets,
                                              const std::vector<std::string>& labels, bool dry_run,
                                              Report& report) {
  const Result<std::string> to = resolved_path(out_folder);
  if (!to) return std::unexpected(to.error());
  std::error_code error;
  if (!fs::exists(fs::path(*to) / "simple", error)) {
    return fail(ErrorKind::not_found, fmt::format("{} does not contain a package index", *to),
                "--out must be a folder that `variant index build` wrote");
  }
  return remove_from_static_index(*make_folder_place(*to), targets, labels, dry_run, report);
}

Result<RemovedFiles> remove_from_static_index(IndexPlace& place,
                                              const std::vector<RemovalTarget>& targets,
                                              const std::vector<std::string>& labels, bool dry_run,
                                              Report& report) {
  std::unique_ptr<IndexDraft> draft;
  if (!dry_run) {
    auto begun = place.begin();
    if (!begun) return std::unexpected(std::move(begun.error()));
    draft = std::move(*begun);
  }
  const auto projects_of_targets = projects_of(targets);
  const Result<PublishedIndex> published =
      place.read(projects_of_targets ? &*projects_of_targets : nullptr);
  if (!published) return std::unexpected(published.error());
  Removed removed;
  for (const RemovalTarget& target : targets) {
    if (Result<void> done = take_out(target, labels, *published, removed); !done) {
      return std::unexpected(std::move(done.error()));
    }
  }
  const Result<Changes> changes = changes_without(removed, *published, place, report);
  if (!changes) return std::unexpected(changes.error());
  auto gone = gone_files(*published, *changes);
  if (!gone) return std::unexpected(std::move(gone.error()));
  if (draft) {
    auto projects = put_in_place(*published, *changes, *draft, report);
    if (!projects) return std::unexpected(std::move(projects.error()));
  }
  return RemovedFiles{place.name(), std::move(*gone)};
}

}  // namespace axle::index
