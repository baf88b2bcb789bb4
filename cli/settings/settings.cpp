#include "cli/settings/settings.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <initializer_list>

#include <fmt/core.h>

#include "cli/requests.h"
#include "cli/settings/exclude_newer.h"
#include "cli/settings/sources.h"
#include "cli/variables.h"
#include "wheel/ascii.h"
#include "wheel/requirement.h"

namespace axle::cli {

namespace {

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

std::string first_of(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::string value = variable(name);
    if (!value.empty()) return value;
  }
  return {};
}

/// Ends the reading of settings at the first value that is not valid.
struct Invalid {
  Failure failure;
};

[[noreturn]] void refuse(const Stated& stated, std::string_view key, std::string_view why,
                         std::string hint = {}) {
  throw Invalid{
      misused(fmt::format("{}: {} `{}` {}", stated.origin, key, stated.value, why), std::move(hint))
          .error()};
}

/// The layers, the first of which wins.
class Layers {
 public:
  explicit Layers(const std::vector<SettingsLayer>& layers) : layers_(layers) {}

  /// Of the first layer that says `key`.
  [[nodiscard]] std::vector<Stated> first(std::string_view key) const {
    for (const SettingsLayer& layer : layers_) {
      const auto found = layer.values.find(key);
      if (found != layer.values.end()) return found->second;
    }
    return {};
  }
  /// Of all layers, those that win first.
  [[nodiscard]] std::vector<Stated> all(std::string_view key) const {
    std::vector<Stated> values;
    for (const SettingsLayer& layer : layers_) {
      const auto found = layer.values.find(key);
      if (found != layer.values.end())
        values.insert(values.end(), found->second.begin(), found->second.end());
    }
    return values;
  }
  [[nodiscard]] std::optional<Stated> one(std::string_view key) const {
    std::vector<Stated> values = first(key);
    if (values.empty()) return std::nullopt;
    return std::move(values.back());
  }
  [[nodiscard]] std::optional<bool> truth(std::string_view key) const {
    const auto stated = one(key);
    if (!stated) return std::nullopt;
    const auto value = truth_of(stated->value);
    if (!value) refuse(*stated, key, "is neither true nor false");
    return value;
  }
  [[nodiscard]] const std::vector<SettingsLayer>& each() const { return layers_; }

 private:
  const std::vector<SettingsLayer>& layers_;
};

void take_indexes(const Layers& layers, const Arguments& arguments, Settings& settings) {
  settings.no_index = layers.truth("no-index").value_or(false);
  // An index that the command line names is not silenced by a file's no-index.
  const bool named = arguments.has(Opt::index_url) || arguments.has(Opt::default_index) ||
                     arguments.has(Opt::index);
  if (named && !arguments.has(Opt::no_index)) settings.no_index = false;
  if (settings.no_index) return;
  std::vector<ConfiguredIndex> defaults;
  const auto take = [&](ConfiguredIndex index) {
    index.url = absolute_place(index.url);
    auto& into = index.is_default ? defaults : settings.indexes;
    const auto same = [&](const ConfiguredIndex& other) {
      return other.url == index.url || (!index.name.empty() && other.name == index.name);
    };
    if (std::ranges::none_of(settings.indexes, same)) into.push_back(std::move(index));
  };
  for (const SettingsLayer& layer : layers.each()) {
    for (const char* key : {"default-index", "index-url"}) {
      const auto found = layer.values.find(key);
      if (found == layer.values.end()) continue;
      ConfiguredIndex index = parse_index(found->second.back().value, found->second.back().origin);
      if (index.url.empty()) refuse(found->second.back(), key, "is empty");
      index.is_default = true;
      take(std::move(index));
    }
    for (const ConfiguredIndex& index : layer.indexes) take(index);
    if (const auto found = layer.values.find("index"); found != layer.values.end()) {
      for (const Stated& stated : found->second) take(parse_index(stated.value, stated.origin));
    }
  }
  for (const Stated& stated : layers.all("extra-index-url"))
    take(parse_index(stated.value, stated.origin));
  if (!defaults.empty()) settings.indexes.push_back(std::move(defaults.front()));
}

void take_strategy(const Layers& layers, Settings& settings) {
  if (const auto stated = layers.one("index-strategy")) {
    if (stated->value == "first-index") {
      settings.index_strategy = IndexStrategy::first_index;
    } else if (stated->value == "unsafe-first-match") {
      settings.index_strategy = IndexStrategy::unsafe_first_match;
    } else if (stated->value == "unsafe-best-match") {
      settings.index_strategy = IndexStrategy::unsafe_best_match;
    } else {
      refuse(*stated, "index-strategy", "is not a strategy",
             "first-index, unsafe-first-match or unsafe-best-match");
    }
  }
  if (const auto stated = layers.one("keyring-provider")) {
    if (stated->value == "subprocess") {
      settings.keyring_provider = KeyringProvider::subprocess;
    } else if (stated->value != "disabled" && stated->value != "auto") {
      refuse(*stated, "keyring-provider", "is not a provider that Axle has",
             "disabled, or subprocess: the program `keyring`");
    }
  }
}

void take_connection(const Layers& layers, Settings& settings) {
  const auto text = [&](const char* key) {
    const auto stated = layers.one(key);
    return stated ? stated->value : std::string();
  };
  settings.offline = layers.truth("offline").value_or(false);
  settings.ca_file = text("cert");
  if (settings.ca_file.empty()) settings.ca_file = variable("SSL_CERT_FILE");
  settings.http_proxy = settings.https_proxy = text("proxy");
  if (settings.http_proxy.empty()) {
    settings.http_proxy = first_of({"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"});
    settings.https_proxy = first_of({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
  }
  settings.no_proxy = first_of({"no_proxy", "NO_PROXY"});
  for (const Stated& host : layers.all("trusted-host"))
    settings.trusted_hosts.push_back(host.value);
  if (const auto stated = layers.one("timeout")) {
    const std::string& value = stated->value;
    unsigned seconds = 0;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), seconds);
    if (parsed.ec != std::errc() || parsed.ptr != value.data() + value.size() || seconds == 0)
      refuse(*stated, "timeout", "is not a whole number of seconds");
    settings.timeout_seconds = seconds;
  }
}

Cutoff cutoff_of(const Stated& stated, std::string_view text) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  auto time = parse_cutoff(text, now);
  if (!time)
    throw Invalid{
        misused(fmt::format("{}: {}", stated.origin, time.error().message), time.error().hint)
            .error()};
  return {std::move(*time), stated.origin};
}

void take_exclude_newer(const Layers& layers, Settings& settings) {
  if (const auto stated = layers.one("exclude-newer"); stated && stated->value != "false")
    settings.exclude_newer = cutoff_of(*stated, stated->value);
  for (const Stated& stated : layers.all("exclude-newer-package")) {
    const std::size_t equals = stated.value.find('=');
    const std::string name = wheel::normalize_name(stated.value.substr(0, equals));
    if (equals == std::string::npos || name.empty())
      refuse(stated, "exclude-newer-package", "is not PKG=WHEN");
    if (settings.exclude_newer_package.contains(name)) continue;
    const std::string when = stated.value.substr(equals + 1);
    settings.exclude_newer_package[name] =
        when == "false" ? std::nullopt : std::optional(cutoff_of(stated, when));
  }
}

/// Names with commas between them, normalised.
void take_formats(const std::vector<Stated>& stated, std::vector<Stated>& into) {
  for (const Stated& list : stated) {
    std::string_view rest = list.value;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view name = wheel::trim_ascii(rest.substr(0, comma));
      rest.remove_prefix(std::min(rest.size(), comma + 1));
      if (name.empty()) continue;
      const bool is_word = name == ":all:" || name == ":none:";
      if (!is_word && !wheel::is_valid_name(name))
        refuse({std::string(name), list.origin}, "the package", "is not a valid name");
      into.push_back({is_word ? std::string(name) : wheel::normalize_name(name), list.origin});
    }
  }
}

void take_choice(const Layers& layers, Settings& settings) {
  if (const auto stated = layers.one("require-hashes")) {
    settings.require_hashes = layers.truth("require-hashes");
    settings.require_hashes_origin = stated->origin;
  }
  settings.verify_hashes = !layers.truth("no-verify-hashes").value_or(false);
  take_formats(layers.first("no-binary"), settings.no_binary);
  take_formats(layers.first("only-binary"), settings.only_binary);
  take_exclude_newer(layers, settings);
  if (layers.truth("pre").value_or(false)) settings.prereleases = Prereleases::allow;
  settings.no_deps = layers.truth("no-deps").value_or(false);
  settings.upgrade = layers.truth("upgrade").value_or(false);
  settings.reinstall = layers.truth("reinstall").value_or(false);
  settings.constraint_files = layers.all("constraint");
  settings.override_files = layers.all("override");
}

}  // namespace

ConfiguredIndex parse_index(std::string_view text, std::string origin) {
  ConfiguredIndex index;
  const std::size_t equals = text.find('=');
  // A name holds none of these; the `=` of a URL comes after them.
  const bool named = equals != std::string_view::npos && text.find_first_of(":/.") > equals;
  if (named) index.name = text.substr(0, equals);
  index.url = text.substr(named ? equals + 1 : 0);
  index.origin = std::move(origin);
  return index;
}

Outcome<Settings> read_settings(const Arguments& arguments, const std::string& python_prefix,
                                Report&) {
  std::vector<SettingsLayer> layers = {command_line_settings(arguments), pip_variables(),
                                       uv_variables()};
  auto files = configuration_files(python_prefix);
  if (!files) return std::unexpected(files.error());
  std::ranges::move(*files, std::back_inserter(layers));
  Settings settings;
  try {
    const Layers weighed(layers);
    take_indexes(weighed, arguments, settings);
    settings.find_links = weighed.all("find-links");
    take_strategy(weighed, settings);
    take_connection(weighed, settings);
    take_choice(weighed, settings);
  } catch (Invalid& invalid) {
    return std::unexpected(std::move(invalid.failure));
  }
  return settings;
}

}  // namespace axle::cli
