#include "session/builds/build_variables.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "session/variables.h"

namespace axle::session {

namespace {

/// The shell, the terminal, the desktop; how many jobs there are and how they are shown; and those
/// that builds get from us anyway.
constexpr std::array<std::string_view, 33> passed_over = {"_",
                                                          "CLICOLOR",
                                                          "CLICOLOR_FORCE",
                                                          "CMAKE_BUILD_PARALLEL_LEVEL",
                                                          "COLORTERM",
                                                          "COLUMNS",
                                                          "DISPLAY",
                                                          "CMAKE_COLOR_DIAGNOSTICS",
                                                          "EDITOR",
                                                          "FORCE_COLOR",
                                                          "HISTFILE",
                                                          "INVOCATION_ID",
                                                          "JOURNAL_STREAM",
                                                          "LANG",
                                                          "LANGUAGE",
                                                          "LINES",
                                                          "LS_COLORS",
                                                          "MAIL",
                                                          "MAKEFLAGS",
                                                          "NO_COLOR",
                                                          "OLDPWD",
                                                          "PAGER",
                                                          "PS1",
                                                          "PWD",
                                                          "SHLVL",
                                                          "STY",
                                                          "TERM",
                                                          "TMPDIR",
                                                          "TMUX",
                                                          "TMUX_PANE",
                                                          "TZ",
                                                          "VISUAL",
                                                          "WINDOWID"};
constexpr std::array<std::string_view, 17> passed_over_families = {
    "ACTIONS_", "AXLE_",  "CI_",  "DBUS_", "GITHUB_", "GITLAB_", "GPG_",     "LC_", "PIP_",
    "RUNNER_",  "SLURM_", "SSH_", "TERM_", "UV_",     "VSCODE_", "WAYLAND_", "XDG_"};

bool is_passed_over(std::string_view name) {
  return std::ranges::find(passed_over, name) != passed_over.end() ||
         std::ranges::any_of(passed_over_families,
                             [&](std::string_view family) { return name.starts_with(family); });
}

}  // namespace

std::vector<std::pair<std::string, std::string>> build_variables() {
  std::vector<std::pair<std::string, std::string>> found;
  for (auto& [name, value] : variables_with_prefix("")) {
    if (!is_passed_over(name) && !value.empty()) found.emplace_back(name, value);
  }
  return found;
}

}  // namespace axle::session
