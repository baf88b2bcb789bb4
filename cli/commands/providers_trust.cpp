// providers trust, untrust, enable, disable: what the user decides.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/plugin_host.h"
#include "cli/provider_settings.h"
#include "cli/session.h"
#include "wheel/requirement.h"
#include "wheel/utf8.h"

namespace axle::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

bool is_path(const std::string& name) { return name.contains('/'); }

/// The namespace that a file answers for: --namespace, else its own word.
Outcome<std::string> namespace_of(const TrustedFile& file, const std::string& asked_for) {
  if (!asked_for.empty()) return asked_for;
  const auto said = plugins::ask_namespace(plugin_of(file), ask_options({}));
  if (said) return *said;
  return failed({ErrorKind::malformed, fmt::format("{}: {}", file.path, said.error().message),
                 said.error().mend});
}

/// What is given with trust.
struct Terms {
  std::string ns;  ///< empty: the file's own; of packages: any
  std::vector<std::string> devices;
};

Outcome<TrustedFile> trusted_file(const std::string& name, const Terms& terms) {
  std::error_code error;
  TrustedFile file;
  file.path = fs::canonical(name, error).string();
  if (error) return failed({ErrorKind::not_found, fmt::format("{}: there is no such file", name)});
  if (!wheel::is_valid_utf8(file.path)) {
    return failed({ErrorKind::unsupported,
                   fmt::format("{}: its path is not UTF-8", wheel::mend_utf8(file.path)),
                   "the settings are TOML: rename it, or its folder"});
  }
  if (file.path.ends_with(".so") || file.path.contains(".so."))
    file.kind = plugins::PluginKind::shared_object;
  auto sha256 = fingerprint(file.path);
  if (!sha256) return failed(sha256.error());
  file.sha256 = std::move(*sha256);
  file.devices = terms.devices;
  auto found = namespace_of(file, terms.ns);
  if (!found) return std::unexpected(found.error());
  file.ns = std::move(*found);
  return file;
}

Outcome<std::string> namespace_option(const Arguments& arguments) {
  const std::string ns = arguments.value(Opt::ns);
  if (ns.empty() || is_namespace(ns)) return ns;
  return misused(fmt::format("--namespace {}: that is no namespace", ns),
                 "a namespace is made of a-z, 0-9 and _");
}

Outcome<std::string> trust_file(const std::string& name, const Terms& terms,
                                ProviderSettings& settings) {
  auto file = trusted_file(name, terms);
  if (!file) return std::unexpected(file.error());
  // One file answers for a namespace: the last one that was trusted.
  std::erase_if(settings.files, [&](const TrustedFile& old) {
    return old.path == file->path || old.ns == file->ns;
  });
  const std::string line = fmt::format(
      "{} is trusted for namespace {}, as long as it stays as it is\n", file->path, file->ns);
  settings.files.push_back(std::move(*file));
  return line;
}

Outcome<std::string> trust_package(const std::string& text, const Terms& terms,
                                   ProviderSettings& settings) {
  const auto& [ns, devices] = terms;
  if (!wheel::is_valid_name(text)) {
    return misused(fmt::format("`{}` is no name of a package", text),
                   "a file is named by its path, with a slash: ./provider");
  }
  const std::string name = wheel::normalize_name(text);
  const auto same = [&name, &given = ns](const TrustedPackage& old) {
    return old.name == name && (old.ns == given || given.empty());
  };
  std::erase_if(settings.packages, same);
  settings.packages.push_back({name, ns, devices});
  return fmt::format("{} is trusted{}\n", name,
                     ns.empty() ? "" : fmt::format(" for namespace {}", ns));
}

using ChangeOne = std::function<Outcome<std::string>(const std::string& name, ProviderSettings&)>;

/// `change` for each name on the command line, in one write; the lines that it says are the answer.
int change_each(Session& session, std::string_view what, const ChangeOne& change) {
  Output& output = session.output();
  const std::vector<std::string>& names = session.arguments().positionals;
  if (names.empty())
    return output.failure(misused(fmt::format("nothing to {}", what), "name it").error());
  std::string text;
  const auto changed = change_provider_settings([&](ProviderSettings& settings) -> Outcome<void> {
    for (const std::string& name : names) {
      auto line = change(name, settings);
      if (!line) return std::unexpected(line.error());
      text += *line;
    }
    return {};
  });
  if (!changed) return output.failure(changed.error());
  output.change_was_made();
  return output.answer(text, {{"changed", names}, {"settings", provider_settings_path()}});
}

Outcome<std::string> switched(const std::string& name) {
  std::string ns = namespace_named(name);
  if (is_namespace(ns)) return ns;
  return misused(fmt::format("`{}` is neither a namespace nor a provider that Axle carries", name),
                 "`variant providers list` shows them");
}

}  // namespace

int run_providers_trust(Session& session) {
  const auto ns = namespace_option(session.arguments());
  if (!ns) return session.output().failure(ns.error());
  auto devices = device_option(session.arguments());
  if (!devices) return session.output().failure(devices.error());
  const Terms terms{*ns, std::move(*devices)};
  // A file is asked for its namespace: it runs.
  if (ns->empty() && std::ranges::any_of(session.arguments().positionals, is_path))
    warn_of_lacks(session.output());
  return change_each(session, "trust", [&](const std::string& name, ProviderSettings& settings) {
    return is_path(name) ? trust_file(name, terms, settings) : trust_package(name, terms, settings);
  });
}

int run_providers_untrust(Session& session) {
  return change_each(
      session, "untrust",
      [](const std::string& name, ProviderSettings& settings) -> Outcome<std::string> {
        std::error_code error;
        const std::string path = fs::weakly_canonical(name, error).string();
        const std::string package = wheel::normalize_name(name);
        const auto gone =
            std::erase_if(
                settings.files,
                [&](const TrustedFile& file) { return file.path == name || file.path == path; }) +
            std::erase_if(settings.packages,
                          [&](const TrustedPackage& one) { return one.name == package; });
        if (gone > 0) return fmt::format("{} is not trusted any more\n", name);
        return failed({ErrorKind::not_found, fmt::format("{} was not trusted", name),
                       "`variant providers list` shows what is"});
      });
}

int run_providers_enable(Session& session) {
  return change_each(
      session, "enable",
      [](const std::string& name, ProviderSettings& settings) -> Outcome<std::string> {
        const auto ns = switched(name);
        if (!ns) return ns;
        settings.disabled.erase(*ns);
        settings.enabled.insert(*ns);
        return fmt::format("namespace {} is on, also where a release has it optional\n", *ns);
      });
}

int run_providers_disable(Session& session) {
  return change_each(
      session, "disable",
      [](const std::string& name, ProviderSettings& settings) -> Outcome<std::string> {
        const auto ns = switched(name);
        if (!ns) return ns;
        settings.enabled.erase(*ns);
        settings.disabled.insert(*ns);
        return fmt::format("namespace {} is off: nothing of it is supported\n", *ns);
      });
}

int run_providers_retry(Session& session) {
  Output& output = session.output();
  const std::vector<std::string>& names = session.arguments().positionals;
  if (names.empty()) {
    return output.failure(
        misused("name a namespace, as in `variant providers retry acme`").error());
  }
  const PluginFailures failures(session);
  std::string text;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::string& ns : names) {
    const std::size_t count = failures.forget(ns);
    if (count > 0) output.change_was_made();
    text += fmt::format("{}: {}\n", ns,
                        count > 0 ? "its plugin is asked again by the next command"
                                  : "no failure of its plugin is remembered");
    rows.push_back({{"namespace", ns}, {"forgotten", count}});
  }
  return output.answer(text, {{"namespaces", rows}});
}

}  // namespace axle::cli
