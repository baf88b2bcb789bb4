// publish: uploads wheels to an index.
#include <algorithm>
#include <filesystem>
#include <tuple>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/opened_index.h"
#include "index/http/redaction.h"
#include "index/publish/wheel_scan.h"
#include "index/upload/index_upload.h"
#include "session/session.h"
#include "session/settings/settings.h"
#include "session/upload/upload_access.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

Result<std::vector<index::ScannedWheel>> read_wheels(const std::vector<std::string>& paths,
                                                     Report& report) {
  std::vector<std::string> wheels;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      wheels.push_back(path);
      continue;
    }
    const auto found = index::find_wheels(path, {});
    if (!found) return std::unexpected(found.error());
    wheels.insert(wheels.end(), found->begin(), found->end());
  }
  auto scanned = index::scan_wheels(std::move(wheels), report);
  // The plain wheel first: what an index needs to know of a release, it takes from it.
  if (scanned) {
    std::ranges::sort(*scanned, {}, [](const index::ScannedWheel& wheel) {
      return std::tuple(wheel.project, wheel.name.version, wheel.name.label, wheel.filename);
    });
  }
  return scanned;
}

std::string render(const std::vector<index::UploadedFile>& files, bool dry_run) {
  std::string text;
  for (const index::UploadedFile& file : files) {
    text += fmt::format("{} {}\n",
                        dry_run        ? "would upload"
                        : file.existed ? "is there already:"
                                       : "uploaded",
                        file.filename);
  }
  return text;
}

ordered_json files_json(const std::vector<index::UploadedFile>& files) {
  ordered_json rows = ordered_json::array();
  for (const index::UploadedFile& file : files)
    rows.push_back({{"project", file.project}, {"file", file.filename}, {"existed", file.existed}});
  return rows;
}

void note_variants(const std::vector<index::ScannedWheel>& wheels, Report& report) {
  const auto variants = std::ranges::count_if(
      wheels, [](const index::ScannedWheel& wheel) { return wheel.name.is_variant(); });
  if (variants == 0) return;
  report.note(fmt::format(
      "{} are variants: an index that makes no variants files lists them, but installers that ask "
      "it for such a file alone do not choose among them",
      counted(static_cast<std::uint64_t>(variants), "wheel")));
}

}  // namespace

int run_publish(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  if (arguments.positionals.empty()) {
    return output.failure(session::misused("name the wheels to upload, or their folder",
                                           "see `variant publish --help`")
                              .error());
  }
  const auto settings = session::read_settings(arguments, {}, session.pip_section());
  if (!settings) return output.failure(settings.error());
  const auto access = session::open_upload(session, *settings);
  if (!access) return output.failure(access.error());
  const auto wheels = read_wheels(arguments.positionals, output);
  if (!wheels) return output.failure(session::failed(wheels.error()).error());
  const bool dry_run = arguments.has(session::Opt::dry_run);
  std::vector<index::UploadedFile> files;
  if (dry_run) {
    for (const index::ScannedWheel& wheel : *wheels)
      files.push_back({wheel.project, wheel.filename});
  } else {
    auto uploaded = index::upload_wheels(*wheels, access->target, *access->transport, output);
    if (!uploaded) return output.failure(session::failed(uploaded.error()).error());
    files = std::move(*uploaded);
    output.change_was_made();
  }
  note_variants(*wheels, output);
  return output.answer({.text = [&] { return render(files, dry_run); },
                        .json = [&]() -> ordered_json {
                          return {{"repository_url", index::redact_url(access->target.url)},
                                  {"dry_run", dry_run},
                                  {"files", files_json(files)}};
                        }});
}

}  // namespace axle::cli
