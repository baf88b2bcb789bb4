#include "session/projects/sync_plan.h"

#include <algorithm>
#include <array>
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

namespace axle::session {

namespace {

namespace fs = std::filesystem;
using installer::InstalledDistribution;
using plan::LockedPackage;
using plan::ResolvedPackage;

/// What tools of the environment itself need stays, as with uv.
constexpr std::array<std::string_view, 4> seeds = {"pip", "setuptools", "uv", "wheel"};

/// Files of a project that say what its wheel is, whatever its modules are.
constexpr std::array<std::string_view, 3> project_files = {"pyproject.toml", "setup.cfg",
                                                           "setup.py"};

class SyncPlanner {
 public:
  SyncPlanner(const std::vector<InstalledDistribution>& installed, installer::History history,
              const std::string& folder, Workspace& workspace)
      : history_(std::move(history)), folder_(folder), workspace_(workspace) {
    for (const InstalledDistribution& one : installed) {
      if (!one.outer) installed_.emplace(one.name, &one);
    }
  }

  [[nodiscard]] Outcome<ResolvedPackage> package(const LockedPackage& locked) {
    if (locked.built_from) return built(locked);
    auto resolution = plan::as_resolution({&locked}, folder_);
    if (!resolution) return failed(resolution.error());
    ResolvedPackage package = std::move(resolution->packages.front());
    package.already_installed = is_there(locked);
    return package;
  }

  /// The project itself, in `project.folder`.
  [[nodiscard]] Outcome<ResolvedPackage> project(const Project& project, bool editable) {
    plan::BuiltFrom from{.url = index::file_url(project.folder),
                         .kind = plan::BuiltFrom::Kind::folder,
                         .editable = editable};
    const InstalledDistribution* there = find(project.name);
    const installer::RecordedPackage* recorded = recorded_as(project.name, there);
    const bool same = recorded != nullptr && recorded->built_from && editable &&
                      recorded->built_from->editable && recorded->built_from->url == from.url &&
                      is_newer(*there, project.folder);
    if (same) {
      ResolvedPackage package;
      package.name = project.name;
      package.version = there->metadata.version;
      package.already_installed = package.requested = true;
      return package;
    }
    auto wheel = builder(project.name);
    if (!wheel) return std::unexpected(wheel.error());
    auto made = (*wheel)->build(resolver::NamedSource{project.name, from.url, {}, editable});
    if (!made) return failed(within(project.folder, std::move(made).error()));
    return of_wheel(project.name, *std::move(made), from.url);
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
    if (const auto* recorded = recorded_as(locked.name, there))
      return recorded->wheel.sha256 == locked.sha256 && !recorded->built_from;
    // Of what another program installed the file is not known: a plain wheel of that version from
    // an index will do, as it does for pip and uv.
    return !locked.variant && !locked.source.empty() && there->direct_url.empty();
  }

  [[nodiscard]] bool is_there_built(const LockedPackage& locked) const {
    const InstalledDistribution* there = find(locked.name);
    if (there == nullptr || there->metadata.version != locked.version) return false;
    const auto* recorded = recorded_as(locked.name, there);
    if (recorded == nullptr || !recorded->built_from) return false;
    const plan::BuiltFrom& was = *recorded->built_from;
    const plan::BuiltFrom& is = *locked.built_from;
    // Sources of a folder may be others now; those that are used where they are, are the new ones.
    if (is.kind == plan::BuiltFrom::Kind::folder && !is.editable) return false;
    return was.kind == is.kind && was.sha256 == is.sha256 && was.commit == is.commit &&
           was.subdirectory == is.subdirectory && was.editable == is.editable &&
           was.url == place(is);
  }

  /// Absolute, as the lock's may be relative.
  [[nodiscard]] std::string place(const plan::BuiltFrom& from) const {
    if (from.url.contains("://")) return from.url;
    return index::file_url((fs::path(folder_) / from.url).lexically_normal().string());
  }

  [[nodiscard]] Outcome<resolver::SourceBuilder*> builder(const std::string& name) const {
    if (workspace_.options.builds.builder != nullptr) return workspace_.options.builds.builder;
    return failed({ErrorKind::conflict,
                   fmt::format("{} is built from source, which is not possible here", name),
                   {}});
  }

  [[nodiscard]] Outcome<ResolvedPackage> built(const LockedPackage& locked) {
    const plan::BuiltFrom& from = *locked.built_from;
    if (is_there_built(locked)) {
      ResolvedPackage package;
      package.name = locked.name;
      package.version = locked.version;
      package.already_installed = true;
      return package;
    }
    if (const std::string* who = workspace_.options.refuses_build(locked.name))
      return failed({ErrorKind::conflict,
                     fmt::format("{} is not built from {}: {}", locked.name, from.filename, *who),
                     "unset it, or lock a version that has a wheel"});
    auto tool = builder(locked.name);
    if (!tool) return std::unexpected(tool.error());
    if (!locked.source.empty()) return built_sdist(locked, **tool);
    std::string url = place(from);
    if (from.kind == plan::BuiltFrom::Kind::repository)
      url = fmt::format("git+{}@{}", url, from.commit.empty() ? from.revision : from.commit);
    if (!from.subdirectory.empty()) url += "#subdirectory=" + from.subdirectory;
    std::vector<wheel::ListedHash> listed;
    if (!from.sha256.empty()) listed.push_back({"sha256", from.sha256});
    auto made = (*tool)->build(resolver::NamedSource{locked.name, url, listed, from.editable});
    if (!made) return failed(std::move(made).error());
    return of_wheel(locked.name, *std::move(made), url);
  }

  [[nodiscard]] Outcome<ResolvedPackage> built_sdist(const LockedPackage& locked,
                                                     resolver::SourceBuilder& tool) {
    const plan::BuiltFrom& from = *locked.built_from;
    if (!workspace_.options.builds.covers(locked.name)) {
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
    return of_wheel(locked.name, *std::move(made), locked.source);
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
    const auto installed = fs::last_write_time(there.dist_info + "/RECORD", error);
    if (error) return false;
    return std::ranges::all_of(project_files, [&](std::string_view name) {
      const auto changed = fs::last_write_time(fs::path(folder) / name, error);
      return error ? true : changed < installed;
    });
  }

  std::map<std::string, const InstalledDistribution*, std::less<>> installed_;
  installer::History history_;
  const std::string& folder_;
  Workspace& workspace_;
};

}  // namespace

Outcome<plan::Resolution> plan_sync(const Project& project,
                                    const std::vector<const LockedPackage*>& packages,
                                    const std::vector<InstalledDistribution>& installed,
                                    const SyncWishes& wishes, Workspace& workspace,
                                    Report& report) {
  const auto roots = installer::find_roots(workspace.environment);
  if (!roots) return failed(roots.error());
  auto history = installer::read_history(roots->base);
  if (!history) {
    // Without it no more is known than of what another program installed.
    report.warn(history.error().message, history.error().hint);
    history.emplace();
  }
  SyncPlanner planner(installed, *std::move(history), project.folder, workspace);
  plan::Resolution resolution;
  std::set<std::string, std::less<>> wanted;
  for (const LockedPackage* locked : packages) {
    auto package = planner.package(*locked);
    if (!package) return std::unexpected(package.error());
    wanted.insert(locked->name);
    resolution.packages.push_back(*std::move(package));
  }
  if (project.is_package && wishes.project) {
    auto package = planner.project(project, wishes.editable);
    if (!package) return std::unexpected(package.error());
    wanted.insert(project.name);
    resolution.packages.push_back(*std::move(package));
  }
  std::ranges::sort(resolution.packages, {}, &ResolvedPackage::name);
  if (wishes.exact) resolution.replaced = planner.extraneous(wanted);
  return resolution;
}

}  // namespace axle::session
