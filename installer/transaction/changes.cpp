#include "installer/transaction/changes.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/system/until_exit.h"
#include "foundation/text/nearest.h"
#include "installer/durability/unflushed_marks.h"
#include "installer/environment/evaluated_metadata.h"
#include "installer/environment/installed_scan.h"
#include "installer/environment/roots.h"
#include "installer/history/recording.h"
#include "installer/lock.h"
#include "installer/store/byte_code.h"
#include "installer/store/linked_environments.h"
#include "installer/transaction/ending.h"
#include "installer/transaction/new_package.h"
#include "installer/transaction/opened_wheels.h"
#include "installer/transaction/promised.h"
#include "installer/transaction/recovery.h"
#include "installer/transaction/removal.h"
#include "installer/transaction/repair.h"
#include "installer/transaction/staging.h"
#include "installer/transaction/transaction.h"
#include "installer/try_each.h"
#include "wheel/requirement.h"

namespace axle::installer {
namespace {

using plan::ResolvedPackage;

enum class Purpose : std::uint8_t {
  apply,
  show,      ///< nothing is locked, downloaded completely or written
  look_out,  ///< for files in the way, before large wheels are downloaded
};

WheelAccess access_for(Purpose purpose) {
  if (purpose == Purpose::apply) return WheelAccess::complete;
  return purpose == Purpose::show ? WheelAccess::listed : WheelAccess::large_listed;
}

Change change_of(const InstalledDistribution& distribution) {
  return {distribution.name, wheel::render_version(distribution.metadata.version),
          distribution.variant};
}

Change change_of(const ResolvedPackage& package) {
  return {package.name, wheel::render_version(package.version), package.variant};
}

std::string describe(const Changes& changed) {
  std::string title;
  const auto append = [&title](std::string_view verb, const std::vector<Change>& changes) {
    for (const Change& change : changes) {
      title +=
          fmt::format("{}{} {} {}", title.empty() ? "" : ", ", verb, change.name, change.version);
    }
  };
  append("remove", changed.removed);
  append("install", changed.installed);
  return title;
}

/// The installed packages of an environment, which is locked and recovered if it is to be changed.
struct Opened {
  std::optional<EnvironmentLock> lock;
  std::vector<InstalledDistribution> installed;
};

Result<Opened> open_environment(const Roots& roots, Purpose purpose, index::Transport* transport,
                                const std::string& cache_folder, Report& report) {
  CollectedReport unread;  // problems of other packages are reported by `list`
  if (purpose == Purpose::show) {
    auto installed = scan_installed(roots, unread, cache_folder);
    if (!installed) return std::unexpected(installed.error());
    return Opened{std::nullopt, std::move(*installed)};
  }
  auto lock = EnvironmentLock::for_change(roots.state_folder(), report);
  if (!lock) return std::unexpected(lock.error());
  if (auto done = finish_interrupted(roots.base, report, transport); !done)
    return std::unexpected(done.error());
  if (auto done = forget_flushed(roots.base); !done) return std::unexpected(done.error());
  auto installed = scan_installed(roots, unread, cache_folder);
  if (!installed) return std::unexpected(installed.error());
  return Opened{std::move(*lock), std::move(*installed)};
}

/// Packages that the resolution keeps must still be installed: other commands may have run since.
Result<void> check_kept(const plan::Resolution& resolution, const Environment& environment,
                        std::vector<InstalledDistribution> installed) {
  CollectedReport unread;
  add_outer(environment, installed, unread);
  for (const ResolvedPackage& package : resolution.packages) {
    if (!package.already_installed) continue;
    const auto found = std::ranges::find(installed, package.name, &InstalledDistribution::name);
    if (found != installed.end() && found->metadata.version == package.version &&
        found->variant == package.variant) {
      continue;
    }
    return fail(ErrorKind::conflict,
                fmt::format("{} was changed by another command in the meantime", package.name),
                "run the same command again; nothing was changed");
  }
  return {};
}

/// Removes the packages selected by `leaves` from `installed`: all of one name, except older ones
/// without a RECORD, which cannot be removed; if a new one replaces them (`replaced`), they are
/// removed if they can be repaired.
template <class Predicate>
std::vector<InstalledDistribution> take_leaving(std::vector<InstalledDistribution>& installed,
                                                bool replaced, const Predicate& leaves) {
  std::vector<InstalledDistribution> leaving;
  std::vector<InstalledDistribution> staying;
  for (InstalledDistribution& distribution : installed) {
    const bool older = !leaving.empty() && leaving.back().name == distribution.name;
    const bool stuck = !distribution.has_record && !(replaced && is_repairable(distribution));
    const bool stays = !leaves(distribution.name) || (older && stuck);
    (stays ? staying : leaving).push_back(std::move(distribution));
  }
  installed = std::move(staying);
  return leaving;
}

/// One per name: the version that counted.
std::vector<Change> changes_of(const std::vector<InstalledDistribution>& leaving) {
  std::vector<Change> changes;
  for (const InstalledDistribution& distribution : leaving) {
    if (changes.empty() || changes.back().name != distribution.name)
      changes.push_back(change_of(distribution));
  }
  return changes;
}

/// Why packages that are not among `installed` cannot be removed.
Error not_removable(const std::vector<std::string>& names,
                    const std::vector<InstalledDistribution>& installed,
                    const Environment& environment) {
  std::vector<InstalledDistribution> outer;
  CollectedReport unread;
  add_outer(environment, outer, unread);
  std::vector<std::string> places;
  for (const std::string& name : names) {
    const auto found =
        std::ranges::find(outer, wheel::normalize_name(name), &InstalledDistribution::name);
    if (found == outer.end()) continue;
    places.push_back(fmt::format("{} ({})", name, found->dist_info));
  }
  if (!places.empty()) {
    return {ErrorKind::unsupported,
            fmt::format("outside the environment {}, which only sees it: {}", environment.place(),
                        fmt::join(places, ", ")),
            "remove it with the tool that installed it; nothing was changed"};
  }
  std::vector<std::string> known;
  for (const InstalledDistribution& one : installed) known.push_back(one.name);
  return {ErrorKind::not_found,
          fmt::format("not installed in {}: {}", environment.place(), fmt::join(names, ", ")),
          text::suggest(names.front(), known,
                        "`variant list` shows what is installed; nothing was changed")};
}

/// Removes the packages of `absent` from `installed`. Error: none of them is installed.
Result<std::vector<InstalledDistribution>> take_absent(
    const std::vector<std::string>& names, const Environment& environment,
    std::vector<InstalledDistribution>& installed, Report& report) {
  if (names.empty()) return {};
  std::set<std::string> wanted;
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    const std::string normal = wheel::normalize_name(name);
    if (std::ranges::find(installed, normal, &InstalledDistribution::name) == installed.end())
      missing.push_back(name);
    wanted.insert(normal);
  }
  if (missing.size() == names.size())
    return std::unexpected(not_removable(missing, installed, environment));
  if (!missing.empty()) report.warn(not_removable(missing, installed, environment).message);
  return take_leaving(installed, false,
                      [&](const std::string& name) { return wanted.contains(name); });
}

}  // namespace

/// In an order in which each member may refer to those before it.
struct PreparedChanges {
  explicit PreparedChanges(Roots of) : roots(std::move(of)) {}
  PreparedChanges(const PreparedChanges&) = delete;
  PreparedChanges& operator=(const PreparedChanges&) = delete;

  std::optional<EnvironmentLock> lock;
  Roots roots;
  std::string store;
  LinkMode link_mode = LinkMode::best;
  HistoryStep step = HistoryStep::change;
  /// nullopt: it is of a later version of Axle, and stays as it is.
  std::optional<History> history;
  RecordedChange recorded;
  std::vector<ReturnedLinks> returned;
  std::vector<NewPackage> entering;
  Removal removal;
  Staging staging{roots, removal};
};

Changes::Changes() = default;
Changes::Changes(Changes&&) noexcept = default;
Changes& Changes::operator=(Changes&&) noexcept = default;
Changes::~Changes() = default;

namespace {

/// An undo or redo brings back whose the files of several packages were.
void restore_overwritten(const InstallOptions& options, const std::vector<NewPackage>& entering,
                         OverwriteConsent& consent) {
  if (!options.recorded) return;
  const auto& goal =
      options.step == HistoryStep::undo ? options.recorded->before : options.recorded->after;
  for (const NewPackage& package : entering) {
    const auto wanted = std::ranges::find_if(
        goal, [&](const RecordedPackage& one) { return one.wheel.name == package.name; });
    if (wanted != goal.end())
      consent.restore(wanted->overwritten,
                      std::string_view(package.dist_info).substr(0, package.dist_info.rfind('/')));
  }
}

/// What each of `wheels` adds, several at once. Only the archives of wheels that were listed are
/// left: they are used again when these are downloaded.
Result<std::vector<NewPackage>> prepare_packages(std::vector<OpenedWheel>& wheels,
                                                 const std::vector<InstalledDistribution>& leaving,
                                                 const Environment& environment,
                                                 const InstallOptions& options) {
  std::vector<NewPackage> packages(wheels.size());
  const auto prepare_one = [&](std::size_t i) -> Result<void> {
    OpenedWheel& wheel = wheels[i];
    const auto old = std::ranges::find(leaving, wheel.package->name, &InstalledDistribution::name);
    const bool kept = options.step == HistoryStep::change && old != leaving.end() && old->requested;
    const bool requested = wheel.package->requested || kept;
    WheelContents contents =
        wheel.wheel.archive == nullptr ? std::move(wheel.wheel) : WheelContents(wheel.wheel);
    auto package = prepare_package(*wheel.package, std::move(contents), std::move(wheel.layout),
                                   wheel.byte_code, environment, requested);
    if (!package) return std::unexpected(std::move(package.error()));
    packages[i] = std::move(*package);
    return {};
  };
  if (auto done = try_each(wheels.size(), prepare_one); !done)
    return std::unexpected(std::move(done.error()));
  return packages;
}

/// What is added and what is removed, from the wheels, of which only archives are left, and the
/// installed packages; files are compared.
Result<void> prepare(const PackageSet& set, std::vector<OpenedWheel>& wheels,
                     const Environment& environment, const InstallOptions& options, Opened opened,
                     PreparedChanges& prepared, Changes& changes, Report& report) {
  std::vector<InstalledDistribution>& staying = opened.installed;
  auto consent = OverwriteConsent::read(options.overwrite, staying, prepared.roots);
  if (!consent) return std::unexpected(consent.error());
  std::set<std::string> names;
  for (const ResolvedPackage& package : set.present.packages)
    if (!package.already_installed) names.insert(package.name);
  std::vector<InstalledDistribution> leaving =
      take_leaving(staying, true, [&](const std::string& name) { return names.contains(name); });
  auto absent = take_absent(set.absent, environment, staying, report);
  if (!absent) return std::unexpected(absent.error());
  std::ranges::move(*absent, std::back_inserter(leaving));
  changes.removed = changes_of(leaving);
  std::vector<InstalledDistribution> damaged;
  if (!names.empty()) {
    auto found = scan_damaged(prepared.roots, names);
    if (!found) return std::unexpected(found.error());
    damaged = std::move(*found);
  }
  auto entering = prepare_packages(wheels, leaving, environment, options);
  if (!entering) return std::unexpected(entering.error());
  prepared.entering = std::move(*entering);
  StandIns stand_ins;
  std::vector<const ResolvedPackage*> packages;
  for (std::size_t i = 0; i < wheels.size(); ++i) {
    packages.push_back(wheels[i].package);
    add_stand_ins(*wheels[i].package, prepared.entering[i], leaving, damaged, stand_ins);
  }
  leaving.insert(leaving.end(), damaged.begin(), damaged.end());
  if (!changes.unlisted.empty()) {
    // A damaged RECORD could be restored from their own files, which are not known yet.
    for (const InstalledDistribution& distribution : leaving)
      stand_ins.try_emplace(distribution.dist_info);
  }
  auto removal = plan_removal(leaving, staying, stand_ins, prepared.roots, report);
  if (!removal) return std::unexpected(removal.error());
  prepared.removal = std::move(*removal);
  restore_overwritten(options, prepared.entering, *consent);
  if (auto settled = settle_files(prepared.entering, installation_order(packages), *consent,
                                  staying, prepared.roots, changes.overwritten);
      !settled)
    return settled;
  warn_of_left_files(leaving, prepared.entering, staying, *consent, prepared.roots, report);
  prepared.staging.add(prepared.entering);
  if (auto checked = prepared.staging.check(staying, *consent); !checked) return checked;
  changes.conflicts = prepared.staging.conflicts();
  std::ranges::copy(prepared.staging.overwritten(), std::back_inserter(changes.overwritten));
  prepared.lock = std::move(opened.lock);
  prepared.store = options.store_folder;
  prepared.link_mode = options.link_mode;
  auto history =
      read_history_to_extend(prepared.roots.base, options.step, options.recorded, report);
  if (!history) return std::unexpected(history.error());
  prepared.step = options.step;
  prepared.history = std::move(*history);
  if (!prepared.history) return {};
  prepared.recorded = record_change(*prepared.history, leaving, staying, packages,
                                    prepared.entering, prepared.staging.rewritten());
  prepared.returned =
      find_returned_links(prepared.removal, prepared.recorded.before, options.store_folder);
  return {};
}

/// For whoever wants to know more of the wheels than what is done with them.
Result<void> tell_facts(const std::vector<OpenedWheel>& wheels, const InstallOptions& options) {
  if (options.facts == nullptr) return {};
  for (const OpenedWheel& opened : wheels) {
    auto text = opened.wheel.read(opened.wheel.manifest.dist_info + "/METADATA", metadata_limit);
    if (!text) return std::unexpected(text.error());
    options.facts->insert_or_assign(opened.package->url,
                                    WheelFacts{std::move(*text), opened.wheel.sha256});
  }
  return {};
}

Result<void> compile_byte_code(std::vector<OpenedWheel>& wheels, const Environment& environment,
                               const InstallOptions& options, Report& report) {
  std::vector<const WheelContents*> contents;
  for (const OpenedWheel& opened : wheels) contents.push_back(&opened.wheel);
  if (contents.empty()) return {};
  const EntryCheck check = options.verify_store ? EntryCheck::content : EntryCheck::size_and_time;
  auto entries = acquire_byte_code(options.store_folder, options.read_only_store, contents,
                                   environment, check, report);
  if (!entries) return std::unexpected(std::move(entries.error()));
  for (std::size_t i = 0; i < wheels.size(); ++i) wheels[i].byte_code = std::move((*entries)[i]);
  return {};
}

Result<Changes> plan_for(Purpose purpose, const PackageSet& set, const Environment& environment,
                         index::Transport* transport, const InstallOptions& options,
                         ListedWheels& listed, Report& report) {
  auto roots = find_roots(environment);
  if (!roots) return std::unexpected(roots.error());
  Changes changes;
  auto wheels = open_wheels(set.present, *roots, options, access_for(purpose), transport, listed,
                            changes.unlisted, report);
  if (!wheels) return std::unexpected(wheels.error());
  if (auto told = tell_facts(*wheels, options); !told) return std::unexpected(told.error());
  if (options.compiles_byte_code && purpose == Purpose::apply) {
    if (auto done = compile_byte_code(*wheels, environment, options, report); !done)
      return std::unexpected(done.error());
  }
  for (const ResolvedPackage& package : set.present.packages) {
    (package.already_installed ? changes.kept : changes.installed).push_back(change_of(package));
  }
  if (changes.installed.empty() && set.absent.empty()) return changes;

  auto opened = open_environment(*roots, purpose, transport, options.cache_folder, report);
  if (!opened) return std::unexpected(opened.error());
  if (!changes.kept.empty()) {
    if (auto kept = check_kept(set.present, environment, opened->installed); !kept)
      return std::unexpected(kept.error());
  }
  auto prepared = std::make_unique<PreparedChanges>(std::move(*roots));
  CollectedReport unread;  // reported when the changes are planned to be applied
  if (auto done = prepare(set, *wheels, environment, options, std::move(*opened), *prepared,
                          changes, purpose == Purpose::look_out ? unread : report);
      !done) {
    return std::unexpected(done.error());
  }
  const bool nothing = changes.installed.empty() && changes.removed.empty();
  if (purpose == Purpose::apply && !nothing) changes.prepared = std::move(prepared);
  for (OpenedWheel& wheel : *wheels) {
    if (wheel.wheel.archive != nullptr)
      listed.insert_or_assign(wheel.package->url,
                              ListedWheel{std::move(wheel.wheel), std::move(wheel.remarks)});
  }
  return changes;
}

}  // namespace

Result<Changes> plan_changes(const PackageSet& set, const Environment& environment,
                             index::Transport* transport, const InstallOptions& options,
                             Report& report) {
  ListedWheels listed;
  if (has_large_download(set.present, options)) {
    auto seen = plan_for(Purpose::look_out, set, environment, transport, options, listed, report);
    if (!seen || !seen->conflicts.empty()) return seen;
  }
  return plan_for(Purpose::apply, set, environment, transport, options, listed, report);
}

Result<Changes> foresee_changes(const PackageSet& set, const Environment& environment,
                                index::Transport* transport, const InstallOptions& options,
                                Report& report) {
  ListedWheels listed;
  return plan_for(Purpose::show, set, environment, transport, options, listed, report);
}

Result<void> apply(Changes& changes, Report& report) {
  std::unique_ptr<PreparedChanges> prepared = std::move(changes.prepared);
  if (!changes.conflicts.empty()) return std::unexpected(changes.conflicts.front().error);
  if (prepared == nullptr) return {};
  auto transaction = Transaction::begin(prepared->roots.base);
  if (!transaction) return std::unexpected(transaction.error());
  Journal journal{describe(changes), {}};
  const LinkMode mode = prepared->link_mode;
  if (auto staged =
          prepared->staging.stage(transaction->new_folder(), prepared->store, mode, journal);
      !staged)
    return staged;
  if (mode == LinkMode::symlink && !prepared->entering.empty()) {
    if (auto done = remember_linked(prepared->store, prepared->roots.base); !done) return done;
  }
  if (prepared->history) {
    prepared->recorded.title = journal.title;
    add_step(*prepared->history, prepared->step, std::move(prepared->recorded));
    if (auto drafted = transaction->draft_history(render_history(*prepared->history)); !drafted)
      return drafted;
  }
  for (NewPackage& package : prepared->entering) {
    for (Staging::RewrittenMetadata& rewritten : prepared->staging.rewritten()) {
      if (rewritten.by == &package) package.files.push_back(std::move(rewritten.file));
    }
  }
  UnflushedChange promise =
      promise_of(journal, prepared->entering, prepared->roots.base, prepared->store);
  auto committed = transaction->commit(journal, promise, prepared->returned, report);
  prepared->lock.reset();
  system::keep_until_exit(std::move(prepared));
  system::keep_until_exit(std::move(journal));
  system::keep_until_exit(std::move(promise));
  return committed;
}

Result<Changes> install(const plan::Resolution& resolution, const Environment& environment,
                        index::Transport& transport, const InstallOptions& options,
                        Report& report) {
  auto changes = plan_changes({resolution, {}}, environment, &transport, options, report);
  if (!changes) return changes;
  if (auto done = apply(*changes, report); !done) return std::unexpected(done.error());
  return changes;
}

Result<Changes> uninstall(const std::vector<std::string>& names, const Environment& environment,
                          const InstallOptions& options, Report& report) {
  auto changes = plan_changes({{}, names}, environment, nullptr, options, report);
  if (!changes) return changes;
  if (auto done = apply(*changes, report); !done) return std::unexpected(done.error());
  return changes;
}

}  // namespace axle::installer
