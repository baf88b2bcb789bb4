#include "builder/build.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/cmake_build.h"
#include "builder/code_check.h"
#include "builder/compilation.h"
#include "builder/platform_tag.h"
#include "builder/project.h"
#include "builder/project_files.h"
#include "foundation/system/whole_file.h"
#include "foundation/text/nearest.h"
#include "wheel/hash/sha256.h"
#include "wheel/wheel_file.h"
#include "wheel/wheel_name.h"
#include "wheel/wheel_writer.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

using wheel::WheelMember;

/// The folder of CMake's trees: the caller's, or a temporary one that is removed after success or
/// if it is empty.
class BuildFolder {
 public:
  static Result<BuildFolder> open(const std::string& wanted) {
    std::error_code error;
    BuildFolder folder;
    if (!wanted.empty()) {
      folder.path_ = fs::absolute(wanted, error).lexically_normal();
      if (!error) fs::create_directories(folder.path_, error);
    } else {
      std::string pattern = (fs::temp_directory_path(error) / "axle-build-XXXXXX").string();
      if (!error && mkdtemp(pattern.data()) == nullptr) {
        error = std::error_code(errno, std::generic_category());
      }
      folder.path_ = pattern;
      folder.temporary_ = true;
    }
    if (error) {
      folder.temporary_ = false;
      return fail(ErrorKind::io, fmt::format("{}: {}", folder.path_.string(), error.message()));
    }
    return folder;
  }
  BuildFolder(BuildFolder&& other) noexcept
      : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, false)) {}
  BuildFolder& operator=(BuildFolder&&) = delete;
  ~BuildFolder() {
    std::error_code ignored;
    if (temporary_) fs::remove_all(path_, ignored);
  }

  /// After a failure: the logs that the error refers to are kept.
  void keep() {
    std::error_code ignored;
    if (temporary_) fs::remove(path_, ignored);
    temporary_ = false;
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  BuildFolder() = default;
  fs::path path_;
  bool temporary_ = false;
};

/// Everything that is needed to build one row.
struct BuildPlan {
  const Project& project;
  std::string folder;  ///< of the project, absolute
  std::string out;
  fs::path work;
  std::optional<Compilers> compilers;
  const BuildOptions& options;
};

std::string label_of(const MatrixRow& row) { return row.label.empty() ? "plain" : row.label; }

Result<std::vector<MatrixRow>> choose_rows(const Project& project,
                                           const std::vector<std::string>& labels) {
  if (labels.empty()) return project.matrix;
  std::vector<MatrixRow> rows;
  for (const std::string& label : labels) {
    const auto found = std::ranges::find(project.matrix, label, &MatrixRow::label);
    if (found == project.matrix.end()) {
      std::vector<std::string> known;
      for (const MatrixRow& row : project.matrix) known.push_back(label_of(row));
      return fail(ErrorKind::not_found, fmt::format("the project has no variant \"{}\"", label),
                  text::suggest(label, known, fmt::format("it has {}", fmt::join(known, ", "))));
    }
    rows.push_back(*found);
  }
  return rows;
}

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

Result<void> add_cmake_files(const BuildPlan& plan, const MatrixRow& row,
                             std::vector<WheelMember>& members) {
  if (!plan.project.cmake) return {};
  const CMakeSettings& cmake = *plan.project.cmake;
  CMakeJob job;
  job.project = plan.folder;
  const auto source = inside_folder(plan.folder, cmake.source);
  if (!source) return std::unexpected(within("tool.axle.cmake.source", source.error()));
  job.source = *source;
  job.work_folder = (plan.work / label_of(row)).string();
  job.build_type = cmake.build_type;
  job.define = cmake.define;
  job.define.insert(job.define.end(), row.settings.define.begin(), row.settings.define.end());
  job.source_date_epoch = plan.options.source_date_epoch;
  job.jobs = plan.options.jobs;
  if (plan.compilers) {
    const auto compilation = compilation_of(plan.project.properties_of(row), row.settings);
    auto known = check_flags(*plan.compilers, compilation.flags, plan.work.string());
    if (!known) return std::unexpected(within(row.place, known.error()));
    job.flags = compilation.host_flags();
  }
  const auto stage = run_cmake(job);
  if (!stage)
    return std::unexpected(within(fmt::format("variant {}", label_of(row)), stage.error()));
  auto tree = read_tree(*stage, "");
  if (!tree) return std::unexpected(tree.error());
  if (tree->empty()) {
    return fail(
        ErrorKind::not_found,
        fmt::format("variant {}: {}/CMakeLists.txt installs no file", label_of(row), job.source),
        "files for the wheel need an install() rule, such as install(TARGETS name LIBRARY "
        "DESTINATION package)");
  }
  std::ranges::move(*tree, std::back_inserter(members));
  return {};
}

std::string render_wheel_file(const TagChoice& tags, const std::vector<wheel::Tag>& expanded) {
  std::string text = fmt::format("Wheel-Version: 1.0\nGenerator: axle {}\nRoot-Is-Purelib: {}\n",
                                 AXLE_VERSION, tags.pure);
  for (const wheel::Tag& tag : expanded) text += fmt::format("Tag: {}\n", wheel::render_tag(tag));
  return text;
}

Result<void> add_variant_metadata(const BuildPlan& plan, const MatrixRow& row,
                                  const std::string& dist_info, std::vector<WheelMember>& members) {
  if (row.label.empty()) return {};
  const auto own = wheel::only_variant(*plan.project.variants, row.label);
  if (!own) return std::unexpected(own.error());
  auto text = wheel::render_variant_metadata(*own);
  if (!text) return std::unexpected(text.error());
  members.push_back({dist_info + "/variant.json", std::move(*text), false});
  return {};
}

// The result is read back as strictly as any other wheel.
Result<void> check_wheel(std::string_view bytes, const std::string& file_name, Report& report) {
  const auto opened = wheel::open_wheel(wheel::memory_source(bytes), file_name, file_name, report);
  if (!opened) return std::unexpected(opened.error());
  const auto record = wheel::read_checked_record(*opened);
  if (!record) return std::unexpected(record.error());
  return {};
}

Error nothing_in_it(const BuildPlan& plan, const MatrixRow& row) {
  return {ErrorKind::not_found,
          fmt::format("{}: variant {} has no file", plan.project.place, label_of(row)),
          "list under [tool.axle] what goes into the wheels: packages = [\"src/name\"] for Python "
          "code, cmake.source = \".\" for a CMake project"};
}

Result<BuiltWheel> pack(const BuildPlan& plan, const MatrixRow& row,
                        std::vector<WheelMember> members, Report& report) {
  if (members.empty()) return std::unexpected(nothing_in_it(plan, row));
  CodeDeclaration declared{fmt::format("variant {}", label_of(row)),
                           plan.project.properties_of(row), plan.project.allowed_instructions};
  if (auto checked = check_code(members, declared, plan.work.string(), report); !checked) {
    return std::unexpected(checked.error());
  }
  const auto tags = choose_tags(members, {plan.project.python_tag, plan.project.allowed_libraries,
                                          plan.project.metadata.requires_python});
  if (!tags) return std::unexpected(within(fmt::format("variant {}", label_of(row)), tags.error()));
  wheel::WheelName name;
  name.distribution = wheel::wheel_distribution(plan.project.metadata.name);
  name.version = plan.project.metadata.version;
  name.tags_text = fmt::format("{}-{}-{}", tags->python, tags->abi, tags->platform);
  name.label = row.label;
  auto expanded = wheel::parse_tags(name.tags_text);
  if (!expanded) return std::unexpected(expanded.error());
  name.tags = *expanded;
  const std::string dist_info =
      fmt::format("{}-{}.dist-info", name.distribution, wheel::render_version(name.version));

  auto info = render_dist_info(plan.project.metadata, plan.folder, dist_info);
  if (!info) return std::unexpected(info.error());
  std::ranges::move(*info, std::back_inserter(members));
  members.push_back({dist_info + "/WHEEL", render_wheel_file(*tags, name.tags), false});
  if (auto added = add_variant_metadata(plan, row, dist_info, members); !added) {
    return std::unexpected(added.error());
  }
  const auto bytes =
      wheel::write_wheel(std::move(members), dist_info, plan.options.source_date_epoch);
  if (!bytes) return std::unexpected(bytes.error());
  const std::string file_name = wheel::render_wheel_name(name);
  if (auto checked = check_wheel(*bytes, file_name, report); !checked) {
    return std::unexpected(checked.error());
  }
  const fs::path path = fs::path(plan.out) / file_name;
  // A build is not flushed to disk: it can be repeated after a power failure.
  if (const auto error =
          system::write_whole_file(path.string(), *bytes, {.flush = system::Flush::no}))
    return fail(ErrorKind::io,
                fmt::format("{}: cannot be written: {}", path.string(), error.message()));
  return BuiltWheel{path.string(), row.label, wheel::render_hex(wheel::sha256(*bytes)),
                    bytes->size()};
}

Result<BuiltWheel> build_row(const BuildPlan& plan, const MatrixRow& row, Report& report) {
  std::vector<WheelMember> members;
  if (auto added = add_packages(plan, members); !added) return std::unexpected(added.error());
  if (auto added = add_cmake_files(plan, row, members); !added) {
    return std::unexpected(added.error());
  }
  return pack(plan, row, std::move(members), report);
}

Result<std::vector<BuiltWheel>> build_rows(const BuildPlan& plan,
                                           const std::vector<MatrixRow>& rows, Report& report) {
  std::vector<BuiltWheel> wheels;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    report.progress(fmt::format("building {}", label_of(rows[i])), i, rows.size());
    auto built = build_row(plan, rows[i], report);
    if (!built) return std::unexpected(built.error());
    wheels.push_back(std::move(*built));
  }
  report.progress("building", rows.size(), rows.size());
  return wheels;
}

}  // namespace

Result<std::vector<BuiltWheel>> build_project(const BuildOptions& options, Report& report) {
  std::error_code error;
  fs::path folder = fs::absolute(options.project_folder, error).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "project/"
  const std::string file = (folder / "pyproject.toml").string();
  const auto text = read_file(file, largest_text);
  if (!text) {
    Error missing = text.error();
    if (missing.kind == ErrorKind::not_found) missing.hint = "a project has a pyproject.toml";
    return std::unexpected(std::move(missing));
  }
  const auto project = parse_project(*text, file, report);
  if (!project) return std::unexpected(project.error());
  const auto rows = choose_rows(*project, options.labels);
  if (!rows) return std::unexpected(rows.error());

  const fs::path out =
      options.out_folder.empty() ? folder / "dist" : fs::absolute(options.out_folder, error);
  fs::create_directories(out, error);
  if (error) return fail(ErrorKind::io, fmt::format("{}: {}", out.string(), error.message()));
  auto work = BuildFolder::open(options.work_folder);
  if (!work) return std::unexpected(work.error());

  BuildPlan plan{*project, folder.string(), out.lexically_normal().string(), work->path(),
                 {},       options};
  if (project->cmake) {
    auto compilers = find_compilers(work->path().string());
    if (!compilers) return std::unexpected(compilers.error());
    plan.compilers = std::move(*compilers);
  }
  auto wheels = build_rows(plan, *rows, report);
  if (!wheels) work->keep();
  return wheels;
}

}  // namespace axle::builder
