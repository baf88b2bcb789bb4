#include "builder/platform_tag.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "builder/wheel_contents.h"
#include "tests/support/scratch.h"

namespace axle::builder {
namespace {

using testing::output_of;
using testing::read_all;
using testing::Scratch;
using wheel::WheelMember;

// A shared library from C source, with extra arguments for the compiler driver.
std::string compile(const Scratch& scratch, const std::string& name, const std::string& source,
                    const std::string& arguments = "") {
  scratch.write(name + ".c", source);
  output_of("cc -shared -fPIC -O1 -Wl,-soname," + name + " -o " + scratch.at(name) + " " +
            scratch.at(name + ".c") + " " + arguments + " 2>&1");
  return read_all(scratch.at(name));
}

std::string machine_name() {
  std::string name = output_of("uname -m");
  while (name.ends_with('\n')) name.pop_back();
  return name;
}

TEST_CASE("without ELF files a wheel is pure") {
  const auto tags = choose_tags({{"demo/__init__.py", "x = 1\n", false}}, {"py3", {}});
  REQUIRE(tags.has_value());
  CHECK(tags->python == "py3");
  CHECK(tags->abi == "none");
  CHECK(tags->platform == "any");
  CHECK(tags->pure);
}

TEST_CASE("a library that needs nothing new gets the oldest tag of its architecture") {
  const Scratch scratch;
  const std::string plain =
      compile(scratch, "libplain.so", "int f(void) { return 1; }", "-nostdlib");
  const auto tags = choose_tags({{"demo/libplain.so", plain, true}}, {"py3", {}});
  REQUIRE_MESSAGE(tags.has_value(), tags.error().message);
  const std::string machine = machine_name();
  CHECK(tags->platform ==
        (machine == "x86_64" ? "manylinux_2_5_x86_64" : "manylinux_2_17_" + machine));
  CHECK_FALSE(tags->pure);
}

TEST_CASE("the newest symbol version decides the glibc") {
  const Scratch scratch;
  // fmod@GLIBC_2.38 and memcpy@GLIBC_2.14 exist in places; getrandom came with 2.25 everywhere.
  const std::string library =
      compile(scratch, "librandom.so",
              "#include <sys/random.h>\nlong f(void *p) { return getrandom(p, 1, 0); }");
  const auto tags = choose_tags({{"demo/librandom.so", library, true}}, {"py3", {}});
  REQUIRE_MESSAGE(tags.has_value(), tags.error().message);
  CHECK(tags->platform == "manylinux_2_25_" + machine_name());
}

TEST_CASE("a library from outside is refused, unless the wheel or the project brings it") {
  const Scratch scratch;
  const std::string inner =
      compile(scratch, "libinner.so", "int g(void) { return 2; }", "-nostdlib");
  const std::string outer =
      compile(scratch, "libouter.so", "int g(void); int f(void) { return g(); }",
              "-nostdlib -L" + scratch.at("") + " -linner");
  const WheelMember member{"demo/libouter.so", outer, true};
  const auto refused = choose_tags({member}, {"py3", {}});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().kind == ErrorKind::unsupported);
  CHECK(refused.error().message ==
        "demo/libouter.so needs libinner.so, which is neither in the wheel nor on every machine");
  CHECK(choose_tags({member}, {"py3", {"libinner.so"}}).has_value());
  CHECK(choose_tags({member, {"demo/libinner.so", inner, true}}, {"py3", {}}).has_value());
}

TEST_CASE("extension modules bind a wheel to their Python") {
  const Scratch scratch;
  const std::string module =
      compile(scratch, "libmodule.so", "void *PyInit_fast(void) { return 0; }", "-nostdlib");
  const auto tags = choose_tags(
      {{"demo/fast.cpython-311-" + machine_name() + "-linux-gnu.so", module, true}}, {"py3", {}});
  REQUIRE_MESSAGE(tags.has_value(), tags.error().message);
  CHECK(tags->python == "cp311");
  CHECK(tags->abi == "cp311");
  const auto nameless = choose_tags({{"demo/fast.so", module, true}}, {"py3", {}});
  REQUIRE_FALSE(nameless.has_value());
  CHECK(nameless.error().kind == ErrorKind::unsupported);
  const auto mixed =
      choose_tags({{"demo/a.cpython-311-" + machine_name() + "-linux-gnu.so", module, true},
                   {"demo/b.cpython-312-" + machine_name() + "-linux-gnu.so", module, true}},
                  {"py3", {}});
  CHECK_FALSE(mixed.has_value());
}

TEST_CASE("an extension module has the name of its architecture, or Python does not import it") {
  const Scratch scratch;
  const std::string module =
      compile(scratch, "libmodule.so", "void *PyInit_fast(void) { return 0; }", "-nostdlib");
  const std::string other = machine_name() == "x86_64" ? "aarch64" : "x86_64";
  const std::string misnamed = "demo/fast.cpython-311-" + other + "-linux-gnu.so";
  const std::string right = "demo/fast.cpython-311-" + machine_name() + "-linux-gnu.so";
  for (const bool platform_only : {false, true}) {
    const auto refused = choose_tags({{misnamed, module, true}}, {"py3", {}, {}, platform_only});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().kind == ErrorKind::mismatch);
    CHECK(refused.error().message ==
          misnamed + " is for " + machine_name() + ", where Python imports no module of this name");
    CHECK(refused.error().hint.contains("fast.cpython-311-" + machine_name()));
  }
  // A library that is no module may be called as it likes.
  const std::string library =
      compile(scratch, "libplain.so", "int f(void) { return 0; }", "-nostdlib");
  CHECK(choose_tags({{misnamed, library, true}}, {"py3", {}}).has_value());

  std::vector<WheelMember> members = {{misnamed, module, true},
                                      {"demo/data-" + misnamed.substr(5), "no library", false}};
  name_modules_for(machine_name(), members);
  CHECK(members[0].path == right);
  CHECK(members[1].path == "demo/data-" + misnamed.substr(5));
  members = {{right, module, true}};
  name_modules_for(other, members);  // its code is not of that one
  CHECK(members[0].path == right);
}

TEST_CASE("modules of the stable ABI are for the oldest Python of the project and all newer ones") {
  const Scratch scratch;
  const std::string module =
      compile(scratch, "libstable.so", "void *PyInit_fast(void) { return 0; }", "-nostdlib");
  const WheelMember stable{"demo/fast.abi3.so", module, true};
  const auto tags = choose_tags({stable}, {"py3", {}, ">=3.9,<4"});
  REQUIRE_MESSAGE(tags.has_value(), tags.error().message);
  CHECK(tags->python == "cp39");
  CHECK(tags->abi == "abi3");
  CHECK_FALSE(tags->pure);
  CHECK(choose_tags({stable}, {"py3", {}, ">3.10.2"})->python == "cp310");
  CHECK(choose_tags({stable, stable}, {"py3", {}, "~=3.11"})->python == "cp311");
  for (const char* unstated : {"", ">=2.7", "<4", ">=4"}) {
    CAPTURE(unstated);
    const auto refused = choose_tags({stable}, {"py3", {}, unstated});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().kind == ErrorKind::unsupported);
    CHECK(refused.error().hint.contains("requires-python"));
  }
  // Beside a module for one Python the wheel is for that one.
  const auto both = choose_tags(
      {stable, {"demo/slow.cpython-312-x86_64-linux-gnu.so", module, true}}, {"py3", {}, ">=3.9"});
  REQUIRE_MESSAGE(both.has_value(), both.error().message);
  CHECK(both->python == "cp312");
  CHECK(both->abi == "cp312");
}

TEST_CASE("a free-threaded module names its ABI, its Python is the same") {
  const Scratch scratch;
  const std::string module =
      compile(scratch, "libfree.so", "void *PyInit_fast(void) { return 0; }", "-nostdlib");
  const auto tags =
      choose_tags({{"demo/fast.cpython-313t-x86_64-linux-gnu.so", module, true}}, {"py3", {}});
  REQUIRE_MESSAGE(tags.has_value(), tags.error().message);
  CHECK(tags->python == "cp313");
  CHECK(tags->abi == "cp313t");
}

TEST_CASE("two architectures do not share a wheel") {
  const Scratch scratch;
  const std::string own = compile(scratch, "libown.so", "int f(void) { return 1; }", "-nostdlib");
  std::string other = own;
  other[18] = own[18] == 62 ? static_cast<char>(183) : static_cast<char>(62);  // e_machine
  const auto tags = choose_tags({{"a.so", own, true}, {"b.so", other, true}}, {"py3", {}});
  REQUIRE_FALSE(tags.has_value());
  CHECK(tags.error().message.find("other files are for") != std::string::npos);
}

TEST_CASE("object files are no reason for a tag, damaged libraries are refused") {
  const Scratch scratch;
  const std::string sound =
      compile(scratch, "libdamage.so", "#include <stdio.h>\nvoid f(void) { puts(\"\"); }");
  scratch.write("plain.c", "int f(void) { return 1; }");
  output_of("cc -c -o " + scratch.at("plain.o") + " " + scratch.at("plain.c"));
  const auto object =
      choose_tags({{"demo/plain.o", read_all(scratch.at("plain.o")), false}}, {"py3", {}});
  REQUIRE_MESSAGE(object.has_value(), object.error().message);
  CHECK(object->platform == "any");
  for (const std::size_t size : {std::size_t{8}, std::size_t{64}, sound.size() - 1}) {
    const auto cut = choose_tags({{"demo/cut.so", sound.substr(0, size), true}}, {"py3", {}});
    REQUIRE_FALSE(cut.has_value());
    CHECK(cut.error().kind == ErrorKind::malformed);
    CHECK(cut.error().message.starts_with("demo/cut.so: "));
  }
}

}  // namespace
}  // namespace axle::builder
