#include "builder/platform_tag.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include "foundation/elf/elf_file.h"
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
  const auto tags =
      choose_tags({{"demo/fast.cpython-311-x86_64-linux-gnu.so", module, true}}, {"py3", {}});
  REQUIRE_MESSAGE(tags.has_value(), tags.error().message);
  CHECK(tags->python == "cp311");
  CHECK(tags->abi == "cp311");
  const auto nameless = choose_tags({{"demo/fast.so", module, true}}, {"py3", {}});
  REQUIRE_FALSE(nameless.has_value());
  CHECK(nameless.error().kind == ErrorKind::unsupported);
  const auto mixed = choose_tags({{"demo/a.cpython-311-x86_64-linux-gnu.so", module, true},
                                  {"demo/b.cpython-312-x86_64-linux-gnu.so", module, true}},
                                 {"py3", {}});
  CHECK_FALSE(mixed.has_value());
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

// "Shared library: [libc.so.6]" and "Name: GLIBC_2.4  Flags: none", as readelf prints them.
std::multiset<std::string> readelf_facts(const std::string& path) {
  std::multiset<std::string> facts;
  std::istringstream lines(output_of("LC_ALL=C readelf -dVW '" + path + "' 2>/dev/null"));
  bool needs = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Version ")) needs = line.starts_with("Version needs section");
    const auto between = [&](const std::string& from, const std::string& to) {
      const std::size_t begin = line.find(from) + from.size();
      return line.substr(begin, line.find(to, begin) - begin);
    };
    if (line.find("(NEEDED)") != std::string::npos) facts.insert("needs " + between("[", "]"));
    if (line.find("(SONAME)") != std::string::npos) facts.insert("is " + between("[", "]"));
    if (needs && line.find("Name: ") != std::string::npos) facts.insert(between("Name: ", " "));
  }
  return facts;
}

std::multiset<std::string> our_facts(const axle::elf::ElfFile& elf) {
  std::multiset<std::string> facts;
  for (const std::string& library : elf.needed) facts.insert("needs " + library);
  if (!elf.soname.empty()) facts.insert("is " + elf.soname);
  for (const auto& need : elf.version_needs) facts.insert(need.version);
  return facts;
}

TEST_CASE("ELF facts equal those of readelf on the libraries of this machine") {
  if (std::system("readelf --version >/dev/null 2>&1") != 0) {
    std::cout << "SKIP: needs readelf (binutils)\n";
    return;
  }
  const std::string folder = "/usr/lib/" + machine_name() + "-linux-gnu";
  if (!std::filesystem::is_directory(folder)) {
    std::cout << "SKIP: no folder of libraries at " << folder << "\n";
    return;
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name.find(".so.") != std::string::npos) {
      files.push_back(entry.path().string());
    }
  }
  std::ranges::sort(files);
  unsigned compared = 0;
  for (std::size_t i = 0; i < files.size() && compared < 40; i += 1 + files.size() / 40) {
    const std::string bytes = read_all(files[i]);
    if (!axle::elf::is_elf(bytes)) continue;
    const auto elf = axle::elf::parse_elf(bytes, files[i]);
    REQUIRE_MESSAGE(elf.has_value(), elf.error().message);
    CHECK_MESSAGE(our_facts(*elf) == readelf_facts(files[i]), files[i]);
    ++compared;
  }
  CHECK(compared >= 5);
}

TEST_CASE("damaged ELF files are refused or read, never followed outside") {
  const Scratch scratch;
  const std::string sound =
      compile(scratch, "libdamage.so", "#include <stdio.h>\nvoid f(void) { puts(\"\"); }");
  std::mt19937 random(7);
  for (unsigned round = 0; round < 3000; ++round) {
    std::string bytes = sound;
    for (unsigned i = 0; i < 1 + random() % 4; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const auto elf = axle::elf::parse_elf(bytes, "damaged");
    if (!elf) CHECK(elf.error().message.starts_with("damaged: "));
  }
  for (std::size_t size = 0; size < 64; ++size) {
    CHECK_FALSE(axle::elf::parse_elf(sound.substr(0, size), "short").has_value());
  }
}

}  // namespace
}  // namespace axle::builder
