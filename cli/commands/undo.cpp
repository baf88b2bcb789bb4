// undo: brings back what was there before the last change of an environment.
#include "session/changes/undo.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/interruption.h"
#include "cli/views/changes_view.h"
#include "index/bundle/bundle.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "session/changes/environment_changes.h"
#include "session/session.h"
#include "session/workspace.h"

namespace axle::cli {

namespace {

/// "demo from file:///home/me/proj": wheels that nobody publishes.
std::string built_here(const plan::Resolution& resolution) {
  std::string all;
  for (const plan::ResolvedPackage& package : resolution.packages) {
    if (!package.built_from) continue;
    all += fmt::format("{}{} from {}", all.empty() ? "" : ", ", package.name,
                       index::redact_url(package.built_from->url));
  }
  return all;
}

/// Takes the wheels out of the bundle, also where it lacks them: nothing else is asked.
void take_copies(plan::Resolution& resolution, const index::Bundle& bundle) {
  for (plan::ResolvedPackage& package : resolution.packages) {
    std::string copy = bundle.wheel_with(package.hash.sha256());
    if (copy.empty()) {
      copy = fmt::format("{}{}/{}", bundle.index_url(), package.name,
                         index::percent_encode(package.filename, false));
    }
    package.origin = std::exchange(package.url, std::move(copy));
    package.source = "the bundle";
  }
}

/// What is recorded is where they came from at first; those of a copy are beside it.
Result<void> check_attestations(session::AttestationChecks& checks, plan::Resolution& resolution) {
  std::vector<std::string> places;
  for (plan::ResolvedPackage& package : resolution.packages) {
    places.push_back(package.provenance);
    if (!package.origin.empty()) package.provenance.clear();
  }
  auto good = checks.check(resolution);
  for (std::size_t i = 0; i < places.size(); ++i)
    resolution.packages[i].provenance = std::move(places[i]);
  return good;
}

}  // namespace

int run_undo(session::Session& session, Output& output) {
  expect_change();
  const session::Arguments& arguments = session.arguments();
  const bool dry_run = arguments.has(session::Opt::dry_run);
  const auto step = arguments.has(session::Opt::redo) ? installer::HistoryStep::redo
                                                      : installer::HistoryStep::undo;
  auto workspace = session::open_workspace(session, session::Purpose::install);
  if (!workspace) return output.failure(workspace.error());
  output.set_progress(
      choose_progress((*workspace)->settings.progress, arguments.has(session::Opt::quiet)));
  const installer::Environment& environment = (*workspace)->environment;
  if (const auto refused = session::refuse_managed(environment, arguments); !refused)
    return output.failure(refused.error());
  auto undoing = session::plan_undoing(environment, step, output);
  if (!undoing) return output.failure(undoing.error());
  const index::Bundle* const bundle = (*workspace)->bundle.get();
  if (bundle != nullptr) take_copies(undoing->set.present, *bundle);
  if ((*workspace)->attestations != nullptr) {
    if (auto good = check_attestations(*(*workspace)->attestations, undoing->set.present); !good)
      return output.failure(session::failed(std::move(good).error()).error());
  }
  const auto store = session::choose_store(session, dry_run, output);
  if (!store) return output.failure(store.error());
  auto options = session::install_options((*workspace)->settings, *store, session);
  if (!options) return output.failure(options.error());
  options->step = step;
  options->recorded = undoing->change;
  options->overwrite = arguments.has(session::Opt::overwrite);
  if (!dry_run) begin_change();
  const auto plan = dry_run ? installer::foresee_changes : installer::plan_changes;
  auto changes = plan(undoing->set, environment, (*workspace)->transport.get(), *options, output);
  if (!changes) {
    Error error = within(fmt::format("'{}' stays as it is: not all wheels that this needs are in "
                                     "the store or {}",
                                     undoing->change.title,
                                     bundle == nullptr ? "where they came from" : "the bundle"),
                         changes.error());
    if (bundle != nullptr && error.kind == ErrorKind::not_found)
      error.hint = "with --bundle nothing else is asked: name one that has them, or none";
    if (const std::string built = built_here(undoing->set.present); !built.empty())
      error.hint = "what was built is not fetched: install it from its place again: " + built;
    return output.failure(session::failed(std::move(error)).error());
  }
  const auto json = [&]() -> nlohmann::ordered_json {
    return {{"change", undoing->change.title},
            {"redo", step == installer::HistoryStep::redo},
            {"installed", changes_json(changes->installed)},
            {"removed", changes_json(changes->removed)},
            {"overwritten", overwritten_json(changes->overwritten)},
            {"dry_run", dry_run}};
  };
  if (dry_run) output.note("dry run: nothing was changed");
  if (!changes->conflicts.empty()) return refuse_conflicts(*changes, json, output);
  note_overwritten(*changes, output);
  if (auto done = installer::apply(*changes, output); !done)
    return output.failure(session::failed(std::move(done).error()).error());
  if (!dry_run) output.change_was_made();
  return output.answer({.text = [&] { return render_changes(*changes, output); }, .json = json});
}

}  // namespace axle::cli
