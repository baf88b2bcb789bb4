// providers list, show: the providers and their properties.
#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "foundation/text/nearest.h"
#include "providers/plugins/grants.h"
#include "providers/plugins/sandbox.h"
#include "providers/provider.h"
#include "session/plugins/asked_files.h"
#include "session/plugins/provider_settings.h"
#include "session/session.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_shown = 12;  ///< values of one feature in the text

std::size_t count_values(const providers::Features& features) {
  std::size_t count = 0;
  for (const providers::Feature& feature : features) count += feature.values.size();
  return count;
}

std::string render_properties(std::size_t count) {
  return fmt::format("{} propert{}", count, count == 1 ? "y" : "ies");
}

ordered_json features_by_name_json(const providers::Features& features) {
  ordered_json out = ordered_json::object();
  for (const providers::Feature& feature : features) out[feature.name] = feature.values;
  return out;
}

std::string render_features(const providers::Features& features) {
  std::string text;
  for (const providers::Feature& feature : features) {
    const std::size_t shown = std::min(feature.values.size(), most_shown);
    const std::span values(feature.values.data(), shown);
    const std::size_t more = feature.values.size() - shown;
    text += fmt::format("    {}: {}{}\n", feature.name, fmt::join(values, " "),
                        more == 0 ? "" : fmt::format(" and {} more", more));
  }
  return text.empty() ? "    nothing\n" : text;
}

template <class Words>
ordered_json words_json(const Words& words) {
  ordered_json out = ordered_json::array();
  for (const auto& word : words) out.push_back(std::string(word));
  return out;
}

ordered_json file_json(const session::AskedFile& asked, const session::ProviderSettings& settings) {
  const session::TrustedFile& file = *asked.file;
  return {{"namespace", file.ns},
          {"package", file.path},
          {"version", nullptr},
          {"kind", plugins::render_kind(file.kind)},
          {"supported", count_values(asked.supported)},
          {"trusted", asked.trusted},
          {"enabled", settings.is_on(file.ns)},
          {"problem", asked.problem.empty() ? ordered_json(nullptr) : ordered_json(asked.problem)}};
}

ordered_json package_json(const session::TrustedPackage& package,
                          const session::ProviderSettings& settings) {
  return {{"namespace", package.ns.empty() ? ordered_json(nullptr) : ordered_json(package.ns)},
          {"package", package.name},
          {"version", nullptr},
          {"kind", plugins::render_kind(plugins::PluginKind::python)},
          {"supported", nullptr},
          {"trusted", true},
          {"enabled", package.ns.empty() || settings.is_on(package.ns)},
          {"problem", nullptr}};
}

std::string off_remark(const session::ProviderSettings& settings, std::string_view ns) {
  return settings.is_on(ns) ? "" : ", disabled";
}

/// What every command here starts from.
struct Start {
  session::ProviderSettings settings;
  machines::NamedMachine machine;
  providers::GpuPolicy gpus;
};

session::Outcome<Start> start(session::Session& session) {
  auto settings = session::read_provider_settings();
  if (!settings) return std::unexpected(settings.error());
  auto named = session.machine();
  if (!named) return std::unexpected(named.error());
  const auto gpus = session.gpu_policy();
  if (!gpus) return std::unexpected(gpus.error());
  return Start{std::move(*settings), std::move(*named), *gpus};
}

std::string render_file(const session::AskedFile& asked) {
  const session::TrustedFile& file = *asked.file;
  std::string text =
      fmt::format("{:<8} {}: {}, {}", file.ns, file.path, plugins::render_kind(file.kind),
                  asked.trusted ? "trusted" : "not trusted");
  text += asked.problem.empty()
              ? fmt::format(", {} supported here", render_properties(count_values(asked.supported)))
              : ", " + asked.problem;
  return text + "\n" + (asked.hint.empty() ? "" : fmt::format("         {}\n", asked.hint));
}

ordered_json sandbox_json(const plugins::SandboxSupport& support) {
  return {{"landlock", support.landlock}, {"seccomp", support.seccomp}, {"lacks", support.lacks}};
}

std::string render_sandbox(const plugins::SandboxSupport& support) {
  std::string text = fmt::format(
      "  sandbox of plugins: {}, {}\n",
      support.landlock > 0 ? fmt::format("Landlock ABI {}", support.landlock) : "no Landlock",
      support.seccomp ? "system call filter" : "no system call filter");
  for (const std::string& lack : support.lacks) text += fmt::format("    {}\n", lack);
  return text;
}

ordered_json grants_json(const plugins::NamespaceGrants* row, std::string_view ns) {
  ordered_json out = {{"programs", ordered_json::array()},
                      {"devices", ordered_json::array()},
                      {"readable", ordered_json::array()},
                      {"variables", words_json(plugins::passed_variables(ns))}};
  if (row == nullptr) return out;
  out["programs"] = words_json(row->programs);
  out["devices"] = words_json(row->devices);
  out["readable"] = words_json(row->readable);
  return out;
}

std::string render_devices(const std::vector<std::string>& devices) {
  if (devices.empty()) return {};
  return fmt::format("  you allowed it to write to {}\n", fmt::join(devices, " "));
}

std::string render_grants(const plugins::NamespaceGrants* row, std::string_view ns) {
  std::string text = "  exceptions for a plugin of this namespace:\n";
  const auto line = [&](std::string_view what, const auto& words) {
    text += fmt::format("    {}: {}\n", what,
                        words.empty() ? "none" : fmt::format("{}", fmt::join(words, " ")));
  };
  const plugins::NamespaceGrants none{ns, {}, {}, {}, {}, {}};
  const plugins::NamespaceGrants& grants = row == nullptr ? none : *row;
  line("may start", grants.programs);
  line("may write to", grants.devices);
  line("may read besides the system", grants.readable);
  line("sees", plugins::passed_variables(ns));
  return text;
}

/// The providers of one namespace.
struct NamespaceView {
  const providers::Provider* builtin = nullptr;
  std::vector<session::AskedFile> files;
  std::vector<const session::TrustedPackage*> packages;

  [[nodiscard]] bool empty() const {
    return builtin == nullptr && files.empty() && packages.empty();
  }
};

NamespaceView view_of(const std::string& ns, const Start& at, session::Session& session) {
  NamespaceView view{
      providers::find_provider(ns), session::ask_files(at.settings, session, ns), {}};
  for (const session::TrustedPackage& package : at.settings.packages) {
    if (package.ns == ns) view.packages.push_back(&package);
  }
  return view;
}

std::string render_builtin(const providers::Provider& provider, const Start& at) {
  std::vector<std::string> apis;
  for (const std::string_view api : provider.plugin_apis)
    apis.emplace_back(api.empty() ? "(none given)" : api);
  std::string text =
      fmt::format("  {} {}, built in: no trust needed\n", provider.package, provider.version);
  if (!provider.aliases.empty())
    text += fmt::format("  also as {}\n", fmt::join(provider.aliases, ", "));
  text += fmt::format("  plugin-api {}\n", fmt::join(apis, ", "));
  text += "  supported here:\n" + render_features(provider.supported(at.machine.machine, at.gpus));
  return text + fmt::format("  {} that some machine may support\n",
                            render_properties(count_values(provider.all())));
}

ordered_json builtin_json(const providers::Provider& provider, const Start& at) {
  return {{"kind", "builtin"},
          {"package", provider.package},
          {"version", provider.version},
          {"aliases", words_json(provider.aliases)},
          {"plugin_apis", words_json(provider.plugin_apis)},
          {"trusted", true},
          {"supported", features_by_name_json(provider.supported(at.machine.machine, at.gpus))},
          {"all", features_by_name_json(provider.all())},
          {"problem", nullptr}};
}

std::string render_in_full(const session::AskedFile& asked) {
  const session::TrustedFile& file = *asked.file;
  std::string text =
      fmt::format("  {}: {}, {}\n  sha256 {}\n", file.path, plugins::render_kind(file.kind),
                  asked.trusted ? "trusted by you" : "no longer trusted", file.sha256);
  text += render_devices(file.devices);
  if (asked.problem.empty()) {
    text += "  supported here:\n" + render_features(asked.supported);
    for (const std::string& reason : asked.notes.reasons)
      text += fmt::format("  it reports: {}\n", reason);
  } else {
    text += fmt::format("  returns nothing: {}\n", asked.problem);
    if (!asked.hint.empty()) text += fmt::format("  {}\n", asked.hint);
  }
  return text;
}

ordered_json json_in_full(const session::AskedFile& asked) {
  const session::TrustedFile& file = *asked.file;
  return {{"kind", plugins::render_kind(file.kind)},
          {"package", file.path},
          {"version",
           asked.notes.version.empty() ? ordered_json(nullptr) : ordered_json(asked.notes.version)},
          {"sha256", file.sha256},
          {"devices", file.devices},
          {"trusted", asked.trusted},
          {"supported", features_by_name_json(asked.supported)},
          {"all", features_by_name_json(asked.all)},
          {"problem", asked.problem.empty() ? ordered_json(nullptr) : ordered_json(asked.problem)}};
}

std::string render_in_full(const session::TrustedPackage& package) {
  return fmt::format("  {}: python, trusted by you; installed and run when a release names it\n",
                     package.name) +
         render_devices(package.devices);
}

ordered_json json_in_full(const session::TrustedPackage& package) {
  return {{"kind", plugins::render_kind(plugins::PluginKind::python)},
          {"package", package.name},
          {"version", nullptr},
          {"devices", package.devices},
          {"trusted", true},
          {"supported", nullptr},
          {"all", nullptr},
          {"problem", nullptr}};
}

std::string render_view(const NamespaceView& view, const Start& at) {
  if (view.empty()) return "  Axle includes no provider for it; a plugin may be trusted\n";
  std::string text;
  if (view.builtin != nullptr) text += render_builtin(*view.builtin, at);
  for (const session::AskedFile& asked : view.files) text += render_in_full(asked);
  for (const session::TrustedPackage* package : view.packages) text += render_in_full(*package);
  return text;
}

ordered_json view_json(const NamespaceView& view, const Start& at) {
  ordered_json rows = ordered_json::array();
  if (view.builtin != nullptr) rows.push_back(builtin_json(*view.builtin, at));
  for (const session::AskedFile& asked : view.files) rows.push_back(json_in_full(asked));
  for (const session::TrustedPackage* package : view.packages)
    rows.push_back(json_in_full(*package));
  return rows;
}

std::size_t count_supported(const providers::Provider& provider, const Start& at) {
  return count_values(provider.supported(at.machine.machine, at.gpus));
}

std::string render_list(const Start& at, const std::vector<session::AskedFile>& files) {
  std::string text;
  for (const providers::Provider& provider : providers::builtin_providers()) {
    text += fmt::format("{:<8} {} {}: {} supported here{}\n", provider.ns, provider.package,
                        provider.version, render_properties(count_supported(provider, at)),
                        off_remark(at.settings, provider.ns));
  }
  for (const session::AskedFile& asked : files) text += render_file(asked);
  for (const session::TrustedPackage& package : at.settings.packages) {
    text += fmt::format("{:<8} {}: python, trusted; run when a release names it{}\n",
                        package.ns.empty() ? "(any)" : package.ns, package.name,
                        off_remark(at.settings, package.ns));
  }
  return text;
}

ordered_json list_json(const Start& at, const std::vector<session::AskedFile>& files) {
  ordered_json rows = ordered_json::array();
  for (const providers::Provider& provider : providers::builtin_providers()) {
    rows.push_back({{"namespace", provider.ns},
                    {"package", provider.package},
                    {"version", provider.version},
                    {"kind", "builtin"},
                    {"supported", count_supported(provider, at)},
                    {"trusted", true},
                    {"enabled", at.settings.is_on(provider.ns)},
                    {"problem", nullptr}});
  }
  for (const session::AskedFile& asked : files) rows.push_back(file_json(asked, at.settings));
  for (const session::TrustedPackage& package : at.settings.packages)
    rows.push_back(package_json(package, at.settings));
  return rows;
}

}  // namespace

int run_providers_list(session::Session& session, Output& output) {
  const auto at = start(session);
  if (!at) return output.failure(at.error());
  const std::vector<session::AskedFile> files = session::ask_files(at->settings, session, {});
  return output.answer(
      {.text = [&] { return render_list(*at, files); },
       .json = [&]() -> ordered_json { return {{"providers", list_json(*at, files)}}; }});
}

int run_providers_show(session::Session& session, Output& output) {
  const auto at = start(session);
  if (!at) return output.failure(at.error());
  const std::string ns = session::namespace_named(session.arguments().positionals.front());
  const NamespaceView view = view_of(ns, *at, session);
  const plugins::NamespaceGrants* row = plugins::grants_of(ns);
  if (view.empty() && row == nullptr) {
    return output.failure(
        session::misused(fmt::format("unknown namespace `{}`", ns),
                         text::suggest(ns, providers::builtin_namespaces(),
                                       "`variant providers list` shows the known ones; others "
                                       "need a plugin"))
            .error());
  }
  // This kernel's: not a fact of a machine of --for.
  const auto support = session.elsewhere() ? std::nullopt : std::optional(plugins::probe_sandbox());
  const bool enabled = at->settings.is_on(ns);
  return output.answer({.text =
                            [&] {
                              return output.paint(Style::strong, ns) +
                                     (enabled ? "\n" : "  disabled\n") + render_view(view, *at) +
                                     (support ? render_sandbox(*support) : "") +
                                     render_grants(row, ns);
                            },
                        .json = [&]() -> ordered_json {
                          return {{"namespace", ns},
                                  {"enabled", enabled},
                                  {"providers", view_json(view, *at)},
                                  {"sandbox", support ? sandbox_json(*support) : ordered_json()},
                                  {"exceptions", grants_json(row, ns)}};
                        }});
}

}  // namespace axle::cli
