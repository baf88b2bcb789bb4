// index build and index remove: publishes and removes wheels.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "index/http/url.h"
#include "index/publish/static_index.h"
#include "index/storage/storage_address.h"
#include "session/session.h"
#include "session/settings/settings.h"
#include "session/storage/storage_access.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

/// Shows messages and keeps the warnings for the answer.
class Problems final : public Report {
 public:
  explicit Problems(Report& shown) : shown_(shown) {}
  void add(Remark remark) override {
    if (remark.severity == Severity::warning) messages.push_back(remark.message);
    shown_.add(std::move(remark));
  }
  void progress(std::string_view what, std::uint64_t done, std::uint64_t total) override {
    shown_.progress(what, done, total);
  }

  std::vector<std::string> messages;

 private:
  Report& shown_;
};

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string render_project(const index::IndexedProject& project) {
  const auto wheels = static_cast<std::size_t>(std::ranges::count_if(
      project.files, [](const std::string& file) { return file.ends_with(".whl"); }));
  std::string text = fmt::format("{}: {}", project.name, counted(project.files.size(), "file"));
  if (!project.labels.empty())
    text += fmt::format(", {}", counted(project.labels.size(), "variant"));
  if (project.added.size() < wheels)
    text += fmt::format(", {} new", counted(project.added.size(), "wheel"));
  return text + "\n";
}

std::string index_url_of(const std::string& folder) {
  return index::file_url(std::filesystem::absolute(folder).lexically_normal().string() + "/simple");
}

std::string render(const index::StaticIndex& built, const std::string& index_url) {
  std::string text;
  std::size_t untouched = 0;
  for (const index::IndexedProject& project : built.projects) {
    if (project.added.empty()) {
      ++untouched;
    } else {
      text += render_project(project);
    }
  }
  if (untouched > 0) text += fmt::format("{} unchanged\n", counted(untouched, "project"));
  return text + fmt::format("install from it: variant install --index-url {} ...\n", index_url);
}

ordered_json projects_json(const std::vector<index::IndexedProject>& projects) {
  ordered_json rows = ordered_json::array();
  for (const index::IndexedProject& project : projects) {
    rows.push_back({{"name", project.name},
                    {"files", project.files},
                    {"labels", project.labels},
                    {"added", project.added}});
  }
  return rows;
}

std::string render(const index::RemovedFiles& removal, bool dry_run) {
  std::string text;
  for (const index::RemovedFile& file : removal.removed) {
    text += fmt::format("{} {}: {}\n", dry_run ? "would remove" : "removed", file.project,
                        file.filename);
  }
  return text;
}

ordered_json removed_json(const std::vector<index::RemovedFile>& removed) {
  ordered_json rows = ordered_json::array();
  for (const index::RemovedFile& file : removed)
    rows.push_back({{"project", file.project}, {"file", file.filename}});
  return rows;
}

/// The storage that --out names; nullptr: it is a folder.
session::Outcome<std::unique_ptr<index::StoredPlace>> named_storage(const session::Session& session,
                                                                    const std::string& out) {
  if (!index::is_storage_address(out)) return nullptr;
  const auto settings = session::read_settings(session.arguments(), {}, session.pip_section());
  if (!settings) return std::unexpected(settings.error());
  // Nothing is written beside the wheels that are published.
  return session::open_storage(out, *settings, false);
}

}  // namespace

int run_index_build(session::Session& session, Output& output) {
  const std::string& wheels = session.arguments().positionals.front();
  std::string out = session.arguments().value(session::Opt::out);
  if (out.empty()) out = wheels + "/index";
  const auto storage = named_storage(session, out);
  if (!storage) return output.failure(storage.error());
  Problems problems(output);
  auto built = *storage ? index::build_static_index(wheels, **storage, problems)
                        : index::build_static_index(wheels, out, problems);
  if (!built) return output.failure(session::failed(built.error()).error());
  const bool changed = std::ranges::any_of(
      built->projects, [](const index::IndexedProject& one) { return !one.added.empty(); });
  if (changed) output.change_was_made();
  const std::string index_url = *storage ? (*storage)->simple_url() : index_url_of(built->folder);
  return output.answer({.text = [&] { return render(*built, index_url); },
                        .json = [&]() -> ordered_json {
                          return {{"folder", built->folder},
                                  {"index_url", index_url},
                                  {"projects", projects_json(built->projects)},
                                  {"problems", problems.messages}};
                        }});
}

int run_index_remove(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  if (arguments.positionals.empty() || !arguments.has(session::Opt::out)) {
    return output.failure(
        session::misused("name what to remove, NAME or NAME==VERSION, and the index with --out",
                         "see `variant index remove --help`")
            .error());
  }
  std::vector<index::RemovalTarget> targets;
  for (const std::string& text : arguments.positionals) {
    auto target = index::parse_removal_target(text);
    if (!target)
      return output.failure(session::misused(target.error().message, target.error().hint).error());
    targets.push_back(std::move(*target));
  }
  const bool dry_run = arguments.has(session::Opt::dry_run);
  const std::string& out = arguments.value(session::Opt::out);
  const std::vector<std::string>& labels = arguments.values(session::Opt::build_variant);
  const auto storage = named_storage(session, out);
  if (!storage) return output.failure(storage.error());
  auto removal = *storage
                     ? index::remove_from_static_index(**storage, targets, labels, dry_run, output)
                     : index::remove_from_static_index(out, targets, labels, dry_run, output);
  if (!removal) return output.failure(session::failed(removal.error()).error());
  if (!dry_run && !removal->removed.empty()) output.change_was_made();
  return output.answer({.text = [&] { return render(*removal, dry_run); },
                        .json = [&]() -> ordered_json {
                          return {{"folder", removal->folder},
                                  {"dry_run", dry_run},
                                  {"removed", removed_json(removal->removed)}};
                        }});
}

}  // namespace axle::cli
