#include "builder/cmake_build.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "builder/logged_program.h"
#include "builder/project_files.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t shown_lines = 20;
constexpr std::string_view wheel_prefix = "/wheel";  // represents site-packages inside the stage

std::unexpected<Error> failed(const std::string& what, const std::string& log) {
  return fail(ErrorKind::io,
              fmt::format("{} failed; its last lines:\n{}", what, last_lines(log, shown_lines)),
              fmt::format("the complete output is in {}", log));
}

Result<void> expect_tool(const std::string& program, std::string_view package) {
  const auto status = run_logged({{program, "--version"}}, {});
  if (status && *status == 0) return {};
  return fail(ErrorKind::not_found, fmt::format("{} is not installed or does not run", program),
              fmt::format("install it, on Debian: apt install {}", package));
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

// "CMAKE_C_COMPILER:FILEPATH=/usr/bin/cc" -> "/usr/bin/cc"
std::string cache_entry(const std::string& cache, std::string_view name) {
  const std::size_t begin = cache.find(fmt::format("\n{}:", name));
  if (begin == std::string::npos) return {};
  const std::size_t equals = cache.find('=', begin);
  const std::size_t end = cache.find('\n', begin + 1);
  if (equals == std::string::npos || equals > end) return {};
  const std::string value = cache.substr(equals + 1, end - equals - 1);
  return value.ends_with("-NOTFOUND") ? std::string() : value;
}

constexpr std::string_view compiler_project = R"(cmake_minimum_required(VERSION 3.16)
project(compilers LANGUAGES C)
include(CheckLanguage)
check_language(CXX)
)";

bool accepts(const std::string& compiler, const std::string& language,
             const std::vector<std::string>& flags, const std::string& log) {
  std::vector<std::string> arguments{compiler};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  arguments.insert(arguments.end(), {"-Werror", "-fsyntax-only", "-x", language, "/dev/null"});
  const auto status = run_logged({arguments, {}, {{"LC_ALL", "C"}}}, log);
  return status && *status == 0;
}

// The first line of a compiler's version output.
std::string describe_compiler(const std::string& compiler, const std::string& work_folder) {
  const std::string file = (fs::path(work_folder) / "compiler-version").string();
  std::error_code ignored;
  fs::remove(file, ignored);
  const auto status = run_logged({{compiler, "--version"}, {}, {{"LC_ALL", "C"}}}, file);
  const auto text = read_file(file, largest_text);
  if (!status || !text) return compiler;
  return fmt::format("{} ({})", compiler, text->substr(0, text->find('\n')));
}

Result<void> check_compiler(const std::string& compiler, const std::string& language,
                            const std::vector<CompileFlag>& flags, const std::string& work_folder) {
  const std::string log = (fs::path(work_folder) / "flags.log").string();
  std::vector<std::string> all;
  for (const CompileFlag& flag : flags) all.push_back(flag.flag);
  if (accepts(compiler, language, all, log)) return {};
  for (const CompileFlag& flag : flags) {
    if (accepts(compiler, language, {flag.flag}, log)) continue;
    return fail(ErrorKind::unsupported,
                fmt::format("{} does not support {}, which {} needs",
                            describe_compiler(compiler, work_folder), flag.flag, flag.property),
                flag.first_gcc == 0
                    ? "choose another compiler with CC and CXX"
                    : fmt::format("GCC supports it from {}; choose a compiler with CC and CXX",
                                  flag.first_gcc));
  }
  return fail(ErrorKind::unsupported,
              fmt::format("{} does not support {} together",
                          describe_compiler(compiler, work_folder), join_flags(flags)));
}

// A path becomes part of compiler flags, which CMake and a shell split.
Result<void> check_path(const std::string& path) {
  if (path.find_first_of("\"'`$\\;\n") == std::string::npos) return {};
  return fail(ErrorKind::unsupported,
              fmt::format("{}: the path has characters that compiler flags cannot carry", path),
              "build it in another folder");
}

std::string common_flags(const CMakeJob& job, const std::string& build) {
  // The build folder first: the last matching map wins in GCC, and the source may contain the
  // build.
  std::string flags = job.flags;
  flags += flags.empty() ? "" : " ";
  flags += fmt::format("\"-ffile-prefix-map={}=/src\" \"-ffile-prefix-map={}=/build\"", job.project,
                       build);
  return flags;
}

system::Program configure_program(const CMakeJob& job, const std::string& build) {
  const std::string flags = common_flags(job, build);
  system::Program program{{"cmake", "-S", job.source, "-B", build, "-G", "Ninja"}};
  const auto define = [&](std::string_view name, std::string_view value) {
    program.arguments.push_back(fmt::format("-D{}={}", name, value));
  };
  define("CMAKE_BUILD_TYPE", job.build_type);
  define("CMAKE_C_FLAGS", flags);
  define("CMAKE_CXX_FLAGS", flags);
  define("CMAKE_INSTALL_PREFIX", wheel_prefix);
  // Otherwise install() overwrites a run path of the build folder's length.
  define("CMAKE_BUILD_WITH_INSTALL_RPATH", "ON");
  define("CMAKE_INSTALL_MESSAGE", "NEVER");
  for (const auto& [name, value] : job.define) define(name, value);
  return program;
}

Result<void> run_step(system::Program program, const CMakeJob& job, const std::string& log,
                      const std::string& what) {
  program.variables.emplace_back("SOURCE_DATE_EPOCH", std::to_string(job.source_date_epoch));
  program.variables.emplace_back("LC_ALL", "C");
  program.variables.emplace_back("TZ", "UTC");
  const auto status = run_logged(program, log);
  if (!status) return std::unexpected(status.error());
  if (*status != 0) return failed(what, log);
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

}  // namespace

Result<Compilers> find_compilers(const std::string& work_folder) {
  if (auto cmake = expect_tool("cmake", "cmake"); !cmake) return std::unexpected(cmake.error());
  if (auto ninja = expect_tool("ninja", "ninja-build"); !ninja) {
    return std::unexpected(ninja.error());
  }
  const fs::path folder = fs::path(work_folder) / "compilers";
  if (auto made = make_folder(folder); !made) return std::unexpected(made.error());
  if (auto written = write_file(folder / "CMakeLists.txt", compiler_project); !written) {
    return std::unexpected(written.error());
  }
  const std::string log = (folder / "build.log").string();
  const std::string build = (folder / "build").string();
  const auto status = run_logged(
      {{"cmake", "-S", folder.string(), "-B", build, "-G", "Ninja"}, {}, {{"LC_ALL", "C"}}}, log);
  if (!status) return std::unexpected(status.error());
  if (*status != 0) {
    auto error = failed("finding a C compiler", log);
    error.error().kind = ErrorKind::not_found;
    error.error().hint = "install one, on Debian: apt install gcc g++; or set CC and CXX";
    return error;
  }
  const auto cache = read_file((fs::path(build) / "CMakeCache.txt").string(), largest_text);
  if (!cache) return std::unexpected(cache.error());
  return Compilers{cache_entry(*cache, "CMAKE_C_COMPILER"),
                   cache_entry(*cache, "CMAKE_CXX_COMPILER")};
}

Result<void> check_flags(const Compilers& compilers, const std::vector<CompileFlag>& flags,
                         const std::string& work_folder) {
  if (flags.empty()) return {};
  if (auto c = check_compiler(compilers.c, "c", flags, work_folder); !c) return c;
  if (compilers.cxx.empty()) return {};
  return check_compiler(compilers.cxx, "c++", flags, work_folder);
}

Result<std::string> run_cmake(const CMakeJob& job) {
  const fs::path work(job.work_folder);
  const fs::path stage = work / "stage";
  const std::string build = (work / "build").string();
  const std::string log = (work / "build.log").string();
  for (const std::string& path : {job.project, job.source, job.work_folder}) {
    if (auto checked = check_path(path); !checked) return std::unexpected(checked.error());
  }
  std::error_code ignored;
  fs::remove_all(stage, ignored);
  fs::remove(log, ignored);
  if (auto made = make_folder(stage); !made) return std::unexpected(made.error());
  if (auto done = run_step(configure_program(job, build), job, log, "cmake configure"); !done) {
    return std::unexpected(done.error());
  }
  const unsigned jobs =
      job.jobs != 0 ? job.jobs : std::max(1U, std::thread::hardware_concurrency());
  const system::Program make{{"cmake", "--build", build, "--parallel", std::to_string(jobs)}};
  if (auto done = run_step(make, job, log, "cmake --build"); !done) {
    return std::unexpected(done.error());
  }
  const system::Program install{
      {"cmake", "--install", build, "--strip"}, {}, {{"DESTDIR", stage.string()}}};
  if (auto done = run_step(install, job, log, "cmake --install"); !done) {
    return std::unexpected(done.error());
  }
  if (auto checked = check_stage(stage); !checked) return std::unexpected(checked.error());
  const fs::path root = stage / fs::path(wheel_prefix).relative_path();
  if (auto made = make_folder(root); !made) return std::unexpected(made.error());
  return root.string();
}

}  // namespace axle::builder
