#include "builder/cmake_build.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "builder/logged_program.h"
#include "builder/project_files.h"
#include "builder/toolchains/disk_space.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t shown_lines = 20;
constexpr std::string_view wheel_prefix = "/wheel";  // represents site-packages inside the stage

std::unexpected<Error> failed(const std::string& what, const std::string& log) {
  constexpr std::size_t searched_lines = 500;
  const std::string folder = fs::path(log).parent_path().string();
  if (auto full = lack_of_space(what + " failed", folder, last_lines(log, searched_lines)))
    return std::unexpected(std::move(*full));
  return fail(ErrorKind::io,
              fmt::format("{} failed; its last lines:\n{}", what, last_lines(log, shown_lines)),
              fmt::format("the complete output is in {}", log));
}

Result<void> write_file(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return {};
  return fail(ErrorKind::io, fmt::format("{}: cannot be written", path.string()));
}

Result<void> make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return {};
  return fail(ErrorKind::io, fmt::format("{}: {}", path.string(), error.message()));
}

void add_compilers(const Toolchain& toolchain, Definitions& all) {
  if (toolchain.cuda) {
    all.emplace_back("CMAKE_CUDA_COMPILER", toolchain.cuda->program);
    const std::string& host =
        toolchain.cuda_host ? toolchain.cuda_host->launched() : toolchain.cxx.launched();
    if (!host.empty()) all.emplace_back("CMAKE_CUDA_HOST_COMPILER", host);
  }
  if (toolchain.hip) {
    all.emplace_back("CMAKE_HIP_COMPILER",
                     toolchain.hip_clang ? toolchain.hip_clang->as_list() : toolchain.hip->program);
  }
  if (toolchain.sycl) all.emplace_back("CMAKE_CXX_COMPILER", toolchain.sycl->as_list());
}

const std::string* last_value(const Definitions& definitions, std::string_view name) {
  const auto found = std::ranges::find(definitions.rbegin(), definitions.rend(), name,
                                       &Definitions::value_type::first);
  return found == definitions.rend() ? nullptr : &found->second;
}

/// The user's own flags and then ours: a definition of ours would make CMake pass over theirs.
std::string with_users_flags(const CMakeJob& job, std::string_view name, std::string_view variable,
                             const std::string& ours) {
  const std::string* users = last_value(job.define, name);  // of CMAKE_HIP_FLAGS alone
  if (users == nullptr) users = last_value(job.environment, variable);
  if (users == nullptr) users = last_value(job.inherited, variable);
  if (users == nullptr || users->empty()) return ours;
  return fmt::format("{} {}", *users, ours);
}

/// For the compilers of C, C++, and of code for GPUs, which hand it to theirs for the host.
Result<Definitions> flag_definitions(const CMakeJob& job, const std::string& build) {
  // The build folder first: the last matching map wins in GCC, and the source may contain the
  // build.
  const auto maps = mapped_paths({{job.project, "/src"}, {build, "/build"}});
  if (!maps) return std::unexpected(maps.error());
  std::string flags = job.compilation.host_flags();
  flags += (flags.empty() ? "" : " ") + *maps;
  Definitions all;
  const auto add = [&](const char* name, std::string_view variable, const std::string& ours) {
    all.emplace_back(name, with_users_flags(job, name, variable, ours));
  };
  add("CMAKE_C_FLAGS", "CFLAGS", flags);
  add("CMAKE_CXX_FLAGS", "CXXFLAGS", flags);
  if (job.toolchain.hip) {
    std::string hip;
    if (job.toolchain.hip_clang) {
      for (const std::string& place : job.toolchain.hip_clang->arguments) hip += place + " ";
    }
    add("CMAKE_HIP_FLAGS", "HIPFLAGS", hip + maps_for_hip(*maps));
  }
  if (job.toolchain.cuda) {
    // nvcc hands the inner quotes on to the shell in which it starts the compiler for the host.
    add("CMAKE_CUDA_FLAGS", "CUDAFLAGS",
        fmt::format("-Xcompiler='\"-ffile-prefix-map={}=/src\"' "
                    "-Xcompiler='\"-ffile-prefix-map={}=/build\"'",
                    job.project, build));
  }
  return all;
}

Result<system::Program> configure_program(const CMakeJob& job, const std::string& build,
                                          const std::string& toolchain_file) {
  const auto flags = flag_definitions(job, build);
  if (!flags) return std::unexpected(flags.error());
  const auto hip = hip_definitions(job.toolchain, job.work_folder);
  if (!hip) return std::unexpected(hip.error());
  system::Program program{{"cmake", "-S", job.source, "-B", build, "-G", "Ninja"}};
  const auto define = [&](std::string_view name, std::string_view value) {
    program.arguments.push_back(fmt::format("-D{}={}", name, value));
  };
  if (!toolchain_file.empty()) define("CMAKE_TOOLCHAIN_FILE", toolchain_file);
  for (const auto& [name, value] : *hip) define(name, value);
  for (const auto& [name, value] : *flags) define(name, value);
  for (const auto& [name, value] : cmake_definitions(job)) {
    if (last_value(*flags, name) == nullptr) define(name, value);
  }
  return program;
}

system::Program in_variant(system::Program program, const CMakeJob& job) {
  auto& variables = program.variables;
  variables.emplace_back("SOURCE_DATE_EPOCH", std::to_string(job.source_date_epoch));
  variables.emplace_back("LC_ALL", "C");
  variables.emplace_back("TZ", "UTC");
  variables.insert(variables.end(), job.environment.begin(), job.environment.end());
  return program;
}

Result<void> run_step(system::Program program, const CMakeJob& job, const std::string& log,
                      const std::string& what) {
  const auto status = run_logged(in_variant(std::move(program), job), log);
  if (!status) return std::unexpected(status.error());
  if (*status != 0) return failed(what, log);
  return {};
}

/// Ninja itself and not `cmake --build`: it ends with this program.
Result<void> run_ninja(const CMakeJob& job, const std::string& build, const std::string& log) {
  system::Program ninja{{"ninja", "-C", build, "-j", std::to_string(std::max(1U, job.jobs))}};
  ninja.variables.emplace_back("NINJA_STATUS", "[%f/%t] ");
  const auto status =
      run_logged(in_variant(std::move(ninja), job), log, [&](std::string_view line) {
        const std::size_t end = line.find(']');
        if (job.progress && line.starts_with('[') && end != std::string_view::npos)
          job.progress(line.substr(1, end - 1));
      });
  if (!status) return std::unexpected(status.error());
  if (*status != 0) return failed("compiling", log);
  return {};
}

// Everything below the stage must be below its prefix.
Result<void> check_stage(const fs::path& stage) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(stage, error), end; !error && it != end;
       it.increment(error)) {
    const fs::path inner = it->path().lexically_relative(stage);
    if (*inner.begin() == fs::path(wheel_prefix).relative_path()) {
      if (it.depth() == 0) it.disable_recursion_pending();
      continue;
    }
    std::error_code ignored;
    if (it->is_directory(ignored)) continue;
    return fail(
        ErrorKind::malformed,
        fmt::format("the project installs /{}, which is outside the wheel", inner.generic_string()),
        "use a relative DESTINATION: it is relative to site-packages");
  }
  if (error) {
    return fail(ErrorKind::io, fmt::format("cannot read what was installed into {}: {}",
                                           stage.string(), error.message()));
  }
  return {};
}

std::vector<std::string> lines_of(const system::Program& program) {
  std::string text;
  system::ProgramSettings settings;
  settings.errors = system::ErrorStream::dropped;
  settings.take_output = [&](std::string_view piece) { text += piece; };
  const auto ended = system::run_program(program, settings);
  std::vector<std::string> lines;
  if (!ended || ended->exit_code != 0) return lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

Definitions cmake_definitions(const CMakeJob& job) {
  Definitions all = {{"CMAKE_BUILD_TYPE", job.build_type},
                     {"CMAKE_INSTALL_PREFIX", std::string(wheel_prefix)},
                     // Otherwise install() overwrites a run path of the build folder's length.
                     {"CMAKE_BUILD_WITH_INSTALL_RPATH", "ON"},
                     {"CMAKE_INSTALL_MESSAGE", "NEVER"}};
  add_compilers(job.toolchain, all);
  const Compilation& compilation = job.compilation;
  if (!compilation.cuda.empty())
    all.emplace_back("CMAKE_CUDA_ARCHITECTURES", join_targets(compilation.cuda, ';'));
  if (!compilation.hip.empty())
    all.emplace_back("CMAKE_HIP_ARCHITECTURES", join_targets(compilation.hip, ';'));
  if (!compilation.sycl.empty())
    all.emplace_back("AXLE_SYCL_TARGETS", join_targets(compilation.sycl, ','));
  all.insert(all.end(), job.define.begin(), job.define.end());
  return all;
}

Result<std::string> mapped_paths(const std::vector<std::pair<std::string, std::string>>& folders) {
  std::string flags;
  for (const auto& [folder, name] : folders) {
    // A path becomes part of compiler flags, which CMake and a shell split.
    if (folder.find_first_of("\"'`$\\;\n") != std::string::npos) {
      return fail(
          ErrorKind::unsupported,
          fmt::format("{}: the path has characters that compiler flags cannot carry", folder),
          "build it in another folder");
    }
    flags += fmt::format("{}\"-ffile-prefix-map={}={}\"", flags.empty() ? "" : " ", folder, name);
  }
  return flags;
}

std::vector<std::string> unused_variables(const std::string& work_folder) {
  std::vector<std::string> names;
  std::ifstream log(fs::path(work_folder) / "build.log", std::ios::binary);
  bool listed = false;
  for (std::string line; std::getline(log, line);) {
    if (line.contains("Manually-specified variables were not used by the project")) {
      listed = true;
    } else if (listed && line.starts_with("    ")) {
      names.push_back(line.substr(4));
    } else if (listed && !line.empty()) {
      break;
    }
  }
  return names;
}

std::vector<std::string> cache_variables(const std::string& work_folder) {
  std::vector<std::string> names;
  std::ifstream cache(fs::path(work_folder) / "build" / "CMakeCache.txt", std::ios::binary);
  for (std::string line; std::getline(cache, line);) {
    const std::size_t colon = line.find(':');
    const bool entry = !line.empty() && line[0] != '#' && line[0] != '/' &&
                       colon != std::string::npos && line.find('=') != std::string::npos;
    // What was only defined is there without a type.
    if (entry && !line.substr(colon).starts_with(":UNINITIALIZED"))
      names.push_back(line.substr(0, colon));
  }
  return names;
}

Result<std::string> write_toolchain_file(const Toolchain& toolchain, const std::string& folder) {
  if (!toolchain.is_cross()) return std::string();
  std::string text = "set(CMAKE_SYSTEM_NAME Linux)\n";
  text += fmt::format("set(CMAKE_SYSTEM_PROCESSOR {})\n", toolchain.architecture);
  text += fmt::format("set(CMAKE_C_COMPILER \"{}\")\n", toolchain.c.as_list());
  if (!toolchain.cxx.program.empty())
    text += fmt::format("set(CMAKE_CXX_COMPILER \"{}\")\n", toolchain.cxx.as_list());
  // Programs are this machine's; libraries and headers of it are of no use to the other.
  text += fmt::format(
      "list(APPEND CMAKE_FIND_ROOT_PATH /usr/{})\n"
      "set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)\n"
      "set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)\n"
      "set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)\n"
      "set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)\n",
      toolchain.triple);
  const fs::path path = fs::path(folder) / "toolchain.cmake";
  if (auto written = write_file(path, text); !written) return std::unexpected(written.error());
  return path.string();
}

std::string maps_for_hip(std::string maps) {
  std::string bare = maps;
  std::erase(bare, '"');
  // Of each map there are two quotes, and a blank between two maps.
  const auto quotes = std::ranges::count(maps, '"');
  const bool splits = std::ranges::count(maps, ' ') >= std::max<std::ptrdiff_t>(1, quotes / 2);
  return splits ? maps : bare;
}

Result<Definitions> hip_definitions(const Toolchain& toolchain, const std::string& folder) {
  if (!toolchain.hip_clang) return Definitions();
  const fs::path package = fs::path("lib/cmake/hip-lang");
  std::error_code ignored;
  const fs::path rocm(toolchain.hip_clang->rocm());
  if (fs::exists(rocm / package / "hip-lang-config.cmake", ignored)) return Definitions();
  const fs::path root = fs::path(folder) / "hip";
  if (auto made = make_folder(root / package); !made) return std::unexpected(made.error());
  // -no-hip-rt: without a run path to where the runtime lies on this machine.
  constexpr std::string_view text =
      "if(NOT TARGET hip-lang::device)\n"
      "  add_library(hip-lang::device INTERFACE IMPORTED)\n"
      "  set_target_properties(hip-lang::device PROPERTIES\n"
      "    INTERFACE_LINK_OPTIONS \"$<$<LINK_LANGUAGE:HIP>:--hip-link;-no-hip-rt>\"\n"
      "    INTERFACE_LINK_LIBRARIES \"$<$<LINK_LANGUAGE:HIP>:amdhip64>\")\n"
      "endif()\n"
      "set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET hip-lang::device)\n";
  if (auto written = write_file(root / package / "hip-lang-config.cmake", text); !written)
    return std::unexpected(written.error());
  return Definitions{{"CMAKE_HIP_COMPILER_ROCM_ROOT", root.string()}};
}

Result<std::string> run_cmake(const CMakeJob& job) {
  const fs::path work(job.work_folder);
  const fs::path stage = work / "stage";
  const std::string build = (work / "build").string();
  const std::string log = (work / "build.log").string();
  if (const auto checked = mapped_paths({{job.source, {}}}); !checked)
    return std::unexpected(checked.error());
  std::error_code ignored;
  fs::remove_all(stage, ignored);
  fs::remove(log, ignored);
  if (auto made = make_folder(stage); !made) return std::unexpected(made.error());
  const auto toolchain = write_toolchain_file(job.toolchain, job.work_folder);
  if (!toolchain) return std::unexpected(toolchain.error());
  auto configure = configure_program(job, build, *toolchain);
  if (!configure) return std::unexpected(configure.error());
  if (auto done = run_step(std::move(*configure), job, log, "cmake configure"); !done)
    return std::unexpected(done.error());
  if (auto done = run_ninja(job, build, log); !done) return std::unexpected(done.error());
  const system::Program install{
      {"cmake", "--install", build, "--strip"}, {}, {{"DESTDIR", stage.string()}}};
  if (auto done = run_step(install, job, log, "cmake --install"); !done)
    return std::unexpected(done.error());
  if (auto checked = check_stage(stage); !checked) return std::unexpected(checked.error());
  const fs::path root = stage / fs::path(wheel_prefix).relative_path();
  if (auto made = make_folder(root); !made) return std::unexpected(made.error());
  return root.string();
}

std::vector<std::string> cmake_inputs(const std::string& work_folder) {
  const fs::path build = fs::path(work_folder) / "build";
  std::vector<std::string> files;
  const auto add = [&](std::string_view line) {
    if (line.starts_with('\'') && line.ends_with('\'') && line.size() > 1)
      line = line.substr(1, line.size() - 2);
    const fs::path path = (build / line).lexically_normal();
    // By the build, or for it: what these were made of is an input.
    const fs::path work = build.parent_path();
    const bool made = std::ranges::mismatch(work, path).in1 == work.end();
    std::error_code ignored;
    if (!made && fs::is_regular_file(path, ignored)) files.push_back(path.string());
  };
  for (const std::string& target : {std::string("all"), std::string("build.ninja")}) {
    const auto inputs = lines_of({{"ninja", "-C", build.string(), "-t", "inputs", target}});
    if (inputs.empty()) return {};
    for (const std::string& line : inputs) add(line);
  }
  // "object: #deps 3, …", then an input a line, indented.
  for (const std::string& line : lines_of({{"ninja", "-C", build.string(), "-t", "deps"}})) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != 0 && begin != std::string::npos) add(std::string_view(line).substr(begin));
  }
  std::ranges::sort(files);
  const auto repeated = std::ranges::unique(files);
  files.erase(repeated.begin(), repeated.end());
  return files;
}

}  // namespace axle::builder
