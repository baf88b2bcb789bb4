// What libraries ask of the loader, of Python and of torch, as gcc and readelf make and see it.
#include "binaries/linkage.h"

#include <fstream>
#include <iterator>

#include <doctest/doctest.h>

#include "binaries/platform_policy.h"
#include "tests/support/scratch.h"

namespace axle::builder {
namespace {

using namespace testing;

binaries::Linkage linkage_of(const Scratch& scratch, const std::string& code,
                             const std::string& arguments = "") {
  scratch.write("f.c", code);
  output_of("cc -shared -fPIC -o " + scratch.at("f.so") + " " + scratch.at("f.c") + " " +
            arguments + " 2>&1");
  const auto source = wheel::open_file_source(scratch.at("f.so"));
  REQUIRE(source.has_value());
  auto read = binaries::read_linkage(**source, "f.so");
  REQUIRE(read.has_value());
  return std::move(*read);
}

}  // namespace

TEST_CASE("linkage: a plain library asks for nothing special") {
  const Scratch scratch;
  const auto plain = linkage_of(scratch, "int f(void) { return 1; }\n");
  CHECK(plain.loadable);
  CHECK_FALSE(plain.executable_stack);
  CHECK_FALSE(plain.text_relocations);
  CHECK_FALSE(plain.writable_code);
  CHECK(plain.modules.empty());
  CHECK(plain.python.empty());
}

TEST_CASE("linkage: stack, relocations and segments") {
  const Scratch scratch;
  CHECK(linkage_of(scratch, "int f(void) { return 1; }\n", "-Wl,-z,execstack").executable_stack);
  CHECK(linkage_of(scratch, "int f(void) { return 1; }\n", "-nostdlib -Wl,-N").writable_code);
  if (output_of("uname -m") == "x86_64\n") {
    scratch.write("r.s",
                  "  .text\n  .globl g\ng:\n  movabs $f, %rax\n  ret\n"
                  "  .section .note.GNU-stack,\"\",@progbits\n");
    CHECK(linkage_of(scratch, "int f(void) { return 1; }\n", scratch.at("r.s") + " -Wl,-z,notext")
              .text_relocations);
  }
}

TEST_CASE("linkage: symbols of Python and of torch") {
  const Scratch scratch;
  const auto used =
      linkage_of(scratch,
                 "void PyErr_Clear(void); void aoti_torch_delete_tensor_object(void);\n"
                 "void _ZN3c105ErrorC1Ev(void); void _ZN2at6Tensor3addEv(void); void other(void);\n"
                 "void* PyInit_demo(void) { PyErr_Clear(); aoti_torch_delete_tensor_object(); "
                 "_ZN3c105ErrorC1Ev(); _ZN2at6Tensor3addEv(); other(); return 0; }\n");
  CHECK(used.modules == std::vector<std::string>{"demo"});
  CHECK(used.python == std::vector<std::string>{"PyErr_Clear"});
  CHECK(used.torch_cxx.count == 2);
  CHECK(used.torch_stable.count == 1);
  CHECK(used.torch_stable.examples.front() == "aoti_torch_delete_tensor_object");
}

TEST_CASE("linkage: truncated files are errors, at every length") {
  const Scratch scratch;
  (void)linkage_of(scratch, "int f(void) { return 1; }\n");
  std::ifstream file(scratch.at("f.so"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    const std::string cut = whole.substr(0, size);
    const auto source = wheel::memory_source(cut);
    const auto read = binaries::read_linkage(*source, "cut");
    CHECK_FALSE(read.has_value());
  }
}

TEST_CASE("platform policy: versions and libraries") {
  using binaries::glibc_of_version;
  CHECK(glibc_of_version("GLIBC_2.17") == 17);
  CHECK(glibc_of_version("GLIBC_2.2.5") == 2);
  CHECK(glibc_of_version("GLIBC_ABI_DT_RELR") == 36);
  CHECK(glibc_of_version("GLIBCXX_3.4.19") == 17);
  CHECK(glibc_of_version("GLIBCXX_3.4.30") == 35);
  CHECK(glibc_of_version("ZLIB_1.2.9") == 27);
  CHECK_FALSE(glibc_of_version("GLIBC_PRIVATE").has_value());
  CHECK_FALSE(glibc_of_version("GLIBCXX_3.4.99").has_value());
  CHECK_FALSE(binaries::is_platform_version("OPENSSL_3.0.0"));
  CHECK(binaries::is_older_version("GLIBC_2.9", "GLIBC_2.28"));
  CHECK_FALSE(binaries::is_older_version("GLIBC_2.28", "GLIBC_2.9"));
  CHECK_FALSE(binaries::is_older_version("GLIBC_2.9", "GCC_7.0.0"));
  CHECK(binaries::system_library_since("libc.so.6") == 5);
  CHECK(binaries::system_library_since("libmvec.so.1") == 24);
  CHECK_FALSE(binaries::system_library_since("libssl.so.3").has_value());
}

TEST_CASE("binaries: an extension module's name says an architecture, or none") {
  CHECK(binaries::architecture_of_module("_c.cpython-311-x86_64-linux-gnu.so") == "x86_64");
  CHECK(binaries::architecture_of_module("_c.cpython-313t-aarch64-linux-musl.so") == "aarch64");
  CHECK(binaries::architecture_of_module("a.b.cpython-39-powerpc64le-linux-gnu.so") ==
        "powerpc64le");
  CHECK(binaries::architecture_of_module("_c.pypy311-pp73-x86_64-linux-gnu.so") == "x86_64");
  CHECK(binaries::module_name_for("_c.pypy311-pp73-x86_64-linux-gnu.so", "aarch64") ==
        "_c.pypy311-pp73-aarch64-linux-gnu.so");
  CHECK(binaries::module_name_for("_c.cpython-311-arm-linux-gnueabihf.so", "aarch64") ==
        "_c.cpython-311-aarch64-linux-gnu.so");
  CHECK(binaries::module_name_for("_c.cpython-311-x86_64-linux-musl.so", "aarch64") ==
        "_c.cpython-311-aarch64-linux-musl.so");
  for (const char* none :
       {"_c.so", "_c.abi3.so", "_c.cpython-311-darwin.so", "_c.cpython-311--linux-gnu.so",
        "_c.cpython-311-x86_64-linux-gnu.so.1", ".cpython-", "_c.cpython-311.pyc", ""}) {
    CAPTURE(none);
    CHECK(binaries::architecture_of_module(none).empty());
    CHECK_FALSE(binaries::names_other_architecture(none, "x86_64"));
  }
}

TEST_CASE("binaries: which names are never imported") {
  const char* const name = "_c.cpython-311-x86_64-linux-gnu.so";
  CHECK_FALSE(binaries::names_other_architecture(name, "x86_64"));
  CHECK(binaries::names_other_architecture(name, "aarch64"));
  CHECK_FALSE(binaries::names_other_architecture(name, "machine 21"));
  CHECK(binaries::module_name_for(name, "aarch64") == "_c.cpython-311-aarch64-linux-gnu.so");
}

}  // namespace axle::builder
