// lock: solves a project for every class of machines that it names, and writes axle.lock.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/projects/locked_project.h"
#include "cli/views/projects/lock_view.h"
#include "session/projects/project_lock.h"
#include "session/session.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;
using session::Opt;

/// What `variant lock` found out.
struct Locking {
  const plan::Lock& lock;
  std::vector<session::LockedChange> changes;
  bool changed = false;  ///< the file is, or would be, another one
  bool written = false;
};

/// The lock that is there. One that cannot be read does not keep a new one from being made of
/// nothing: --upgrade.
session::Outcome<std::optional<plan::Lock>> lock_before(const session::Project& project,
                                                        bool upgrade, Output& output) {
  auto before = session::read_lock(project);
  if (before || !upgrade) return before;
  output.warn(before.error().error.message, "it is made anew");
  return std::optional<plan::Lock>();
}

std::string render(const Locking& locking, const Output& output) {
  std::string text = render_lock_changes(locking.changes, output);
  if (!output.options().quiet) text += render_classes(locking.lock, output);
  return text;
}

ordered_json locking_json(const Locking& locking, bool coverage) {
  ordered_json out = {{"changed", locking.changed},
                      {"written", locking.written},
                      {"classes", classes_json(locking.lock)},
                      {"changes", lock_changes_json(locking.changes)}};
  if (coverage) out["coverage"] = coverage_json(locking.lock);
  return out;
}

}  // namespace

int run_lock(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const auto project = session::open_project();
  if (!project) return output.failure(project.error());
  const bool upgrade = arguments.has(Opt::upgrade);
  const auto before = lock_before(*project, upgrade, output);
  if (!before) return output.failure(before.error());
  const plan::Lock* old = *before ? &**before : nullptr;
  const bool coverage = arguments.has(Opt::coverage);
  const bool dry_run = arguments.has(Opt::dry_run);
  const bool check = arguments.has(Opt::ci_check);

  std::optional<plan::Lock> made;
  bool current = false;
  if (old != nullptr && choosing_option(arguments).empty()) {
    const auto why = why_stale(session, *project, *old);
    if (!why) return output.failure(why.error());
    current = why->empty();
    if (!current) output.detail(*why);
  }
  if (!current) {
    auto lock = session::make_lock(session, *project, upgrade ? nullptr : old, {}, output);
    if (!lock) return output.failure(lock.error());
    made = *std::move(lock);
  }
  const plan::Lock& lock = made ? *made : *old;
  Locking locking{.lock = lock, .changes = {}};
  if (made) locking.changes = session::compare_locks(old, lock);
  locking.changed = made && (old == nullptr || !(*made == *old));
  if (locking.changed && !check && !dry_run) {
    if (const auto written = session::write_lock(*project, lock); !written)
      return output.failure(written.error());
    locking.written = true;
    output.change_was_made();
  }
  if (!output.options().quiet) {
    output.note(locking.written    ? fmt::format("wrote {}", project->lock_path())
                : !locking.changed ? fmt::format("{} is up to date", project->lock_path())
                                   : fmt::format("{} would change", project->lock_path()));
  }
  return output.answer({.text =
                            [&] {
                              std::string text = render(locking, output);
                              if (coverage) text += render_coverage(lock, output);
                              return text;
                            },
                        .json = [&] { return locking_json(locking, coverage); }},
                       check && locking.changed ? session::exit_stale : 0);
}

}  // namespace axle::cli
