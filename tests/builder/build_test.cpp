// A little project that is not ours, built from end to end: a C library and a Python package that
// calls it through ctypes.

#include "builder/build.h"

#include <algorithm>
#include <iostream>

#include <doctest/doctest.h>
#include <stdlib.h>

#include "tests/support/scratch.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/wheel_file.h"

namespace axle::builder {
namespace {

using testing::output_of;
using testing::read_all;
using testing::Scratch;

const char* const cmake_lists = R"(
cmake_minimum_required(VERSION 3.16)
project(counting C)
set(STEP 1 CACHE STRING "How far one step goes")
add_library(counting SHARED native/counting.c)
target_compile_definitions(counting PRIVATE STEP=${STEP})
install(TARGETS counting LIBRARY DESTINATION counting)
)";

// The level that the compiler was told shows in its own macros; __FILE__ would show a path.
const char* const c_source = R"(
int counting_step(int from) { return from + STEP; }
const char *counting_file(void) { return __FILE__ " " __DATE__ " " __TIME__; }
int counting_level(void) {
#if defined(__AVX2__)
  return 3;
#elif defined(__SSE4_2__)
  return 2;
#else
  return 1;
#endif
}
)";

const char* const python_source = R"(
import ctypes, pathlib
_library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "libcounting.so"))
step = _library.counting_step
level = _library.counting_level
def main():
    print(step(41))
)";

const char* const pyproject = R"(
[project]
name = "Counting.Project"
version = "1.2"
description = "Counts"
requires-python = ">=3.9"
readme = "README.md"
license = "MIT"
[project.scripts]
counting = "counting:main"

[variant.default-priorities]
namespace = ["x86_64"]
[variant.providers.x86_64]
requires = ["x86-64-variant-provider"]
[variant.variants.level2]
x86_64.level = ["v2"]
[variant.variants.level3]
x86_64.level = ["v3"]

[tool.axle]
packages = ["python/counting"]
cmake.source = "."
[[tool.axle.variant]]
label = "null"
[[tool.axle.variant]]
label = "level2"
[[tool.axle.variant]]
label = "level3"
cmake = {STEP = 2}
)";

void write_project(const Scratch& scratch, const std::string& description = pyproject) {
  scratch.write("project/pyproject.toml", description);
  scratch.write("project/CMakeLists.txt", cmake_lists);
  scratch.write("project/native/counting.c", c_source);
  scratch.write("project/python/counting/__init__.py", python_source);
  scratch.write("project/python/counting/__pycache__/__init__.cpython-311.pyc", "cache");
  scratch.write("project/README.md", "# Counting\n");
  scratch.write("project/LICENSE", "As you like.\n");
}

BuildOptions options_for(const Scratch& scratch, const std::string& out) {
  BuildOptions options;
  options.project_folder = scratch.at("project");
  options.out_folder = scratch.at(out);
  options.source_date_epoch = 1'700'000'000;
  options.jobs = 1;
  return options;
}

std::vector<BuiltWheel> build(const BuildOptions& options) {
  CollectedReport report;
  auto wheels = build_project(options, report);
  REQUIRE_MESSAGE(wheels.has_value(), wheels.error().message);
  return std::move(*wheels);
}

Error build_error(const BuildOptions& options) {
  CollectedReport report;
  auto wheels = build_project(options, report);
  REQUIRE_FALSE(wheels.has_value());
  return wheels.error();
}

bool is_x86_64() { return output_of("uname -m").starts_with("x86_64"); }

std::string run_installed(const Scratch& scratch, const std::string& wheel_file,
                          const std::string& code) {
  const std::string site = scratch.at("site");
  std::filesystem::remove_all(site);
  return output_of("python3 -m zipfile -e '" + wheel_file + "' '" + site + "' && PYTHONPATH='" +
                   site + "' python3 -B -c '" + code + "'");
}

TEST_CASE("a foreign project: three variants, found by their label, made by their flags") {
  if (!is_x86_64()) {
    std::cout << "SKIP: needs an x86-64 compiler\n";
    return;
  }
  const Scratch scratch;
  write_project(scratch);
  const auto wheels = build(options_for(scratch, "out"));
  REQUIRE(wheels.size() == 3);
  CHECK(wheels[0].label == "null");
  CHECK(wheels[2].label == "level3");
  for (const BuiltWheel& built : wheels) {
    const std::string name = std::filesystem::path(built.file).filename().string();
    CHECK_MESSAGE(
        name == "counting_project-1.2-py3-none-manylinux_2_5_x86_64-" + built.label + ".whl", name);
    CHECK(built.size == std::filesystem::file_size(built.file));
    CHECK(output_of("sha256sum '" + built.file + "'").starts_with(built.sha256));

    CollectedReport report;
    const std::string bytes = read_all(built.file);
    const auto opened = wheel::open_wheel(wheel::memory_source(bytes), name, name, report);
    REQUIRE_MESSAGE(opened.has_value(), opened.error().message);
    CHECK(opened->metadata.name == "Counting.Project");
    CHECK_FALSE(opened->purelib);
    REQUIRE(opened->variant.has_value());
    CHECK(opened->variant->variants.size() == 1);
    CHECK(opened->variant->variants.contains(built.label));
    CHECK(opened->variant->namespaces == std::vector<std::string>{"x86_64"});
    CHECK(opened->archive.find("counting/__pycache__/__init__.cpython-311.pyc") == nullptr);
    CHECK(opened->archive.find("counting_project-1.2.dist-info/licenses/LICENSE") != nullptr);
    CHECK(opened->metadata_text.ends_with("\n\n# Counting\n"));
    // What was built says nothing of where it was built.
    const auto* library = opened->archive.find("counting/libcounting.so");
    REQUIRE(library != nullptr);
    const auto content = opened->archive.read_text(*library, 1 << 24);
    REQUIRE(content.has_value());
    CHECK(content->find("/src/native/counting.c Nov 14 2023") != std::string::npos);
    CHECK(content->find(scratch.at("")) == std::string::npos);
  }
  CHECK(run_installed(scratch, wheels[0].file,
                      "import counting; print(counting.step(1), counting.level())") == "2 1\n");
  // Loading a library runs none of its code: safe on machines below its level.
  CHECK(run_installed(scratch, wheels[1].file, "import counting; print(counting.level())") ==
        "2\n");
  CHECK(run_installed(scratch, wheels[2].file,
                      "import counting; print(counting.step(1), counting.level())") == "3 3\n");
}

TEST_CASE("a plain wheel has the old name of its platform, too: pip before 20.3 knows no other") {
  const Scratch scratch;
  write_project(scratch,
                "[project]\nname = \"counting\"\nversion = \"1\"\n"
                "[tool.axle]\npackages = [\"python/counting\"]\ncmake.source = \".\"\n");
  const auto wheels = build(options_for(scratch, "out"));
  REQUIRE(wheels.size() == 1);
  const std::string platform = is_x86_64() ? "manylinux1_x86_64.manylinux_2_5_x86_64"
                                           : "manylinux2014_aarch64.manylinux_2_17_aarch64";
  const std::string name = "counting-1-py3-none-" + platform + ".whl";
  CHECK(std::filesystem::path(wheels[0].file).filename() == name);
  CollectedReport report;
  const std::string bytes = read_all(wheels[0].file);
  const auto opened = wheel::open_wheel(wheel::memory_source(bytes), name, name, report);
  REQUIRE_MESSAGE(opened.has_value(), opened.error().message);
  const auto* file = opened->archive.find("counting-1.dist-info/WHEEL");
  REQUIRE(file != nullptr);
  const auto text = opened->archive.read_text(*file, 1 << 12);
  REQUIRE(text.has_value());
  const auto named = wheel::parse_wheel_name(name);
  REQUIRE(named.has_value());
  REQUIRE(named->tags.size() == 2);
  for (const wheel::Tag& tag : named->tags)
    CHECK(text->contains("Tag: " + wheel::render_tag(tag) + "\n"));
}

TEST_CASE("two builds give identical bytes, wherever they happen") {
  const Scratch scratch;
  write_project(scratch);
  BuildOptions first = options_for(scratch, "first");
  first.labels = {"null"};
  BuildOptions second = first;
  second.out_folder = scratch.at("a/longer/name/of/a/folder");
  second.work_folder = scratch.at("some/other/work/folder");
  const auto left = build(first);
  const auto right = build(second);
  REQUIRE(left.size() == 1);
  REQUIRE(right.size() == 1);
  CHECK(left[0].sha256 == right[0].sha256);
  CHECK(read_all(left[0].file) == read_all(right[0].file));

  // The project itself elsewhere, too.
  std::filesystem::rename(scratch.at("project"), scratch.at("moved"));
  BuildOptions third = first;
  third.project_folder = scratch.at("moved");
  CHECK(build(third)[0].sha256 == left[0].sha256);
}

TEST_CASE("a project without CMake is a pure wheel") {
  const Scratch scratch;
  scratch.write("project/pyproject.toml",
                "[project]\nname = \"pure\"\nversion = \"1\"\n"
                "[tool.axle]\npackages = [\"pure\", \"single.py\"]\n");
  scratch.write("project/pure/__init__.py", "from single import x\n");
  scratch.write("project/pure/data/table.txt", "1\n");
  scratch.write("project/single.py", "x = 7\n");
  const auto wheels = build(options_for(scratch, "out"));
  REQUIRE(wheels.size() == 1);
  CHECK(wheels[0].label.empty());
  CHECK(wheels[0].file.ends_with("/pure-1-py3-none-any.whl"));
  CHECK(run_installed(scratch, wheels[0].file, "import pure; print(pure.x)") == "7\n");
  CHECK(std::filesystem::is_empty(scratch.temporary()));
}

TEST_CASE("builds into one folder do not take each other's half wheels") {
  const Scratch scratch;
  scratch.write(
      "project/pyproject.toml",
      "[project]\nname = \"pure\"\nversion = \"1\"\n[tool.axle]\npackages = [\"pure\"]\n");
  scratch.write("project/pure/__init__.py", "x = 7\n");
  // What another build has written so far.
  const std::string half = "out/pure-1-py3-none-any.whl.part";
  scratch.write(half, "half");
  const auto wheels = build(options_for(scratch, "out"));
  REQUIRE(wheels.size() == 1);
  CHECK(read_all(scratch.at(half)) == "half");
  CHECK(std::distance(std::filesystem::directory_iterator(scratch.at("out")), {}) == 2);
}

TEST_CASE("labels that do not exist are refused with those that do") {
  const Scratch scratch;
  write_project(scratch);
  BuildOptions options = options_for(scratch, "out");
  options.labels = {"level9"};
  const Error error = build_error(options);
  CHECK(error.kind == ErrorKind::not_found);
  CHECK(error.message == "the project has no variant \"level9\"");
  CHECK(error.hint == "did you mean level2 or level3? it has null, level2, level3");
}

TEST_CASE("no pyproject.toml") {
  const Scratch scratch;
  const Error error = build_error(options_for(scratch, "out"));
  CHECK(error.kind == ErrorKind::not_found);
  CHECK(error.message.find("pyproject.toml: no such file") != std::string::npos);
}

TEST_CASE("a compiler that lacks a flag is named with it") {
  if (!is_x86_64()) {
    std::cout << "SKIP: needs an x86-64 compiler\n";
    return;
  }
  const Scratch scratch;
  scratch.write("old/cc", "#!/bin/sh\ncase \"$*\" in *-mamx-fp8*) exit 1;; esac\nexec cc \"$@\"\n");
  std::filesystem::permissions(scratch.at("old/cc"), std::filesystem::perms::owner_all);
  write_project(scratch, R"(
[project]
name = "a"
version = "1"
[variant.default-priorities]
namespace = ["axle"]
[variant.providers.axle]
requires = ["axle-variant-provider"]
[variant.variants.tiles]
axle.amx_fp8 = ["on"]
[tool.axle.cmake]
source = "."
)");
  REQUIRE(setenv("CC", scratch.at("old/cc").c_str(), 1) == 0);
  const Error error = build_error(options_for(scratch, "out"));
  unsetenv("CC");
  CHECK(error.kind == ErrorKind::unsupported);
  CHECK_MESSAGE(
      error.message.find("does not support -mamx-fp8, which axle :: amx_fp8 :: on needs") !=
          std::string::npos,
      error.message);
  CHECK(error.message.find(scratch.at("old/cc")) != std::string::npos);
  CHECK(error.hint.find("GCC supports it from 15") != std::string::npos);
}

TEST_CASE("when CMake fails its last lines stand in the error, and the log stays") {
  const Scratch scratch;
  write_project(scratch);
  scratch.write("project/native/counting.c", "#error this is the reason\n");
  BuildOptions options = options_for(scratch, "out");
  options.labels = {"null"};
  options.work_folder = scratch.at("work");
  const Error error = build_error(options);
  CHECK(error.kind == ErrorKind::io);
  CHECK(error.message.starts_with("variant null: compiling failed; its last lines:\n"));
  CHECK(error.message.find("this is the reason") != std::string::npos);
  CHECK(std::ranges::count(error.message, '\n') <= 20);
  CHECK(error.hint == "the complete output is in " + scratch.at("work/variant-null/build.log"));
  CHECK(read_all(scratch.at("work/variant-null/build.log")).find("this is the reason") !=
        std::string::npos);
  CHECK(std::filesystem::is_empty(scratch.at("out")));
}

TEST_CASE("files that are installed outside of the wheel are refused") {
  const Scratch scratch;
  write_project(scratch);
  scratch.write("project/CMakeLists.txt",
                std::string(cmake_lists) + "install(FILES README.md DESTINATION /etc/counting)\n");
  BuildOptions options = options_for(scratch, "out");
  options.labels = {"null"};
  const Error error = build_error(options);
  CHECK(error.kind == ErrorKind::malformed);
  CHECK(error.message.find("installs /etc/counting/README.md") != std::string::npos);
  // The message says all.
  CHECK(std::filesystem::is_empty(scratch.temporary()));
}

TEST_CASE("without CMake or Ninja the error says what to install") {
  const Scratch scratch;
  write_project(scratch);
  scratch.write("bin/empty", "");
  const std::string path = getenv("PATH");
  REQUIRE(setenv("PATH", scratch.at("bin").c_str(), 1) == 0);
  const Error error = build_error(options_for(scratch, "out"));
  REQUIRE(setenv("PATH", path.c_str(), 1) == 0);
  CHECK(error.kind == ErrorKind::not_found);
  CHECK(error.message == "cmake is not installed or does not run");
  CHECK(error.hint.find("apt install cmake") != std::string::npos);
}

TEST_CASE("a package that leaves the project is refused") {
  const Scratch scratch;
  scratch.write("secret.py", "password = 1\n");
  scratch.write(
      "project/pyproject.toml",
      "[project]\nname = \"a\"\nversion = \"1\"\n[tool.axle]\npackages = [\"../secret.py\"]\n");
  CHECK(build_error(options_for(scratch, "out")).kind == ErrorKind::malformed);
  scratch.write("project/pyproject.toml",
                "[project]\nname = \"a\"\nversion = \"1\"\n[tool.axle]\npackages = [\"code\"]\n");
  scratch.write("project/code/__init__.py", "");
  std::filesystem::create_symlink(scratch.at("secret.py"), scratch.at("project/code/secret.py"));
  const Error error = build_error(options_for(scratch, "out"));
  CHECK(error.kind == ErrorKind::malformed);
  CHECK(error.message.find("a link that does not point to a file in its own tree") !=
        std::string::npos);
  CHECK(std::filesystem::is_empty(scratch.temporary()));
}

}  // namespace
}  // namespace axle::builder
