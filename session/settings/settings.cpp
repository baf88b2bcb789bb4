#include "session/settings/settings.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>

#include <fmt/core.h>
#include <unistd.h>

#include "foundation/text/ascii.h"
#include "session/families.h"
#include "session/settings/configure.h"
#include "session/settings/configured_indexes.h"
#include "session/settings/exclude_newer.h"
#include "session/settings/formats.h"
#include "session/settings/places.h"
#include "session/settings/progress.h"
#include "session/settings/truth.h"
#include "session/settings/weighed_layers.h"
#include "session/variables.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

std::string first_of(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::string value = variable(name);
    if (!value.empty()) return value;
  }
  return {};
}

/// Rows that Axle rejects wherever they are set.
void check_refused(WeighedLayers& layers) {
  for (const SettingsLayer& layer : layers.each()) {
    for (const auto& [key, values] : layer.values) {
      const auto rows = setting_rows();
      const auto row = std::ranges::find(rows, key, &SettingRow::key);
      if (row == rows.end() || row->treatment != Treatment::refused) continue;
      for (const Stated& stated : values) {
        const bool off = row->kind == ValueKind::flag && truth_of(stated.value) == false;
        const auto accepted = names_in(row->harmless);
        const bool harmless = std::ranges::find(accepted, stated.value) != accepted.end();
        if (!off && !harmless)
          layers.refuse(stated, key, "is not supported by Axle", std::string(row->text));
      }
    }
  }
}

/// The environment is found before its own pip.conf is read, so that file cannot choose the
/// environment.
void check_early(WeighedLayers& layers, const std::string& python_prefix) {
  if (python_prefix.empty()) return;
  for (const std::string_view key : early_settings()) {
    for (const Stated& stated : layers.all(key)) {
      if (stated.origin.starts_with(python_prefix + "/pip.conf"))
        layers.refuse(stated, key,
                      "has no effect in the environment's own pip.conf, which is read too late",
                      "set it in the user's pip.conf, or on the command line");
    }
  }
}

void take_strategy(WeighedLayers& layers, Settings& settings) {
  if (const auto stated = layers.one("index-strategy")) {
    const std::string& name = stated->value;
    if (name == "unsafe-first-match" || name == "unsafe-any-match") {
      settings.index_strategy = index::IndexStrategy::unsafe_first_match;
    } else if (name == "unsafe-best-match") {
      settings.index_strategy = index::IndexStrategy::unsafe_best_match;
    } else if (name != "first-index") {
      layers.refuse(*stated, "index-strategy", "is not a valid strategy",
                    "first-index, unsafe-first-match or unsafe-best-match");
    }
  }
  if (const auto stated = layers.one("keyring-provider")) {
    if (stated->value == "subprocess" || stated->value == "auto") {
      settings.keyring_provider = KeyringProvider::subprocess;
    } else if (stated->value != "disabled") {
      layers.refuse(*stated, "keyring-provider", "is not a supported provider",
                    "disabled, or subprocess: the program `keyring`");
    }
  }
}

void take_sources(WeighedLayers& layers, Settings& settings) {
  settings.no_sources = layers.truth("no-sources").value_or(false);
  if (settings.no_sources) return;
  for (const Stated& stated : layers.all("no-sources-package"))
    settings.no_sources_of.insert(wheel::normalize_name(stated.value));
  for (const SettingsLayer& layer : layers.each()) {
    for (const PackageSource& source : layer.sources) {
      if (!settings.no_sources_of.contains(source.package)) settings.sources.push_back(source);
    }
  }
}

void take_timeout(WeighedLayers& layers, Settings& settings) {
  const auto stated = layers.one("timeout");
  if (!stated) return;
  const std::string& value = stated->value;
  double seconds = 0;
  const auto parsed =
      std::from_chars(value.data(), value.data() + value.size(), seconds, std::chars_format::fixed);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == value.data() + value.size();
  constexpr double most = 86400;
  if (!whole || !(seconds >= 0) || seconds > most)
    return layers.refuse(*stated, "timeout", "is not a number of seconds", "for example 60");
  // As in pip, 0 means unset.
  if (seconds > 0) settings.timeout_seconds = static_cast<unsigned>(std::ceil(seconds));
}

void take_retries(WeighedLayers& layers, Settings& settings) {
  const auto stated = layers.one("retries");
  if (!stated) return;
  const std::string& value = stated->value;
  constexpr unsigned most = 100;
  unsigned number = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != value.data() + value.size() || number > most)
    return layers.refuse(*stated, "retries", "is not a number of retries", "0 to 100");
  settings.retries = number;
}

/// Names of packages, normalised.
std::set<std::string> take_names(WeighedLayers& layers, std::string_view key) {
  std::set<std::string> names;
  for (const Stated& stated : layers.all(key)) {
    if (!wheel::is_valid_name(stated.value))
      layers.refuse(stated, key, "is not a valid name of a package");
    names.insert(wheel::normalize_name(stated.value));
  }
  return names;
}

void take_connection(WeighedLayers& layers, Settings& settings) {
  settings.offline = layers.truth("offline").value_or(false);
  settings.refresh =
      layers.truth("refresh").value_or(false) || !layers.all("refresh-package").empty();
  settings.client_cert = layers.text("client-cert");
  settings.ca_file = layers.text("cert");
  if (settings.ca_file.empty())
    settings.ca_file = first_of({"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"});
  settings.ca_folder = first_of({"SSL_CERT_DIR"});
  settings.http_proxy = settings.https_proxy = layers.text("proxy");
  if (settings.http_proxy.empty()) {
    const bool from_environment = !layers.truth("no-proxy-env").value_or(false);
    settings.http_proxy = layers.text("http-proxy");
    settings.https_proxy = layers.text("https-proxy");
    if (settings.http_proxy.empty() && from_environment)
      settings.http_proxy = first_of({"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"});
    if (settings.https_proxy.empty() && from_environment)
      settings.https_proxy = first_of({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
  }
  settings.no_proxy = first_of({"no_proxy", "NO_PROXY"});
  for (const Stated& host : layers.all("no-proxy"))
    settings.no_proxy += (settings.no_proxy.empty() ? "" : ",") + host.value;
  for (const Stated& host : layers.all("trusted-host"))
    settings.trusted_hosts.push_back(host.value);
  take_timeout(layers, settings);
  take_retries(layers, settings);
}

Cutoff cutoff_of(WeighedLayers& layers, const Stated& stated, std::string_view text) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  auto time = parse_cutoff(text, now);
  if (time) return {std::move(*time), stated.origin};
  layers.refuse(
      misused(fmt::format("{}: {}", stated.origin, time.error().message), time.error().hint)
          .error());
  return {};
}

void take_exclude_newer(WeighedLayers& layers, Settings& settings) {
  if (const auto stated = layers.one("exclude-newer"); stated && stated->value != "false")
    settings.exclude_newer = cutoff_of(layers, *stated, stated->value);
  for (const Stated& stated : layers.all("exclude-newer-package")) {
    const std::size_t equals = stated.value.find('=');
    const std::string name = wheel::normalize_name(stated.value.substr(0, equals));
    if (equals == std::string::npos || name.empty()) {
      layers.refuse(stated, "exclude-newer-package", "is not PKG=WHEN");
      continue;
    }
    if (settings.exclude_newer_package.contains(name)) continue;
    const std::string when = stated.value.substr(equals + 1);
    settings.exclude_newer_package[name] =
        when == "false" ? std::nullopt : std::optional(cutoff_of(layers, stated, when));
  }
}

void take_prereleases(WeighedLayers& layers, Settings& settings) {
  using resolver::Prereleases;
  if (const auto stated = layers.one("prerelease")) {
    static const std::map<std::string_view, Prereleases> known = {
        {"disallow", Prereleases::disallow},
        {"allow", Prereleases::allow},
        {"if-necessary", Prereleases::if_necessary},
        {"explicit", Prereleases::explicitly},
        {"if-necessary-or-explicit", Prereleases::if_necessary_or_explicit}};
    const auto found = known.find(stated->value);
    if (found != known.end()) {
      settings.prereleases = found->second;
    } else {
      layers.refuse(*stated, "prerelease", "is not supported",
                    "disallow, allow, if-necessary, explicit, or if-necessary-or-explicit");
    }
  }
  if (layers.truth("pre").value_or(false)) settings.prereleases = Prereleases::allow;
}

void take_builds(WeighedLayers& layers, Settings& settings) {
  if (layers.truth("no-build").value_or(false))
    settings.no_build.emplace(":all:", "no-build, from " + layers.one("no-build")->origin);
  for (const Stated& stated : layers.all("no-build-package")) {
    settings.no_build.emplace(wheel::normalize_name(stated.value),
                              "no-build-package, from " + stated.origin);
  }
  settings.build_constraint_files = layers.all("build-constraint");
  settings.build_constraint_texts = layers.all("build-constraint-dependencies");
  settings.build_isolation = !layers.truth("no-build-isolation").value_or(false);
  settings.config_settings = layers.all("config-settings");
  for (const Stated& stated : settings.config_settings) {
    if (stated.value.find('=') == std::string::npos || stated.value.starts_with('='))
      layers.refuse(stated, "config-settings", "is not KEY=VALUE");
  }
  for (const SettingRow& row : setting_rows()) {
    if (row.treatment != Treatment::refused_for_builds) continue;
    for (const Stated& stated : layers.all(row.key)) {
      if (row.kind != ValueKind::flag || truth_of(stated.value) != false)
        settings.build_settings.push_back(stated);
    }
  }
}

void take_choice(WeighedLayers& layers, Settings& settings) {
  if (layers.truth("require-hashes").value_or(false)) {
    settings.require_hashes = true;
    settings.require_hashes_origin = layers.one("require-hashes")->origin;
  } else if (layers.truth("no-require-hashes").value_or(false)) {
    settings.require_hashes = false;
    settings.require_hashes_origin = layers.one("no-require-hashes")->origin;
  }
  settings.verify_hashes = !layers.truth("no-verify-hashes").value_or(false) &&
                           layers.truth("verify-hashes").value_or(true);
  settings.formats = take_formats(layers);
  take_builds(layers, settings);
  take_exclude_newer(layers, settings);
  take_prereleases(layers, settings);
  settings.no_deps = layers.truth("no-deps").value_or(false);
  settings.no_editable = layers.truth("no-editable").value_or(false);
  settings.no_editable_of = take_names(layers, "no-editable-package");
  settings.upgrade = layers.truth("upgrade").value_or(false);
  settings.upgrade_of = take_names(layers, "upgrade-package");
  settings.reinstall = layers.truth("reinstall").value_or(false);
  settings.reinstall_of = take_names(layers, "reinstall-package");
  if (const auto stated = layers.one("link-mode")) {
    const auto mode = installer::parse_link_mode(stated->value);
    if (!mode) {
      layers.refuse(*stated, "link-mode", "is not a valid mode",
                    "hardlink, reflink (or clone), copy or symlink");
    }
    settings.link_mode = mode.value_or(installer::LinkMode::best);
  }
  settings.compile_bytecode = layers.truth("compile-bytecode").value_or(false) &&
                              !layers.truth("no-compile").value_or(false);
  settings.constraint_files = layers.all("constraint");
  settings.constraint_texts = layers.all("constraint-dependencies");
  settings.override_files = layers.all("override");
  settings.override_texts = layers.all("override-dependencies");
}

Settings take_all(WeighedLayers& layers) {
  Settings settings;
  take_indexes(layers, settings);
  settings.find_links = layers.all("find-links");
  settings.progress = take_progress(layers);
  take_sources(layers, settings);
  take_strategy(layers, settings);
  take_connection(layers, settings);
  take_choice(layers, settings);
  return settings;
}

}  // namespace

void check_values(WeighedLayers& layers) {
  (void)take_all(layers);
  const auto backend = layers.one("torch-backend");
  if (backend && !is_torch_backend(backend->value))
    layers.refuse(*backend, "torch-backend", "is not known", "for example auto, cpu or cu130");
  for (const std::string_view key :
       {"cert", "client-cert", "constraint", "override", "build-constraint"}) {
    for (const Stated& stated : layers.all(key)) {
      if (!stated.value.contains("://") && ::access(stated.value.c_str(), R_OK) != 0)
        layers.refuse(stated, key, fmt::format("cannot be read: {}", std::strerror(errno)),
                      "correct the path, or remove the key");
    }
  }
}

Outcome<Settings> read_settings(const Arguments& arguments, const std::string& python_prefix,
                                std::string_view pip_section) {
  const auto read = read_layers(arguments, {python_prefix, pip_section});
  if (!read) return std::unexpected(read.error());
  WeighedLayers layers(*read);
  check_refused(layers);
  check_early(layers, python_prefix);
  Settings settings = take_all(layers);
  if (layers.problem()) return std::unexpected(*layers.problem());
  return settings;
}

}  // namespace axle::session
