#include "builder/build.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/back_end_build.h"
#include "builder/build_progress.h"
#include "builder/cmake_build.h"
#include "builder/job_shares.h"
#include "builder/project.h"
#include "builder/project_files.h"
#include "builder/row_build.h"
#include "builder/toolchains/host_compilers.h"
#include "builder/trees/build_record.h"
#include "builder/trees/build_trees.h"
#include "builder/wheel_contents.h"
#include "foundation/system/parallel.h"
#include "foundation/text/nearest.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view plain = "plain";

std::string label_of(const MatrixRow& row) {
  return row.label.empty() ? std::string(plain) : row.label;
}

/// --variant and --arch.
Result<std::vector<MatrixRow>> choose_rows(const Project& project, const BuildOptions& options) {
  std::vector<std::string> known;
  for (const MatrixRow& row : project.matrix) {
    if (std::ranges::find(known, label_of(row)) == known.end()) known.push_back(label_of(row));
  }
  for (const std::string& label : options.labels) {
    if (std::ranges::find(known, label) != known.end()) continue;
    return fail(ErrorKind::not_found, fmt::format("the project has no variant \"{}\"", label),
                text::suggest(label, known, fmt::format("it has {}", fmt::join(known, ", "))));
  }
  const std::string host = host_architecture();
  std::set<std::string> architectures;
  std::vector<MatrixRow> rows;
  for (const MatrixRow& row : project.matrix) {
    const std::string& architecture = row.architecture.empty() ? host : row.architecture;
    architectures.insert(architecture);
    const auto chosen = [](const std::vector<std::string>& of, const std::string& one) {
      return of.empty() || std::ranges::find(of, one) != of.end();
    };
    if (chosen(options.labels, label_of(row)) && chosen(options.architectures, architecture))
      rows.push_back(row);
  }
  if (!rows.empty()) return rows;
  const std::string wanted = fmt::format("{}", fmt::join(options.architectures, ", "));
  const std::vector<std::string> all(architectures.begin(), architectures.end());
  return fail(ErrorKind::not_found, fmt::format("the project has no such variant for {}", wanted),
              text::suggest(wanted, all, fmt::format("it has some for {}", fmt::join(all, ", "))));
}

/// Finds and tries everything that the rows need, before anything is compiled.
class Planning {
 public:
  Planning(const Project& project, const std::string& folder, const BuildOptions& options,
           const fs::path& work, Report& report)
      : project_(project),
        folder_(folder),
        report_(report),
        named_(!options.labels.empty()),
        options_(options),
        work_(work) {
    std::error_code ignored;
    fs::remove(work / "compilers.log", ignored);  // of an earlier build
  }

  Result<std::vector<PlannedRow>> plan(const std::vector<MatrixRow>& rows) {
    std::vector<PlannedRow> planned;
    std::set<std::string> names;
    const bool by_cmake = project_.cmake && std::ranges::any_of(rows, [&](const MatrixRow& row) {
                            return origin_of(project_, row) == RowOrigin::files;
                          });
    if (by_cmake) {
      if (auto there = check_cmake(); !there) return std::unexpected(there.error());
    }
    for (const MatrixRow& row : rows) {
      auto one = plan(row);
      if (!one && is_left_out(row, rows.size())) {
        report_.warn(fmt::format("variant {} is left out: {}", label_of(row), one.error().message),
                     one.error().hint);
        continue;
      }
      if (!one) return std::unexpected(one.error());
      if (!names.insert(one->name).second) {
        return fail(
            ErrorKind::malformed,
            fmt::format("{}: {} is duplicated in the matrix: a row without architectures is "
                        "of this machine's",
                        row.place, one->title));
      }
      planned.push_back(std::move(*one));
    }
    return planned;
  }

 private:
  /// An optional row for which there is no compiler, beside others that nobody has named.
  [[nodiscard]] bool is_left_out(const MatrixRow& row, std::size_t rows) const {
    return lacks_compiler_ && row.settings.optional.value_or(false) && !named_ && rows > 1;
  }

  /// Rows with other compilers in their environment have a finder of their own.
  ToolchainFinder& finder_for(const Definitions& environment) {
    return finders_
        .try_emplace(environment, options_.toolchains, project_.toolchains, work_.string(),
                     environment, options_.inherited)
        .first->second;
  }

  /// A wheel that exists is there, and of this project.
  [[nodiscard]] Result<void> check_wheel(const MatrixRow& row) const {
    const auto file = find_wheel(folder_, row.settings.wheel);
    if (!file) return std::unexpected(file.error());
    const std::string name = fs::path(*file).filename().string();
    const auto parsed = wheel::parse_wheel_name(name);
    if (!parsed) return std::unexpected(parsed.error());
    const ProjectMetadata& own = project_.metadata;
    const auto differs = [&](std::string_view what, const std::string& theirs,
                             const std::string& ours) -> Result<void> {
      return fail(
          ErrorKind::mismatch,
          fmt::format("wheel: {} is of {} {}, and the project is {}", name, what, theirs, ours),
          "name a wheel of this project and version");
    };
    const std::string theirs = wheel::normalize_name(parsed->distribution);
    if (!own.name.empty() && theirs != wheel::normalize_name(own.name))
      return differs("the project", theirs, wheel::normalize_name(own.name));
    // [project] of a back end may leave its version to it.
    if (!project_.is_of_back_end() && !(parsed->version == own.version))
      return differs("version", wheel::render_version(parsed->version),
                     wheel::render_version(own.version));
    return {};
  }

  Result<PlannedRow> plan(const MatrixRow& row) {
    lacks_compiler_ = false;
    PlannedRow planned{row, label_of(row), {}, {}, {}, {}};
    planned.compilation = compilation_of(project_.properties_of(row), row.settings);
    const RowOrigin origin = origin_of(project_, row);
    if (origin == RowOrigin::back_end || (origin == RowOrigin::files && project_.cmake)) {
      auto found = finder_for(row.settings.environment)
                       .find({row.architecture, project_.cmake.has_value(), planned.compilation,
                              row.settings, fmt::format("variant {}", planned.name), row.place});
      lacks_compiler_ = !found;
      if (!found) return std::unexpected(found.error());
      planned.toolchain = std::move(*found);
    } else {
      planned.toolchain.architecture = row.architecture;
    }
    if (planned.toolchain.is_cross()) planned.name += "-" + planned.toolchain.architecture;
    planned.title = fmt::format("variant {}", planned.name);
    if (origin == RowOrigin::wheel) {
      if (auto checked = check_wheel(row); !checked)
        return std::unexpected(
            within(fmt::format("{}: {}", row.settings.place_of("wheel", row.place), planned.title),
                   checked.error()));
    }
    // Prefixed: a variant may be called "lock" or "..".
    planned.work = (work_ / ("variant-" + planned.name)).string();
    if (origin == RowOrigin::back_end) {
      if (auto checked = check_back_end(project_.back_end, row.settings, planned.toolchain);
          !checked)
        return std::unexpected(within(row.place, checked.error()));
    } else if (!row.settings.config_settings.empty()) {
      return fail(
          ErrorKind::unsupported,
          fmt::format("{}: config-settings are for a build back end, and {} makes this wheel",
                      row.place, origin == RowOrigin::wheel ? "none" : "[tool.axle], not one,"),
          "use cmake or environment");
    }
    return planned;
  }

  const Project& project_;
  const std::string& folder_;  ///< of the project, absolute
  Report& report_;
  bool named_;                   ///< rows were chosen by --variant
  bool lacks_compiler_ = false;  ///< the row that was planned last
  const BuildOptions& options_;
  fs::path work_;
  std::map<Definitions, ToolchainFinder> finders_;  ///< by the rows' environment
};

/// That of rows that need one.
Result<BackEnd> open_back_end(const Project& project, const std::vector<PlannedRow>& rows,
                              const BuildOptions& options) {
  const bool needed = std::ranges::any_of(rows, [&](const PlannedRow& one) {
    return origin_of(project, one.row) == RowOrigin::back_end;
  });
  if (!needed && options.configures_back_end) {
    return fail(ErrorKind::unsupported,
                fmt::format("--config-settings: they are for a build back end, and {}: no back end "
                            "makes these wheels, [tool.axle] does",
                            project.place),
                "use cmake or environment in the table");
  }
  if (!needed) return BackEnd{};
  if (options.open_back_end) return options.open_back_end();
  return fail(ErrorKind::unsupported, fmt::format("{}: nothing here runs the back end {}",
                                                  project.place, project.back_end));
}

/// The definitions of the table that no row's project reads: they are misspelt. One that only some
/// rows read is none of these.
void warn_of_unused(const Project& project, const std::vector<PlannedRow>& rows,
                    const std::vector<BuiltWheel>& wheels, Report& report) {
  if (!project.cmake) return;
  struct Use {
    std::string place;
    const PlannedRow* row;
    bool used = false;
  };
  std::map<std::string, Use> uses;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowSettings& settings = rows[i].row.settings;
    if (!settings.wheel.empty()) continue;
    const auto look_at = [&](const Definitions& definitions) {
      for (const auto& [name, value] : definitions) {
        const std::string place = settings.place_of("cmake." + name, project.place);
        Use& use = uses.try_emplace(name, Use{place, &rows[i]}).first->second;
        if (std::ranges::find(wheels[i].unused, name) == wheels[i].unused.end()) use.used = true;
      }
    };
    look_at(project.cmake->define);
    look_at(settings.define);
  }
  for (const auto& [name, use] : uses) {
    if (use.used) continue;
    std::vector<std::string> known = cache_variables(use.row->work);
    std::erase(known, name);
    report.warn(fmt::format("{}: the CMake project does not use the variable {}", use.place, name),
                text::did_you_mean(name, known));
  }
}

Result<std::vector<BuiltWheel>> build_rows(const BuildPlan& plan,
                                           const std::vector<PlannedRow>& rows, Report& report) {
  JobShares shares(plan.options.jobs != 0 ? plan.options.jobs : system::usable_processors(),
                   rows.size());
  LockedReport locked(report);
  BuildProgress progress(locked, rows.size());
  std::vector<std::optional<BuiltWheel>> built(rows.size());
  std::optional<std::pair<std::size_t, Error>> failure;
  std::mutex guard;
  system::for_each_at_once(rows.size(), shares.rows_at_once(), [&](std::size_t i) {
    {
      const std::scoped_lock lock(guard);
      if (failure) return;
    }
    progress.begin(rows[i].name);
    const auto share = shares.take();
    auto wheel = build_row(
        plan, rows[i], share.jobs(),
        [&](std::string_view step) { progress.step(rows[i].name, step); }, locked);
    progress.end(rows[i].name);
    const std::scoped_lock lock(guard);
    if (wheel) {
      built[i] = std::move(*wheel);
    } else {
      if (!failure && shares.rows_at_once() > 1)
        locked.note(fmt::format("{} failed; no further one begins", rows[i].title));
      if (!failure || i < failure->first) failure.emplace(i, wheel.error());
    }
  });
  if (failure) return std::unexpected(std::move(failure->second));
  std::vector<BuiltWheel> wheels;
  for (std::optional<BuiltWheel>& one : built) wheels.push_back(std::move(*one));
  warn_of_unused(plan.project, rows, wheels, report);
  return wheels;
}

}  // namespace

Result<std::vector<BuiltWheel>> build_project(const BuildOptions& options, Report& report) {
  std::error_code error;
  fs::path folder = fs::absolute(options.project_folder, error).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "project/"
  const auto project = read_project((folder / "pyproject.toml").string(), report);
  if (!project) return std::unexpected(project.error());
  const auto rows = choose_rows(*project, options);
  if (!rows) return std::unexpected(rows.error());

  const auto out = OutputFolder::open(options.out_folder.empty() ? (folder / "dist").string()
                                                                 : options.out_folder);
  if (!out) return std::unexpected(out.error());
  auto trees = BuildTrees::open(options.work_folder, report);
  if (!trees) return std::unexpected(trees.error());
  const std::string place = folder.string();
  const auto planned = Planning(*project, place, options, trees->path(), report).plan(*rows);
  if (!planned) {
    trees->keep(planned.error());
    return std::unexpected(planned.error());
  }
  auto back_end = open_back_end(*project, *planned, options);
  if (!back_end) {
    trees->keep(back_end.error());
    return std::unexpected(back_end.error());
  }
  BuildPlan plan{*project, place, *out, options, std::move(*back_end), !trees->is_temporary(), {}};
  plan.files = project_inputs(plan.folder,
                              {out->path(), trees->path().string(), (folder / "dist").string()});
  auto wheels = build_rows(plan, *planned, report);
  if (!wheels) trees->keep(wheels.error());
  return wheels;
}

}  // namespace axle::builder
