#include "builder/toolchains/host_compilers.h"

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

}  // namespace

Result<void> check_cmake() {
  if (auto cmake = expect_tool("cmake", "cmake"); !cmake) return cmake;
  return expect_tool("ninja", "ninja-build");
}

Result<Compilers> find_compilers(const std::string& work_folder) {
  const fs::path folder = fs::path(work_folder) / "compilers";
  std::error_code ignored;
  // What was found earlier may be gone, and CC may say other than then.
  fs::remove_all(folder, ignored);
  if (auto written = write_project(folder); !written) return std::unexpected(written.error());
  const std::string log = (folder / "build.log").string();
  const std::string build = (folder / "build").string();
  const auto status = run_logged(
      {{"cmake", "-S", folder.string(), "-B", build, "-G", "Ninja"}, {}, {{"LC_ALL", "C"}}}, log);
  if (!status) return std::unexpected(status.error());
  if (*status != 0) {
    const std::string said = last_lines(log, 100);
    if (auto full = lack_of_space("compilers cannot be tried", folder.string(), said))
      return std::unexpected(std::move(*full));
    return fail(ErrorKind::not_found,
                fmt::format("finding a C compiler failed; its last lines:\n{}",
                            last_lines(log, shown_lines)),
                "install one, on Debian: apt install gcc g++; or set CC and CXX");
  }
  const auto cache = read_file((fs::path(build) / "CMakeCache.txt").string(), largest_text);
  if (!cache) return std::unexpected(cache.error());
  return Compilers{cache_entry(*cache, "CMAKE_C_COMPILER"),
                   cache_entry(*cache, "CMAKE_CXX_COMPILER")};
}

}  // namespace axle::builder
