#include <algorithm>
#include <functional>
#include <iterator>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/views/decision_view.h"
#include "foundation/system/shell_command.h"
#include "session/session.h"
#include "session/workspace.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

/// The answer for one machine: rendered both ways, or the failure (with what is known all the
/// same).
struct MachineAnswer {
  std::string text;
  std::vector<FleetRow> rows;  ///< of the table that several machines get in the place of the text
  ordered_json body;
  std::optional<session::Failure> failure;
};

using Question = std::function<MachineAnswer(const machines::NamedMachine&, Report&)>;

/// Of several machines each remark names its own.
class MachineReport final : public Report {
 public:
  MachineReport(std::string machine, Report& inner) : machine_(std::move(machine)), inner_(inner) {}
  void add(Remark remark) override {
    remark.message = machine_ + ": " + remark.message;
    inner_.add(std::move(remark));
  }
  void progress(std::string_view what, std::uint64_t done, std::uint64_t total) override {
    inner_.progress(what, done, total);
  }

 private:
  std::string machine_;
  Report& inner_;
};

/// One machine: the answer itself. Several: {machines: [{machine, packages or error}]}, exit 3 when
/// one has nothing that fits.
int answer_for_machines(session::Session& session, Output& output, const Question& ask) {
  auto machines = session.machines();
  if (!machines) return output.failure(machines.error());
  if (machines->size() == 1) {
    const MachineAnswer answer = ask(machines->front(), output);
    if (answer.failure) {
      if (!output.options().json && !answer.text.empty()) output.answer(answer.text, {});
      return output.failure(*answer.failure, answer.body);
    }
    return output.answer(answer.text, answer.body);
  }
  std::string text;
  std::vector<FleetRow> table;
  ordered_json rows = ordered_json::array();
  int exit_code = 0;
  for (const machines::NamedMachine& machine : *machines) {
    MachineReport report(machine.name, output);
    output.set_machine(machine.name);
    MachineAnswer answer = ask(machine, report);
    ordered_json row = {{"machine", machine.name}};
    if (answer.body.is_object()) row.update(answer.body);
    const bool in_full = answer.rows.empty() || session.arguments().has(session::Opt::explain);
    if (in_full && !answer.text.empty())
      text += output.paint(Style::strong, machine.name) + "\n" + answer.text;
    if (answer.failure) {
      row["error"] = output.error_json(*answer.failure);
      answer.rows.push_back({machine.name, "", "none", "", answer.failure->error.message});
      exit_code = std::max(exit_code, answer.failure->exit_code);
    }
    std::ranges::move(answer.rows, std::back_inserter(table));
    rows.push_back(std::move(row));
  }
  return output.answer(text + render_fleet(table, output), {{"machines", rows}}, exit_code);
}

MachineAnswer resolve_for(session::Session& session, const session::Workspace& workspace,
                          const machines::NamedMachine& machine, const Output& output,
                          Report& report) {
  MachineAnswer answer;
  const resolver::Target target =
      session::make_target(workspace.environment, machine.machine, session.elsewhere());
  auto resolution = resolver::resolve(workspace.requests, target, {}, workspace.sources,
                                      workspace.options, report);
  if (!resolution) {
    answer.failure = session::failed_to_choose(resolution.error()).error();
    if (resolution.error().kind != ErrorKind::unsupported) return answer;
    const auto misfits = session::explain_misfits(workspace, target);
    answer.body = {{"packages", explanations_json(misfits)}};
    if (!session.arguments().has(session::Opt::explain)) return answer;
    for (const resolver::Explanation& misfit : misfits)
      answer.text += render_explanation(misfit, output);
    return answer;
  }
  warn_of_unusable_gpus(resolution->packages, machine.machine, report);
  for (const plan::ResolvedPackage& package : resolution->packages) {
    if (package.requested) answer.rows.push_back(fleet_row(machine.name, package));
    answer.text += fmt::format("{}  {}\n", plan::render_package(package), package.filename);
    if (session.arguments().has(session::Opt::explain)) {
      answer.text += render_decision(package.decision, package.variant.value_or(""), output);
    }
  }
  answer.body = {{"packages", packages_json(resolution->packages)}};
  return answer;
}

MachineAnswer explain_for(session::Session& session, const session::Workspace& workspace,
                          const machines::NamedMachine& machine, const Output& output,
                          Report& report) {
  MachineAnswer answer;
  const resolver::Target target =
      session::make_target(workspace.environment, machine.machine, session.elsewhere());
  auto explanation = resolver::explain(workspace.requests.requirements.front().requirement, target,
                                       workspace.sources, workspace.options, report);
  if (!explanation) {
    answer.failure = session::failed_to_choose(explanation.error()).error();
    return answer;
  }
  answer.text = render_explanation(*explanation, output);
  answer.body = {{"packages", explanations_json({*explanation})}};
  if (!explanation->chosen) {
    answer.failure =
        session::failed_to_choose({ErrorKind::unsupported,
                                   fmt::format("no wheel of {} {} fits", explanation->name,
                                               wheel::render_version(explanation->version)),
                                   {}})
            .error();
  }
  return answer;
}

}  // namespace

int run_resolve(session::Session& session, Output& output) {
  if (session.arguments().positionals.empty() &&
      !session.arguments().has(session::Opt::requirement)) {
    return output.failure(
        session::misused("nothing to resolve", "name a package, a wheel or -r FILE").error());
  }
  auto workspace = session::open_workspace(session, true);
  if (!workspace) return output.failure(workspace.error());
  return answer_for_machines(session, output,
                             [&](const machines::NamedMachine& machine, Report& report) {
                               return resolve_for(session, **workspace, machine, output, report);
                             });
}

int run_explain(session::Session& session, Output& output) {
  auto workspace = session::open_workspace(session, true);
  if (!workspace) return output.failure(workspace.error());
  if ((*workspace)->requests.requirements.size() != 1) {
    const std::string& named = session.arguments().positionals.front();
    return output.failure(
        session::misused("explain takes the name of one package",
                         named.ends_with(".whl")
                             ? fmt::format("for a wheel: `variant rank {}`", shell_word(named))
                             : std::string("name it alone, without -r"))
            .error());
  }
  return answer_for_machines(session, output,
                             [&](const machines::NamedMachine& machine, Report& report) {
                               return explain_for(session, **workspace, machine, output, report);
                             });
}

}  // namespace axle::cli
