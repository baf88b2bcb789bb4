#include "session/property_lists.h"

#include <algorithm>

#include <fmt/core.h>

#include "foundation/text/nearest.h"
#include "session/plugins/provider_settings.h"
#include "session/plugins/trusted_plugins.h"

namespace axle::session {

namespace {

Outcome<void> check_namespaces(const std::vector<std::string>& namespaces,
                               const ProviderSettings& settings) {
  for (const std::string& ns : namespaces) {
    if (providers::find_provider(ns) != nullptr ||
        std::ranges::find(settings.files, ns, &TrustedFile::ns) != settings.files.end())
      continue;
    std::vector<std::string> known = providers::builtin_namespaces();
    for (const TrustedFile& file : settings.files) known.push_back(file.ns);
    return misused(fmt::format("no provider for the namespace `{}`", ns),
                   text::suggest(ns, known, "`variant providers list` shows them"));
  }
  return {};
}

/// What the trusted files report, in their order; files for namespaces of Axle's own are not run.
PropertyLists plugin_lists(const ProviderSettings& settings,
                           const std::vector<resolver::PluginRequest>& requests, Session& session) {
  TrustedPlugins plugins({settings, false, nullptr, PluginFailures(session)});
  std::vector<resolver::PluginLists> answers = plugins.ask(requests, session.report());
  PropertyLists lists;
  for (std::size_t i = 0; i < requests.size(); ++i)
    lists.emplace_back(requests[i].ns, std::move(answers[i].features));
  return lists;
}

}  // namespace

Outcome<PropertyLists> property_lists_of(Session& session, const detect::Machine& machine,
                                         const providers::GpuPolicy& gpus,
                                         const std::vector<std::string>& namespaces) {
  const auto settings = read_provider_settings();
  if (!settings) return std::unexpected(settings.error());
  if (const auto known = check_namespaces(namespaces, *settings); !known)
    return std::unexpected(known.error());
  const auto wanted = [&](std::string_view ns) {
    return namespaces.empty() || std::ranges::find(namespaces, ns) != namespaces.end();
  };
  PropertyLists lists;
  for (const providers::Provider& provider : providers::builtin_providers()) {
    const std::string ns(provider.ns);
    if (!wanted(ns)) continue;
    const bool off = settings->disabled.contains(ns);
    lists.emplace_back(ns, off ? providers::Features() : provider.supported(machine, gpus));
  }
  std::vector<resolver::PluginRequest> requests;
  for (const TrustedFile& file : settings->files) {
    const bool asked = wanted(file.ns) && providers::find_provider(file.ns) == nullptr &&
                       !settings->disabled.contains(file.ns) && !session.elsewhere();
    if (asked) requests.push_back({file.ns, {}, {}, {}});
  }
  if (!requests.empty())
    std::ranges::move(plugin_lists(*settings, requests, session), std::back_inserter(lists));
  return lists;
}

}  // namespace axle::session
