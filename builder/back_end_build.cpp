#include "builder/back_end_build.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "builder/cmake_build.h"
#include "foundation/system/shell_command.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view by_cmake = "scikit-build-core";
constexpr std::string_view by_meson = "meson-python";

std::unexpected<Error> failed(const fs::path& path, const std::error_code& error) {
  return fail(ErrorKind::io, fmt::format("{}: {}", path.string(), error.message()));
}

/// A copy with the times of the originals, so that what was built of them before stays newer. What
/// is there already and not of the project is the back end's own.
Result<void> copy_project(const BackEndJob& job, const fs::path& into) {
  std::error_code error;
  for (const std::string& file : job.files) {
    const fs::path target = into / fs::path(file).lexically_relative(job.project);
    fs::create_directories(target.parent_path(), error);
    if (error) return failed(target, error);
    std::error_code ignored;
    const auto time = fs::last_write_time(file, error);
    if (!error && fs::exists(target, ignored) && fs::last_write_time(target, ignored) == time &&
        fs::file_size(target, ignored) == fs::file_size(file, ignored))
      continue;
    if (!error) fs::copy_file(file, target, fs::copy_options::overwrite_existing, error);
    if (!error) fs::last_write_time(target, time, error);
    if (error) return failed(target, error);
  }
  // Versions are read from it; nothing writes into it.
  const fs::path history = fs::path(job.project) / ".git";
  if (fs::exists(history, error) && !fs::exists(fs::symlink_status(into / ".git", error)))
    fs::create_symlink(history, into / ".git", error);
  return {};
}

std::string value_of(const Definitions& definitions, std::string_view name) {
  const auto found = std::ranges::find(definitions, name, &Definitions::value_type::first);
  return found == definitions.end() ? std::string() : found->second;
}

/// What the user's environment says of flags, else what Python's own modules are compiled with,
/// then ours. CMake and Meson have flags of their own for a release.
std::string joined_flags(const BackEndJob& job, std::string_view name, const std::string& maps,
                         const BackEnd& back_end) {
  std::string flags = value_of(job.inherited, name);
  if (flags.empty() && job.name != by_cmake && job.name != by_meson) flags = back_end.compile_flags;
  for (const std::string& more : {job.compilation.host_flags(), maps}) {
    if (!more.empty()) flags += (flags.empty() ? "" : " ") + more;
  }
  return flags;
}

/// For clang where hipcc, which knows where HIP is, is not asked.
std::string hip_flags(const BackEndJob& job, const std::string& maps) {
  std::string flags = value_of(job.inherited, "HIPFLAGS");
  for (const std::string& place : job.toolchain.hip_clang->arguments)
    flags += (flags.empty() ? "" : " ") + place;
  return flags + " " + maps_for_hip(maps);
}

void add_compilers(const BackEndJob& job, Definitions& variables) {
  const Toolchain& toolchain = job.toolchain;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) variables.emplace_back(name, value);
  };
  const bool chosen = toolchain.is_cross() || toolchain.sycl;
  // Of one word it is a path, which may have blanks.
  const auto add_compiler = [&](const char* name, const Compiler& one) {
    add(name, one.arguments.empty() ? one.program : shell_command(one.command()));
  };
  if (chosen) add_compiler("CC", toolchain.c);
  if (chosen) add_compiler("CXX", toolchain.cxx);
  if (toolchain.cuda) {
    add("CUDACXX", toolchain.cuda->program);
    // Extensions of torch look for the toolkit's folder.
    const fs::path program(toolchain.cuda->program);
    if (program.is_absolute()) add("CUDA_HOME", program.parent_path().parent_path().string());
  }
  const Compilation& compilation = job.compilation;
  add("CUDAARCHS", join_targets(compilation.cuda, ';'));
  add("TORCH_CUDA_ARCH_LIST", torch_arch_list(compilation.cuda));
  if (toolchain.hip) add("HIPCXX", toolchain.hip->program);
  add("PYTORCH_ROCM_ARCH", join_targets(compilation.hip, ';'));
  add("AXLE_SYCL_TARGETS", join_targets(compilation.sycl, ','));
}

Result<Definitions> variables_of(const BackEndJob& job, const fs::path& source,
                                 const fs::path& tree, const BackEnd& back_end) {
  const auto maps = mapped_paths({{source.string(), "/src"}, {tree.string(), "/build"}});
  if (!maps) return std::unexpected(maps.error());
  Definitions variables = {{"SOURCE_DATE_EPOCH", std::to_string(job.source_date_epoch)},
                           {"LC_ALL", "C"},
                           {"TZ", "UTC"},
                           {"PYTHONUTF8", "1"},
                           {"PYTHONHASHSEED", "0"},
                           {"CFLAGS", joined_flags(job, "CFLAGS", *maps, back_end)},
                           {"CXXFLAGS", joined_flags(job, "CXXFLAGS", *maps, back_end)},
                           {"CMAKE_BUILD_PARALLEL_LEVEL", std::to_string(job.jobs)},
                           {"MAX_JOBS", std::to_string(job.jobs)},
                           {"AXLE_VARIANT_LABEL", job.label}};
  add_compilers(job, variables);
  if (job.toolchain.hip_clang && job.name == by_cmake)
    variables.emplace_back("HIPFLAGS", hip_flags(job, *maps));
  for (const auto& [name, value] : job.environment) {
    std::erase_if(variables, [&](const auto& one) { return one.first == name; });
    variables.emplace_back(name, value);
  }
  return variables;
}

/// Meson's cross file (https://mesonbuild.com/Cross-compilation.html).
Result<std::string> write_cross_file(const Toolchain& toolchain, const fs::path& folder) {
  const fs::path path = folder / "cross.ini";
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const auto list = [](const Compiler& one) {
    return fmt::format("['{}']", fmt::join(one.command(), "', '"));
  };
  file << "[binaries]\nc = " << list(toolchain.c) << '\n';
  if (!toolchain.cxx.program.empty()) file << "cpp = " << list(toolchain.cxx) << '\n';
  file << "strip = '" << toolchain.triple << "-strip'\n"
       << "[host_machine]\nsystem = 'linux'\ncpu_family = '" << toolchain.architecture
       << "'\ncpu = '" << toolchain.architecture << "'\nendian = 'little'\n";
  file.close();
  if (file) return path.string();
  return fail(ErrorKind::io, fmt::format("{}: cannot be written", path.string()));
}

/// CMake has no variables of the environment for these, and takes no hipcc from HIPCXX.
Result<void> add_hip(const BackEndJob& job, Definitions& settings) {
  const Toolchain& toolchain = job.toolchain;
  if (!toolchain.hip) return {};
  auto definitions = hip_definitions(toolchain, job.work_folder);
  if (!definitions) return std::unexpected(definitions.error());
  definitions->emplace_back("CMAKE_HIP_ARCHITECTURES", join_targets(job.compilation.hip, ';'));
  if (toolchain.hip_clang)
    definitions->emplace_back("CMAKE_HIP_COMPILER", toolchain.hip_clang->as_list());
  for (const auto& [name, value] : *definitions) {
    if (value_of(job.define, name).empty()) settings.emplace_back("cmake.define." + name, value);
  }
  return {};
}

Result<Definitions> settings_of(const BackEndJob& job, const fs::path& tree) {
  Definitions settings;
  if (job.name == by_cmake) {
    settings.emplace_back("build-dir", tree.string());
    for (const auto& [name, value] : job.define)
      settings.emplace_back("cmake.define." + name, value);
    const auto file = write_toolchain_file(job.toolchain, job.work_folder);
    if (!file) return std::unexpected(file.error());
    if (!file->empty()) settings.emplace_back("cmake.define.CMAKE_TOOLCHAIN_FILE", *file);
    if (auto added = add_hip(job, settings); !added) return std::unexpected(added.error());
  } else if (job.name == by_meson) {
    settings.emplace_back("build-dir", tree.string());
    settings.emplace_back("compile-args", fmt::format("-j{}", job.jobs));
    if (job.toolchain.is_cross()) {
      const auto file = write_cross_file(job.toolchain, job.work_folder);
      if (!file) return std::unexpected(file.error());
      settings.emplace_back("setup-args", "--cross-file=" + *file);
    }
  }
  settings.insert(settings.end(), job.config_settings.begin(), job.config_settings.end());
  return settings;
}

Result<std::string> only_wheel(const fs::path& folder, const std::string& back_end) {
  std::vector<std::string> wheels;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".whl") wheels.push_back(it->path().string());
  }
  if (error) return failed(folder, error);
  if (wheels.size() == 1) return wheels.front();
  return fail(ErrorKind::malformed,
              fmt::format("{} made {} wheels, not one", back_end, wheels.size()));
}

}  // namespace

Result<void> check_back_end(const std::string& name, const RowSettings& settings,
                            const Toolchain& toolchain) {
  if (!settings.define.empty() && name != by_cmake) {
    return fail(
        ErrorKind::unsupported,
        fmt::format("cmake: {} takes no CMake variables ({})", name, settings.define.front().first),
        "hand settings over with environment or config-settings");
  }
  if (toolchain.is_cross() && name != by_cmake && name != by_meson) {
    return fail(ErrorKind::unsupported,
                fmt::format("{} does not build for {} on {}", name, toolchain.architecture,
                            host_architecture()),
                fmt::format("build this variant on such a machine, or leave it out: --arch {}",
                            host_architecture()));
  }
  return {};
}

Result<std::string> run_back_end(const BackEndJob& job, const BackEnd& back_end, Report& report) {
  const fs::path work(job.work_folder);
  const fs::path source = work / "source";
  const fs::path tree = work / "tree";
  const fs::path made = work / "made";
  const fs::path scratch = work / "tmp";
  const std::string log = (work / "build.log").string();
  std::error_code ignored;
  for (const fs::path& old : {made, scratch, fs::path(log)}) fs::remove_all(old, ignored);
  std::error_code error;
  for (const fs::path& folder : {source, tree, made, scratch}) {
    fs::create_directories(folder, error);
    if (error) return failed(folder, error);
  }
  if (auto copied = copy_project(job, source); !copied) return std::unexpected(copied.error());
  auto variables = variables_of(job, source, tree, back_end);
  if (!variables) return std::unexpected(variables.error());
  auto settings = settings_of(job, tree);
  if (!settings) return std::unexpected(settings.error());
  const BackEndRun run{source.string(),
                       made.string(),
                       scratch.string(),
                       log,
                       std::move(*variables),
                       std::move(*settings),
                       fmt::format("variant {}", job.label.empty() ? "plain" : job.label)};
  if (auto done = back_end.run(run, report); !done) {
    Error why = done.error();
    why.hint += fmt::format("{}the complete output is in {}", why.hint.empty() ? "" : "; ", log);
    return std::unexpected(std::move(why));
  }
  return only_wheel(made, job.name);
}

}  // namespace axle::builder
