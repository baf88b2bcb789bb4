#include "index/publish/index_update.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "index/browse/people_pages.h"
#include "index/http/local_files.h"
#include "index/publish/index_edit.h"
#include "index/publish/project_edit.h"
#include "index/publish/record_parts.h"
#include "wheel/requirement.h"

namespace axle::index {
namespace {

namespace fs = std::filesystem;

/// Wheels that become one change: their METADATA is in memory.
constexpr std::size_t most_at_once = 4096;
constexpr int most_conflicts = 25;

/// Passes on what differs from the file that is there.
class DifferingFiles final : public IndexDraft {
 public:
  DifferingFiles(IndexDraft& out, std::string folder) : out_(out), folder_(std::move(folder)) {}
  Result<void> write(std::string_view path, std::string_view content) override {
    const auto there = folder_.empty()
                           ? Result<std::string>(fail(ErrorKind::not_found, {}))
                           : read_local_file(fmt::format("{}/{}", folder_, path), 1ULL << 30);
    if (there && *there == content) return {};
    wrote_ = true;
    return out_.write(path, content);
  }
  Result<void> copy(const std::string& file, std::string_view path,
                    std::string_view sha256) override {
    return out_.copy(file, path, sha256);
  }
  void leave_out(std::string_view path) override { out_.leave_out(path); }
  Result<void> put_in_place(Report& report) override { return out_.put_in_place(report); }
  /// Whether anything differed since it was asked last.
  bool wrote() { return std::exchange(wrote_, false); }

 private:
  IndexDraft& out_;
  std::string folder_;
  bool wrote_ = false;
};

Result<void> write_roots(const std::set<std::string>& names, IndexPlace& place, IndexDraft& out) {
  const std::vector<std::string> sorted(names.begin(), names.end());
  if (auto done = out.write("simple/index.json", render_root_json(sorted)); !done) return done;
  if (auto done = out.write("simple/index.html", render_root_html(sorted)); !done) return done;
  // A first page that cannot be read is replaced; list pages that it named may stay.
  const auto before = place.read_names();
  const std::vector<std::string> old =
      before ? before->value_or(std::vector<std::string>()) : std::vector<std::string>();
  return rewrite_people_pages(old, sorted, place, out);
}

Result<std::set<std::string>> names_in(IndexPlace& place) {
  if (!place.folder().empty()) {
    auto names = list_project_folders(place.folder());
    if (!names) return std::unexpected(std::move(names.error()));
    return std::set<std::string>(names->begin(), names->end());
  }
  auto names = place.read_names();
  if (!names) return std::unexpected(std::move(names.error()));
  if (!*names) return std::set<std::string>();
  return std::set<std::string>((*names)->begin(), (*names)->end());
}

/// A wheel of the folder that the index has, as far as it can be told without reading it.
bool is_published(const std::string& path, const PublishedProject& project, bool here) {
  const std::string filename = fs::path(path).filename();
  const auto listed = std::ranges::find(project.wheels, filename, &PublishedWheel::filename);
  std::error_code error;
  if (listed == project.wheels.end() || fs::file_size(path, error) != listed->size || error)
    return false;
  if (!here || !listed->url.empty()) return true;
  const auto published = fs::last_write_time(project.folder + '/' + filename, error);
  return !error && fs::last_write_time(path, error) <= published && !error;
}

struct FolderWheels {
  std::vector<std::string> fresh;     ///< that no page lists
  std::vector<std::string> projects;  ///< of which there are others
};

Result<FolderWheels> compare_wheels(const std::vector<std::string>& paths, IndexPlace& place) {
  std::map<std::string, std::vector<std::string>> by_project;
  FolderWheels wheels;
  for (const std::string& path : paths) {
    const auto name = wheel::parse_wheel_name(fs::path(path).filename().string());
    // Whoever reads it says what is wrong with the name.
    if (!name) wheels.fresh.push_back(path);
    if (name) by_project[wheel::normalize_name(name->distribution)].push_back(path);
  }
  for (const auto& [name, paths_of] : by_project) {
    const auto project = place.read_project(name);
    if (!project) return std::unexpected(project.error());
    std::size_t published = 0;
    for (const std::string& path : paths_of) {
      if (*project && is_published(path, **project, !place.folder().empty())) {
        ++published;
      } else {
        wheels.fresh.push_back(path);
      }
    }
    if (published > 0) wheels.projects.push_back(name);
  }
  return wheels;
}

/// A folder has a journal. Elsewhere, a command that was killed may have written a page of a
/// project and not yet what follows from it.
Result<void> complete_projects(std::vector<std::string> projects, IndexPlace& place,
                               Report& report) {
  if (!place.folder().empty()) return {};
  const auto names = place.read_names();
  if (!names) return std::unexpected(names.error());
  if (*names && !place.may_lack_html()) {
    std::erase_if(projects, [&](const std::string& name) {
      return std::ranges::binary_search(**names, name);
    });
  }
  return projects.empty() ? Result<void>() : write_in_place(projects, place, report);
}

/// What the records say is beside the page.
std::set<std::string> laid_files(const std::vector<ListedFile>& files) {
  std::set<std::string> laid;
  for (const ListedFile& file : files) {
    if (!file.url.empty()) continue;
    laid.insert(file.filename);
    if (file.filename.ends_with(".whl")) laid.insert(file.filename + ".metadata");
    if (file.has_provenance && file.provenance_url.empty())
      laid.insert(provenance_name(file.filename));
  }
  return laid;
}

/// A project with its records.
Result<ProjectEdit> with_records(const std::string& name, std::vector<ListedFile> files,
                                 IndexPlace& place) {
  place.expect_laid(name, laid_files(files));
  auto edit = ProjectEdit::open(name, place);
  if (!edit) return edit;
  for (ListedFile& file : files) {
    if (auto added = edit->add_record(std::move(file)); !added)
      return std::unexpected(std::move(added.error()));
  }
  if (edit->is_empty()) {
    return fail(ErrorKind::malformed,
                fmt::format("the records of {} name a variants file, but no wheel", name));
  }
  if (auto sound = edit->check_records(); !sound) return std::unexpected(std::move(sound.error()));
  return edit;
}

/// Adds the records of one part to the pages of their projects.
Result<void> add_part(ProjectRecords records, IndexPlace& place, IndexDraft& out,
                      std::set<std::string>& names, UpdatedIndex& updated, Report& report) {
  for (auto& [name, files] : records) {
    updated.files += files.size();
    auto edit = with_records(name, std::move(files), place);
    if (!edit) return std::unexpected(std::move(edit.error()));
    if (auto done = edit->write(out, report); !done) return done;
    names.insert(name);
    ++updated.projects;
  }
  return {};
}

/// Everything is one change.
Result<UpdatedIndex> add_records_at_once(const RecordParts& parts, IndexPlace& place,
                                         IndexDraft& draft, Report& report) {
  UpdatedIndex updated{place.name()};
  auto names = names_in(place);
  if (!names) return std::unexpected(std::move(names.error()));
  DifferingFiles out(draft, place.folder());
  for (std::size_t part = 0; part < RecordParts::count; ++part) {
    report.progress({"writing pages", part, RecordParts::count});
    auto records = parts.read(part);
    if (!records) return std::unexpected(std::move(records.error()));
    if (auto done = add_part(std::move(*records), place, out, *names, updated, report); !done)
      return std::unexpected(std::move(done.error()));
  }
  if (auto done = write_roots(*names, place, out); !done)
    return std::unexpected(std::move(done.error()));
  if (auto done = draft.put_in_place(report); !done)
    return std::unexpected(std::move(done.error()));
  return updated;
}

/// Before the first part of a storage is written.
Result<void> check_all(const RecordParts& parts, IndexPlace& place, Report& report) {
  for (std::size_t part = 0; part < RecordParts::count; ++part) {
    report.progress({"comparing records", part, RecordParts::count});
    auto records = parts.read(part);
    if (!records) return std::unexpected(std::move(records.error()));
    for (auto& [name, files] : *records) {
      const auto edit = with_records(name, std::move(files), place);
      if (!edit) return std::unexpected(edit.error());
    }
  }
  return {};
}

/// Of a storage, which takes what is written from memory: a part at a time.
Result<void> add_part_to_storage(const RecordParts& parts, std::size_t part, IndexPlace& place,
                                 UpdatedIndex& updated, Report& report) {
  for (int tries = 1;; ++tries) {
    UpdatedIndex now = updated;
    auto draft = place.begin();
    if (!draft) return std::unexpected(std::move(draft.error()));
    auto names = names_in(place);
    if (!names) return std::unexpected(std::move(names.error()));
    auto records = parts.read(part);
    if (!records) return std::unexpected(std::move(records.error()));
    if (records->empty()) return {};
    auto done = add_part(std::move(*records), place, **draft, *names, now, report);
    if (done) done = write_roots(*names, place, **draft);
    if (done) done = (*draft)->put_in_place(report);
    if (done) {
      updated = now;
      return {};
    }
    if (done.error().kind != ErrorKind::conflict || tries == most_conflicts) return done;
  }
}

}  // namespace

Result<UpdatedIndex> update_from_folder(const std::string& wheels_folder, IndexPlace& place,
                                        std::optional<std::int64_t> uploaded, Report& report) {
  const auto from = resolved_path(wheels_folder);
  if (!from) return std::unexpected(from.error());
  const auto found = find_wheels(*from, place.folder());
  if (!found) return std::unexpected(found.error());
  const auto compared = compare_wheels(*found, place);
  if (!compared) return std::unexpected(compared.error());
  const std::vector<std::string>& fresh = compared->fresh;
  UpdatedIndex updated{place.name()};
  std::set<std::string> projects;
  for (std::size_t begin = 0; begin < fresh.size(); begin += most_at_once) {
    const auto end = std::min(fresh.size(), begin + most_at_once);
    const auto at = fresh.begin();
    auto wheels = scan_wheels(std::vector<std::string>(at + static_cast<std::ptrdiff_t>(begin),
                                                       at + static_cast<std::ptrdiff_t>(end)),
                              report);
    if (!wheels) return std::unexpected(std::move(wheels.error()));
    const auto added = add_in_place(*wheels, place, uploaded, report);
    if (!added) return std::unexpected(added.error());
    for (const IndexedProject& project : added->projects) {
      updated.files += project.added.size();
      if (!project.added.empty()) projects.insert(project.name);
    }
  }
  if (auto done = complete_projects(compared->projects, place, report); !done)
    return std::unexpected(std::move(done.error()));
  updated.projects = projects.size();
  return updated;
}

Result<UpdatedIndex> update_from_records(const std::string& file, IndexPlace& place,
                                         const std::string& scratch, Report& report) {
  const std::string folder = place.folder();
  std::unique_ptr<IndexDraft> draft;
  if (!folder.empty()) {
    auto begun = place.begin();
    if (!begun) return std::unexpected(std::move(begun.error()));
    draft = std::move(*begun);
  }
  const auto parts = RecordParts::divide(file, folder.empty() ? scratch : folder);
  if (!parts) return std::unexpected(parts.error());
  if (draft) return add_records_at_once(*parts, place, *draft, report);
  if (auto sound = check_all(*parts, place, report); !sound)
    return std::unexpected(std::move(sound.error()));
  UpdatedIndex updated{place.name()};
  for (std::size_t part = 0; part < RecordParts::count; ++part) {
    if (auto done = add_part_to_storage(*parts, part, place, updated, report); !done)
      return std::unexpected(std::move(done.error()));
  }
  return updated;
}

Result<UpdatedIndex> update_pages(IndexPlace& place, Report& report) {
  if (auto there = require_index(place); !there) return std::unexpected(std::move(there.error()));
  auto draft = place.begin();
  if (!draft) return std::unexpected(std::move(draft.error()));
  auto names = names_in(place);
  if (!names) return std::unexpected(std::move(names.error()));
  UpdatedIndex updated{place.name()};
  DifferingFiles out(**draft, place.folder());
  std::uint64_t done_projects = 0;
  for (const std::string& name : *names) {
    report.progress({"writing pages", done_projects++, names->size()});
    const auto edit = ProjectEdit::open(name, place);
    if (!edit) return std::unexpected(edit.error());
    if (auto done = edit->write_pages(out); !done) return std::unexpected(std::move(done.error()));
    if (out.wrote()) ++updated.projects;
  }
  if (auto done = write_roots(*names, place, out); !done)
    return std::unexpected(std::move(done.error()));
  if (auto done = (*draft)->put_in_place(report); !done)
    return std::unexpected(std::move(done.error()));
  return updated;
}

}  // namespace axle::index
