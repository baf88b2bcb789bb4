#include "session/changes/undo.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/system/shell_command.h"
#include "installer/environment/installed.h"
#include "installer/environment/ownership.h"
#include "installer/environment/record_check.h"
#include "installer/environment/roots.h"
#include "installer/file_hash.h"

namespace axle::session {

namespace {

using installer::InstalledDistribution;
using installer::RecordedPackage;

std::string title_of(const RecordedPackage& package) {
  return package.wheel.name + " " + package.wheel.version;
}

const RecordedPackage* find(const std::vector<RecordedPackage>& packages, const std::string& name) {
  const auto found = std::ranges::find_if(
      packages, [&](const RecordedPackage& one) { return one.wheel.name == name; });
  return found == packages.end() ? nullptr : &*found;
}

class UndoPlanner {
 public:
  UndoPlanner(const installer::Roots& roots, const std::vector<InstalledDistribution>& installed,
              const std::vector<RecordedPackage>& from, const std::vector<RecordedPackage>& to)
      : installed_(installed), from_(from), to_(to), resolver_(roots) {}

  Outcome<installer::PackageSet> plan(const std::string& what) {
    for (const RecordedPackage& package : from_) compare(package);
    for (const RecordedPackage& package : to_) {
      if (find(from_, package.wheel.name) == nullptr && installed(package.wheel.name) != nullptr)
        problems_.push_back(fmt::format("{} was installed since", package.wheel.name));
    }
    if (!problems_.empty()) {
      return failed({ErrorKind::conflict,
                     fmt::format("cannot {}: {}", what, fmt::join(problems_, "; ")),
                     "only what is as that change left it is undone; `variant install` and "
                     "`variant uninstall` change single packages; nothing was changed"});
    }
    installer::PackageSet set;
    std::vector<std::string> unknown;
    for (const RecordedPackage& package : to_) {
      const RecordedPackage* now = find(from_, package.wheel.name);
      if (now != nullptr && *now == package) continue;
      if (package.wheel.sha256.empty()) {
        unknown.push_back(package.wheel.name + "==" + package.wheel.version);
        continue;
      }
      auto again = installer::package_again(package);
      if (!again) return failed(again.error());
      set.present.packages.push_back(std::move(*again));
    }
    if (!unknown.empty()) {
      std::string command = "`variant install --no-deps";
      for (const std::string& one : unknown) command += " " + shell_word(one);
      return failed({ErrorKind::unsupported,
                     fmt::format("cannot {}: Axle did not install {}, so it does not know the "
                                 "wheel",
                                 what, fmt::join(unknown, ", ")),
                     command + "` installs that version, if it came from an index; nothing was "
                               "changed"});
    }
    std::ranges::sort(set.present.packages, {}, &plan::ResolvedPackage::name);
    for (const RecordedPackage& package : from_)
      if (find(to_, package.wheel.name) == nullptr) set.absent.push_back(package.wheel.name);
    return set;
  }

 private:
  [[nodiscard]] const InstalledDistribution* installed(const std::string& name) const {
    const auto found = std::ranges::find_if(installed_, [&](const InstalledDistribution& one) {
      return one.name == name && !one.outer;
    });
    return found == installed_.end() ? nullptr : &*found;
  }

  void compare(const RecordedPackage& package) {
    const InstalledDistribution* there = installed(package.wheel.name);
    if (there == nullptr) {
      problems_.push_back(fmt::format("{} was removed since", title_of(package)));
      return;
    }
    const auto hash = installer::hash_file(AT_FDCWD, there->dist_info + "/RECORD");
    const auto record = installer::read_record(*there);
    if (!hash || !record || *hash != package.record) {
      problems_.push_back(
          fmt::format("{} was changed or installed again since", title_of(package)));
      return;
    }
    const RecordedPackage* other = find(to_, package.wheel.name);
    if (other != nullptr && *other == package) return;  // it stays
    for (const installer::FaultyFile& fault : installer::compare_with_record(
             *there, *record, resolver_, installer::ContentCheck::size_and_time)) {
      const bool edited = fault.fault == installer::RecordFault::changed ||
                          fault.fault == installer::RecordFault::cut_off;
      if (!edited) continue;
      problems_.push_back(fmt::format("{} of {} was edited, and the edit would be lost", fault.path,
                                      title_of(package)));
      return;
    }
  }

  const std::vector<InstalledDistribution>& installed_;
  const std::vector<RecordedPackage>& from_;
  const std::vector<RecordedPackage>& to_;
  installer::PathResolver resolver_;
  std::vector<std::string> problems_;
};

}  // namespace

Outcome<Undoing> plan_undoing(const installer::Environment& environment,
                              installer::HistoryStep step, Report& report) {
  const bool undo = step == installer::HistoryStep::undo;
  const auto roots = installer::find_roots(environment);
  if (!roots) return failed(roots.error());
  // First: it completes what was interrupted.
  const auto installed = installer::list_installed(environment, report);
  if (!installed) return failed(installed.error());
  const auto history = installer::read_history(roots->base);
  if (!history) {
    Error error = history.error();
    error.hint = "what was changed is not known; nothing was changed";
    return failed(std::move(error));
  }
  const auto& changes = undo ? history->done : history->undone;
  if (changes.empty()) {
    return failed({ErrorKind::not_found,
                   fmt::format("no change of {} is recorded that can be {}", environment.place(),
                               undo ? "undone" : "made again"),
                   undo ? "Axle records the changes that it makes itself, the last 20"
                        : "only what `variant undo` has undone, and until the next change"});
  }
  const installer::RecordedChange& change = changes.back();
  UndoPlanner planner(*roots, *installed, undo ? change.after : change.before,
                      undo ? change.before : change.after);
  auto set =
      planner.plan(fmt::format("{} the change '{}'", undo ? "undo" : "make again", change.title));
  if (!set) return std::unexpected(set.error());
  return Undoing{change, std::move(*set)};
}

}  // namespace axle::session
