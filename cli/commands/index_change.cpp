// index remove and index yank: what is published, and is not wanted any more.
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/opened_index.h"
#include "index/publish/index_edit.h"
#include "session/session.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

/// What the command does to the files that it finds.
struct Change {
  std::string_view command;  ///< "remove"
  std::string_view done;     ///< "removed"
};

std::string render(const index::RemovedFiles& removal, const Change& change, bool dry_run) {
  std::string text;
  for (const index::RemovedFile& file : removal.removed) {
    const std::string what =
        dry_run ? fmt::format("would {}", change.command) : std::string(change.done);
    text += fmt::format("{} {}: {}\n", what, file.project, file.filename);
  }
  return text;
}

ordered_json files_json(const std::vector<index::RemovedFile>& files) {
  ordered_json rows = ordered_json::array();
  for (const index::RemovedFile& file : files)
    rows.push_back({{"project", file.project}, {"file", file.filename}});
  return rows;
}

int change_index(session::Session& session, Output& output, const Change& change) {
  const session::Arguments& arguments = session.arguments();
  if (arguments.positionals.empty() || !arguments.has(session::Opt::out)) {
    return output.failure(
        session::misused(fmt::format("name what to {}, NAME or NAME==VERSION, and the index with "
                                     "--out",
                                     change.command),
                         fmt::format("see `variant index {} --help`", change.command))
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
  const std::vector<std::string>& labels = arguments.values(session::Opt::build_variant);
  const auto opened = open_index(session, arguments.value(session::Opt::out));
  if (!opened) return output.failure(opened.error());
  std::optional<std::string> reason = arguments.value(session::Opt::reason);
  if (arguments.has(session::Opt::undo_yank)) reason.reset();
  const auto changed =
      change.command == "remove"
          ? index::remove_in_place(*opened->place, targets, labels, dry_run, output)
          : index::yank_in_place(*opened->place, targets, labels, reason, dry_run, output);
  if (!changed) return output.failure(session::failed(changed.error()).error());
  if (!dry_run && !changed->removed.empty()) output.change_was_made();
  return output.answer({.text = [&] { return render(*changed, change, dry_run); },
                        .json = [&]() -> ordered_json {
                          return {{"folder", changed->folder},
                                  {"dry_run", dry_run},
                                  {change.done, files_json(changed->removed)}};
                        }});
}

}  // namespace

int run_index_remove(session::Session& session, Output& output) {
  return change_index(session, output, {"remove", "removed"});
}

int run_index_yank(session::Session& session, Output& output) {
  const bool undo = session.arguments().has(session::Opt::undo_yank);
  return change_index(session, output, {"yank", undo ? "unyanked" : "yanked"});
}

}  // namespace axle::cli
