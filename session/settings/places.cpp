#include "session/settings/places.h"

#include <algorithm>

#include "foundation/text/ascii.h"
#include "session/settings/axle_config.h"
#include "session/settings/configuration_files.h"
#include "session/settings/exclude_newer.h"
#include "session/settings/user_defaults.h"
#include "session/variables.h"

namespace axle::session {

namespace {

constexpr OptionKey keys_of_options[] = {{Opt::index_url, "index-url"},
                                         {Opt::extra_index_url, "extra-index-url"},
                                         {Opt::find_links, "find-links"},
                                         {Opt::no_index, "no-index"},
                                         {Opt::index, "index"},
                                         {Opt::default_index, "default-index"},
                                         {Opt::index_strategy, "index-strategy"},
                                         {Opt::keyring_provider, "keyring-provider"},
                                         {Opt::trusted_host, "trusted-host"},
                                         {Opt::cert, "cert"},
                                         {Opt::client_cert, "client-cert"},
                                         {Opt::proxy, "proxy"},
                                         {Opt::no_proxy_env, "no-proxy-env"},
                                         {Opt::timeout, "timeout"},
                                         {Opt::retries, "retries"},
                                         {Opt::offline, "offline"},
                                         {Opt::refresh, "refresh"},
                                         {Opt::refresh_package, "refresh-package"},
                                         {Opt::overrides, "override"},
                                         {Opt::require_hashes, "require-hashes"},
                                         {Opt::no_require_hashes, "no-require-hashes"},
                                         {Opt::no_verify_hashes, "no-verify-hashes"},
                                         {Opt::exclude_newer, "exclude-newer"},
                                         {Opt::uploaded_prior_to, "exclude-newer"},
                                         {Opt::exclude_newer_package, "exclude-newer-package"},
                                         {Opt::no_build, "no-build"},
                                         {Opt::build_constraint, "build-constraint"},
                                         {Opt::no_build_isolation, "no-build-isolation"},
                                         {Opt::config_settings, "config-settings"},
                                         {Opt::no_sources, "no-sources"},
                                         {Opt::no_sources_package, "no-sources-package"},
                                         {Opt::pre, "pre"},
                                         {Opt::prerelease, "prerelease"},
                                         {Opt::upgrade, "upgrade"},
                                         {Opt::upgrade_package, "upgrade-package"},
                                         {Opt::reinstall, "reinstall"},
                                         {Opt::reinstall_package, "reinstall-package"},
                                         {Opt::no_deps, "no-deps"},
                                         {Opt::no_editable, "no-editable"},
                                         {Opt::no_editable_package, "no-editable-package"},
                                         {Opt::link_mode, "link-mode"},
                                         {Opt::compile_bytecode, "compile-bytecode"},
                                         {Opt::no_compile, "no-compile"},
                                         {Opt::python, "python"},
                                         {Opt::system, "system"},
                                         {Opt::break_system_packages, "break-system-packages"},
                                         {Opt::dry_run, "dry-run"},
                                         {Opt::no_cache, "no-cache"},
                                         {Opt::torch_backend, "torch-backend"},
                                         {Opt::require_virtualenv, "require-virtualenv"},
                                         {Opt::progress, "progress"},
                                         {Opt::no_progress, "no-progress"},
                                         {Opt::list_format, "format"}};

SettingsLayer command_line_settings(const Arguments& arguments) {
  SettingsLayer layer;
  for (const auto& [id, key] : keys_of_options) {
    if (!arguments.has(id)) continue;
    const std::string name = option_name(id);
    switch (option_row(id).kind) {
      case OptionKind::flag:
        layer.add(key, "true", name);
        break;
      case OptionKind::value:
        layer.add(
            key,
            id == Opt::uploaded_prior_to ? pip_cutoff(arguments.value(id)) : arguments.value(id),
            name);
        break;
      case OptionKind::list:
        for (const std::string& value : arguments.values(id)) layer.add(key, value, name);
        break;
    }
  }
  unsigned turn = 0;
  for (auto& [id, value] : arguments.in_order({Opt::no_binary, Opt::only_binary}))
    layer.add(id == Opt::no_binary ? "no-binary" : "only-binary", std::move(value), option_name(id),
              ++turn);
  return layer;
}

/// As with pip, the part after PIP_ is not case-sensitive.
SettingsLayer pip_variables() {
  SettingsLayer layer;
  for (const auto& [name, value] : variables_with_prefix("PIP_"))
    add_pip_setting(layer, name.substr(4), {value, name});
  return layer;
}

/// Values that may be empty, which means unset; uv rejects an empty flag or choice.
bool may_be_empty(const SettingRow& row) {
  return row.kind == ValueKind::list || row.treatment != Treatment::honoured ||
         row.key == "index-url" || row.key == "default-index" || row.key == "timeout" ||
         row.key == "torch-backend" || row.key == "python";
}

SettingsLayer uv_variables() {
  SettingsLayer layer;
  for (const SettingRow& row : setting_rows()) {
    if (row.treatment == Treatment::irrelevant || row.treatment == Treatment::of_projects) continue;
    for (const std::string_view name : names_in(row.variables)) {
      const auto text = variable_if_set(name);
      if (!text || (text->empty() && may_be_empty(row))) continue;
      const std::string origin(name);
      if (row.kind != ValueKind::list) {
        layer.values.try_emplace(std::string(row.key), std::vector<Stated>{{*text, origin}});
        continue;
      }
      const std::string& words = *text;
      // The only list that uv splits at commas and nowhere else.
      if (row.key != "find-links") {
        for (std::string& word : split_words(words)) layer.add(row.key, std::move(word), origin);
        continue;
      }
      for (std::string_view rest = words; !rest.empty();) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        if (comma > 0) layer.add(row.key, std::string(rest.substr(0, comma)), origin);
        rest.remove_prefix(std::min(comma + 1, rest.size()));
      }
    }
  }
  return layer;
}

/// What [tool.axle] says besides [tool.uv].
Outcome<SettingsLayer> project_layer() {
  const auto config = read_project_config();
  if (!config) return std::unexpected(config.error());
  SettingsLayer layer;
  layer.of_uv = true;
  for (const Stated& index : config->environments.indexes)
    layer.add("index", index.value, index.origin);
  return layer;
}

}  // namespace

std::span<const OptionKey> option_keys() { return keys_of_options; }

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

Outcome<std::vector<SettingsLayer>> read_layers(const Arguments& arguments,
                                                const PlacesRequest& request) {
  SettingsLayer command_line = command_line_settings(arguments);
  SettingsLayer of_pip = pip_variables();
  SettingsLayer of_uv = uv_variables();
  for (const auto& [key, values] : command_line.values) of_uv.values.erase(key);
  if (arguments.has(Opt::constraint)) of_uv.values.erase("constraint");
  auto pip_files = read_pip_files(request.pip_section, request.python_prefix);
  if (!pip_files) return std::unexpected(pip_files.error());
  for (const auto& [key, values] : of_pip.values) {
    if (!is_format(key)) pip_files->values.erase(key);
  }
  auto uv_files = read_uv_files(arguments);
  if (!uv_files) return std::unexpected(uv_files.error());
  auto of_project = project_layer();
  if (!of_project) return std::unexpected(of_project.error());
  auto defaults = read_user_defaults();
  if (!defaults) return std::unexpected(defaults.error());
  std::vector<SettingsLayer> layers;
  layers.push_back(std::move(command_line));
  layers.push_back(std::move(of_pip));
  layers.push_back(std::move(of_uv));
  layers.push_back(std::move(*of_project));
  layers.push_back(std::move(uv_files->project));
  layers.push_back(std::move(defaults->settings));
  layers.push_back(std::move(*pip_files));
  std::ranges::move(uv_files->rest, std::back_inserter(layers));
  return layers;
}

}  // namespace axle::session
