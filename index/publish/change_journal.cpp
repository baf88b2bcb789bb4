#include "index/publish/change_journal.h"

#include <algorithm>

#include <fmt/format.h>

#include "index/pages/page_entry.h"

namespace axle::index {
namespace {

constexpr std::string_view title = "axle-index-change 1";
constexpr std::string_view end_line = "end";
constexpr std::size_t longest_number = 9;

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= longest_number &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// "simple/index.json" or "simple/demo/index.json"; "index.html" or "page/style.css".
bool is_path(std::string_view path) {
  constexpr std::string_view shared = "page/";
  if (path == "index.html") return true;
  if (path.starts_with(shared)) return is_sound_file_name(path.substr(shared.size()));
  constexpr std::string_view root = "simple/";
  if (!path.starts_with(root)) return false;
  path.remove_prefix(root.size());
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return is_sound_file_name(path);
  return is_sound_file_name(path.substr(0, slash)) && is_sound_file_name(path.substr(slash + 1));
}

std::unexpected<Error> refuse(std::string_view where, std::size_t line) {
  return fail(ErrorKind::malformed,
              fmt::format("{}, line {}: this is no journal of an index that this version of Axle "
                          "understands; nothing was changed",
                          where, line),
              "use the version that wrote it, or remove its folder and run `variant index update`");
}

}  // namespace

std::string render_change(const std::vector<ChangeStep>& steps) {
  std::string text = fmt::format("{}\n", title);
  for (const ChangeStep& step : steps) {
    if (step.staged.empty()) {
      text += fmt::format("drop {}\n", step.path);
    } else {
      text += fmt::format("put {} {}\n", step.staged, step.path);
    }
  }
  text += end_line;
  text += '\n';
  return text;
}

Result<std::vector<ChangeStep>> parse_change(std::string_view text, std::string_view where) {
  std::vector<ChangeStep> steps;
  bool ended = false;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos || ended) return refuse(where, number);
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (number == 1) {
      if (line != title) return refuse(where, number);
      continue;
    }
    ended = line == end_line;
    if (ended) continue;
    const std::size_t space = line.find(' ');
    const std::string_view verb = line.substr(0, space);
    if (space == std::string_view::npos) return refuse(where, number);
    line.remove_prefix(space + 1);
    ChangeStep step;
    if (verb == "put") {
      const std::size_t second = line.find(' ');
      step.staged = line.substr(0, second);
      if (second == std::string_view::npos || !is_number(step.staged)) return refuse(where, number);
      line.remove_prefix(second + 1);
    } else if (verb != "drop") {
      return refuse(where, number);
    }
    if (!is_path(line)) return refuse(where, number);
    step.path = line;
    steps.push_back(std::move(step));
  }
  if (!ended) return refuse(where, steps.size() + 2);
  return steps;
}

}  // namespace axle::index
