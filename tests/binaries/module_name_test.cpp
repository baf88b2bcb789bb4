#include "binaries/module_name.h"

#include <doctest/doctest.h>

namespace axle::binaries {
namespace {

TEST_CASE("binaries: an extension module's name says an architecture, or none") {
  CHECK(architecture_of_module("_c.cpython-311-x86_64-linux-gnu.so") == "x86_64");
  CHECK(architecture_of_module("_c.cpython-313t-aarch64-linux-musl.so") == "aarch64");
  CHECK(architecture_of_module("a.b.cpython-39-powerpc64le-linux-gnu.so") == "powerpc64le");
  for (const char* none :
       {"_c.so", "_c.abi3.so", "_c.cpython-311-darwin.so", "_c.cpython-311--linux-gnu.so",
        "_c.cpython-311-x86_64-linux-gnu.so.1", ".cpython-", "_c.cpython-311.pyc", ""}) {
    CAPTURE(none);
    CHECK(architecture_of_module(none).empty());
    CHECK_FALSE(names_other_architecture(none, "x86_64"));
  }
}

TEST_CASE("binaries: which names are never imported") {
  const char* const name = "_c.cpython-311-x86_64-linux-gnu.so";
  CHECK_FALSE(names_other_architecture(name, "x86_64"));
  CHECK(names_other_architecture(name, "aarch64"));
  CHECK_FALSE(names_other_architecture(name, "machine 21"));
  CHECK(module_name_for(name, "aarch64") == "_c.cpython-311-aarch64-linux-gnu.so");
}

}  // namespace
}  // namespace axle::binaries
