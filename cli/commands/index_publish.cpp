// index build, index add and index update: publishes wheels.
#include <algorithm>
#include <chrono>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/opened_index.h"
#include "index/publish/index_edit.h"
#include "index/publish/index_update.h"
#include "index/publish/static_index.h"
#include "index/publish/wheel_scan.h"
#include "session/session.h"
#include "session/variables.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

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

/// When new files were published (PEP 700), in microseconds since 1970.
session::Outcome<std::int64_t> upload_time() {
  constexpr std::int64_t second = 1'000'000;
  const auto epoch = session::source_date_epoch();
  if (!epoch) return std::unexpected(epoch.error());
  if (*epoch) return **epoch * second;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

int answer(Output& output, const index::StaticIndex& built, const OpenedIndex& opened,
           const Problems& problems) {
  const bool changed = std::ranges::any_of(
      built.projects, [](const index::IndexedProject& one) { return !one.added.empty(); });
  if (changed) output.change_was_made();
  return output.answer({.text = [&] { return render(built, opened.url); },
                        .json = [&]() -> ordered_json {
                          return {{"folder", built.folder},
                                  {"index_url", opened.url},
                                  {"projects", projects_json(built.projects)},
                                  {"problems", problems.messages}};
                        }});
}

int misuse(Output& output, const std::string& message, const std::string& command) {
  return output.failure(
      session::misused(message, fmt::format("see `variant index {} --help`", command)).error());
}

Result<index::UpdatedIndex> update(const session::Arguments& arguments, index::IndexPlace& place,
                                   std::int64_t uploaded, Report& report) {
  if (arguments.has(session::Opt::records)) {
    const std::string temporary = session::variable("TMPDIR");
    return index::update_from_records(arguments.value(session::Opt::records), place,
                                      temporary.empty() ? "/tmp" : temporary, report);
  }
  if (arguments.positionals.empty()) return index::update_pages(place, report);
  return index::update_from_folder(arguments.positionals.front(), place, uploaded, report);
}

std::string render(const index::UpdatedIndex& updated, const std::string& url) {
  return fmt::format("{}, {} updated\ninstall from it: variant install --index-url {} ...\n",
                     counted(updated.files, "file"), counted(updated.projects, "project"), url);
}

}  // namespace

int run_index_build(session::Session& session, Output& output) {
  const std::string& wheels = session.arguments().positionals.front();
  std::string out = session.arguments().value(session::Opt::out);
  if (out.empty()) out = wheels + "/index";
  const auto opened = open_index(session, out);
  if (!opened) return output.failure(opened.error());
  Problems problems(output);
  const auto built = index::build_static_index(wheels, *opened->place, problems);
  if (!built) return output.failure(session::failed(built.error()).error());
  return answer(output, *built, *opened, problems);
}

int run_index_add(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  if (arguments.positionals.empty() || !arguments.has(session::Opt::out))
    return misuse(output, "name the wheels to add, and the index with --out", "add");
  const auto opened = open_index(session, arguments.value(session::Opt::out));
  if (!opened) return output.failure(opened.error());
  const auto uploaded = upload_time();
  if (!uploaded) return output.failure(uploaded.error());
  Problems problems(output);
  const auto wheels = index::scan_wheels(arguments.positionals, problems);
  if (!wheels) return output.failure(session::failed(wheels.error()).error());
  const auto added = index::add_in_place(*wheels, *opened->place, *uploaded, problems);
  if (!added) return output.failure(session::failed(added.error()).error());
  return answer(output, *added, *opened, problems);
}

int run_index_update(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const std::size_t places = arguments.positionals.size();
  if (places > 1 || !arguments.has(session::Opt::out) ||
      (places > 0 && arguments.has(session::Opt::records))) {
    return misuse(output,
                  "name the index with --out, and a folder of wheels, or records, or neither",
                  "update");
  }
  const auto opened = open_index(session, arguments.value(session::Opt::out));
  if (!opened) return output.failure(opened.error());
  const auto uploaded = upload_time();
  if (!uploaded) return output.failure(uploaded.error());
  Problems problems(output);
  const auto updated = update(arguments, *opened->place, *uploaded, problems);
  if (!updated) return output.failure(session::failed(updated.error()).error());
  if (updated->projects > 0) output.change_was_made();
  return output.answer(
      {.text = [&] { return render(*updated, opened->url); },
       .json = [&]() -> ordered_json {
         return {{"folder", updated->folder},
                 {"index_url", opened->url},
                 {"updated", {{"projects", updated->projects}, {"files", updated->files}}},
                 {"problems", problems.messages}};
       }});
}

}  // namespace axle::cli
