#include "resolver/solver/solver.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "foundation/report/remarks_once.h"
#include "index/family/alternatives.h"
#include "resolver/catalogue/index_candidates.h"
#include "resolver/explain/alternative_messages.h"
#include "resolver/solver/resolution_search.h"

namespace axle::resolver {
namespace {

/// Keeps what is said of a plan until the plan stands.
class PlanReport final : public Report {
 public:
  explicit PlanReport(Report& inner) : inner_(inner) {}
  void add(Remark remark) override { remarks_.push_back(std::move(remark)); }
  void progress(const Work& work) override { inner_.progress(work); }
  void forget() { remarks_.clear(); }
  void say() {
    for (Remark& remark : remarks_) inner_.add(std::move(remark));
    remarks_.clear();
  }

 private:
  Report& inner_;
  std::vector<Remark> remarks_;
};

/// A plan, and what it would do to what is installed.
struct Plan {
  plan::Resolution resolution;
  std::vector<BackendChange> changes;
  std::vector<BrokenNeed> broken;
};

/// Plans until one leaves what is installed in order: first as if nothing but the requests counted,
/// then with the builds kept and the needs met that the plan before did not.
class Planner {
 public:
  Planner(const Requests& requests, const Target& target,
          const std::vector<plan::InstalledPackage>& installed, Candidates& candidates,
          const Options& options, Report& report)
      : requests_(requests),
        target_(target),
        installed_(installed),
        options_(options),
        candidates_(candidates),
        report_(report),
        families_(target, installed, options, candidates),
        chooser_(target, candidates, families_, options, report) {}

  [[nodiscard]] std::expected<plan::Resolution, Unresolved> run();

 private:
  [[nodiscard]] std::expected<plan::Resolution, Unresolved> plan_until_one_stands();
  [[nodiscard]] std::expected<Plan, Unresolved> plan(Report& report);
  /// With the backends that installed builds for GPUs have, whatever this machine runs. nullopt:
  /// there are no such builds, or nothing stands with them either.
  [[nodiscard]] std::optional<Plan> plan_with_gpu_builds_kept(PlanReport& report);
  /// Adds to `kept_` and `unmet_` what `plan` disregards; false: that is known already.
  [[nodiscard]] bool learn(const Plan& plan);
  /// `last`: the plan that showed nothing new; nullptr: there was none any more, and why.
  [[nodiscard]] Unresolved refuse(const Plan* last, const std::string& why);
  [[nodiscard]] std::map<std::string, std::string> newest_with_kept_builds();
  /// Installed packages that others of their group would replace unasked.
  [[nodiscard]] std::optional<Unresolved> refused_replacements(
      const plan::Resolution& resolution) const;
  void remark_on_kept(const plan::Resolution& resolution);

  const Requests& requests_;
  const Target& target_;
  const std::vector<plan::InstalledPackage>& installed_;
  const Options& options_;
  Candidates& candidates_;
  Report& report_;
  Families families_;
  PackageChooser chooser_;
  CandidateLists lists_;
  KeptBuilds kept_;
  std::vector<PlannedChange> unwanted_;  ///< what the plans would have changed
  std::vector<BrokenNeed> unmet_;        ///< by the plans
  std::size_t tried_ = 0;                ///< candidates
};

std::expected<Plan, Unresolved> Planner::plan(Report& report) {
  ResolutionSearch search({target_, installed_, options_, kept_, unmet_, candidates_, families_,
                           chooser_, lists_, report},
                          requests_);
  auto resolution = search.run();
  tried_ += search.tried();
  if (!resolution) {
    return std::unexpected(
        Unresolved{std::move(resolution).error(), {}, {}, search.take_conflict()});
  }
  Plan plan{std::move(*resolution), {}, {}};
  if (!options_.allow_backend_change) plan.changes = search.changed_backends(plan.resolution);
  for (BrokenNeed& broken : search.broken_needs(plan.resolution)) {
    const Breakage& breakage = broken.breakage;
    if (broken.was_sound && options_.dependencies) {
      plan.broken.push_back(std::move(broken));
      continue;
    }
    report.warn(fmt::format("{} {}, which is installed, requires {}; it gets {}", breakage.name,
                            breakage.version, breakage.needs, breakage.gets),
                fmt::format("upgrade {} in the same command", breakage.name));
  }
  return plan;
}

std::optional<Plan> Planner::plan_with_gpu_builds_kept(PlanReport& report) {
  kept_ = installed_gpu_builds(installed_, families_, options_);
  // A wheel that the user names by its place is one for this machine or an error.
  std::erase_if(kept_, [&](const auto& one) {
    return std::ranges::any_of(requests_.requirements, [&](const Request& request) {
      return !request.requirement.url.empty() &&
             wheel::normalize_name(request.requirement.name) == one.first;
    });
  });
  if (kept_.empty()) return std::nullopt;
  report.forget();
  auto made = plan(report);
  if (!made) return std::nullopt;
  return std::move(*made);
}

bool Planner::learn(const Plan& plan) {
  bool learned = false;
  for (const BackendChange& change : plan.changes) {
    if (!kept_.emplace(change.planned.name, change.kept).second) continue;
    unwanted_.push_back(change.planned);
    learned = true;
  }
  for (const BrokenNeed& broken : plan.broken) {
    const bool known = std::ranges::any_of(unmet_, [&](const BrokenNeed& other) {
      return other.breakage.name == broken.breakage.name &&
             other.breakage.needs == broken.breakage.needs;
    });
    if (known) continue;
    unmet_.push_back(broken);
    learned = learned || !broken.requested;
  }
  return learned;
}

std::map<std::string, std::string> Planner::newest_with_kept_builds() {
  for (auto& [name, kept] : kept_) kept.version.reset();
  std::map<std::string, std::string> newest;
  CollectedReport unheard;
  const auto plan = this->plan(unheard);
  if (!plan || !plan->changes.empty()) return newest;
  for (const plan::ResolvedPackage& package : plan->resolution.packages) {
    if (package.requested && kept_.contains(package.name))
      newest[package.name] = wheel::render_version(package.version);
  }
  return newest;
}

Unresolved Planner::refuse(const Plan* last, const std::string& why) {
  const bool backends_stay = last == nullptr ? unwanted_.empty() : last->changes.empty();
  const auto& unmet = backends_stay && last != nullptr ? last->broken : unmet_;
  std::vector<Breakage> broken;
  for (const BrokenNeed& one : unmet) broken.push_back(one.breakage);
  if (backends_stay) return refused_breakages(std::move(broken));
  const auto newest = newest_with_kept_builds();
  Unresolved refused = refused_backends(std::move(unwanted_), why, newest);
  refused.broken = std::move(broken);
  return refused;
}

std::optional<Unresolved> Planner::refused_replacements(const plan::Resolution& resolution) const {
  if (resolution.replaced.empty() || options_.allow_backend_change) return std::nullopt;
  const std::string& old_name = resolution.replaced.front();
  const index::Alternatives* group = index::alternatives_of(old_name);
  const auto in_group = [&](const plan::ResolvedPackage& package) {
    return index::alternatives_of(package.name) == group && !package.already_installed;
  };
  const auto entering = std::ranges::find_if(resolution.packages, in_group);
  const plan::InstalledPackage& old = *families_.installed(old_name);
  const std::string version = wheel::render_version(entering->version);
  Unresolved refused{refused_replacement(
      {old_name, wheel::render_version(old.version), entering->name, version, group})};
  refused.changes.push_back({old_name, wheel::render_version(old.version), {}, version, {}});
  refused.changes.back().new_name = entering->name;
  return refused;
}

void Planner::remark_on_kept(const plan::Resolution& resolution) {
  for (const PlannedChange& change : unwanted_) {
    const auto package =
        std::ranges::find(resolution.packages, change.name, &plan::ResolvedPackage::name);
    if (package == resolution.packages.end()) continue;
    report_.note(fmt::format(
        "{} {} keeps the installed backend, {}; use --allow-backend-change to get {} ({})",
        package->name, wheel::render_version(package->version), change.installed_backend,
        change.version, change.backend.empty() ? "a plain wheel" : change.backend));
  }
}

std::expected<plan::Resolution, Unresolved> Planner::run() {
  auto resolution = plan_until_one_stands();
  report_.detail(fmt::format("{} candidates were tried", tried_));
  return resolution;
}

std::expected<plan::Resolution, Unresolved> Planner::plan_until_one_stands() {
  for (bool first = true;; first = false) {
    PlanReport said(report_);
    auto made = plan(said);
    if (!made && first) {
      auto kept = plan_with_gpu_builds_kept(said);
      if (!kept) return std::unexpected(std::move(made).error());
      made = std::move(*kept);
    }
    if (!made) {
      Unresolved refused = refuse(nullptr, made.error().message);
      refused.conflict = std::move(made.error().conflict);
      return std::unexpected(std::move(refused));
    }
    if (const auto refused = refused_replacements(made->resolution))
      return std::unexpected(*refused);
    const bool stands = made->changes.empty() && made->broken.empty();
    if (!stands && learn(*made)) continue;
    if (!stands) return std::unexpected(refuse(&*made, {}));
    said.say();
    remark_on_kept(made->resolution);
    return std::move(made->resolution);
  }
}

}  // namespace

std::expected<plan::Resolution, Unresolved> resolve(
    const Requests& requests, const Target& target,
    const std::vector<plan::InstalledPackage>& installed, Candidates& candidates,
    const Options& options, Report& report) {
  RemarksOnce once(report);
  return Planner(requests, target, installed, candidates, options, once).run();
}

std::expected<plan::Resolution, Unresolved> resolve(
    const Requests& requests, const Target& target,
    const std::vector<plan::InstalledPackage>& installed, const Sources& sources,
    const Options& options, Report& report) {
  RemarksOnce once(report);
  IndexCandidates candidates(sources, options, target, once);
  auto resolution = resolve(requests, target, installed, candidates, options, once);
  if (resolution) resolution->asked = candidates.has_read();
  return resolution;
}

Result<Explanation> explain(const wheel::Requirement& requirement, const Target& target,
                            Candidates& candidates, const Options& options, Report& report) {
  RemarksOnce once(report);
  const std::vector<plan::InstalledPackage> nothing_installed;
  Families families(target, nothing_installed, options, candidates);
  PackageChooser chooser(target, candidates, families, options, once);
  const Want want{requirement, {}, {}, false};
  // `abi_dependency` asks for what would be chosen for the other package on its own.
  const VersionOf newest = [&](const std::string& package) {
    wheel::Requirement any;
    any.name = package;
    const Want anything{any, {}, {}, true};
    return chooser.newest({package, {&anything}, {}});
  };
  return chooser.explain({wheel::normalize_name(requirement.name), {&want}, newest});
}

Result<Explanation> explain(const wheel::Requirement& requirement, const Target& target,
                            const Sources& sources, const Options& options, Report& report) {
  RemarksOnce once(report);
  IndexCandidates candidates(sources, options, target, once);
  return explain(requirement, target, candidates, options, once);
}

}  // namespace axle::resolver
