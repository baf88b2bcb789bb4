// outdated: which locked versions are not the newest, and what keeps them back.
#include "session/projects/outdated.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/projects/locked_project.h"
#include "session/session.h"
#include "wheel/version.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;
using session::OutdatedPackage;

std::string version_or_dash(const std::optional<wheel::Version>& version) {
  return version ? wheel::render_version(*version) : "-";
}

ordered_json version_json(const std::optional<wheel::Version>& version) {
  return version ? ordered_json(wheel::render_version(*version)) : ordered_json();
}

/// Classes with the same versions are one line.
std::string render_outdated(const std::vector<OutdatedPackage>& packages, std::size_t classes,
                            const Output& output) {
  using Row = std::vector<std::string>;
  std::vector<Row> rows;
  for (const OutdatedPackage& one : packages) {
    Row row = {one.name, wheel::render_version(one.locked), version_or_dash(one.allowed),
               version_or_dash(one.latest), one.class_name};
    const auto same = std::ranges::find_if(rows, [&](const Row& other) {
      return std::equal(row.begin(), row.end() - 1, other.begin());
    });
    if (same == rows.end()) {
      rows.push_back(std::move(row));
    } else {
      same->back() += ", " + row.back();
    }
  }
  if (rows.empty()) return {};
  rows.insert(rows.begin(), {"PACKAGE", "LOCKED", "ALLOWED", "LATEST", "CLASSES"});
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    std::string line = fmt::format("{:<{}}  {:<{}}  {:<{}}  {}", row[0], widths[0], row[1],
                                   widths[1], row[2], widths[2], row[3]);
    if (classes > 1) line += fmt::format("{:{}}{}", "", widths[3] - row[3].size() + 2, row[4]);
    text += (&row == &rows.front() ? output.paint(Style::strong, line) : line) + "\n";
  }
  return text;
}

ordered_json outdated_json(const std::vector<OutdatedPackage>& packages) {
  ordered_json rows = ordered_json::array();
  for (const OutdatedPackage& one : packages) {
    rows.push_back({{"name", one.name},
                    {"class", one.class_name},
                    {"locked", wheel::render_version(one.locked)},
                    {"allowed", version_json(one.allowed)},
                    {"latest", version_json(one.latest)}});
  }
  return rows;
}

}  // namespace

int run_outdated(session::Session& session, Output& output) {
  const auto locked = read_locked_project(session.arguments(), output);
  if (!locked) return output.failure(locked.error());
  const auto found = session::find_outdated(session, locked->project, locked->lock, output);
  if (!found) return output.failure(found.error());
  if (found->empty() && !output.options().quiet)
    output.note(fmt::format("every version in {} is the newest", plan::lock_filename));
  return output.answer(
      {.text = [&] { return render_outdated(*found, locked->project.classes.size(), output); },
       .json = [&]() -> ordered_json { return {{"outdated", outdated_json(*found)}}; }});
}

}  // namespace axle::cli
