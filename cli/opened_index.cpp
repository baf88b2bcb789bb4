#include "cli/opened_index.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "index/http/url.h"
#include "index/storage/storage_address.h"
#include "resolver/browse/machines_of_pages.h"
#include "session/settings/settings.h"
#include "session/storage/storage_access.h"

namespace axle::cli {

using nlohmann::ordered_json;

void Problems::add(Remark remark) {
  if (remark.severity == Severity::warning) messages.push_back(remark.message);
  shown_.add(std::move(remark));
}

void Problems::progress(const Work& work) { shown_.progress(work); }

session::Outcome<OpenedIndex> open_index(const session::Session& session, const std::string& out) {
  if (!index::is_stored_elsewhere(out)) {
    auto folder = index::resolved_path(out);
    if (!folder) return session::failed(std::move(folder.error()));
    std::string url = index::file_url(*folder + "/simple");
    auto place = index::make_folder_place(std::move(*folder));
    place->show_machines(resolver::make_machines_of_pages());
    return OpenedIndex{std::move(place), std::move(url)};
  }
  const auto settings = session::read_settings(session.arguments(), {}, session.pip_section());
  if (!settings) return std::unexpected(settings.error());
  // Nothing is written beside the wheels that are published.
  auto storage = session::open_storage(out, *settings, false);
  if (!storage) return std::unexpected(std::move(storage.error()));
  (*storage)->show_machines(resolver::make_machines_of_pages());
  std::string url = (*storage)->simple_url();
  return OpenedIndex{std::move(*storage), std::move(url)};
}

std::string counted(std::uint64_t count, std::string_view what) {
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

}  // namespace axle::cli
