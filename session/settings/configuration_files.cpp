#include "session/settings/configuration_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include <fmt/core.h>
#include <sys/stat.h>

#include "session/input_file.h"
#include "session/settings/truth.h"
#include "session/settings/uv_project.h"
#include "session/variables.h"

namespace axle::session {

namespace {

/// XDG_CONFIG_DIRS, highest precedence first.
std::vector<std::string> system_folders() {
  std::vector<std::string> folders;
  const std::string listed = variable("XDG_CONFIG_DIRS");
  std::string_view rest = listed.empty() ? std::string_view("/etc/xdg") : std::string_view(listed);
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) folders.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return folders;
}

/// Highest precedence first.
std::vector<std::string> pip_files(const std::string& python_prefix) {
  std::vector<std::string> paths;
  const std::string named = variable("PIP_CONFIG_FILE");
  if (named == "/dev/null") return paths;
  struct stat status{};
  if (!named.empty()) note_looked_at(named);
  const bool is_there = !named.empty() && ::stat(named.c_str(), &status) == 0;
  if (!named.empty()) paths.push_back(named);
  if (!python_prefix.empty()) paths.push_back(python_prefix + "/pip.conf");
  if (!is_there) {
    if (const std::string home = config_home(); !home.empty())
      paths.push_back(home + "/pip/pip.conf");
    if (const std::string home = variable("HOME"); !home.empty())
      paths.push_back(home + "/.pip/pip.conf");
  }
  paths.emplace_back("/etc/pip.conf");
  const std::vector<std::string> folders = system_folders();
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder)
    paths.push_back(*folder + "/pip/pip.conf");
  return paths;
}

/// Adds the values of `from` that `into` does not set.
void add_unsaid(SettingsLayer& into, SettingsLayer&& from) {
  for (auto& [key, values] : from.values) into.values.try_emplace(key, std::move(values));
}

/// Prepends the format lists of `earlier` to those of `into`.
void add_formats(SettingsLayer& into, const SettingsLayer& earlier) {
  constexpr unsigned after_all_lines = 1U << 24;
  for (const char* key : {"no-binary", "only-binary"}) {
    if (const auto found = into.values.find(key); found != into.values.end()) {
      for (Stated& stated : found->second) stated.turn += after_all_lines;
    }
    if (const auto found = earlier.values.find(key); found != earlier.values.end())
      std::ranges::copy(found->second, std::back_inserter(into.values[key]));
  }
}

using LayerParser = Result<SettingsLayer> (*)(std::string_view text, const std::string& where);

Outcome<std::optional<SettingsLayer>> read_layer_of(const std::string& path, LayerParser parse) {
  auto text = read_configuration(path);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  auto layer = parse(**text, path);
  if (!layer) return misused(layer.error().message, layer.error().hint);
  return std::move(*layer);
}

Outcome<std::optional<SettingsLayer>> read_uv_file(const std::string& path) {
  return read_layer_of(path, parse_uv_config);
}

/// nullopt: none is configured.
Outcome<std::optional<SettingsLayer>> read_named_uv_file(const Arguments& arguments) {
  const bool option = arguments.has(Opt::config_file);
  const auto named =
      option ? std::optional(arguments.value(Opt::config_file)) : variable_if_set("UV_CONFIG_FILE");
  if (!named) return std::nullopt;
  auto layer = read_uv_file(*named);
  if (!layer || *layer) return layer;
  if (option)
    return misused(fmt::format("--config-file {}: no such file", *named), "name a uv.toml file");
  return misused(fmt::format("UV_CONFIG_FILE={}: no such file", *named),
                 "set it to a uv.toml file, or unset it");
}

Outcome<bool> is_switched_on(const char* name) {
  const auto text = variable_if_set(name);
  if (!text) return false;
  if (const auto truth = truth_of(*text)) return *truth;
  return misused(fmt::format("{}: `{}` is neither true nor false", name, *text));
}

std::vector<std::string> uv_system_files() {
  std::vector<std::string> paths;
  for (const std::string& folder : system_folders()) paths.push_back(folder + "/uv/uv.toml");
  paths.emplace_back("/etc/uv/uv.toml");
  return paths;
}

}  // namespace

Outcome<std::optional<std::string>> read_configuration(const std::string& path) {
  note_looked_at(path);
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return misused(
        fmt::format("{}: this configuration cannot be read: {}", path, std::strerror(errno)),
        "it may set an index or a limit: make it readable, or remove it");
  }
  auto text = read_input(path);
  if (!text)
    return misused(text.error().message,
                   "it may set an index or a limit: make it readable, or remove it");
  return std::move(*text);
}

Outcome<std::optional<SettingsLayer>> read_pyproject_layer(const std::string& file) {
  auto layer = read_layer_of(file, parse_pyproject_config);
  if (!layer || !*layer) return layer;
  if (auto placed = place_members((*layer)->sources, file); !placed)
    return std::unexpected(placed.error());
  return layer;
}

Outcome<SettingsLayer> read_pip_files(std::string_view section, const std::string& python_prefix) {
  SettingsLayer of_env;  // a section that pip treats like variables
  SettingsLayer of_command;
  SettingsLayer global;
  for (const std::string& path : pip_files(python_prefix)) {
    auto text = read_configuration(path);
    if (!text) return std::unexpected(text.error());
    if (!*text) continue;
    const auto sections = parse_pip_config(**text, path);
    if (!sections) return misused(sections.error().message, sections.error().hint);
    const auto take = [&](std::string_view name, SettingsLayer& into) {
      const auto found = sections->find(name);
      if (found == sections->end()) return;
      SettingsLayer layer;
      for (const auto& [key, stated] : found->second) add_pip_setting(layer, key, stated);
      add_unsaid(into, std::move(layer));
    };
    take(":env:", of_env);
    take(section, of_command);
    take("global", global);
  }
  add_formats(of_command, global);
  add_formats(of_env, of_command);
  add_unsaid(of_env, std::move(of_command));
  add_unsaid(of_env, std::move(global));
  return of_env;
}

Outcome<UvFiles> read_uv_files(const Arguments& arguments) {
  UvFiles files;
  auto named = read_named_uv_file(arguments);
  if (!named) return std::unexpected(named.error());
  if (*named) {
    files.project = std::move(**named);
    return files;
  }
  if (arguments.has(Opt::no_config)) return files;
  const auto none = is_switched_on("UV_NO_CONFIG");
  if (!none) return std::unexpected(none.error());
  if (*none) return files;
  const auto place = find_uv_project();
  if (!place) return std::unexpected(place.error());
  if (!place->empty()) {
    auto layer =
        place->ends_with("pyproject.toml") ? read_pyproject_layer(*place) : read_uv_file(*place);
    if (!layer) return std::unexpected(layer.error());
    if (*layer) files.project = std::move(**layer);
  }
  if (const std::string home = config_home(); !home.empty()) {
    auto layer = read_uv_file(home + "/uv/uv.toml");
    if (!layer) return std::unexpected(layer.error());
    if (*layer) files.rest.push_back(std::move(**layer));
  }
  const auto no_system = is_switched_on("UV_NO_SYSTEM_CONFIG");
  if (!no_system) return std::unexpected(no_system.error());
  if (*no_system) return files;
  for (const std::string& path : uv_system_files()) {
    auto layer = read_uv_file(path);
    if (!layer) return std::unexpected(layer.error());
    if (!*layer) continue;
    files.rest.push_back(std::move(**layer));
    break;
  }
  return files;
}

}  // namespace axle::session
