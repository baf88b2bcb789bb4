#include "cli/views/changes_view.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/views/decision_view.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

std::string change_line(const char* sign, const installer::Change& change) {
  return fmt::format("{} {} {}{}", sign, change.name, change.version,
                     change.variant ? " (variant " + *change.variant + ")" : "");
}

ordered_json name_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

/// Of the files in the way between two packages the first one stands for all.
struct ContestedFiles {
  const installer::FileConflict* first;
  std::size_t count;
};

std::vector<ContestedFiles> by_pair(const std::vector<installer::FileConflict>& conflicts) {
  std::vector<ContestedFiles> pairs;
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> known;
  for (const installer::FileConflict& conflict : conflicts) {
    const bool is_pair = !conflict.package.empty() && !conflict.owner.empty();
    const auto [place, is_new] =
        is_pair ? known.try_emplace({conflict.package, conflict.owner}, pairs.size())
                : std::pair(known.end(), true);
    if (is_new) {
      pairs.push_back({&conflict, 1});
    } else {
      ++pairs[place->second].count;
    }
  }
  return pairs;
}

std::string render_contested(const ContestedFiles& files) {
  const std::string& message = files.first->error.message;
  if (files.count == 1) return message;
  return fmt::format("{} ({} more file{} of both)", message, files.count - 1,
                     files.count == 2 ? "" : "s");
}

}  // namespace

ordered_json change_json(const installer::Change& change) {
  return {{"name", change.name},
          {"version", change.version},
          {"variant", variant_json(change.variant)}};
}

ordered_json changes_json(const std::vector<installer::Change>& changes) {
  ordered_json out = ordered_json::array();
  for (const installer::Change& change : changes) out.push_back(change_json(change));
  return out;
}

std::string render_changes(const installer::Changes& changes, const Output& output) {
  std::string text;
  if (output.options().quiet) return text;
  for (const installer::Change& change : changes.removed)
    text += output.paint(Style::bad, change_line("-", change)) + "\n";
  for (const installer::Change& change : changes.installed)
    text += output.paint(Style::good, change_line("+", change)) + "\n";
  if (changes.installed.empty() && changes.removed.empty()) {
    for (const installer::Change& change : changes.kept) text += change_line("=", change) + "\n";
  }
  return text;
}

ordered_json conflicts_json(const std::vector<installer::FileConflict>& conflicts) {
  ordered_json out = ordered_json::array();
  for (const installer::FileConflict& conflict : conflicts) {
    out.push_back({{"path", conflict.path},
                   {"package", name_or_null(conflict.package)},
                   {"owner", name_or_null(conflict.owner)},
                   {"reason", conflict.error.message}});
  }
  return out;
}

int refuse_conflicts(const installer::Changes& changes, std::function<ordered_json()> json,
                     Output& output) {
  constexpr std::size_t max_shown = 20;
  const std::vector<ContestedFiles> pairs = by_pair(changes.conflicts);
  const std::size_t shown = std::min(pairs.size(), max_shown);
  for (std::size_t i = 1; i < shown; ++i) output.warn(render_contested(pairs[i]));
  if (pairs.size() > shown) {
    const std::size_t more = pairs.size() - shown;
    output.warn(
        fmt::format("{} more conflict{}; --json lists all of them", more, more == 1 ? "" : "s"));
  }
  Error error = pairs.front().first->error;
  error.message = render_contested(pairs.front());
  return output.failure(session::failed(std::move(error)).error(),
                        {.text = {}, .json = std::move(json)});
}

ordered_json overwritten_json(const std::vector<installer::OverwrittenPath>& overwritten) {
  ordered_json out = ordered_json::array();
  for (const installer::OverwrittenPath& one : overwritten)
    out.push_back(
        {{"path", one.path}, {"package", one.package}, {"owner", name_or_null(one.owner)}});
  return out;
}

void note_overwritten(const installer::Changes& changes, Output& output) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<std::string_view>> pairs;
  for (const installer::OverwrittenPath& one : changes.overwritten)
    pairs[{one.package, one.owner}].push_back(one.path);
  for (const auto& [pair, paths] : pairs) {
    const std::string more =
        paths.size() == 1
            ? std::string()
            : fmt::format(" and {} more file{}", paths.size() - 1, paths.size() == 2 ? "" : "s");
    const std::string whose =
        pair.second.empty() ? std::string("no package") : std::string(pair.second);
    output.note(fmt::format("{}{} of {} {} overwritten by {}", paths.front(), more, whose,
                            paths.size() == 1 ? "is" : "are", pair.first));
  }
}

}  // namespace axle::cli
