#include "session/projects/sync_plan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "foundation/system/shell_command.h"
#include "index/http/url.h"
#include "installer/environment/roots.h"
#include "installer/history/history.h"
#include "resolver/request/source_builder.h"
#include "resolver/request/source_url.h"
#include "session/input_file.h"
#include "session/projects/built_as_locked.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;
using installer::InstalledDistribution;
using plan::LockedPackage;
using plan::ResolvedPackage;

/// What tools of the environment itself need stays, as with uv.
constexpr std::array<std::string_view, 4> seeds = {"pip", "setuptools", "uv", "wheel"};

/// Sources of a folder may be others now. A wheel of them is made anew to be synchronised; whether
/// it would be another one, nobody knows who only compares.
enum class FolderWheels : std::uint8_t { made_anew, kept };

class SyncPlanner {
 public:
  SyncPlanner(const std::vector<InstalledDistribution>& installed, installer::History history,
              const std::string& folder, FolderWheels folder_wheels)
      : history_(std::move(history)), folder_(folder), folder_wheels_(folder_wheels) {
    for (const InstalledDistribution& one : installed) {
      if (!one.outer) installed_.emplace(one.name, &one);
    }
  }

  /// `plan`: of the lock alone. Built, if that is needed; noted, where it is there.
  [[nodiscard]] Outcome<ResolvedPackage> package(const plan::ReachedPackage& reached,
                                                 ResolvedPackage plan, Workspace& workspace) const {
    const LockedPackage& locked = *reached.package;
    plan.already_installed = is_there(locked);
    if (locked.built_from && !plan.already_installed)
      return built(locked, std::move(plan), workspace);
    return plan;
  }

  /// nullopt: what is installed is what the lock has.
  [[nodiscard]] std::optional<Drift> drift(const LockedPackage& locked) const {
    if (is_there(locked)) return std::nullopt;
    const InstalledDistribution* there = find(locked.name);
    Drift drift{.package = locked.name, .locked = wheel::render_version(locked.version)};
    if (locked.variant && locked.family.empty())
      drift.locked += fmt::format(" ({})", *locked.variant);
    if (there == nullptr) return drift;
    drift.kind = there->metadata.version == locked.version ? DriftKind::build : DriftKind::version;
    drift.installed = installed_build(*there);
    return drift;
  }

  [[nodiscard]] Drift extraneous_drift(const std::string& name) const {
    return {.kind = DriftKind::extraneous,
            .package = name,
            .installed = installed_build(*installed_.at(name))};
  }

  [[nodiscard]] bool is_project_there(const Project& project, bool editable) const {
    const InstalledDistribution* there = find(project.name);
    const installer::RecordedPackage* recorded = recorded_as(project.name, there);
    return recorded != nullptr && recorded->built_from && is_kept(editable) &&
           recorded->built_from->editable == editable &&
           recorded->built_from->url == index::file_url(project.folder) &&
           is_newer(*there, project.folder);
  }

  /// nullopt: the project itself is installed in that way.
  [[nodiscard]] std::optional<Drift> project_drift(const Project& project, bool editable) const {
    if (is_project_there(project, editable)) return std::nullopt;
    Drift drift{.package = project.name, .locked = "the project itself"};
    if (const InstalledDistribution* there = find(project.name)) {
      drift.kind = DriftKind::build;
      drift.installed = installed_build(*there);
    }
    return drift;
  }

  /// The project itself, in `project.folder`.
  [[nodiscard]] Outcome<ResolvedPackage> project(const Project& project, bool editable,
                                                 Workspace& workspace) const {
    if (is_project_there(project, editable)) {
      ResolvedPackage package;
      package.name = project.name;
      package.version = find(project.name)->metadata.version;
      package.already_installed = package.requested = true;
      return package;
    }
    auto tool = builder(project.name, workspace);
    if (!tool) return std::unexpected(tool.error());
    const std::string url = index::file_url(project.folder);
    auto made = (*tool)->build(resolver::NamedSource{project.name, url, {}, editable});
    if (!made) return failed(within(project.folder, std::move(made).error()));
    auto package = of_wheel(project.name, *std::move(made), url);
    if (package) package->requested = true;
    return package;
  }

  /// What is installed and not among `wanted`.
  [[nodiscard]] std::vector<std::string> extraneous(
      const std::set<std::string, std::less<>>& wanted) const {
    std::vector<std::string> names;
    for (const auto& [name, distribution] : installed_) {
      if (!wanted.contains(name) && std::ranges::find(seeds, name) == seeds.end())
        names.push_back(name);
    }
    return names;
  }

 private:
  [[nodiscard]] const InstalledDistribution* find(std::string_view name) const {
    const auto found = installed_.find(name);
    return found == installed_.end() ? nullptr : found->second;
  }

  /// As Axle installed it, if nobody else has installed it since; nullptr: that is not known.
  [[nodiscard]] const installer::RecordedPackage* recorded_as(
      std::string_view name, const InstalledDistribution* there) const {
    if (there == nullptr || there->installer != "axle") return nullptr;
    const auto found = std::ranges::find_if(
        history_.installed,
        [&](const installer::RecordedPackage& one) { return one.wheel.name == name; });
    return found == history_.installed.end() ? nullptr : &*found;
  }

  [[nodiscard]] bool is_there(const LockedPackage& locked) const {
    const InstalledDistribution* there = find(locked.name);
    if (there == nullptr || there->metadata.version != locked.version ||
        there->variant.value_or("") != locked.variant.value_or(""))
      return false;
    const auto* recorded = recorded_as(locked.name, there);
    if (locked.built_from)
      return recorded != nullptr && recorded->built_from &&
             is_same_source(*recorded->built_from, *locked.built_from);
    if (recorded != nullptr)
      return recorded->wheel.sha256 == locked.sha256 && !recorded->built_from;
    // Of what another program installed the file is not known: a plain wheel of that version from
    // an index will do, as it does for pip and uv.
    return !locked.variant && !locked.source.empty() && there->direct_url.empty();
  }

  /// Sources that are used where they are, are always the new ones.
  [[nodiscard]] bool is_kept(bool editable) const {
    return editable || folder_wheels_ == FolderWheels::kept;
  }

  [[nodiscard]] bool is_same_source(const plan::BuiltFrom& was, const plan::BuiltFrom& is) const {
    if (is.kind == plan::BuiltFrom::Kind::folder && !is_kept(is.editable)) return false;
    return was.kind == is.kind && was.sha256 == is.sha256 && was.commit == is.commit &&
           was.subdirectory == is.subdirectory && was.editable == is.editable &&
           (is.kind == plan::BuiltFrom::Kind::file || was.url == place(is));
  }

  [[nodiscard]] static std::string installed_build(const InstalledDistribution& there) {
    std::string text = wheel::render_version(there.metadata.version);
    if (there.variant && there.family.empty()) text += fmt::format(" ({})", *there.variant);
    return text;
  }

  /// Absolute, as the lock's may be relative.
  [[nodiscard]] std::string place(const plan::BuiltFrom& from) const {
    return plan::absolute_place(from.url, folder_);
  }

  [[nodiscard]] static Outcome<resolver::SourceBuilder*> builder(const std::string& name,
                                                                 const Workspace& workspace) {
    if (workspace.options.builds.builder != nullptr) return workspace.options.builds.builder;
    return failed({ErrorKind::conflict,
                   fmt::format("{} is built from source, which is not possible here", name),
                   {}});
  }

  [[nodiscard]] Outcome<ResolvedPackage> built(const LockedPackage& locked, ResolvedPackage plan,
                                               Workspace& workspace) const {
    const plan::BuiltFrom& from = *locked.built_from;
    if (const std::string* who = workspace.options.refuses_build(locked.name))
      return failed({ErrorKind::conflict,
                     fmt::format("{} is not built from {}: {}", locked.name, from.filename, *who),
                     "unset it, or lock a version that has a wheel"});
    auto tool = builder(locked.name, workspace);
    if (!tool) return std::unexpected(tool.error());
    if (!locked.source.empty()) return built_sdist(locked, std::move(plan), **tool, workspace);
    std::string url = place(from);
    if (from.kind == plan::BuiltFrom::Kind::repository)
      url = fmt::format("git+{}@{}", url, from.commit.empty() ? from.revision : from.commit);
    if (!from.subdirectory.empty()) url += "#subdirectory=" + from.subdirectory;
    std::vector<wheel::ListedHash> listed;
    if (!from.sha256.empty()) listed.push_back({"sha256", from.sha256});
    auto made = (*tool)->build(resolver::NamedSource{locked.name, url, listed, from.editable});
    if (!made) return failed(std::move(made).error());
    return completed(std::move(plan), of_wheel(locked.name, *std::move(made), url));
  }

  [[nodiscard]] Outcome<ResolvedPackage> built_sdist(const LockedPackage& locked,
                                                     ResolvedPackage plan,
                                                     resolver::SourceBuilder& tool,
                                                     const Workspace& workspace) const {
    const plan::BuiltFrom& from = *locked.built_from;
    if (!workspace.options.builds.covers(locked.name)) {
      return failed({ErrorKind::conflict,
                     fmt::format("{} {} is locked as {}, and a build runs its code", locked.name,
                                 wheel::render_version(locked.version), from.filename),
                     fmt::format("consent with `--build={}`, or lock a version that has a wheel",
                                 locked.name)});
    }
    index::PublishedFile file;
    file.filename = from.filename;
    file.url = place(from);
    file.hash = wheel::expected_sha256(from.sha256);
    auto made = tool.build(resolver::Sdist{
        locked.name, locked.version, std::move(file), locked.source, {{"sha256", from.sha256}}});
    if (!made) return failed(std::move(made).error());
    return completed(std::move(plan), of_wheel(locked.name, *std::move(made), locked.source));
  }

  [[nodiscard]] static Outcome<ResolvedPackage> completed(ResolvedPackage plan,
                                                          Outcome<ResolvedPackage> package) {
    if (!package) return package;
    package->requested = plan.requested;
    package->dependencies = std::move(plan.dependencies);
    package->required_by = std::move(plan.required_by);
    return package;
  }

  [[nodiscard]] static Outcome<ResolvedPackage> of_wheel(const std::string& name,
                                                         resolver::BuiltWheel made,
                                                         const std::string& source) {
    const auto parsed = wheel::parse_wheel_name(made.file.filename);
    if (!parsed) return failed(parsed.error());
    ResolvedPackage package;
    package.name = name;
    package.version = parsed->version;
    package.filename = made.file.filename;
    package.wheel_name = *parsed;
    package.url = made.file.url;
    package.hash = made.file.hash;
    package.size = made.file.size;
    package.source = source;
    package.direct = made.from.kind != plan::BuiltFrom::Kind::file || !made.from.url.empty();
    package.built_from = std::move(made.from);
    return package;
  }

  /// Whether what is installed is newer than what the project in `folder` says of itself.
  [[nodiscard]] static bool is_newer(const InstalledDistribution& there,
                                     const std::string& folder) {
    std::error_code error;
    note_looked_at(there.dist_info + "/RECORD");
    const auto installed = fs::last_write_time(there.dist_info + "/RECORD", error);
    if (error) return false;
    return std::ranges::all_of(project_files, [&](const char* name) {
      note_looked_at((fs::path(folder) / name).string());
      const auto changed = fs::last_write_time(fs::path(folder) / name, error);
      return error ? true : changed < installed;
    });
  }

  std::map<std::string, const InstalledDistribution*, std::less<>> installed_;
  installer::History history_;
  const std::string& folder_;
  FolderWheels folder_wheels_;
};

/// Error: folders that cannot be read. A history that cannot be is one that says nothing.
Outcome<installer::History> history_of(const installer::Environment& environment, Report* report) {
  const auto roots = installer::find_roots(environment);
  if (!roots) return failed(roots.error());
  auto history = installer::read_history(roots->base);
  if (history) return *std::move(history);
  if (report != nullptr) report->warn(history.error().message, history.error().hint);
  return installer::History();
}

}  // namespace

Outcome<std::vector<Drift>> find_drift(const Project& project,
                                       const std::vector<plan::ReachedPackage>& packages,
                                       const std::vector<InstalledDistribution>& installed,
                                       const SyncWishes& wishes,
                                       const installer::Environment& environment) {
  auto history = history_of(environment, nullptr);
  if (!history) return std::unexpected(history.error());
  const SyncPlanner planner(installed, *std::move(history), project.folder, FolderWheels::kept);
  std::vector<Drift> drifts;
  std::set<std::string, std::less<>> wanted;
  for (const plan::ReachedPackage& reached : packages) {
    wanted.insert(reached.package->name);
    if (auto drift = planner.drift(*reached.package)) drifts.push_back(*std::move(drift));
  }
  if (project.is_package && wishes.project) {
    wanted.insert(project.name);
    if (auto drift = planner.project_drift(project, wishes.editable))
      drifts.push_back(*std::move(drift));
  }
  if (wishes.exact) {
    for (const std::string& name : planner.extraneous(wanted))
      drifts.push_back(planner.extraneous_drift(name));
  }
  return drifts;
}

Outcome<plan::Resolution> plan_sync(const Project& project,
                                    const std::vector<plan::ReachedPackage>& packages,
                                    const std::vector<InstalledDistribution>& installed,
                                    const SyncWishes& wishes, Workspace& workspace,
                                    Report& report) {
  auto history = history_of(workspace.environment, &report);
  if (!history) return std::unexpected(history.error());
  const SyncPlanner planner(installed, *std::move(history), project.folder,
                            FolderWheels::made_anew);
  auto planned = plan::as_resolution(packages, project.folder);
  if (!planned) return failed(planned.error());
  plan::Resolution resolution;
  std::set<std::string, std::less<>> wanted;
  for (std::size_t i = 0; i < packages.size(); ++i) {
    if (packages[i].package->built_from && packages[i].package->source.empty()) {
      if (auto agreed = check_consent(*packages[i].package, project, workspace); !agreed)
        return std::unexpected(agreed.error());
    }
    auto package = planner.package(packages[i], std::move(planned->packages[i]), workspace);
    if (!package) return std::unexpected(package.error());
    const LockedPackage& locked = *packages[i].package;
    if (locked.built_from && !package->already_installed) {
      if (auto good = check_built(locked, *package, packages, workspace, report); !good)
        return std::unexpected(good.error());
    }
    wanted.insert(locked.name);
    resolution.packages.push_back(*std::move(package));
  }
  if (project.is_package && wishes.project) {
    auto package = planner.project(project, wishes.editable, workspace);
    if (!package) return std::unexpected(package.error());
    wanted.insert(project.name);
    resolution.packages.push_back(*std::move(package));
  }
  std::ranges::sort(resolution.packages, {}, &ResolvedPackage::name);
  if (wishes.exact) resolution.replaced = planner.extraneous(wanted);
  return resolution;
}

}  // namespace axle::session
