
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/views/machine_view.h"
#include "cli/views/properties_view.h"
#include "cli/views/why_view.h"
#include "machines/profile.h"
#include "session/machine_profile.h"
#include "session/session.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

/// Shown if another policy could result in other properties.
void add_gpu_policy(ordered_json& body, const detect::Machine& machine,
                    const providers::GpuPolicy& gpus) {
  if (providers::policy_matters(machine, gpus))
    body["gpu_policy"] = providers::render_gpu_policy(gpus);
}

}  // namespace

int run_detect(session::Session& session, Output& output) {
  auto named = session.machine();
  if (!named) return output.failure(named.error());
  const detect::Machine& machine = named->machine;
  const auto gpus = session.gpu_policy();
  if (!gpus) return output.failure(gpus.error());
  if (session.arguments().has(session::Opt::profile)) {
    const std::string path = session.arguments().value(session::Opt::profile);
    if (path.empty()) return output.failure(session::misused("--profile has no value").error());
    const auto written = session::write_profile(path, *named, session.elsewhere());
    if (!written) return output.failure(written.error());
  }
  const auto facts = [&] { return ordered_json::parse(machines::render_machine_json(machine)); };
  if (session.arguments().has(session::Opt::why)) {
    const std::string ns = session.arguments().value(session::Opt::why);
    const auto why = explain_namespace(ns, *named, *gpus);
    if (!why) return output.failure(why.error());
    return output.answer({.text = [&] { return render_why(*why, output); },
                          .json =
                              [&] {
                                ordered_json body = facts();
                                add_why(body, *why);
                                return body;
                              }});
  }
  if (!session.arguments().has(session::Opt::properties))
    return output.answer({.text = [&] { return render_machine(machine, output); }, .json = facts});
  const auto lists = session::property_lists_of(session, machine, *gpus, {});
  if (!lists) return output.failure(lists.error());
  return output.answer(
      {.text = [&] { return render_machine(machine, output) + "\n" + render_properties(*lists); },
       .json =
           [&] {
             ordered_json body = facts();
             add_gpu_policy(body, machine, *gpus);
             body["properties"] = properties_json(*lists);
             return body;
           }});
}

int run_properties(session::Session& session, Output& output) {
  auto named = session.machine();
  if (!named) return output.failure(named.error());
  const auto gpus = session.gpu_policy();
  if (!gpus) return output.failure(gpus.error());
  const auto lists = session::property_lists_of(session, named->machine, *gpus,
                                                session.arguments().values(session::Opt::ns));
  if (!lists) return output.failure(lists.error());
  const bool as_static = session.arguments().has(session::Opt::static_lists);
  return output.answer(
      {.text = [&] { return as_static ? render_static_lists(*lists) : render_properties(*lists); },
       .json =
           [&] {
             ordered_json body = ordered_json::object();
             add_gpu_policy(body, named->machine, *gpus);
             if (as_static) {
               body["static"] = static_lists_json(*lists);
             } else {
               body["properties"] = properties_json(*lists);
             }
             return body;
           }});
}

}  // namespace axle::cli
