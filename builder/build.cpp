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
#include "builder/project.h"
#include "builder/project_files.h"
#include "builder/row_build.h"
#include "builder/toolchains/host_compilers.h"
#include "builder/trees/build_record.h"
#include "builder/trees/build_trees.h"
#include "foundation/system/parallel.h"
#include "foundation/text/nearest.h"

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
  Planning(const Project& project, const BuildOptions& options, const fs::path& work,
           Report& report)
      : project_(project),
        report_(report),
        named_(!options.labels.empty()),
        work_(work),
        finder_(options.toolchains, project.toolchains, work.string()) {
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

  Result<PlannedRow> plan(const MatrixRow& row) {
    lacks_compiler_ = false;
    PlannedRow planned{row, label_of(row), {}, {}, {}, {}};
    planned.compilation = compilation_of(project_.properties_of(row), row.settings);
    const RowOrigin origin = origin_of(project_, row);
    if (origin == RowOrigin::back_end || (origin == RowOrigin::files && project_.cmake)) {
      auto found =
          finder_.find({row.architecture, project_.cmake.has_value(), planned.compilation});
      lacks_compiler_ = !found;
      if (!found) return std::unexpected(within(row.place, found.error()));
      planned.toolchain = std::move(*found);
    } else {
      planned.toolchain.architecture = row.architecture;
    }
    if (planned.toolchain.is_cross()) planned.name += "-" + planned.toolchain.architecture;
    planned.title = fmt::format("variant {}", planned.name);
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
  Report& report_;
  bool named_;                   ///< rows were chosen by --variant
  bool lacks_compiler_ = false;  ///< the row that was planned last
  fs::path work_;
  ToolchainFinder finder_;
};

/// That of rows that need one.
Result<BackEnd> open_back_end(const Project& project, const std::vector<PlannedRow>& rows,
                              const BuildOptions& options) {
  const bool needed = std::ranges::any_of(rows, [&](const PlannedRow& one) {
    return origin_of(project, one.row) == RowOrigin::back_end;
  });
  if (!needed) return BackEnd{};
  if (options.open_back_end) return options.open_back_end();
  return fail(ErrorKind::unsupported, fmt::format("{}: nothing here runs the back end {}",
                                                  project.place, project.back_end));
}

/// Rows at once; each has so many jobs of its own that no processor waits for the last row.
struct Crew {
  unsigned rows;
  unsigned jobs;  ///< of each row
};

Crew crew_for(std::size_t rows, unsigned wanted) {
  const unsigned jobs = wanted != 0 ? wanted : system::usable_processors();
  const auto at_once = static_cast<unsigned>(std::clamp<std::size_t>(rows, 1, jobs));
  return {at_once, std::max(1U, at_once == 1 ? jobs : 2 * jobs / at_once)};
}

Result<std::vector<BuiltWheel>> build_rows(const BuildPlan& plan,
                                           const std::vector<PlannedRow>& rows, unsigned at_once,
                                           Report& report) {
  LockedReport locked(report);
  BuildProgress progress(locked, rows.size());
  std::vector<std::optional<BuiltWheel>> built(rows.size());
  std::optional<std::pair<std::size_t, Error>> failure;
  std::mutex guard;
  system::for_each_at_once(rows.size(), at_once, [&](std::size_t i) {
    {
      const std::scoped_lock lock(guard);
      if (failure) return;
    }
    progress.begin(rows[i].name);
    auto wheel = build_row(
        plan, rows[i], [&](std::string_view step) { progress.step(rows[i].name, step); }, locked);
    progress.end(rows[i].name);
    const std::scoped_lock lock(guard);
    if (wheel) {
      built[i] = std::move(*wheel);
    } else {
      if (!failure && at_once > 1)
        locked.note(fmt::format("{} failed; no further one begins", rows[i].title));
      if (!failure || i < failure->first) failure.emplace(i, wheel.error());
    }
  });
  if (failure) return std::unexpected(std::move(failure->second));
  std::vector<BuiltWheel> wheels;
  for (std::optional<BuiltWheel>& one : built) wheels.push_back(std::move(*one));
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
  const auto planned = Planning(*project, options, trees->path(), report).plan(*rows);
  if (!planned) {
    trees->keep();
    return std::unexpected(planned.error());
  }
  auto back_end = open_back_end(*project, *planned, options);
  if (!back_end) {
    trees->keep();
    return std::unexpected(back_end.error());
  }
  const Crew crew = crew_for(planned->size(), options.jobs);
  BuildPlan plan{*project,
                 folder.string(),
                 *out,
                 options,
                 crew.jobs,
                 std::move(*back_end),
                 !trees->is_temporary(),
                 {}};
  plan.files = project_inputs(plan.folder,
                              {out->path(), trees->path().string(), (folder / "dist").string()});
  auto wheels = build_rows(plan, *planned, crew.rows, report);
  if (!wheels) trees->keep();
  return wheels;
}

}  // namespace axle::builder
