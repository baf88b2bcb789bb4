#include "session/settings/project_variables.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "session/settings/layer.h"
#include "session/settings/setting_table.h"
#include "session/settings/truth.h"
#include "session/variables.h"

namespace axle::session {

namespace {

constexpr std::array<std::string_view, 11> project_commands = {
    "init", "add", "remove", "import", "lock",  "outdated",
    "sync", "run", "tree",   "export", "verify"};

/// A variable is true, false or unset, like the option that it stands for.
struct FlagVariable {
  std::string_view name;
  Opt option;
  /// Options that say the opposite, or say more exactly what is meant.
  std::vector<Opt> unless = {};
  bool is_said = false;  ///< then a warning tells that the variable does not count
};

const std::vector<FlagVariable>& flag_variables() {
  static const std::vector<FlagVariable> rows = {
      {"UV_FROZEN", Opt::frozen, {Opt::locked}, true},
      {"UV_FROZEN", Opt::edit_alone},
      {"UV_LOCKED", Opt::locked, {Opt::frozen}, true},
      {"UV_LOCKED", Opt::ci_check},
      {"UV_NO_SYNC", Opt::no_sync},
      {"UV_NO_DEV", Opt::no_dev, {Opt::dev, Opt::only_dev}},
      {"UV_DEV",
       Opt::dev,
       {Opt::no_dev, Opt::only_dev, Opt::only_group, Opt::project_group, Opt::project_extra}},
      {"UV_NO_DEFAULT_GROUPS", Opt::no_default_groups},
      {"UV_NO_INSTALL_PROJECT", Opt::no_install_project},
      {"UV_NO_INSTALL_WORKSPACE", Opt::no_install_project},
      {"UV_NO_EDITABLE", Opt::no_editable},
      {"UV_NO_BUILD", Opt::no_build},
      {"UV_NO_CACHE", Opt::no_cache}};
  return rows;
}

/// What Axle does not do, or not in that command.
struct RefusedVariable {
  std::string_view name;
  bool is_flag;
  std::vector<std::string_view> commands;  ///< empty: those that have `option`
  std::optional<Opt> option;               ///< nullopt, without commands: all
  std::string_view instead;
};

const std::vector<RefusedVariable>& refused_variables() {
  static const std::vector<RefusedVariable> rows = {
      {"UV_FROZEN",
       true,
       {"lock"},
       {},
       "unset it: `variant lock` makes the lock, `variant lock --check` compares it"},
      {"UV_LOCKED",
       true,
       {"add", "remove", "import"},
       {},
       "unset it: the command changes what is locked"},
      {"UV_ISOLATED",
       true,
       {"run"},
       {},
       "unset it: the command runs in the environment of the project"},
      {"UV_NO_PROJECT", true, {"run"}, {}, "unset it, and start the command without `variant run`"},
      {"UV_ENV_FILE",
       false,
       {"run"},
       {},
       "unset it, and let the shell read the file: set -a; . ./FILE"},
      {"UV_RUN_RLIMIT_NOFILE",
       false,
       {"run"},
       {},
       "unset it, and set the limit in the shell: ulimit -n N"},
      {"UV_INIT_BUILD_BACKEND",
       false,
       {"init"},
       {},
       "unset it, and add a [build-system] to the pyproject.toml"},
      {"UV_NO_INSTALL_LOCAL",
       true,
       {},
       Opt::no_install_project,
       "unset it; --no-install-project leaves the project itself out"},
      {"UV_ONLY_INSTALL_PROJECT",
       true,
       {},
       Opt::no_install_project,
       "unset it, and let uv do this installation"},
      {"UV_ONLY_INSTALL_WORKSPACE",
       true,
       {},
       Opt::no_install_project,
       "unset it, and let uv do this installation"},
      {"UV_ONLY_INSTALL_LOCAL",
       true,
       {},
       Opt::no_install_project,
       "unset it, and let uv do this installation"},
      {"UV_NO_BINARY",
       true,
       {},
       Opt::no_binary,
       "use --no-binary :all:, or no-binary in [tool.uv]"},
      {"UV_NO_BINARY_PACKAGE",
       false,
       {},
       Opt::no_binary,
       "use --no-binary PKG, or no-binary-package in [tool.uv]"},
      {"UV_NO_BUILD_PACKAGE", false, {}, Opt::no_build, "use no-build-package in [tool.uv]"},
      {"UV_WORKING_DIR", false, {}, {}, "change the folder first: cd DIR"},
      {"UV_WORKING_DIRECTORY", false, {}, {}, "change the folder first: cd DIR"},
      {"UV_PROJECT", false, {}, {}, "change to the project's folder first: cd DIR"}};
  return rows;
}

std::unexpected<CommandFailure> neither(std::string_view name, const std::string& value) {
  return misused(fmt::format("{}: `{}` is neither true nor false", name, value),
                 "set it to 1 or 0, or unset it");
}

/// Whether a flag is set and true. Error: it is neither.
Outcome<bool> is_on(std::string_view name) {
  const auto text = variable_if_set(name);
  if (!text) return false;
  const auto truth = truth_of(*text);
  if (!truth) return neither(name, *text);
  return *truth;
}

Outcome<void> refuse(std::string_view command, std::span<const Opt> options) {
  const auto no_file = is_on("UV_NO_ENV_FILE");
  if (!no_file) return std::unexpected(no_file.error());
  for (const RefusedVariable& row : refused_variables()) {
    if (row.name == "UV_ENV_FILE" && *no_file) continue;
    const bool concerned =
        !row.commands.empty()
            ? std::ranges::find(row.commands, command) != row.commands.end()
            : !row.option || std::ranges::find(options, *row.option) != options.end();
    const std::string value = variable(row.name);
    if (!concerned || (!row.is_flag && value.empty())) continue;
    if (row.is_flag) {
      const auto on = is_on(row.name);
      if (!on) return std::unexpected(on.error());
      if (!*on) continue;
    }
    return misused(
        fmt::format("{}: `{}` is not supported by `variant {}`", row.name, value, command),
        std::string(row.instead));
  }
  return {};
}

}  // namespace

Outcome<void> take_project_variables(std::string_view command, std::span<const Opt> options,
                                     Arguments& arguments, Report& report) {
  if (std::ranges::find(project_commands, command) == project_commands.end()) return {};
  const auto takes = [&](Opt id) { return std::ranges::find(options, id) != options.end(); };
  if (auto sound = refuse(command, options); !sound) return sound;
  const Arguments given = arguments;
  for (const FlagVariable& row : flag_variables()) {
    if (!takes(row.option)) continue;
    const auto on = is_on(row.name);
    if (!on) return std::unexpected(on.error());
    if (!*on || given.has(row.option)) continue;
    const auto other = std::ranges::find_if(row.unless, [&](Opt id) { return given.has(id); });
    if (other == row.unless.end()) {
      arguments.add(row.option, "");
    } else if (row.is_said) {
      report.warn(fmt::format("{} does not count beside {}", row.name, option_name(*other)));
    }
  }
  if (arguments.has(Opt::frozen) && arguments.has(Opt::locked) && !given.has(Opt::locked) &&
      !given.has(Opt::frozen))
    return misused("UV_FROZEN and UV_LOCKED cannot be combined", "unset one of them");
  if (takes(Opt::no_group) && !given.has(Opt::no_group)) {
    for (const std::string& name : split_words(variable("UV_NO_GROUP")))
      arguments.add(Opt::no_group, name);
  }
  const std::string python = variable("UV_PYTHON");
  if (takes(Opt::python) && !given.has(Opt::python) && !python.empty())
    arguments.add(Opt::python, python);
  return {};
}

Outcome<std::string> next_run_depth() {
  const auto number = [](std::string_view name, std::uint32_t unless) -> Outcome<std::uint32_t> {
    const auto text = variable_if_set(name);
    if (!text) return unless;
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error == std::errc() && end == text->data() + text->size()) return value;
    return misused(fmt::format("{}: `{}` is not a number", name, *text), "unset it");
  };
  constexpr std::uint32_t most_runs = 100;  // as with uv
  const auto depth = number("UV_RUN_RECURSION_DEPTH", 0);
  if (!depth) return std::unexpected(depth.error());
  const auto most = number("UV_RUN_MAX_RECURSION_DEPTH", most_runs);
  if (!most) return std::unexpected(most.error());
  if (*depth > *most)
    return misused(
        fmt::format("`variant run` was started by itself {} times, more often than the "
                    "limit of {}",
                    *depth, *most),
        "a program that it starts starts it again; UV_RUN_MAX_RECURSION_DEPTH is the limit");
  return fmt::format("{}", std::uint64_t{*depth} + 1);
}

}  // namespace axle::session
