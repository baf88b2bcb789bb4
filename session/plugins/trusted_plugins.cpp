#include "session/plugins/trusted_plugins.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "foundation/system/shell_command.h"
#include "providers/plugins/grants.h"
#include "providers/plugins/sandbox.h"
#include "session/variables.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

using plan::ListOrigin;
using resolver::PluginLists;
using resolver::PluginRequest;

std::string key_of(const PluginRequest& request) {
  return fmt::format("{}\n{}\n{}", request.ns, request.plugin_api,
                     fmt::join(request.requires_, "\n"));
}

/// Each line marked as output of the plugin.
std::string render_printed(std::string_view printed) {
  if (printed.empty()) return {};
  std::string text = ", printed:";
  while (!printed.empty()) {
    const std::size_t end = std::min(printed.find('\n'), printed.size());
    text += fmt::format("\n    | {}", printed.substr(0, end));
    printed.remove_prefix(std::min(end + 1, printed.size()));
  }
  return text;
}

const TrustedFile* file_for(const ProviderSettings& settings, std::string_view ns) {
  const auto found = std::ranges::find(settings.files, ns, &TrustedFile::ns);
  return found == settings.files.end() ? nullptr : &*found;
}

}  // namespace

plugins::AskOptions ask_options(const ProviderSettings& settings) {
  plugins::AskOptions options;
  if (settings.time_limit) options.limits.time = std::chrono::seconds(*settings.time_limit);
  if (settings.memory_limit)
    options.limits.memory = static_cast<std::size_t>(*settings.memory_limit) << 20;
  std::set<std::string_view> names;
  for (const plugins::NamespaceGrants& row : plugins::grants_table()) {
    for (const std::string_view name : plugins::passed_variables(row.ns)) names.insert(name);
  }
  for (const std::string_view name : names) {
    if (std::string value = variable(name); !value.empty())
      options.environment.emplace_back(name, std::move(value));
  }
  return options;
}

plugins::Plugin plugin_of(const TrustedFile& file) {
  plugins::Plugin plugin{file.ns, file.kind, file.path, file.path};
  plugin.devices = file.devices;
  return plugin;
}

std::optional<Distrust> distrust_of(const TrustedFile& file) {
  const auto now = sha256_of(file.path);
  if (!now) return Distrust{now.error().message, now.error().hint};
  if (*now == file.sha256) return std::nullopt;
  return Distrust{fmt::format("{} has changed since it was trusted", file.path),
                  fmt::format("to trust its current content: `{}`", trust_command(file))};
}

std::string trust_command(std::span<const std::string> names) {
  std::string command = "variant providers trust";
  for (const std::string& name : names) command += " " + shell_word(name);
  return command;
}

std::string trust_command(const TrustedFile& file) {
  std::string command = fmt::format("{} --namespace {}", trust_command({&file.path, 1}), file.ns);
  for (const std::string& device : file.devices) command += " --device " + shell_word(device);
  return command;
}

void warn_of_lacks(Report& report) {
  for (const std::string& lack : plugins::probe_sandbox().lacks)
    report.warn("this kernel cannot fully sandbox plugins: " + lack);
}

std::vector<PluginLists> TrustedPlugins::ask(std::span<const PluginRequest> requests,
                                             Report& report) {
  std::vector<Asked> asked;
  for (const PluginRequest& request : requests) {
    if (known_.contains(key_of(request))) continue;
    if (auto prepared = prepare(request, report)) asked.push_back(std::move(*prepared));
  }
  if (!asked.empty()) ask_now(asked, report);
  std::vector<PluginLists> lists;
  lists.reserve(requests.size());
  for (const PluginRequest& request : requests) lists.push_back(known_.at(key_of(request)));
  return lists;
}

void TrustedPlugins::refuse(const PluginRequest& request, ListOrigin origin, const std::string& why,
                            const std::string& hint, Report& report) {
  report.warn(fmt::format("nothing in namespace {} is selectable: {}{}{}", request.ns, why,
                          request.not_ours.empty() ? "" : "; ", request.not_ours),
              hint);
  known_.insert_or_assign(key_of(request), PluginLists{origin, why, {}});
}

std::optional<TrustedPlugins::Asked> TrustedPlugins::prepare(const PluginRequest& request,
                                                             Report& report) {
  if (setup_.elsewhere) {
    refuse(request, ListOrigin::none,
           fmt::format("its plugin {} can only report on the machine that it runs on",
                       fmt::join(request.requires_, ", ")),
           "use it without --for", report);
    return std::nullopt;
  }
  const TrustedFile* file = file_for(setup_.settings, request.ns);
  return file != nullptr ? prepare_file(request, *file, report) : prepare_package(request, report);
}

std::optional<TrustedPlugins::Asked> TrustedPlugins::prepare_file(const PluginRequest& request,
                                                                  const TrustedFile& file,
                                                                  Report& report) {
  if (const auto distrust = distrust_of(file)) {
    refuse(request, ListOrigin::untrusted, distrust->why, distrust->hint, report);
    return std::nullopt;
  }
  return Asked{key_of(request), plugin_of(file),
               fmt::format("{} {}", plugins::render_kind(file.kind), file.path)};
}

std::optional<TrustedPlugins::Asked> TrustedPlugins::prepare_package(const PluginRequest& request,
                                                                     Report& report) {
  std::vector<std::string> names;
  std::vector<std::string> untrusted;
  for (const std::string& text : request.requires_) {
    const auto requirement = wheel::parse_requirement(text);
    if (!requirement || !requirement->url.empty()) {
      // Trust applies to a name on the index, not to whatever is at an address.
      refuse(request, ListOrigin::untrusted,
             fmt::format("its provider {} is a direct reference to a URL, which cannot be trusted",
                         text),
             "ask the release's authors to name the package instead", report);
      return std::nullopt;
    }
    std::string name = wheel::normalize_name(requirement->name);
    if (!setup_.settings.trusts(name, request.ns)) untrusted.push_back(name);
    names.push_back(std::move(name));
  }
  if (!untrusted.empty()) {
    refuse(request, ListOrigin::untrusted,
           fmt::format("its provider {} is not trusted", fmt::join(untrusted, ", ")),
           fmt::format(
               "it would run its own code here, in a sandbox (docs/plugins.md); to trust it: `{}`",
               trust_command(untrusted)),
           report);
    return std::nullopt;
  }
  const std::string packages = fmt::format("{}", fmt::join(request.requires_, ", "));
  if (setup_.environments == nullptr) {
    refuse(request, ListOrigin::none,
           fmt::format("its plugin {} would have to be installed, which this command does not do",
                       packages),
           "use explain or install", report);
    return std::nullopt;
  }
  auto environment = setup_.environments->environment_with(request.requires_);
  if (!environment) {
    refuse(
        request, ListOrigin::failed,
        fmt::format("its plugin {} cannot be installed: {}", packages, environment.error().message),
        environment.error().hint, report);
    return std::nullopt;
  }
  plugins::Plugin plugin{request.ns,          plugins::PluginKind::python, packages,
                         environment->python, request.plugin_api,          environment->folders};
  for (const TrustedPackage& trusted : setup_.settings.packages) {
    const bool granted = (trusted.ns.empty() || trusted.ns == request.ns) &&
                         std::ranges::find(names, trusted.name) != names.end();
    if (granted)
      plugin.devices.insert(plugin.devices.end(), trusted.devices.begin(), trusted.devices.end());
  }
  const auto first = wheel::parse_requirement(request.requires_.front());
  const std::string name = first ? wheel::normalize_name(first->name) : packages;
  return Asked{key_of(request), std::move(plugin),
               fmt::format("{} {}", name, environment->version)};
}

bool TrustedPlugins::take_remembered(const Asked& one, const plugins::AskOptions& options,
                                     Report& report) {
  const auto failure = setup_.failures.find(one.plugin, options);
  if (!failure) return false;
  const std::string why = fmt::format("its plugin {} failed {} ago: {}; it was not run again",
                                      one.detail, render_span(failure->ago), failure->message);
  report.warn(fmt::format("nothing in namespace {} is selectable: {}", one.plugin.ns, why),
              fmt::format("to run it again: `variant providers retry {}`{}{}", one.plugin.ns,
                          failure->hint.empty() ? "" : "; ", failure->hint));
  known_.insert_or_assign(one.key, PluginLists{ListOrigin::failed, why, {}});
  return true;
}

void TrustedPlugins::take_answer(const Asked& one, plugins::PluginAnswer answer, Report& report) {
  report.detail(fmt::format("plugin {} of namespace {}: {} ms{}", one.detail, one.plugin.ns,
                            answer.duration.count(), render_printed(answer.printed)));
  for (const std::string& reason : answer.notes.reasons)
    report.detail(
        fmt::format("plugin {} of namespace {} reports: {}", one.detail, one.plugin.ns, reason));
  if (answer.features) {
    known_.insert_or_assign(
        one.key, PluginLists{ListOrigin::plugin, one.detail, std::move(*answer.features)});
    return;
  }
  const plugins::PluginFailure& failure = answer.features.error();
  const std::string why = fmt::format("its plugin {} failed: {}", one.detail, failure.message);
  report.warn(fmt::format("nothing in namespace {} is selectable: {}", one.plugin.ns, why),
              failure.hint);
  known_.insert_or_assign(one.key, PluginLists{ListOrigin::failed, why, {}});
}

void TrustedPlugins::ask_now(std::span<const Asked> asked, Report& report) {
  if (!std::exchange(lacks_said_, true)) warn_of_lacks(report);
  const plugins::AskOptions options = ask_options(setup_.settings);
  std::vector<const Asked*> fresh;
  std::vector<plugins::Plugin> plugins;
  for (const Asked& one : asked) {
    if (take_remembered(one, options, report)) continue;
    fresh.push_back(&one);
    plugins.push_back(one.plugin);
  }
  if (fresh.empty()) return;
  std::vector<plugins::PluginAnswer> answers = plugins::supported_by(plugins, options);
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    setup_.failures.note(fresh[i]->plugin, options, answers[i]);
    take_answer(*fresh[i], std::move(answers[i]), report);
  }
}

}  // namespace axle::session
