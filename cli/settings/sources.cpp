#include "cli/settings/sources.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include <fmt/core.h>
#include <sys/stat.h>

#include "cli/input_file.h"
#include "cli/variables.h"

namespace axle::cli {

namespace {

struct OptionKey {
  Opt id;
  const char* key;
};

constexpr OptionKey option_keys[] = {{Opt::index_url, "index-url"},
                                     {Opt::extra_index_url, "extra-index-url"},
                                     {Opt::find_links, "find-links"},
                                     {Opt::no_index, "no-index"},
                                     {Opt::index, "index"},
                                     {Opt::default_index, "default-index"},
                                     {Opt::index_strategy, "index-strategy"},
                                     {Opt::keyring_provider, "keyring-provider"},
                                     {Opt::trusted_host, "trusted-host"},
                                     {Opt::cert, "cert"},
                                     {Opt::proxy, "proxy"},
                                     {Opt::timeout, "timeout"},
                                     {Opt::offline, "offline"},
                                     {Opt::overrides, "override"},
                                     {Opt::require_hashes, "require-hashes"},
                                     {Opt::no_verify_hashes, "no-verify-hashes"},
                                     {Opt::exclude_newer, "exclude-newer"},
                                     {Opt::exclude_newer_package, "exclude-newer-package"},
                                     {Opt::no_binary, "no-binary"},
                                     {Opt::only_binary, "only-binary"},
                                     {Opt::pre, "pre"},
                                     {Opt::upgrade, "upgrade"},
                                     {Opt::reinstall, "reinstall"},
                                     {Opt::no_deps, "no-deps"}};

struct VariableKey {
  const char* name;
  const char* key;
  bool list;
};

constexpr VariableKey pip_keys[] = {{"PIP_INDEX_URL", "index-url", false},
                                    {"PIP_EXTRA_INDEX_URL", "extra-index-url", true},
                                    {"PIP_FIND_LINKS", "find-links", true},
                                    {"PIP_NO_INDEX", "no-index", false},
                                    {"PIP_CERT", "cert", false},
                                    {"PIP_PROXY", "proxy", false},
                                    {"PIP_TRUSTED_HOST", "trusted-host", true},
                                    {"PIP_TIMEOUT", "timeout", false},
                                    {"PIP_DEFAULT_TIMEOUT", "timeout", false},
                                    {"PIP_CONSTRAINT", "constraint", true},
                                    {"PIP_REQUIRE_HASHES", "require-hashes", false},
                                    {"PIP_NO_BINARY", "no-binary", false},
                                    {"PIP_ONLY_BINARY", "only-binary", false},
                                    {"PIP_UPLOADED_PRIOR_TO", "exclude-newer", false},
                                    {"PIP_KEYRING_PROVIDER", "keyring-provider", false},
                                    {"PIP_PRE", "pre", false},
                                    {"PIP_NO_DEPS", "no-deps", false},
                                    {"PIP_UPGRADE", "upgrade", false},
                                    {"PIP_FORCE_REINSTALL", "reinstall", false}};

constexpr VariableKey uv_keys[] = {{"UV_INDEX", "index", true},
                                   {"UV_DEFAULT_INDEX", "default-index", false},
                                   {"UV_INDEX_URL", "index-url", false},
                                   {"UV_EXTRA_INDEX_URL", "extra-index-url", true},
                                   {"UV_NO_INDEX", "no-index", false},
                                   {"UV_HTTP_TIMEOUT", "timeout", false},
                                   {"UV_INDEX_STRATEGY", "index-strategy", false},
                                   {"UV_KEYRING_PROVIDER", "keyring-provider", false},
                                   {"UV_CONSTRAINT", "constraint", true},
                                   {"UV_OVERRIDE", "override", true},
                                   {"UV_REQUIRE_HASHES", "require-hashes", false},
                                   {"UV_NO_VERIFY_HASHES", "no-verify-hashes", false},
                                   {"UV_EXCLUDE_NEWER", "exclude-newer", false},
                                   {"UV_OFFLINE", "offline", false},
                                   {"UV_INSECURE_HOST", "trusted-host", true}};

template <std::size_t count>
SettingsLayer variables_of(const VariableKey (&keys)[count]) {
  SettingsLayer layer;
  for (const VariableKey& row : keys) {
    const std::string text = variable(row.name);
    if (text.empty()) continue;
    if (!row.list) {
      layer.values[row.key] = {{text, row.name}};
      continue;
    }
    for (std::string& word : split_words(text)) layer.add(row.key, std::move(word), row.name);
  }
  return layer;
}

/// The file's text; nullopt where there is none. What is there and cannot be read is an error: it
/// may hold the index that the user relies on.
Outcome<std::optional<std::string>> read_configuration(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return misused(
        fmt::format("{}: the configuration cannot be read: {}", path, std::strerror(errno)));
  }
  auto text = read_input(path);
  if (!text)
    return misused(text.error().message, "it may name an index or a limit: fix or remove it");
  return std::move(*text);
}

using ConfigParser = Result<SettingsLayer> (*)(std::string_view, const std::string&);

Outcome<void> add_files(std::vector<SettingsLayer>& layers, const std::vector<std::string>& paths,
                        ConfigParser parse) {
  for (const std::string& path : paths) {
    auto text = read_configuration(path);
    if (!text) return std::unexpected(text.error());
    if (!*text) continue;
    auto layer = parse(**text, path);
    if (!layer) return misused(layer.error().message, layer.error().hint);
    layers.push_back(std::move(*layer));
  }
  return {};
}

std::vector<std::string> pip_files(const std::string& python_prefix) {
  std::vector<std::string> paths;
  const std::string named = variable("PIP_CONFIG_FILE");
  if (named == "/dev/null") return paths;
  if (!named.empty()) paths.push_back(named);
  if (!python_prefix.empty()) paths.push_back(python_prefix + "/pip.conf");
  if (const std::string home = config_home(); !home.empty())
    paths.push_back(home + "/pip/pip.conf");
  if (const std::string home = variable("HOME"); !home.empty())
    paths.push_back(home + "/.pip/pip.conf");
  paths.insert(paths.end(), {"/etc/xdg/pip/pip.conf", "/etc/pip.conf"});
  return paths;
}

std::vector<std::string> uv_files() {
  std::vector<std::string> paths;
  if (const std::string named = variable("UV_CONFIG_FILE"); !named.empty()) paths.push_back(named);
  if (const std::string home = config_home(); !home.empty()) paths.push_back(home + "/uv/uv.toml");
  paths.emplace_back("/etc/uv/uv.toml");
  return paths;
}

/// The first of the spellings of a row: "--find-links".
std::string option_name(Opt id) {
  const std::string_view names = option_row(id).names;
  return std::string(names.substr(0, names.find(',')));
}

}  // namespace

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

SettingsLayer command_line_settings(const Arguments& arguments) {
  SettingsLayer layer;
  for (const auto& [id, key] : option_keys) {
    if (!arguments.has(id)) continue;
    const std::string name = option_name(id);
    switch (option_row(id).kind) {
      case OptionKind::flag:
        layer.add(key, "true", name);
        break;
      case OptionKind::value:
        layer.add(key, arguments.value(id), name);
        break;
      case OptionKind::list:
        for (const std::string& value : arguments.values(id)) layer.add(key, value, name);
        break;
    }
  }
  return layer;
}

SettingsLayer pip_variables() { return variables_of(pip_keys); }

SettingsLayer uv_variables() {
  SettingsLayer layer = variables_of(uv_keys);
  std::string links = variable("UV_FIND_LINKS");
  std::replace(links.begin(), links.end(), ',', ' ');
  for (std::string& link : split_words(links))
    layer.add("find-links", std::move(link), "UV_FIND_LINKS");
  return layer;
}

Outcome<std::vector<SettingsLayer>> configuration_files(const std::string& python_prefix) {
  std::vector<SettingsLayer> layers;
  if (auto read = add_files(layers, pip_files(python_prefix), parse_pip_config); !read)
    return std::unexpected(read.error());
  if (auto read = add_files(layers, uv_files(), parse_uv_config); !read)
    return std::unexpected(read.error());
  return layers;
}

}  // namespace axle::cli
