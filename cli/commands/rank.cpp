#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/views/facts_view.h"
#include "providers/gpu_policy.h"
#include "resolver/choice/gpu_views.h"
#include "resolver/choice/provider_algorithm.h"
#include "resolver/choice/ranking.h"
#include "resolver/explain/facts.h"
#include "session/input_file.h"
#include "session/plugins/provider_settings.h"
#include "session/plugins/trusted_plugins.h"
#include "session/session.h"
#include "session/supported_lists.h"
#include "wheel/wheel_file.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

/// The metadata of a wheel or of a variants file.
Result<wheel::VariantMetadata> read_metadata(const std::string& path, Report& report) {
  if (!path.ends_with(".whl")) {
    auto text = session::read_input(path);
    if (!text) return std::unexpected(text.error());
    return wheel::parse_variant_metadata(*text, path, report);
  }
  auto source = wheel::open_file_source(path);
  if (!source) return std::unexpected(source.error());
  const std::string name = std::filesystem::path(path).filename().string();
  auto opened = wheel::open_wheel(std::move(*source), name, path, report);
  if (!opened) return std::unexpected(opened.error());
  if (!opened->variant) {
    return fail(ErrorKind::unsupported,
                fmt::format("{}: a plain wheel has no variants to rank", path));
  }
  return *opened->variant;
}

ordered_json ranked_json(const resolver::Ranking& ranking) {
  ordered_json rows = ordered_json::array();
  for (const resolver::RankedVariant& variant : ranking.ranked) {
    ordered_json keys = ordered_json::array();
    for (const plan::RankKey& key : variant.keys) keys.push_back({key.ns, key.feature, key.value});
    rows.push_back({{"label", variant.label}, {"keys", keys}});
  }
  return rows;
}

/// The values for `enable-if` of an older document. Ranking involves no interpreter, so nothing is
/// known about Python.
wheel::MarkerEnvironment markers_of(const detect::Machine& machine) {
  return {{{"os_name", "posix"},
           {"sys_platform", "linux"},
           {"platform_system", "Linux"},
           {"platform_machine", std::string(detect::render_arch(machine.cpu.arch))},
           {"platform_release", machine.os.kernel}},
          {}};
}

/// The user's enabled and disabled namespaces apply here too.
session::Outcome<session::ProviderSettings> read_switches(session::Session& session,
                                                          resolver::ProviderPolicy& policy) {
  auto settings = session::read_provider_settings();
  if (!settings) return std::unexpected(settings.error());
  auto said = session::provider_policy(*settings, session.arguments());
  if (!said) return std::unexpected(said.error());
  policy.enabled = std::move(said->enabled);
  policy.disabled = std::move(said->disabled);
  return settings;
}

/// And the user's trusted plugins; without Python plugins, since nothing is installed for ranking.
session::Outcome<std::unique_ptr<session::TrustedPlugins>> open_plugins(
    session::Session& session, resolver::ProviderPolicy& policy) {
  auto settings = read_switches(session, policy);
  if (!settings) return std::unexpected(settings.error());
  auto plugins = std::make_unique<session::TrustedPlugins>(session::TrustedPlugins::Setup{
      std::move(*settings), session.elsewhere(), nullptr, session::PluginFailures(session)});
  policy.plugins = plugins.get();
  return plugins;
}

/// The lists in the file `lists`, instead of the machine's. The machine is only probed if the
/// document's own lists depend on it.
session::Outcome<resolver::SupportedProperties> given_lists(session::Session& session,
                                                            const wheel::VariantMetadata& metadata,
                                                            const std::string& lists) {
  auto given = session::read_supported_lists(lists);
  if (!given) return session::failed(given.error());
  resolver::ProviderPolicy policy;
  if (const auto read = read_switches(session, policy); !read) return std::unexpected(read.error());
  detect::Machine machine;
  const bool depends = std::ranges::any_of(metadata.providers, [&](const auto& entry) {
    return !entry.second.enable_if.empty() && !given->contains(entry.first);
  });
  if (depends) {
    auto found = session.machine();
    if (!found) return std::unexpected(found.error());
    machine = std::move(found->machine);
  }
  return resolver::beside_own_lists(metadata, policy, markers_of(machine), *std::move(given));
}

/// Why a variant was rejected, in words shared by both forms.
struct Rejection {
  std::string label;
  std::string property;
  std::string reason;
  Facts facts;
};

std::string render(const resolver::Ranking& ranking, const std::vector<Rejection>& rejections,
                   const Output& output) {
  std::string text;
  for (const resolver::RankedVariant& variant : ranking.ranked) text += variant.label + "\n";
  for (const Rejection& one : rejections) {
    text += fmt::format("{} {}: {}: {}\n", output.paint(Style::bad, "rejected"), one.label,
                        one.property, one.reason);
  }
  return text;
}

ordered_json rejections_json(const std::vector<Rejection>& rejections) {
  ordered_json rows = ordered_json::array();
  for (const Rejection& one : rejections)
    rows.push_back({{"label", one.label},
                    {"property", one.property},
                    {"reason", one.reason},
                    {"facts", facts_json(one.facts)}});
  return rows;
}

}  // namespace

int run_rank(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  auto metadata = read_metadata(arguments.positionals.front(), output);
  if (!metadata) return output.failure(session::failed(metadata.error()).error());

  resolver::SupportedLists supported;
  std::optional<machines::NamedMachine> machine;
  std::vector<detect::Machine> views;
  resolver::ProviderPolicy policy;
  std::unique_ptr<session::TrustedPlugins> plugins;
  if (const std::string lists = arguments.value(session::Opt::supported); !lists.empty()) {
    auto given = given_lists(session, *metadata, lists);
    if (!given) return output.failure(given.error());
    supported.lists = std::move(*given);
  } else {
    auto found = session.machine();
    if (!found) return output.failure(found.error());
    machine = std::move(*found);
    auto gpus = session.gpu_policy();
    if (!gpus) return output.failure(gpus.error());
    policy.gpus = std::move(*gpus);
    auto opened = open_plugins(session, policy);
    if (!opened) return output.failure(opened.error());
    plugins = std::move(*opened);
    views = providers::device_views(machine->machine, policy.gpus);
    supported = resolver::supported_lists(*metadata, machine->machine, policy,
                                          markers_of(machine->machine), output);
  }

  const auto [ranking, against] = resolver::rank_on_views(*metadata, views, supported);
  std::vector<Rejection> rejections;
  for (const resolver::RejectedVariant& variant : ranking.rejected) {
    const auto view = against.find(variant.label);
    Facts facts;  // only if the machine was probed: with given lists there is no fact
    if (machine) {
      facts = resolver::property_facts(variant.property, supported.origins, machine->machine,
                                       policy.gpus, view == against.end() ? nullptr : view->second);
    }
    rejections.push_back(
        {variant.label, wheel::render_property(variant.property),
         facts.empty() ? variant.reason : variant.reason + ": " + render_facts(facts),
         std::move(facts)});
  }
  const Answer answer{.text = [&, &ranked = ranking] { return render(ranked, rejections, output); },
                      .json =
                          [&, &ranked = ranking] {
                            ordered_json body = {{"ranked", ranked_json(ranked)},
                                                 {"rejected", rejections_json(rejections)}};
                            if (machine && providers::policy_matters(machine->machine, policy.gpus))
                              body["gpu_policy"] = providers::render_gpu_policy(policy.gpus);
                            return body;
                          }};
  if (!ranking.ranked.empty()) return output.answer(answer);
  return output.failure(
      session::failed_to_choose({ErrorKind::unsupported, "no variant fits the machine", {}})
          .error(),
      answer);
}

}  // namespace axle::cli
