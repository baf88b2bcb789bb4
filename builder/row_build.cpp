#include "builder/row_build.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/cmake_build.h"
#include "builder/packing.h"
#include "builder/project_files.h"
#include "builder/trees/build_record.h"
#include "builder/trees/history.h"
#include "builder/wheel_contents.h"
#include "foundation/system/whole_file.h"
#include "wheel/hash/sha256.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

using wheel::WheelMember;

// Python code: a folder is a package, a file a module; both keep their own name.
Result<void> add_packages(const BuildPlan& plan, std::vector<WheelMember>& members) {
  for (const std::string& package : plan.project.packages) {
    auto path = inside_folder(plan.folder, package);
    if (!path) return std::unexpected(path.error());
    std::error_code error;
    const std::string name = fs::path(*path).filename().string();
    if (fs::is_directory(*path, error)) {
      auto tree = read_tree(*path, name);
      if (!tree) return std::unexpected(tree.error());
      std::ranges::move(*tree, std::back_inserter(members));
      continue;
    }
    auto content = read_file(*path, largest_member);
    if (!content) return std::unexpected(within("tool.axle.packages", content.error()));
    members.push_back({name, std::move(*content), false});
  }
  return {};
}

constexpr std::int64_t newer_than_all = std::numeric_limits<std::int64_t>::max();

class RowBuild {
 public:
  RowBuild(const BuildPlan& plan, const PlannedRow& row, unsigned jobs,
           const std::function<void(std::string_view)>& progress, Report& report)
      : plan_(plan),
        row_(row),
        jobs_(jobs),
        progress_(progress),
        report_(report),
        record_file_((fs::path(row.work) / "record.json").string()) {}

  Result<BuiltWheel> run() {
    std::error_code error;
    fs::create_directories(row_.work, error);
    if (error) return fail(ErrorKind::io, fmt::format("{}: {}", row_.work, error.message()));
    const RowOrigin origin = origin_of(plan_.project, row_.row);
    // Nothing is compiled, or nothing is kept: there is nothing to go on from.
    const bool recorded = plan_.keeps && origin != RowOrigin::wheel &&
                          (origin == RowOrigin::back_end || plan_.project.cmake);
    if (recorded) {
      if (auto wheel = take_up(origin)) return write_out(*wheel, true);
    }
    auto packed = make(origin);
    if (!packed) return std::unexpected(packed.error());
    if (recorded) finish(*packed, origin);
    return write_out(*packed, false);
  }

 private:
  [[nodiscard]] std::string log() const {
    const std::string file = (fs::path(row_.work) / "build.log").string();
    std::error_code ignored;
    return plan_.keeps && fs::exists(file, ignored) ? file : std::string();
  }

  [[nodiscard]] CMakeJob cmake_job() const {
    const MatrixRow& row = row_.row;
    CMakeJob job{plan_.folder, {}, row_.work, {}, row_.toolchain, row_.compilation, {},
                 {},           {}, 0,         1,  progress_};
    if (plan_.project.cmake) {
      job.build_type = plan_.project.cmake->build_type;
      job.define = plan_.project.cmake->define;
    }
    job.define.insert(job.define.end(), row.settings.define.begin(), row.settings.define.end());
    job.environment = row.settings.environment;
    job.inherited = plan_.options.inherited;
    job.source_date_epoch = plan_.options.source_date_epoch;
    job.jobs = jobs_;
    return job;
  }

  /// Everything but files that decides what is built.
  [[nodiscard]] std::string settings_hash() const {
    std::string text = fmt::format("axle {}\n{}\n", AXLE_VERSION, row_.name);
    const auto add = [&](std::string_view what, const Definitions& values) {
      for (const auto& [name, value] : values) text += fmt::format("{} {}={}\n", what, name, value);
    };
    text += fmt::format("{}\n{}\n{}\n", row_.compilation.host_flags(), plan_.back_end.identity,
                        plan_.back_end.compile_flags);
    const Toolchain& tools = row_.toolchain;
    for (const Compiler& one : {tools.c, tools.cxx, tools.cuda.value_or(Compiler{}),
                                tools.hip.value_or(Compiler{}), tools.sycl.value_or(Compiler{})})
      text += fmt::format("{} {}\n", fmt::join(one.command(), " "), one.version);
    text += fmt::format("{} {}\n", tools.architecture, tools.triple);
    if (tools.hip_clang) text += fmt::format("{}\n", fmt::join(tools.hip_clang->arguments, " "));
    const CMakeJob job = cmake_job();
    add("cmake", cmake_definitions(job));
    add("environment", job.environment);
    add("inherited", job.inherited);
    add("config", row_.row.settings.config_settings);
    text += fmt::format("{}\n", job.source_date_epoch);
    return wheel::render_hex(wheel::sha256(text));
  }

  /// The wheel of an earlier build, if it would come out again. Otherwise what that left is removed
  /// unless this build can go on from it.
  std::optional<PackedWheel> take_up(RowOrigin origin) {
    const auto earlier = read_record(record_file_);
    BuildRecord now;
    now.settings = settings_hash();
    now.begun = std::chrono::duration_cast<std::chrono::nanoseconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count();
    std::vector<std::string> files = plan_.files;
    if (earlier) {
      for (const auto& [path, input] : earlier->inputs) {
        if (!std::ranges::binary_search(plan_.files, path)) files.push_back(path);
      }
    }
    now.inputs = hashed_inputs(files, earlier.value_or(BuildRecord{}));
    // Versions are made of it (setuptools_scm, `git describe`). Ninja knows nothing of it, but
    // CMake is always run again.
    if (const std::string history = history_of(plan_.folder); !history.empty())
      now.inputs[(fs::path(plan_.folder) / ".git").string()] = {history, 0, newer_than_all, 0};
    const InputState state = !earlier || earlier->settings != now.settings
                                 ? InputState::older
                                 : compare_inputs(*earlier, now.inputs);
    if (state == InputState::same && !earlier->wheel.empty()) {
      if (auto wheel = kept_wheel(*earlier)) return wheel;
    }
    // Only Ninja knows what depends on a changed file.
    const bool goes_on =
        state == InputState::same || (state == InputState::newer && origin == RowOrigin::files);
    std::error_code ignored;
    if (!goes_on) {
      fs::remove_all(row_.work, ignored);
      fs::create_directories(row_.work, ignored);
    }
    begun_ = std::move(now);
    // The record of an earlier build would answer for what this one leaves.
    if (!write_record(record_file_, begun_)) fs::remove(record_file_, ignored);
    return std::nullopt;
  }

  [[nodiscard]] std::optional<PackedWheel> kept_wheel(const BuildRecord& earlier) const {
    auto bytes = read_file((fs::path(row_.work) / earlier.wheel).string(), largest_member);
    if (!bytes || wheel::render_hex(wheel::sha256(*bytes)) != earlier.sha256) return std::nullopt;
    return PackedWheel{earlier.wheel, std::move(*bytes)};
  }

  /// From now on the wheel need not be built again.
  void finish(const PackedWheel& packed, RowOrigin origin) {
    const fs::path kept = fs::path(row_.work) / packed.file_name;
    if (system::write_whole_file(kept.string(), packed.bytes, {.flush = system::Flush::no})) return;
    if (origin == RowOrigin::files) {
      const auto read = cmake_inputs(row_.work);
      if (read.empty()) return;
      for (auto& [path, input] : hashed_inputs(read, begun_)) {
        // What changed during the build may have been read before.
        if (input.modified >= begun_.begun) input.sha256.clear();
        begun_.inputs.emplace(path, input);
      }
    }
    begun_.wheel = packed.file_name;
    begun_.sha256 = wheel::render_hex(wheel::sha256(packed.bytes));
    write_record(record_file_, begun_);
  }

  Result<PackedWheel> make(RowOrigin origin) {
    const PackJob job{plan_.project,
                      row_.row,
                      row_.title,
                      plan_.folder,
                      row_.work,
                      row_.toolchain.architecture,
                      plan_.options.source_date_epoch};
    if (origin == RowOrigin::files) {
      std::vector<WheelMember> members;
      if (auto added = add_packages(plan_, members); !added) return std::unexpected(added.error());
      if (auto added = add_cmake_files(members); !added) return std::unexpected(added.error());
      return pack_files(job, std::move(members), report_);
    }
    auto file = origin == RowOrigin::wheel ? find_wheel(plan_.folder, row_.row.settings.wheel)
                                           : by_back_end();
    if (!file) {
      return std::unexpected(origin == RowOrigin::wheel ? within(row_.title, file.error())
                                                        : file.error());
    }
    auto contents = read_wheel_contents(*file, report_);
    if (!contents) return std::unexpected(within(row_.title, contents.error()));
    if (origin == RowOrigin::back_end && row_.toolchain.is_cross())
      name_modules_for(row_.toolchain.architecture, contents->members);
    return pack_wheel(job, std::move(*contents), report_);
  }

  Result<void> add_cmake_files(std::vector<WheelMember>& members) {
    if (!plan_.project.cmake) return {};
    CMakeJob job = cmake_job();
    const auto source = inside_folder(plan_.folder, plan_.project.cmake->source);
    if (!source) return std::unexpected(within("tool.axle.cmake.source", source.error()));
    job.source = *source;
    const auto stage = run_cmake(job);
    if (!stage) return std::unexpected(within(row_.title, stage.error()));
    auto tree = read_tree(*stage, "");
    if (!tree) return std::unexpected(tree.error());
    if (tree->empty()) {
      return fail(
          ErrorKind::not_found,
          fmt::format("{}: {}/CMakeLists.txt installs no file", row_.title, job.source),
          "files for the wheel need an install() rule, such as install(TARGETS name LIBRARY "
          "DESTINATION package)");
    }
    std::ranges::move(*tree, std::back_inserter(members));
    return {};
  }

  Result<std::string> by_back_end() {
    const RowSettings& settings = row_.row.settings;
    const BackEndJob job{plan_.project.back_end,
                         plan_.folder,
                         row_.work,
                         plan_.files,
                         row_.row.label,
                         row_.toolchain,
                         row_.compilation,
                         settings.define,
                         settings.environment,
                         settings.config_settings,
                         plan_.options.inherited,
                         plan_.options.source_date_epoch,
                         jobs_};
    return run_back_end(job, plan_.back_end, report_);
  }

  Result<BuiltWheel> write_out(const PackedWheel& packed, bool reused) {
    const fs::path path = fs::path(plan_.out.path()) / packed.file_name;
    BuiltWheel built{path.string(), row_.row.label, {}, {}, packed.bytes.size(), log(), reused};
    built.sha256 = wheel::render_hex(wheel::sha256(packed.bytes));
    if (origin_of(plan_.project, row_.row) == RowOrigin::files && plan_.project.cmake)
      built.unused = unused_variables(row_.work);
    for (const char* one : {"x86_64", "aarch64"}) {
      const std::string end = fmt::format("_{}", one);
      if (packed.file_name.contains(end + "-") || packed.file_name.ends_with(end + ".whl"))
        built.architecture = one;
    }
    if (reused) {
      const auto there = read_file(path.string(), largest_member);
      if (there && *there == packed.bytes) return built;
    }
    // A build is not flushed to disk: it can be repeated after a power failure.
    if (auto done = plan_.out.write(packed.file_name, packed.bytes, system::Flush::no); !done)
      return std::unexpected(std::move(done).error());
    return built;
  }

  const BuildPlan& plan_;
  const PlannedRow& row_;
  unsigned jobs_;
  const std::function<void(std::string_view)>& progress_;
  Report& report_;
  std::string record_file_;
  BuildRecord begun_;
};

}  // namespace

RowOrigin origin_of(const Project& project, const MatrixRow& row) {
  if (!row.settings.wheel.empty()) return RowOrigin::wheel;
  if (!project.packages.empty() || project.cmake || project.back_end.empty())
    return RowOrigin::files;
  return RowOrigin::back_end;
}

Result<BuiltWheel> build_row(const BuildPlan& plan, const PlannedRow& row, unsigned jobs,
                             const std::function<void(std::string_view)>& progress,
                             Report& report) {
  return RowBuild(plan, row, jobs, progress, report).run();
}

}  // namespace axle::builder
