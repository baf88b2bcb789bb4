#include "installer/transaction/transaction.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "installer/environment/installed_scan.h"
#include "installer/environment/roots.h"
#include "installer/lock.h"
#include "installer/store/metadata_check.h"
#include "installer/store/store.h"
#include "installer/transaction/layout.h"
#include "installer/transaction/new_package.h"
#include "installer/transaction/recovery.h"
#include "installer/transaction/removal.h"
#include "installer/transaction/repair.h"
#include "installer/transaction/staging.h"
#include "wheel/requirement.h"

namespace axle::installer {
namespace {

using plan::ResolvedPackage;

struct Acquired {
  const ResolvedPackage* package;
  StoredWheel wheel;
  Layout layout;
};

Change change_of(const InstalledDistribution& distribution) {
  return {distribution.name, wheel::render_version(distribution.metadata.version),
          distribution.variant};
}

Change change_of(const ResolvedPackage& package) {
  return {package.name, wheel::render_version(package.version), package.variant};
}

std::string describe(const Outcome& outcome) {
  std::string title;
  const auto append = [&title](std::string_view verb, const std::vector<Change>& changes) {
    for (const Change& change : changes) {
      title +=
          fmt::format("{}{} {} {}", title.empty() ? "" : ", ", verb, change.name, change.version);
    }
  };
  append("remove", outcome.removed);
  append("install", outcome.installed);
  return title;
}

/// Everything that can fail on account of a wheel alone, before the environment is locked.
Result<std::vector<Acquired>> acquire_all(const plan::Resolution& resolution, const Roots& roots,
                                          const InstallOptions& options,
                                          index::Transport& transport, Report& report) {
  const EntryCheck entry_check =
      options.verify_store ? EntryCheck::content : EntryCheck::size_and_time;
  std::vector<Acquired> acquired;
  for (const ResolvedPackage& package : resolution.packages) {
    if (package.already_installed) continue;
    Layout layout;
    const auto check = [&](const Manifest& manifest, std::string_view metadata) -> Result<void> {
      if (auto same = check_metadata(package, metadata); !same) {
        if (options.other_metadata != nullptr)
          options.other_metadata->insert_or_assign(package.url, std::string(metadata));
        return same;
      }
      auto laid_out = lay_out(manifest, roots);
      if (!laid_out) return std::unexpected(laid_out.error());
      layout = std::move(*laid_out);
      return {};
    };
    auto wheel =
        acquire_wheel(options.store_folder, package, transport, check, entry_check, report);
    if (!wheel) return std::unexpected(wheel.error());
    acquired.push_back({&package, std::move(*wheel), std::move(layout)});
  }
  return acquired;
}

/// An environment that is locked, recovered and read.
struct Opened {
  EnvironmentLock lock;
  std::vector<InstalledDistribution> installed;
};

Result<Opened> open_for_change(const Roots& roots, Report& report) {
  auto lock = EnvironmentLock::for_change(roots.state_folder(), report);
  if (!lock) return std::unexpected(lock.error());
  if (auto done = finish_interrupted(roots.base, report); !done)
    return std::unexpected(done.error());
  CollectedReport unread;  // what is wrong with other packages is said by `list`
  auto installed = scan_installed(roots, unread);
  if (!installed) return std::unexpected(installed.error());
  return Opened{std::move(*lock), std::move(*installed)};
}

/// What the resolution keeps must still be there: other commands may have run since.
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
                fmt::format("{} was changed by another command meanwhile", package.name),
                "run the same command again; nothing was changed");
  }
  return {};
}

/// Takes those whose names `leaves` says yes to out of `installed`: all of one name, but for older
/// ones without a RECORD, which cannot be removed; where a new one takes their place (`replaced`),
/// they leave if they can be repaired.
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

/// One for every name: the version that counted.
std::vector<Change> changes_of(const std::vector<InstalledDistribution>& leaving) {
  std::vector<Change> changes;
  for (const InstalledDistribution& distribution : leaving) {
    if (changes.empty() || changes.back().name != distribution.name)
      changes.push_back(change_of(distribution));
  }
  return changes;
}

/// Why packages that the environment itself does not have cannot be removed from it.
Error not_removable(const std::vector<std::string>& names, const Environment& environment) {
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
            fmt::format("outside of the environment {}, which only sees it: {}", environment.prefix,
                        fmt::join(places, ", ")),
            "remove it with what installed it there; nothing was changed"};
  }
  return {ErrorKind::not_found,
          fmt::format("not installed in {}: {}", environment.prefix, fmt::join(names, ", ")),
          "`variant list` shows what is; nothing was changed"};
}

Result<void> change(const Roots& roots, const std::vector<NewPackage>& entering,
                    const std::vector<InstalledDistribution>& leaving,
                    const std::vector<InstalledDistribution>& staying, const StandIns& stand_ins,
                    bool overwrite, const std::string& title, Report& report) {
  auto removal = plan_removal(leaving, staying, stand_ins, roots, report);
  if (!removal) return std::unexpected(removal.error());
  Staging staging(roots, *removal);
  for (const NewPackage& package : entering) {
    if (auto added = staging.add(package); !added) return added;
  }
  if (auto checked = staging.check(staying, overwrite); !checked) return checked;
  auto transaction = Transaction::begin(roots.base);
  if (!transaction) return std::unexpected(transaction.error());
  Journal journal{title, {}};
  if (auto staged = staging.stage(transaction->new_folder(), journal); !staged) return staged;
  return transaction->commit(journal, report);
}

}  // namespace

Result<Outcome> install(const plan::Resolution& resolution, const Environment& environment,
                        index::Transport& transport, const InstallOptions& options,
                        Report& report) {
  auto roots = find_roots(environment);
  if (!roots) return std::unexpected(roots.error());
  auto acquired = acquire_all(resolution, *roots, options, transport, report);
  if (!acquired) return std::unexpected(acquired.error());
  Outcome outcome;
  for (const ResolvedPackage& package : resolution.packages) {
    (package.already_installed ? outcome.kept : outcome.installed).push_back(change_of(package));
  }
  if (acquired->empty()) return outcome;

  auto opened = open_for_change(*roots, report);
  if (!opened) return std::unexpected(opened.error());
  std::vector<InstalledDistribution>& staying = opened->installed;
  if (auto kept = check_kept(resolution, environment, staying); !kept)
    return std::unexpected(kept.error());
  std::set<std::string> names;
  for (const Acquired& wheel : *acquired) names.insert(wheel.package->name);
  std::vector<InstalledDistribution> leaving =
      take_leaving(staying, true, [&](const std::string& name) { return names.contains(name); });
  outcome.removed = changes_of(leaving);
  const auto damaged = scan_damaged(*roots, names);
  if (!damaged) return std::unexpected(damaged.error());
  StandIns stand_ins;
  std::vector<NewPackage> entering;
  for (const Acquired& wheel : *acquired) {
    const auto old = std::ranges::find(leaving, wheel.package->name, &InstalledDistribution::name);
    const bool requested = wheel.package->requested || (old != leaving.end() && old->requested);
    auto package =
        prepare_package(*wheel.package, wheel.wheel, wheel.layout, environment, requested);
    if (!package) return std::unexpected(package.error());
    add_stand_ins(*wheel.package, *package, leaving, *damaged, stand_ins);
    entering.push_back(std::move(*package));
  }
  leaving.insert(leaving.end(), damaged->begin(), damaged->end());
  if (auto done = change(*roots, entering, leaving, staying, stand_ins, options.overwrite,
                         describe(outcome), report);
      !done) {
    return std::unexpected(done.error());
  }
  return outcome;
}

Result<Outcome> uninstall(const std::vector<std::string>& names, const Environment& environment,
                          Report& report) {
  auto roots = find_roots(environment);
  if (!roots) return std::unexpected(roots.error());
  auto opened = open_for_change(*roots, report);
  if (!opened) return std::unexpected(opened.error());
  std::vector<InstalledDistribution>& staying = opened->installed;
  std::vector<std::string> wanted;
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    wanted.push_back(wheel::normalize_name(name));
    if (std::ranges::find(staying, wanted.back(), &InstalledDistribution::name) == staying.end())
      missing.push_back(name);
  }
  if (missing.size() == names.size()) return std::unexpected(not_removable(missing, environment));
  if (!missing.empty()) report.warn(not_removable(missing, environment).message);
  const std::vector<InstalledDistribution> leaving = take_leaving(
      staying, false,
      [&](const std::string& name) { return std::ranges::find(wanted, name) != wanted.end(); });
  Outcome outcome;
  outcome.removed = changes_of(leaving);
  if (leaving.empty()) return outcome;
  if (auto done = change(*roots, {}, leaving, staying, {}, false, describe(outcome), report);
      !done) {
    return std::unexpected(done.error());
  }
  return outcome;
}

}  // namespace axle::installer
