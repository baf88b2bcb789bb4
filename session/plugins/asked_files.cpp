#include "session/plugins/asked_files.h"

#include <utility>

#include "session/plugins/plugin_failures.h"
#include "session/plugins/trusted_plugins.h"

namespace axle::session {

namespace {

AskedFile ask_file(const TrustedFile& file, const plugins::AskOptions& options, bool all_too) {
  AskedFile asked{.file = &file};
  if (const auto distrust = distrust_of(file)) {
    asked.problem = distrust->why;
    asked.hint = distrust->hint;
    asked.trusted = false;
    return asked;
  }
  const plugins::Plugin plugin = plugin_of(file);
  auto answer = std::move(plugins::supported_by({&plugin, 1}, options).front());
  if (!answer.features) {
    asked.problem = answer.features.error().message;
    asked.hint = answer.features.error().hint;
    return asked;
  }
  asked.supported = std::move(*answer.features);
  asked.notes = std::move(answer.notes);
  if (!all_too) return asked;
  if (auto all = plugins::ask_plugin(plugin, plugins::Query::all, options); all.features)
    asked.all = std::move(*all.features);
  return asked;
}

}  // namespace

std::vector<AskedFile> ask_files(const ProviderSettings& settings, Session& session,
                                 const std::string& ns) {
  std::vector<AskedFile> asked;
  const plugins::AskOptions options = ask_options(settings);
  if (!settings.files.empty() && !session.elsewhere() && ns.empty())
    warn_of_lacks(session.report());
  for (const TrustedFile& file : settings.files) {
    if (!ns.empty() && file.ns != ns) continue;
    if (session.elsewhere()) {
      asked.push_back(
          {.file = &file, .problem = "a plugin can only report on the machine that it runs on"});
    } else if (!settings.is_on(file.ns)) {
      asked.push_back({.file = &file, .problem = "disabled"});
    } else {
      asked.push_back(ask_file(file, options, !ns.empty()));
      if (asked.back().problem.empty()) PluginFailures(session).forget(file.ns);
    }
  }
  return asked;
}

}  // namespace axle::session
