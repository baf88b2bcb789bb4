// index lint: what is wrong with an index.
#include "resolver/lint/index_lint.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/opened_index.h"
#include "foundation/text/byte_size.h"
#include "machines/selection.h"
#include "session/session.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

std::uint64_t lost_bytes(const resolver::LintResult& result) {
  std::uint64_t bytes = 0;
  for (const resolver::LintFinding& one : result.found) bytes += one.bytes;
  return bytes;
}

std::string render(const resolver::LintResult& result, const Output& output) {
  std::string text;
  for (const resolver::LintFinding& one : result.found) {
    text += fmt::format("{} {}\n", output.paint(Style::bad, one.code), one.message);
    if (one.bytes > 0) text += fmt::format("    {} for nobody\n", text::render_bytes(one.bytes));
    if (!one.hint.empty()) text += fmt::format("    {}\n", one.hint);
  }
  text += fmt::format("{}, {}: {}\n", counted(result.projects, "project"),
                      counted(result.files, "file"), counted(result.found.size(), "problem"));
  if (const std::uint64_t bytes = lost_bytes(result); bytes > 0)
    text += fmt::format("{} in wheels that no machine gets\n", text::render_bytes(bytes));
  return text;
}

ordered_json problems_json(const std::vector<resolver::LintFinding>& found) {
  ordered_json rows = ordered_json::array();
  for (const resolver::LintFinding& one : found) {
    ordered_json row = {
        {"code", one.code},
        {"project", one.project.empty() ? ordered_json() : ordered_json(one.project)},
        {"subject", one.subject},
        {"message", one.message},
        {"hint", one.hint}};
    if (!one.machines.empty()) row["machines"] = one.machines;
    if (one.bytes > 0) row["bytes"] = one.bytes;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Those of --for, else all that are bundled.
session::Outcome<std::vector<machines::NamedMachine>> corpus(session::Session& session) {
  if (session.arguments().has(session::Opt::for_machine)) return session.machines();
  // Of what is not stated the usual is assumed, as by --for, and it need not be told of each.
  CollectedReport untold;
  std::vector<machines::NamedMachine> all;
  for (const std::string& name : machines::shipped_names()) {
    auto found = machines::select_machines(name, untold);
    if (!found) return session::failed(std::move(found.error()));
    std::ranges::move(*found, std::back_inserter(all));
  }
  return all;
}

}  // namespace

int run_index_lint(session::Session& session, Output& output) {
  auto machines = corpus(session);
  if (!machines) return output.failure(machines.error());
  const auto opened = open_index(session, session.arguments().positionals.front());
  if (!opened) return output.failure(opened.error());
  if (session.arguments().has(session::Opt::deep) && opened->place->folder().empty()) {
    return output.failure(
        session::misused(fmt::format("--deep reads whole wheels of a folder, and {} is none",
                                     opened->place->name()),
                         "without it the size of each file is compared, and its hash where the "
                         "storage knows it; `variant mirror` reads all of it into a folder")
            .error());
  }
  resolver::LintOptions options;
  options.machines = std::move(*machines);
  options.are_all = !session.arguments().has(session::Opt::for_machine);
  options.deep = session.arguments().has(session::Opt::deep);
  const std::size_t judged = options.machines.size();
  const auto result = resolver::lint_index(*opened->place, std::move(options), output);
  if (!result) return output.failure(session::failed(result.error()).error());
  return output.answer({.text = [&] { return render(*result, output); },
                        .json = [&]() -> ordered_json {
                          return {{"folder", opened->place->name()},
                                  {"projects", result->projects},
                                  {"files", result->files},
                                  {"machines", judged},
                                  {"lost_bytes", lost_bytes(*result)},
                                  {"problems", problems_json(result->found)}};
                        }},
                       result->found.empty() ? 0 : session::exit_failed);
}

}  // namespace axle::cli
