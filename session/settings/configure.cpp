#include "session/settings/configure.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <vector>

#include "session/settings/places.h"
#include "session/settings/progress.h"
#include "session/settings/setting_table.h"
#include "session/settings/settings.h"
#include "session/settings/user_defaults.h"
#include "session/settings/weighed_layers.h"

namespace axle::session {

namespace {

struct EarlySetting {
  std::string_view key;
  Opt id;
};

constexpr std::array settings = {EarlySetting{"python", Opt::python},
                                 EarlySetting{"system", Opt::system},
                                 EarlySetting{"python-version", Opt::python_version},
                                 EarlySetting{"implementation", Opt::implementation},
                                 EarlySetting{"abi", Opt::abi},
                                 EarlySetting{"platform", Opt::platform},
                                 EarlySetting{"python-platform", Opt::python_platform},
                                 EarlySetting{"break-system-packages", Opt::break_system_packages},
                                 EarlySetting{"require-virtualenv", Opt::require_virtualenv},
                                 EarlySetting{"no-cache", Opt::no_cache},
                                 EarlySetting{"dry-run", Opt::dry_run},
                                 EarlySetting{"torch-backend", Opt::torch_backend}};

/// Where packages are put: what pip says of it is for its install alone.
constexpr std::array installing = {
    EarlySetting{"target", Opt::target}, EarlySetting{"prefix", Opt::prefix},
    EarlySetting{"root", Opt::root},     EarlySetting{"no-user", Opt::no_user},
    EarlySetting{"user", Opt::user},     EarlySetting{"report", Opt::report}};

/// Of single commands: what is listed, and where files are put.
constexpr std::array of_single_commands = {EarlySetting{"dest", Opt::dest},
                                           EarlySetting{"wheel-dir", Opt::wheel_dir},
                                           EarlySetting{"format", Opt::list_format},
                                           EarlySetting{"exclude", Opt::exclude},
                                           EarlySetting{"not-required", Opt::not_required},
                                           EarlySetting{"exclude-editable", Opt::exclude_editable},
                                           EarlySetting{"all", Opt::all_packages}};

constexpr auto keys = [] {
  std::array<std::string_view, settings.size()> names;
  std::ranges::transform(settings, names.begin(), &EarlySetting::key);
  return names;
}();

/// pip's section for one of our commands; "": the command does not read pip's settings.
std::string_view pip_section(std::string_view command) {
  constexpr std::array<std::string_view, 4> as_install = {"resolve", "explain", "doctor", "venv"};
  if (std::ranges::find(as_install, command) != as_install.end()) return "install";
  if (command == "mirror") return "download";
  constexpr std::array<std::string_view, 8> same = {"install", "uninstall", "download", "wheel",
                                                    "list",    "freeze",    "check",    "show"};
  return std::ranges::find(same, command) != same.end() ? command : std::string_view();
}

/// Both choose the environment: if one is on the command line, the other is ignored.
bool is_settled(Opt id, const Arguments& arguments) {
  if (id == Opt::python || id == Opt::system)
    return arguments.has(Opt::python) || arguments.has(Opt::system);
  if (id == Opt::user || id == Opt::no_user)
    return arguments.has(Opt::user) || arguments.has(Opt::no_user);
  return arguments.has(id);
}

void apply(const EarlySetting& setting, WeighedLayers& layers, Arguments& arguments) {
  const auto& [key, id] = setting;
  const OptionKind kind = option_row(id).kind;
  // As in pip, the values of a list are those of all places.
  if (kind == OptionKind::list) {
    for (const Stated& stated : layers.all(key)) arguments.add(id, stated.value);
    return;
  }
  if (is_settled(id, arguments)) return;
  const auto stated = layers.one(key);
  // UV_TORCH_BACKEND is read where the backend is chosen, and named in its errors.
  if (!stated || stated->value.empty() || stated->origin == "UV_TORCH_BACKEND") return;
  if (kind == OptionKind::value) {
    arguments.add(id, stated->value);
  } else if (layers.truth(key).value_or(false)) {
    arguments.add(id, "");
  }
}

void check_format(WeighedLayers& layers) {
  const auto stated = layers.one("format");
  constexpr std::array<std::string_view, 3> formats = {"columns", "freeze", "json"};
  if (stated && std::ranges::find(formats, stated->value) == formats.end())
    layers.refuse(*stated, "format", "is not known", "columns, freeze or json");
}

/// What is wrong in itself is refused by every command, also by those that do not use it.
std::optional<CommandFailure> wrong_default(const SettingsLayer& defaults) {
  if (defaults.values.empty() && defaults.indexes.empty()) return std::nullopt;
  const std::vector<SettingsLayer> alone = {defaults};
  WeighedLayers layers(alone);
  check_values(layers);
  check_format(layers);
  for (const SettingRow& row : setting_rows())
    if (row.kind == ValueKind::flag) (void)layers.truth(row.key);
  return layers.problem();
}

}  // namespace

std::span<const std::string_view> early_settings() { return keys; }

std::string_view settings_section(std::string_view command) {
  const std::string_view section = pip_section(command);
  return section.empty() ? "install" : section;
}

Outcome<std::string> configure(std::string_view command, std::span<const Opt> options,
                               Arguments& arguments) {
  const auto takes = [&](Opt id) { return std::ranges::find(options, id) != options.end(); };
  const auto defaults = read_user_defaults();
  if (!defaults) return std::unexpected(defaults.error());
  if (const auto wrong = wrong_default(defaults->settings)) return std::unexpected(*wrong);
  for (const Opt flag : defaults->flags) {
    const auto globals = global_options();
    const bool has_it = takes(flag) || std::ranges::find(globals, flag) != globals.end();
    const bool contradicted = (flag == Opt::quiet && arguments.has(Opt::verbose)) ||
                              (flag == Opt::verbose && arguments.has(Opt::quiet));
    if (has_it && !contradicted && !arguments.has(flag)) arguments.add(flag, "");
  }
  const std::string_view section = pip_section(command);
  if (section.empty()) return progress_of(arguments);
  const auto read = read_layers(arguments, {"", section});
  if (!read) return std::unexpected(read.error());
  WeighedLayers layers(*read);
  for (const EarlySetting& setting : settings) {
    // pip's other commands have no dry run: PIP_DRY_RUN only applies to install.
    if (setting.id == Opt::dry_run && section != "install") continue;
    if (takes(setting.id)) apply(setting, layers, arguments);
  }
  for (const EarlySetting& setting : of_single_commands) {
    if (takes(setting.id)) apply(setting, layers, arguments);
  }
  std::vector<SettingsLayer> without_pip;
  std::ranges::copy_if(*read, std::back_inserter(without_pip), &SettingsLayer::of_uv);
  WeighedLayers uv_layers(without_pip);
  for (const EarlySetting& setting : installing) {
    if (takes(setting.id)) apply(setting, command == "install" ? layers : uv_layers, arguments);
  }
  if (takes(Opt::list_format)) check_format(layers);
  std::string progress = takes(Opt::progress) ? take_progress(layers) : progress_of(arguments);
  if (layers.problem()) return std::unexpected(*layers.problem());
  return progress;
}

}  // namespace axle::session
