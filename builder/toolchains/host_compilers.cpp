#include "builder/toolchains/host_compilers.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "builder/logged_program.h"
#include "builder/project_files.h"
#include "builder/toolchains/disk_space.h"
#include "foundation/system/whole_file.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t shown_lines = 20;

Result<void> expect_tool(const std::string& program, std::string_view package) {
  const auto status = run_logged({{program, "--version"}}, {});
  if (status && *status == 0) return {};
  return fail(ErrorKind::not_found, fmt::format("{} is not installed or does not run", program),
              fmt::format("install it, on Debian: apt install {}", package));
}

Result<void> write_project(const fs::path& folder) {
  constexpr std::string_view compiler_project = R"(cmake_minimum_required(VERSION 3.16)
project(compilers LANGUAGES C)
include(CheckLanguage)
check_language(CXX)
)";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(ErrorKind::io, fmt::format("{}: {}", folder.string(), error.message()));
  const fs::path path = folder / "CMakeLists.txt";
  error = system::write_whole_file(path.string(), compiler_project, {.flush = system::Flush::no});
  if (!error) return {};
  return fail(ErrorKind::io,
              fmt::format("{}: cannot be written: {}", path.string(), error.message()),
              "choose another place with --cache-dir");
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

/// What the compiler wrote when CMake tried it, without what CMake and Ninja say of it; empty: none
/// was tried.
std::string words_of_compiler(std::string_view said) {
  constexpr std::string_view before = "It fails with the following output:";
  const std::size_t begin = said.find(before);
  if (begin == std::string_view::npos) return {};
  said.remove_prefix(begin + before.size());
  said = said.substr(0, said.find("CMake will not be able"));
  std::string words;
  while (!said.empty()) {
    const std::size_t end = std::min(said.find('\n'), said.size());
    std::string_view line = said.substr(0, end);
    said.remove_prefix(std::min(end + 1, said.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const bool of_others = line.empty() || line.starts_with("Change Dir:") ||
                           line.starts_with("Run Build Command") || line.starts_with("ninja:") ||
                           line.starts_with("FAILED:") || line.starts_with('[');
    if (!of_others) words += fmt::format("{}{}", words.empty() ? "" : "\n", line);
  }
  return words;
}

Error no_compiler(std::string_view said, const std::string& last, const std::string& told) {
  const std::string with = told.empty() ? "" : " with " + told;
  if (std::string words = words_of_compiler(said); !words.empty()) {
    return {ErrorKind::unsupported, fmt::format("the C compiler does not work{}:\n{}", with, words),
            told.empty() ? "install another one, or set CC and CXX"
                         : "correct these variables, or leave them unset"};
  }
  return {ErrorKind::not_found,
          fmt::format("finding a C compiler{} failed; its last lines:\n{}", with, last),
          "install one, on Debian: apt install gcc g++; or set CC and CXX"};
}

}  // namespace

Result<void> check_cmake() {
  if (auto cmake = expect_tool("cmake", "cmake"); !cmake) return cmake;
  return expect_tool("ninja", "ninja-build");
}

Result<Compilers> find_compilers(const std::string& work_folder, const Definitions& environment,
                                 const std::string& told) {
  const fs::path folder = fs::path(work_folder) / "compilers";
  std::error_code ignored;
  // What was found earlier may be gone, and CC may say other than then.
  fs::remove_all(folder, ignored);
  if (auto written = write_project(folder); !written) return std::unexpected(written.error());
  const std::string log = (folder / "build.log").string();
  const std::string build = (folder / "build").string();
  system::Program cmake{{"cmake", "-S", folder.string(), "-B", build, "-G", "Ninja"}};
  cmake.variables = {{"LC_ALL", "C"}};
  cmake.variables.insert(cmake.variables.end(), environment.begin(), environment.end());
  const auto status = run_logged(cmake, log);
  if (!status) return std::unexpected(status.error());
  if (*status != 0) {
    const std::string said = last_lines(log, 100);
    if (auto full = lack_of_space("compilers cannot be tried", folder.string(), said))
      return std::unexpected(std::move(*full));
    return std::unexpected(no_compiler(said, last_lines(log, shown_lines), told));
  }
  const auto cache = read_file((fs::path(build) / "CMakeCache.txt").string(), largest_text);
  if (!cache) return std::unexpected(cache.error());
  return Compilers{cache_entry(*cache, "CMAKE_C_COMPILER"),
                   cache_entry(*cache, "CMAKE_CXX_COMPILER")};
}

}  // namespace axle::builder
