// The machine's own libraries: what of symbol versions is missing there.
#include "binaries/system_runtime.h"

#include <doctest/doctest.h>
#include <elf.h>

#include "tests/support/recorded_host.h"
#include "tests/support/scratch.h"

namespace axle::binaries {
namespace {

using builder::testing::output_of;
using builder::testing::read_all;
using builder::testing::Scratch;

/// A library that defines these versions, for the machine that builds it.
std::string made_library(const std::vector<std::string>& versions) {
  const Scratch scratch;
  std::string map;
  std::string code = "int nothing;";
  for (std::size_t i = 0; i < versions.size(); ++i) {
    map += versions[i] + " { global: f" + std::to_string(i) + "; };\n";
    code += "void f" + std::to_string(i) + "(void) {}\n";
  }
  scratch.write("a.map", map);
  scratch.write("a.c", code);
  output_of("cc -shared -fPIC -nostdlib -Wl,-soname,made.so.6 " +
            (map.empty() ? std::string() : "-Wl,--version-script," + scratch.at("a.map")) + " -o " +
            scratch.at("a.so") + " " + scratch.at("a.c"));
  return read_all(scratch.at("a.so"));
}

std::uint16_t here() {
  Elf64_Ehdr header;
  const std::string content = made_library({});
  std::memcpy(&header, content.data(), sizeof(header));
  return header.e_machine;
}

elf::VersionNeed need(const std::string& library, const std::string& version) {
  return {library, version, false, 2};
}

const detect::Libc glibc_2_36{"glibc", 2, 36, {}};

TEST_CASE("a newer glibc is named beside the one that is there") {
  SystemRuntime elsewhere(glibc_2_36, nullptr, {});
  const auto lacks = [&](const std::string& library, const std::string& version) {
    return elsewhere.lacks(need(library, version), EM_X86_64).value_or("");
  };
  CHECK(lacks("libc.so.6", "GLIBC_2.38") == "this machine has glibc 2.36");
  CHECK(lacks("libm.so.6", "GLIBC_2.100") == "this machine has glibc 2.36");
  CHECK(lacks("ld-linux-x86-64.so.2", "GLIBC_2.36.1") == "this machine has glibc 2.36");
  for (const char* known : {"GLIBC_2.36", "GLIBC_2.2.5", "GLIBC_2.4", "GLIBC_PRIVATE",
                            "GLIBC_ABI_DT_RELR", "GLIBC_", "GLIBC_2..9", "", "2.38"})
    CHECK_MESSAGE(lacks("libc.so.6", known).empty(), known);
  // Of another machine no more is known, and what wheels bring along is their own.
  CHECK(lacks("libstdc++.so.6", "GLIBCXX_3.4.99").empty());
  CHECK(lacks("libown.so", "GLIBC_2.38").empty());
  CHECK_FALSE(elsewhere.is_absent("libstdc++.so.6", EM_X86_64));
  SystemRuntime musl({"musl", 1, 2, {}}, nullptr, {});
  CHECK_FALSE(musl.lacks(need("libc.so.6", "GLIBC_2.38"), EM_X86_64).has_value());
}

TEST_CASE("the files of this machine are read, every copy that may be loaded") {
  testing::RecordedHost host;
  const std::string libstdcxx = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
  host.files[libstdcxx] =
      made_library({"GLIBCXX_3.4", "GLIBCXX_3.4.9", "GLIBCXX_3.4.30", "CXXABI_1.3"});
  host.files["/usr/lib/x86_64-linux-gnu/libc.so.6"] = made_library({"GLIBC_2.2.5", "GLIBC_2.39"});
  host.files["/usr/lib64/libstdc++.so.6"] = "INPUT(libstdc++.so.6)";
  SystemRuntime runtime(glibc_2_36, &host, {"/opt/conda/lib"});
  const std::uint16_t machine = here();
  const auto lacks = [&](const std::string& library, const std::string& version) {
    return runtime.lacks(need(library, version), machine).value_or("");
  };
  CHECK(lacks("libstdc++.so.6", "GLIBCXX_3.4.30").empty());
  CHECK(lacks("libstdc++.so.6", "GLIBCXX_3.4.32") ==
        "this machine has GLIBCXX_3.4.30 (" + libstdcxx + ")");
  CHECK(lacks("libstdc++.so.6", "CXXABI_1.3.15") ==
        "this machine has CXXABI_1.3 (" + libstdcxx + ")");
  CHECK(lacks("libstdc++.so.6", "CXXABI_FLOAT128") == "which " + libstdcxx + " lacks");
  CHECK(lacks("libstdc++.so.6", "MADE_UP_1") == "which " + libstdcxx + " lacks");
  // Distributions add single versions to an older glibc.
  CHECK(lacks("libc.so.6", "GLIBC_2.39").empty());
  CHECK(lacks("libc.so.6", "GLIBC_2.38") == "this machine has glibc 2.36");
  CHECK(lacks("libgcc_s.so.1", "GCC_14.0.0").empty());
  CHECK(runtime.is_absent("libgcc_s.so.1", machine));
  CHECK_FALSE(runtime.is_absent("libstdc++.so.6", machine));
  // The library of another architecture is not the one that is loaded.
  CHECK(runtime.is_absent("libstdc++.so.6", machine == EM_X86_64 ? EM_AARCH64 : EM_X86_64));

  host.files["/opt/conda/lib/libstdc++.so.6"] = made_library({"GLIBCXX_3.4.32"});
  SystemRuntime conda(glibc_2_36, &host, {"/opt/conda/lib"});
  CHECK_FALSE(conda.lacks(need("libstdc++.so.6", "GLIBCXX_3.4.32"), machine).has_value());
}

TEST_CASE("a library without versions lacks none") {
  testing::RecordedHost host;
  host.files["/usr/lib64/libstdc++.so.6"] = made_library({});
  SystemRuntime runtime(glibc_2_36, &host, {});
  CHECK_FALSE(runtime.lacks(need("libstdc++.so.6", "GLIBCXX_3.4.32"), here()).has_value());
  CHECK_FALSE(runtime.is_absent("libstdc++.so.6", here()));
}

}  // namespace
}  // namespace axle::binaries
