// providers trust, untrust, enable, disable: the user's settings.
#include <algorithm>
#include <functional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "session/plugins/plugin_trust.h"
#include "session/plugins/provider_settings.h"
#include "session/plugins/trusted_plugins.h"
#include "session/session.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

bool is_path(const std::string& name) { return name.contains('/'); }

session::Outcome<std::string> namespace_option(const session::Arguments& arguments) {
  const std::string ns = arguments.value(session::Opt::ns);
  if (ns.empty() || session::is_namespace(ns)) return ns;
  return session::misused(fmt::format("--namespace {}: that is not a valid namespace", ns),
                          "a namespace consists of a-z, 0-9 and _");
}

/// What was done, as a line: only made for text output.
using Line = std::function<std::string()>;

session::Outcome<Line> trust_one(const std::string& name, const session::TrustTerms& terms,
                                 session::ProviderSettings& settings) {
  if (is_path(name)) {
    const auto file = session::trust_file(name, terms, settings);
    if (!file) return std::unexpected(file.error());
    return [file = *file] {
      return fmt::format("{} is trusted for namespace {}, until it changes\n", file.path, file.ns);
    };
  }
  const auto package = session::trust_package(name, terms, settings);
  if (!package) return std::unexpected(package.error());
  return [package = *package] {
    return fmt::format("{} is trusted{}\n", package.name,
                       package.ns.empty() ? "" : fmt::format(" for namespace {}", package.ns));
  };
}

using ChangeOne =
    std::function<session::Outcome<Line>(const std::string& name, session::ProviderSettings&)>;

/// Applies `change` to each name on the command line, in one write; the resulting lines are the
/// answer.
int change_each(session::Session& session, Output& output, std::string_view what,
                const ChangeOne& change) {
  const std::vector<std::string>& names = session.arguments().positionals;
  if (names.empty())
    return output.failure(session::misused(fmt::format("nothing to {}", what), "name it").error());
  std::vector<Line> lines;
  const auto changed = session::change_provider_settings(
      [&](session::ProviderSettings& settings) -> session::Outcome<void> {
        for (const std::string& name : names) {
          auto line = change(name, settings);
          if (!line) return std::unexpected(line.error());
          lines.push_back(std::move(*line));
        }
        return {};
      });
  if (!changed) return output.failure(changed.error());
  output.change_was_made();
  return output.answer({.text =
                            [&] {
                              std::string text;
                              for (const Line& line : lines) text += line();
                              return text;
                            },
                        .json = [&]() -> ordered_json {
                          return {{"changed", names},
                                  {"settings", session::provider_settings_path()}};
                        }});
}

session::Outcome<std::string> switched(const std::string& name) {
  std::string ns = session::namespace_named(name);
  if (session::is_namespace(ns)) return ns;
  return session::misused(
      fmt::format("`{}` is neither a namespace nor a provider that Axle includes", name),
      "`variant providers list` shows them");
}

/// The same of namespaces, each named by itself or by its provider.
int change_namespaces(
    session::Session& session, Output& output, std::string_view verb,
    const std::function<Line(const std::string& ns, session::ProviderSettings&)>& change) {
  return change_each(
      session, output, verb,
      [&](const std::string& name, session::ProviderSettings& settings) -> session::Outcome<Line> {
        const auto ns = switched(name);
        if (!ns) return std::unexpected(ns.error());
        return change(*ns, settings);
      });
}

}  // namespace

int run_providers_trust(session::Session& session, Output& output) {
  const auto ns = namespace_option(session.arguments());
  if (!ns) return output.failure(ns.error());
  auto devices = session::device_option(session.arguments());
  if (!devices) return output.failure(devices.error());
  const session::TrustTerms terms{*ns, std::move(*devices)};
  // A file is run to report its namespace.
  if (ns->empty() && std::ranges::any_of(session.arguments().positionals, is_path))
    session::warn_of_lacks(output);
  return change_each(session, output, "trust",
                     [&](const std::string& name, session::ProviderSettings& settings) {
                       return trust_one(name, terms, settings);
                     });
}

int run_providers_untrust(session::Session& session, Output& output) {
  return change_each(
      session, output, "untrust",
      [](const std::string& name, session::ProviderSettings& settings) -> session::Outcome<Line> {
        if (session::end_trust(name, settings))
          return [name] { return fmt::format("{} is no longer trusted\n", name); };
        return session::failed({ErrorKind::not_found, fmt::format("{} was not trusted", name),
                                "`variant providers list` shows what is"});
      });
}

int run_providers_enable(session::Session& session, Output& output) {
  return change_namespaces(
      session, output, "enable",
      [](const std::string& ns, session::ProviderSettings& settings) -> Line {
        settings.disabled.erase(ns);
        settings.enabled.insert(ns);
        return [ns] {
          return fmt::format("namespace {} is enabled, even if a release declares it optional\n",
                             ns);
        };
      });
}

int run_providers_disable(session::Session& session, Output& output) {
  return change_namespaces(session, output, "disable",
                           [](const std::string& ns, session::ProviderSettings& settings) -> Line {
                             settings.enabled.erase(ns);
                             settings.disabled.insert(ns);
                             return [ns] {
                               return fmt::format(
                                   "namespace {} is disabled: nothing in it is supported\n", ns);
                             };
                           });
}

int run_providers_retry(session::Session& session, Output& output) {
  const std::vector<std::string>& names = session.arguments().positionals;
  if (names.empty()) {
    return output.failure(
        session::misused("name a namespace, for example `variant providers retry acme`").error());
  }
  const session::PluginFailures failures(session);
  std::vector<std::size_t> forgotten;
  for (const std::string& ns : names) forgotten.push_back(failures.forget(ns));
  if (std::ranges::any_of(forgotten, [](std::size_t count) { return count > 0; }))
    output.change_was_made();
  return output.answer({.text =
                            [&] {
                              std::string text;
                              for (std::size_t i = 0; i < names.size(); ++i) {
                                text += fmt::format("{}: {}\n", names[i],
                                                    forgotten[i] > 0
                                                        ? "the next command runs its plugin again"
                                                        : "no failure of its plugin is stored");
                              }
                              return text;
                            },
                        .json = [&]() -> ordered_json {
                          ordered_json rows = ordered_json::array();
                          for (std::size_t i = 0; i < names.size(); ++i)
                            rows.push_back({{"namespace", names[i]}, {"forgotten", forgotten[i]}});
                          return {{"namespaces", rows}};
                        }});
}

}  // namespace axle::cli
