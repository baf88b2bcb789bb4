// verify: whether a project's environment is what its lock says, and is for this machine.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/projects/locked_project.h"
#include "cli/views/findings_view.h"
#include "doctor/environment_checks.h"
#include "session/projects/class_choice.h"
#include "session/projects/class_environment.h"
#include "session/projects/sync_plan.h"
#include "session/session.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;
using session::Drift;
using session::DriftKind;

std::string_view render_kind(DriftKind kind) {
  switch (kind) {
    case DriftKind::missing:
      return "missing";
    case DriftKind::version:
      return "version";
    case DriftKind::build:
      return "build";
    case DriftKind::extraneous:
      break;
  }
  return "extraneous";
}

std::string render(const Drift& drift) {
  switch (drift.kind) {
    case DriftKind::missing:
      return fmt::format("{} {} is locked and not installed", drift.package, drift.locked);
    case DriftKind::version:
    case DriftKind::build:
      return fmt::format("{} {} is installed, {} is locked", drift.package, drift.installed,
                         drift.locked);
    case DriftKind::extraneous:
      break;
  }
  return fmt::format("{} {} is installed and not locked", drift.package, drift.installed);
}

/// What was found of one environment.
struct Verification {
  const plan::LockedClass* about = nullptr;
  std::string folder;
  session::ClassVerdict verdict;
  std::vector<Drift> drifts;
  doctor::Findings findings;
  std::size_t packages = 0;
  bool files_differ = false;  ///< also where a package may still work

  [[nodiscard]] bool good() const {
    return verdict.holds() && drifts.empty() && !files_differ && !findings.has_error();
  }
};

ordered_json verification_json(const Verification& found) {
  ordered_json misfits = ordered_json::array();
  for (const resolver::Misfit& misfit : found.verdict.misfits)
    misfits.push_back({{"needed", resolver::render_atom(misfit.atom)}, {"seen", misfit.seen}});
  ordered_json drifts = ordered_json::array();
  for (const Drift& drift : found.drifts) {
    drifts.push_back({{"kind", render_kind(drift.kind)},
                      {"package", drift.package},
                      {"locked", drift.locked},
                      {"installed", drift.installed}});
  }
  return {{"class", found.about->name},     {"environment", found.folder},
          {"holds", found.verdict.holds()}, {"misfits", std::move(misfits)},
          {"drift", std::move(drifts)},     {"findings", findings_json(found.findings)},
          {"packages", found.packages}};
}

std::string verification_text(const Verification& found, const Output& output) {
  std::string text;
  if (!found.verdict.holds()) {
    text += fmt::format("class {} is not for this machine: it needs {}\n", found.about->name,
                        session::render_misfits(found.verdict));
  }
  for (const Drift& drift : found.drifts) text += render(drift) + "\n";
  if (!found.findings.all().empty()) text += render_findings(found.findings, output);
  if (found.good())
    text += fmt::format("{} is what {} has for class {}: {} package{}\n", found.folder,
                        plan::lock_filename, found.about->name, found.packages,
                        found.packages == 1 ? "" : "s");
  return text;
}

}  // namespace

int run_verify(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  auto locked = read_locked_project(arguments, output);
  if (!locked) return output.failure(locked.error());
  auto machine = session.machine();
  if (!machine) return output.failure(machine.error());
  const auto named = named_class(arguments);
  if (!named) return output.failure(named.error());
  auto synced =
      session::synced_class(session, locked->project, locked->lock, machine->machine, *named);
  if (!synced) return output.failure(synced.error());
  Verification found;
  found.about = synced->about;
  found.folder = synced->folder;
  auto gpus = session.gpu_policy();
  if (!gpus) return output.failure(gpus.error());
  const auto verdicts =
      session::judge_classes(locked->lock, machine->machine, *gpus, &synced->there->python_version);
  if (!verdicts) return output.failure(session::failed(verdicts.error()).error());
  for (const session::ClassVerdict& one : *verdicts) {
    if (one.about == found.about) found.verdict = one;
  }
  const auto wanted =
      session::read_selection(arguments, locked->lock, locked->project.default_groups);
  if (!wanted) return output.failure(wanted.error());
  const auto packages =
      plan::locked_closure(locked->lock, found.about->name, *wanted, synced->there->markers);
  if (!packages) return output.failure(session::failed(packages.error()).error());
  found.packages = packages->size();
  const auto installed = installer::list_installed(*synced->there, output, session.cache_folder());
  if (!installed) return output.failure(session::failed(installed.error()).error());
  auto drifts = session::find_drift(locked->project, *packages, *installed, sync_wishes(arguments),
                                    *synced->there);
  if (!drifts) return output.failure(drifts.error());
  found.drifts = *std::move(drifts);

  const doctor::JudgedMachine judged{.machine = machine->machine, .gpus = *std::move(gpus)};
  const doctor::InstalledFiles files =
      doctor::read_installed_files(*synced->there, *installed, found.findings);
  doctor::check_content(files, installer::ContentCheck::hash, found.findings);
  found.files_differ = found.findings.has_fault();
  doctor::check_code(files, judged, found.findings);
  found.findings.sort();
  return output.answer({.text = [&] { return verification_text(found, output); },
                        .json = [&] { return verification_json(found); }},
                       found.good() ? 0 : session::exit_stale);
}

}  // namespace axle::cli
