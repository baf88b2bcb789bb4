#include "cli/index_settings.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>

#include <fmt/core.h>

#include "cli/variables.h"
#include "wheel/ascii.h"

namespace axle::cli {

namespace {

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

/// pip's spellings; nullopt for what is neither yes nor no.
std::optional<bool> truth_of(std::string_view text) {
  const std::string word = wheel::ascii_lower(text);
  const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
  };
  if (is_one_of({"y", "yes", "t", "true", "on", "1"})) return true;
  if (is_one_of({"", "n", "no", "f", "false", "off", "0"})) return false;
  return std::nullopt;
}

std::optional<std::string> read_if_there(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

SettingsLayer option_layer(const Arguments& arguments) {
  SettingsLayer layer{"the command line", {}};
  const auto take = [&](Opt id, const char* key) {
    if (arguments.has(id)) layer.values[key] = arguments.values(id);
  };
  if (arguments.has(Opt::index_url)) layer.values["index-url"] = {arguments.value(Opt::index_url)};
  take(Opt::extra_index_url, "extra-index-url");
  take(Opt::find_links, "find-links");
  if (arguments.has(Opt::no_index)) layer.values["no-index"] = {"true"};
  return layer;
}

SettingsLayer pip_variables() {
  SettingsLayer layer{"PIP_* in the environment", {}};
  const std::pair<const char*, const char*> names[] = {{"PIP_INDEX_URL", "index-url"},
                                                       {"PIP_EXTRA_INDEX_URL", "extra-index-url"},
                                                       {"PIP_FIND_LINKS", "find-links"},
                                                       {"PIP_NO_INDEX", "no-index"},
                                                       {"PIP_CERT", "cert"},
                                                       {"PIP_PROXY", "proxy"},
                                                       {"PIP_TRUSTED_HOST", "trusted-host"},
                                                       {"PIP_DEFAULT_TIMEOUT", "timeout"},
                                                       {"PIP_TIMEOUT", "timeout"}};
  for (const auto& [name, key] : names) {
    const std::string value = variable(name);
    if (!value.empty()) layer.values[key] = split_words(value);
  }
  return layer;
}

SettingsLayer uv_variables() {
  SettingsLayer layer{"UV_* in the environment", {}};
  const std::pair<const char*, const char*> names[] = {{"UV_INDEX_URL", "index-url"},
                                                       {"UV_DEFAULT_INDEX", "index-url"},
                                                       {"UV_EXTRA_INDEX_URL", "extra-index-url"},
                                                       {"UV_INDEX", "extra-index-url"},
                                                       {"UV_NO_INDEX", "no-index"},
                                                       {"UV_HTTP_TIMEOUT", "timeout"}};
  for (const auto& [name, key] : names) {
    const std::string value = variable(name);
    if (!value.empty()) layer.values[key] = split_words(value);
  }
  std::string links = variable("UV_FIND_LINKS");
  std::replace(links.begin(), links.end(), ',', ' ');
  if (!links.empty()) layer.values["find-links"] = split_words(links);
  // uv writes named indexes as name=URL.
  for (const char* key : {"index-url", "extra-index-url"}) {
    for (std::string& url : layer.values[key]) {
      const std::size_t equals = url.find('=');
      if (equals != std::string::npos && equals < url.find(':')) url.erase(0, equals + 1);
    }
    if (layer.values[key].empty()) layer.values.erase(key);
  }
  return layer;
}

using ConfigParser = Result<SettingsLayer> (*)(std::string_view, std::string);

void add_files(std::vector<SettingsLayer>& layers, const std::vector<std::string>& paths,
               ConfigParser parse, Report& report) {
  for (const std::string& path : paths) {
    const std::optional<std::string> text = read_if_there(path);
    if (!text) continue;
    Result<SettingsLayer> layer = parse(*text, path);
    if (layer) {
      layers.push_back(std::move(*layer));
    } else {
      report.warn(layer.error().message, "the file is ignored");
    }
  }
}

/// pip: the file that PIP_CONFIG_FILE names, the environment's, the user's, the system's.
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

std::string first_of(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::string value = variable(name);
    if (!value.empty()) return value;
  }
  return {};
}

/// The first layer that says `key`.
class Layers {
 public:
  explicit Layers(const std::vector<SettingsLayer>& layers) : layers_(layers) {}
  [[nodiscard]] std::vector<std::string> all(std::string_view key) const {
    for (const SettingsLayer& layer : layers_) {
      const auto found = layer.values.find(key);
      if (found != layer.values.end()) return found->second;
    }
    return {};
  }
  [[nodiscard]] std::string one(std::string_view key) const {
    const std::vector<std::string> values = all(key);
    return values.empty() ? std::string() : values.front();
  }
  [[nodiscard]] std::string origin(std::string_view key) const {
    for (const SettingsLayer& layer : layers_) {
      if (layer.values.contains(key)) return layer.origin;
    }
    return {};
  }

 private:
  const std::vector<SettingsLayer>& layers_;
};

}  // namespace

Result<SettingsLayer> parse_pip_config(std::string_view text, std::string where) {
  SettingsLayer layer{where, {}};
  std::map<std::string, std::vector<std::string>, std::less<>> of_install;
  std::string section;
  std::string key;
  unsigned number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    std::string line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] == '#' || line[first] == ';') continue;
    const bool taken = section == "global" || section == "install";
    auto& values = section == "install" ? of_install : layer.values;
    if (first > 0 && !key.empty()) {
      if (!taken) continue;
      for (std::string& word : split_words(line)) values[key].push_back(std::move(word));
      continue;
    }
    if (line[first] == '[') {
      const std::size_t close = line.find(']', first);
      if (close == std::string::npos) {
        return fail(ErrorKind::malformed,
                    fmt::format("{}:{}: a section without `]`", where, number));
      }
      section = line.substr(first + 1, close - first - 1);
      key.clear();
      continue;
    }
    const std::size_t equals = line.find_first_of("=:", first);
    if (equals == std::string::npos) {
      return fail(ErrorKind::malformed,
                  fmt::format("{}:{}: neither a section nor `key = value`", where, number));
    }
    const std::vector<std::string> words = split_words(line.substr(first, equals - first));
    key = words.empty() ? std::string() : words.front();
    std::replace(key.begin(), key.end(), '_', '-');
    if (taken) values[key] = split_words(line.substr(equals + 1));
  }
  for (auto& [name, values] : of_install) layer.values[name] = std::move(values);
  return layer;
}

IndexSettings read_index_settings(const Arguments& arguments, const std::string& python_prefix,
                                  Report& report) {
  std::vector<SettingsLayer> sources = {option_layer(arguments), pip_variables(), uv_variables()};
  add_files(sources, pip_files(python_prefix), parse_pip_config, report);
  add_files(sources, uv_files(), parse_uv_config, report);
  const Layers layers(sources);

  IndexSettings settings;
  settings.index_url = layers.one("index-url");
  settings.index_origin = layers.origin("index-url");
  settings.extra_index_urls = layers.all("extra-index-url");
  settings.find_links = layers.all("find-links");
  const std::optional<bool> no_index = truth_of(layers.one("no-index"));
  if (!no_index) {
    report.warn(fmt::format("no-index is `{}`, which is neither true nor false ({})",
                            layers.one("no-index"), layers.origin("no-index")));
  }
  settings.no_index = no_index.value_or(false);
  // An index that the command line names is not silenced by a file's no-index.
  if (arguments.has(Opt::index_url) && !arguments.has(Opt::no_index)) settings.no_index = false;
  settings.ca_file = layers.one("cert");
  if (settings.ca_file.empty()) settings.ca_file = variable("SSL_CERT_FILE");
  settings.http_proxy = settings.https_proxy = layers.one("proxy");
  if (settings.http_proxy.empty()) {
    settings.http_proxy = first_of({"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"});
    settings.https_proxy = first_of({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
  }
  settings.no_proxy = first_of({"no_proxy", "NO_PROXY"});
  settings.trusted_hosts = layers.all("trusted-host");
  const std::string timeout = layers.one("timeout");
  unsigned seconds = 0;
  const auto parsed = std::from_chars(timeout.data(), timeout.data() + timeout.size(), seconds);
  if (parsed.ec == std::errc() && seconds > 0) {
    settings.timeout_seconds = seconds;
  } else if (!timeout.empty()) {
    report.warn(fmt::format("the timeout `{}` is not a number of seconds ({})", timeout,
                            layers.origin("timeout")));
  }
  return settings;
}

}  // namespace axle::cli
