#include "index/publish/index_edit.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "index/publish/project_edits.h"

namespace axle::index {
namespace {

constexpr int most_tries = 25;
constexpr int longest_pause_ms = 400;

/// Two publishers who met at a storage should not meet again.
void pause_before_another_try(int tries) {
  std::random_device random;
  std::uniform_int_distribution<int> pause(10, std::min(longest_pause_ms, 20 * (tries + 1)));
  std::this_thread::sleep_for(std::chrono::milliseconds(pause(random)));
}

/// Of a change that is only looked at.
class NoDraft final : public IndexDraft {
 public:
  Result<void> write(std::string_view, std::string_view) override { return {}; }
  Result<void> copy(const std::string&, std::string_view, std::string_view) override { return {}; }
  void leave_out(std::string_view) override {}
  Result<void> put_in_place(Report&) override { return {}; }
};

using Edit = std::function<Result<void>(ProjectEdits&)>;

/// One change, made again on what is there then as long as another publisher was faster. With `dry`
/// nothing is written.
Result<ProjectEdits> change_index(IndexPlace& place, bool dry, Report& report, const Edit& edit) {
  for (int tries = 0;; ++tries) {
    std::unique_ptr<IndexDraft> draft = std::make_unique<NoDraft>();
    if (!dry) {
      auto begun = place.begin();
      if (!begun) return std::unexpected(std::move(begun.error()));
      draft = std::move(*begun);
    }
    ProjectEdits edits(place);
    if (Result<void> done = edit(edits); !done) return std::unexpected(std::move(done.error()));
    Result<void> done = edits.write(*draft, report);
    if (done) done = draft->put_in_place(report);
    if (done) return edits;
    if (done.error().kind != ErrorKind::conflict || tries + 1 == most_tries)
      return std::unexpected(std::move(done.error()));
    draft.reset();
    pause_before_another_try(tries);
  }
}

/// The wheels that a target means, in the project that has them.
Result<std::vector<std::string>> wheels_of(const RemovalTarget& target,
                                           const std::vector<std::string>& labels,
                                           const ProjectEdit& project, IndexPlace& place) {
  std::vector<std::string> found;
  for (const PublishedWheel& wheel : project.published().wheels) {
    if (names_wheel(target, wheel, labels)) found.push_back(wheel.filename);
  }
  if (!found.empty()) return found;
  const auto names = place.read_names();
  if (!names) return std::unexpected(names.error());
  return std::unexpected(nothing_there(target, labels, project.published().listed,
                                       names->value_or(std::vector<std::string>())));
}

using Found = std::function<void(ProjectEdit&, const std::string& filename)>;

Result<ProjectEdits> change_found(IndexPlace& place, const std::vector<RemovalTarget>& targets,
                                  const std::vector<std::string>& labels, bool dry_run,
                                  Report& report, const Found& change) {
  if (Result<void> there = require_index(place); !there) return std::unexpected(there.error());
  return change_index(place, dry_run, report, [&](ProjectEdits& edits) -> Result<void> {
    for (const RemovalTarget& target : targets) {
      const auto project = edits.open(target.project);
      if (!project) return std::unexpected(project.error());
      const auto found = wheels_of(target, labels, **project, place);
      if (!found) return std::unexpected(found.error());
      for (const std::string& filename : *found) change(**project, filename);
    }
    return {};
  });
}

}  // namespace

Result<void> require_index(IndexPlace& place) {
  std::error_code error;
  bool there = false;
  if (const std::string folder = place.folder(); !folder.empty()) {
    // Its first page may be damaged.
    there = std::filesystem::is_directory(folder + "/simple", error);
  } else {
    const auto names = place.read_names();
    if (!names) return std::unexpected(names.error());
    there = names->has_value();
  }
  if (there) return {};
  return fail(ErrorKind::not_found,
              fmt::format("{} does not contain a package index", place.name()),
              "name an index that `variant index build` or `variant index add` wrote");
}

Result<StaticIndex> add_in_place(const std::vector<ScannedWheel>& wheels, IndexPlace& place,
                                 std::optional<std::int64_t> uploaded, Report& report) {
  auto edits = change_index(place, false, report, [&](ProjectEdits& all) -> Result<void> {
    for (const ScannedWheel& wheel : wheels) {
      const auto project = all.open(wheel.project);
      if (!project) return std::unexpected(project.error());
      if (Result<void> added = (*project)->add(wheel, uploaded); !added) return added;
    }
    return {};
  });
  if (!edits) return std::unexpected(std::move(edits.error()));
  StaticIndex index{place.name(), {}};
  for (const auto& [name, edit] : edits->all()) index.projects.push_back(edit.summary());
  return index;
}

Result<void> write_in_place(const std::vector<std::string>& projects, IndexPlace& place,
                            Report& report) {
  const auto edits = change_index(place, false, report, [&](ProjectEdits& all) -> Result<void> {
    for (const std::string& name : projects) {
      if (const auto project = all.open(name); !project) return std::unexpected(project.error());
    }
    return {};
  });
  return edits ? Result<void>() : std::unexpected(edits.error());
}

Result<RemovedFiles> remove_in_place(IndexPlace& place, const std::vector<RemovalTarget>& targets,
                                     const std::vector<std::string>& labels, bool dry_run,
                                     Report& report) {
  auto edits = change_found(
      place, targets, labels, dry_run, report,
      [](ProjectEdit& project, const std::string& filename) { project.remove(filename); });
  if (!edits) return std::unexpected(std::move(edits.error()));
  RemovedFiles removed{place.name(), {}};
  for (const auto& [name, edit] : edits->all()) {
    for (std::string& file : edit.gone()) removed.removed.push_back({name, std::move(file)});
  }
  return removed;
}

Result<RemovedFiles> yank_in_place(IndexPlace& place, const std::vector<RemovalTarget>& targets,
                                   const std::vector<std::string>& labels,
                                   const std::optional<std::string>& reason, bool dry_run,
                                   Report& report) {
  RemovedFiles yanked{place.name(), {}};
  std::map<std::string, std::set<std::string>> found;
  const auto edits = change_found(place, targets, labels, dry_run, report,
                                  [&](ProjectEdit& project, const std::string& filename) {
                                    project.yank(filename, reason);
                                    found[project.name()].insert(filename);
                                  });
  if (!edits) return std::unexpected(edits.error());
  for (const auto& [name, files] : found) {
    for (const std::string& file : files) yanked.removed.push_back({name, file});
  }
  return yanked;
}

}  // namespace axle::index
