#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/abi_check.h"
#include "cli/command.h"
#include "cli/machine_report.h"
#include "cli/views/decision_view.h"
#include "cli/views/features_view.h"
#include "cli/views/projects/lock_view.h"
#include "doctor/features/feature_list.h"
#include "foundation/system/shell_command.h"
#include "plan/lock/lock.h"
#include "resolver/solver/solver.h"
#include "session/fleet_wishes.h"
#include "session/session.h"
#include "session/workspace.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

/// The result for one machine: what was resolved or explained, and the failure.
struct MachineAnswer {
  std::vector<plan::ResolvedPackage> packages;
  /// For packages to be explained, or those that do not fit.
  std::optional<std::vector<resolver::Explanation>> explanations;
  /// Of the build that was explained, on this machine; empty where no family has facts about it.
  std::vector<doctor::FeatureAnswer> features;
  std::optional<session::CommandFailure> failure;
  std::optional<resolver::Unresolved> unresolved;  ///< of the failure
};

/// By its place among those that are asked for.
using AskMachine =
    std::function<MachineAnswer(std::size_t place, const machines::NamedMachine&, Report&)>;

/// What of the answers is shown.
struct Shown {
  bool decisions = false;  ///< the text includes each package's
  bool coverage = false;   ///< every package beside every machine
};

std::string render(const MachineAnswer& answer, bool decisions, const Output& output) {
  std::string text;
  for (const plan::ResolvedPackage& package : answer.packages) {
    if (!decisions) {
      text += fmt::format("{}  {}\n", plan::render_package(package), package.filename);
      continue;
    }
    text += render_answer(package, output) + fmt::format("  from     {}\n", package.filename) +
            render_decision(package.decision, package.variant.value_or(""), output);
  }
  if (!decisions) return text;
  if (answer.explanations) {
    for (const resolver::Explanation& one : *answer.explanations)
      text += render_explanation(one, output);
    if (!answer.features.empty())
      text += render_feature_counts(
          answer.features, plan::render_package(*answer.explanations->front().chosen), output);
  }
  if (answer.unresolved) text += render_conflict(answer.unresolved->conflict, output);
  return text;
}

ordered_json answer_json(const MachineAnswer& answer) {
  ordered_json out = ordered_json::object();
  if (answer.explanations) {
    out["packages"] = explanations_json(*answer.explanations);
    if (!answer.features.empty())
      out["packages"].front()["features"] = features_json(answer.features);
  } else if (!answer.failure) {
    out["packages"] = packages_json(answer.packages);
  }
  if (!answer.unresolved) return out;
  ordered_json more = unresolved_json(*answer.unresolved);
  if (!more.is_null()) out["error"] = std::move(more);
  return out;
}

/// The answers as a lock has them, whose classes are the machines.
plan::Lock joined(const std::vector<machines::NamedMachine>& machines,
                  const std::vector<MachineAnswer>& answers) {
  plan::Lock lock;
  std::vector<plan::ClassAnswer> classes;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].failure) continue;
    plan::LockedClass& about = lock.classes.emplace_back();
    about.name = machines[i].name;
    classes.push_back({about, {answers[i].packages}});
  }
  lock.packages = plan::join_answers(classes, "/");
  return lock;
}

/// With several machines one table; explanations come before it.
std::string render_all(const std::vector<machines::NamedMachine>& machines,
                       const std::vector<MachineAnswer>& answers, Shown shown,
                       const Output& output) {
  std::string text;
  std::vector<FleetRow> table;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const MachineAnswer& answer = answers[i];
    const std::string& machine = machines[i].name;
    const bool in_table =
        shown.coverage || std::ranges::any_of(answer.packages, &plan::ResolvedPackage::requested);
    const std::string in_full =
        in_table && !shown.decisions ? std::string() : render(answer, shown.decisions, output);
    if (!in_full.empty()) text += output.paint(Style::strong, machine) + "\n" + in_full;
    for (const plan::ResolvedPackage& package : answer.packages) {
      if (package.requested && !shown.coverage) table.push_back(fleet_row(machine, package));
    }
    if (answer.failure) table.push_back({machine, "", "none", "", answer.failure->error.message});
  }
  if (shown.coverage) {
    const plan::Lock lock = joined(machines, answers);
    text += render_volumes(lock, output) + render_coverage(lock, output);
  }
  return table.empty() ? text : text + render_fleet(table, output);
}

/// [{machine, packages or error}]
ordered_json machines_json(const std::vector<machines::NamedMachine>& machines,
                           const std::vector<MachineAnswer>& answers, Output& output) {
  ordered_json rows = ordered_json::array();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ordered_json row = {{"machine", machines[i].name}};
    row.update(answer_json(answers[i]));
    output.set_machine(machines[i].name);
    if (answers[i].failure) {
      ordered_json error = output.error_json(*answers[i].failure);
      if (row.contains("error")) error.update(row["error"]);
      row["error"] = std::move(error);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// One machine: the answer itself. Several: {machines: […]}, exit 3 if nothing fits one of them.
int answer_for_machines(const std::vector<machines::NamedMachine>& machines, Output& output,
                        Shown shown, const AskMachine& ask) {
  std::vector<MachineAnswer> answers;
  const auto add_coverage = [&](ordered_json json) {
    if (shown.coverage) json["coverage"] = coverage_json(joined(machines, answers));
    return json;
  };
  if (machines.size() == 1) {
    answers.push_back(ask(0, machines.front(), output));
    const MachineAnswer& known = answers.front();
    const bool covered = shown.coverage && !known.failure;
    const Answer answer{.text =
                            [&] {
                              return covered ? render_all(machines, answers, shown, output)
                                             : render(known, shown.decisions, output);
                            },
                        .json = [&] { return add_coverage(answer_json(known)); }};
    return known.failure ? output.failure(*known.failure, answer) : output.answer(answer);
  }
  int exit_code = 0;
  for (std::size_t place = 0; place < machines.size(); ++place) {
    const std::string& name = machines[place].name;
    MachineReport report(name, output);
    output.set_machine(name);
    answers.push_back(ask(place, machines[place], report));
    if (answers.back().failure) exit_code = std::max(exit_code, answers.back().failure->exit_code);
  }
  return output.answer(
      {.text = [&] { return render_all(machines, answers, shown, output); },
       .json = [&]() -> ordered_json {
         return add_coverage({{"machines", machines_json(machines, answers, output)}});
       }},
      exit_code);
}

/// What each machine does without: --minimize, --budget.
using Withheld = std::vector<session::Outcome<resolver::WithheldBuilds>>;

Withheld withheld_of(const session::Session& session, const session::Workspace& workspace,
                     const std::vector<machines::NamedMachine>& machines,
                     const session::FleetWishes& wishes, Report& report) {
  if (!wishes.any()) return Withheld(machines.size());
  std::vector<session::FleetMachine> named;
  for (const machines::NamedMachine& one : machines) named.push_back({.name = one.name});
  return session::withheld_builds(
      named, wishes,
      [&](std::size_t place, const resolver::WithheldBuilds& withheld) {
        resolver::Options options = workspace.options;
        options.withheld = withheld;
        CollectedReport unread;
        return resolver::resolve(workspace.requests,
                                 session::make_target(workspace.environment, workspace.stated,
                                                      machines[place].machine, session.elsewhere()),
                                 {}, workspace.sources, options, unread);
      },
      report);
}

MachineAnswer resolve_for(const session::Session& session, const session::Workspace& workspace,
                          const machines::NamedMachine& machine,
                          const session::Outcome<resolver::WithheldBuilds>& withheld,
                          Report& report) {
  MachineAnswer answer;
  if (!withheld) {
    answer.failure = withheld.error();
    return answer;
  }
  const resolver::Target target = session::make_target(workspace.environment, workspace.stated,
                                                       machine.machine, session.elsewhere());
  resolver::Options options = workspace.options;
  options.withheld = *withheld;
  const auto resolve = [&] {
    return resolver::resolve(workspace.requests, target, {}, workspace.sources, options, report);
  };
  const auto resolve_checked = [&] {
    const auto host = session.elsewhere() ? nullptr : detect::make_real_host();
    auto runtime = runtime_of(machine.machine, host.get(), workspace.environment);
    return resolve_with_abi(resolve, options, {}, runtime, *workspace.transport, report);
  };
  auto resolution =
      session.arguments().has(session::Opt::check_abi) ? resolve_checked() : resolve();
  if (!resolution) {
    answer.unresolved = std::move(resolution).error();
    answer.failure = session::failed_to_resolve(*answer.unresolved).error();
    if (answer.unresolved->kind == ErrorKind::unsupported)
      answer.explanations = session::explain_misfits(workspace, target);
    return answer;
  }
  if (workspace.attestations != nullptr) {
    if (auto good = workspace.attestations->check(*resolution); !good) {
      answer.failure = session::failed(std::move(good).error()).error();
      return answer;
    }
  }
  warn_of_unusable_gpus(resolution->packages, machine.machine, report);
  answer.packages = std::move(resolution->packages);
  return answer;
}

MachineAnswer explain_for(const session::Session& session, const session::Workspace& workspace,
                          const machines::NamedMachine& machine, Report& report) {
  MachineAnswer answer;
  const resolver::Target target = session::make_target(workspace.environment, workspace.stated,
                                                       machine.machine, session.elsewhere());
  auto explanation = resolver::explain(workspace.requests.requirements.front().requirement, target,
                                       workspace.sources, workspace.options, report);
  if (!explanation) {
    answer.failure = session::failed_to_choose(explanation.error()).error();
    return answer;
  }
  if (!explanation->chosen) {
    answer.failure =
        session::failed_to_choose({ErrorKind::unsupported,
                                   fmt::format("no wheel of {} {} fits", explanation->name,
                                               wheel::render_version(explanation->version)),
                                   {}})
            .error();
  }
  if (explanation->chosen && workspace.families != nullptr) {
    const resolver::ProviderPolicy& policy = workspace.options.providers;
    const session::Arguments& given = session.arguments();
    const bool listed = given.has(session::Opt::verbose) || given.has(session::Opt::json);
    auto features = doctor::list_chosen_features(
        *workspace.families, *explanation->chosen, {machine.machine, policy.gpus, policy},
        target.markers, listed ? doctor::Detail::advice : doctor::Detail::usable);
    if (!features) {
      answer.failure = session::failed(std::move(features).error()).error();
      return answer;
    }
    answer.features = *std::move(features);
  }
  answer.explanations.emplace().push_back(*std::move(explanation));
  return answer;
}

}  // namespace

int run_resolve(session::Session& session, Output& output) {
  const session::Arguments& given = session.arguments();
  if (given.positionals.empty() && !given.has(session::Opt::requirement) &&
      !given.has(session::Opt::group) && !given.has(session::Opt::editable)) {
    return output.failure(
        session::misused("nothing to resolve", "name a package, a wheel, -r FILE or --group NAME")
            .error());
  }
  const auto wishes = session::read_fleet_wishes(given);
  if (!wishes) return output.failure(wishes.error());
  auto workspace = session::open_workspace(session, session::Purpose::show);
  if (!workspace) return output.failure(workspace.error());
  const auto machines = session.machines();
  if (!machines) return output.failure(machines.error());
  const Withheld withheld = withheld_of(session, **workspace, *machines, *wishes, output);
  const Shown shown{.decisions = given.has(session::Opt::explain),
                    .coverage = given.has(session::Opt::coverage)};
  return answer_for_machines(
      *machines, output, shown,
      [&](std::size_t place, const machines::NamedMachine& machine, Report& report) {
        return resolve_for(session, **workspace, machine, withheld[place], report);
      });
}

int run_explain(session::Session& session, Output& output) {
  auto workspace = session::open_workspace(session, session::Purpose::show);
  if (!workspace) return output.failure(workspace.error());
  const std::string& named = session.arguments().positionals.front();
  const bool is_file = named.ends_with(".whl") && !named.contains("://");
  if (is_file || (*workspace)->requests.requirements.size() != 1) {
    return output.failure(
        session::misused("explain takes the name of one package",
                         is_file ? fmt::format("for a wheel: `variant rank {}`", shell_word(named))
                                 : std::string("name it alone, without -r"))
            .error());
  }
  const auto machines = session.machines();
  if (!machines) return output.failure(machines.error());
  return answer_for_machines(
      *machines, output, {.decisions = true},
      [&](std::size_t, const machines::NamedMachine& machine, Report& report) {
        return explain_for(session, **workspace, machine, report);
      });
}

}  // namespace axle::cli
