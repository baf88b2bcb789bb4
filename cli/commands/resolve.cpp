#include <functional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/decision_view.h"
#include "cli/session.h"
#include "cli/workspace.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

/// The answer for one machine: rendered both ways, or the failure (with what is known all the
/// same).
struct MachineAnswer {
  std::string text;
  ordered_json body;
  std::optional<Failure> failure;
};

using Question = std::function<MachineAnswer(const machines::NamedMachine&)>;

/// One machine: the answer itself. Several: {machines: [{machine, packages or error}]}, exit 3 when
/// one has nothing that fits.
int answer_for_machines(Session& session, const Question& ask) {
  Output& output = session.output();
  auto machines = session.machines();
  if (!machines) return output.failure(machines.error());
  if (machines->size() == 1) {
    const MachineAnswer answer = ask(machines->front());
    if (answer.failure) {
      if (!output.options().json && !answer.text.empty()) output.answer(answer.text, {});
      return output.failure(*answer.failure, answer.body);
    }
    return output.answer(answer.text, answer.body);
  }
  std::string text;
  ordered_json rows = ordered_json::array();
  int exit_code = 0;
  for (const machines::NamedMachine& machine : *machines) {
    const MachineAnswer answer = ask(machine);
    ordered_json row = {{"machine", machine.name}};
    if (answer.body.is_object()) row.update(answer.body);
    text += output.paint(Style::strong, machine.name) + "\n" + answer.text;
    if (answer.failure) {
      row["error"] = error_json(*answer.failure);
      text += "error: " + answer.failure->error.message + "\n";
      exit_code = std::max(exit_code, answer.failure->exit_code);
    }
    rows.push_back(std::move(row));
  }
  return output.answer(text, {{"machines", rows}}, exit_code);
}

MachineAnswer resolve_for(Session& session, const Workspace& workspace,
                          const machines::NamedMachine& machine) {
  MachineAnswer answer;
  const resolver::Target target =
      make_target(workspace.environment, machine.machine, session.elsewhere());
  auto resolution = resolver::resolve(workspace.requests, target, {}, workspace.sources,
                                      workspace.options, session.output());
  if (!resolution) {
    answer.failure = failed_to_choose(resolution.error()).error();
    if (resolution.error().kind != ErrorKind::unsupported) return answer;
    const auto misfits = explain_misfits(workspace, target);
    answer.body = {{"packages", explanations_json(misfits)}};
    if (!session.arguments().has(Opt::explain)) return answer;
    for (const resolver::Explanation& misfit : misfits)
      answer.text += render_explanation(misfit, machine.machine, session.output());
    return answer;
  }
  warn_of_unusable_gpus(resolution->packages, machine.machine, session.output());
  for (const resolver::ResolvedPackage& package : resolution->packages) {
    answer.text += fmt::format("{}  {}\n", render_package(package), package.filename);
    if (session.arguments().has(Opt::explain)) {
      answer.text += render_decision(package.decision, package.variant.value_or(""),
                                     machine.machine, session.output());
    }
  }
  answer.body = {{"packages", packages_json(resolution->packages)}};
  return answer;
}

MachineAnswer explain_for(Session& session, const Workspace& workspace,
                          const machines::NamedMachine& machine) {
  MachineAnswer answer;
  const resolver::Target target =
      make_target(workspace.environment, machine.machine, session.elsewhere());
  auto explanation = resolver::explain(workspace.requests.requirements.front(), target,
                                       workspace.sources, workspace.options, session.output());
  if (!explanation) {
    answer.failure = failed_to_choose(explanation.error()).error();
    return answer;
  }
  answer.text = render_explanation(*explanation, machine.machine, session.output());
  answer.body = {{"packages", explanations_json({*explanation})}};
  if (!explanation->chosen) {
    answer.failure = failed_to_choose({ErrorKind::unsupported,
                                       fmt::format("no wheel of {} {} fits", explanation->name,
                                                   wheel::render_version(explanation->version)),
                                       {}})
                         .error();
  }
  return answer;
}

}  // namespace

int run_resolve(Session& session) {
  if (session.arguments().positionals.empty() && !session.arguments().has(Opt::requirement)) {
    return session.output().failure(
        misused("nothing to resolve", "name a package, a wheel or -r FILE").error());
  }
  auto workspace = open_workspace(session, true);
  if (!workspace) return session.output().failure(workspace.error());
  return answer_for_machines(session, [&](const machines::NamedMachine& machine) {
    return resolve_for(session, **workspace, machine);
  });
}

int run_explain(Session& session) {
  auto workspace = open_workspace(session, true);
  if (!workspace) return session.output().failure(workspace.error());
  if ((*workspace)->requests.requirements.size() != 1) {
    return session.output().failure(
        misused("explain takes the name of one package", "for a wheel: variant rank").error());
  }
  return answer_for_machines(session, [&](const machines::NamedMachine& machine) {
    return explain_for(session, **workspace, machine);
  });
}

}  // namespace axle::cli
