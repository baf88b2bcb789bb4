#include "binaries/abi_match.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/scratch.h"

namespace axle::binaries {
namespace {

using builder::testing::output_of;
using builder::testing::Scratch;

using Strings = std::vector<std::string>;

LinkedLibrary made(const std::string& name, const Strings& needed, const Strings& undefined,
                   const Strings& defined) {
  LinkedLibrary library;
  library.name = name;
  library.needed = needed;
  library.undefined = undefined;
  for (const std::string& symbol : defined) {
    library.defined.insert(std::hash<std::string_view>{}(symbol));
    library.scopes.insert(scope_of(symbol));
  }
  return library;
}

PackageLibraries package(const std::string& title, std::vector<LinkedLibrary> libraries) {
  PackageLibraries made{title, std::move(libraries), {}};
  for (const LinkedLibrary& library : made.libraries) made.names.push_back(library.name);
  return made;
}

/// A machine of which nothing is known.
SystemRuntime unknown({}, nullptr, {});

TEST_CASE("a symbol belongs to its outermost namespace, or to its prefix") {
  CHECK(scope_of("_ZN3c106detail4failEv") == "c10");
  CHECK(scope_of("_ZNK2at6Tensor3dimEv") == "at");
  CHECK(scope_of("_ZTVN5torch8autograd4NodeE") == "torch");
  CHECK(scope_of("_ZTIN3c105ErrorE") == "c10");
  CHECK(scope_of("aoti_torch_new_tensor") == "aoti_torch");
  for (const char* nobody : {"", "_Z", "_ZN", "_ZN99c10", "_Z4freei", "malloc", "_Py_Dealloc",
                             "PyModule_Create2", "cuInit", "_ZN999999999999999999999c10E"})
    CHECK_MESSAGE(scope_of(nobody).empty(), nobody);
  CHECK(demangled("_ZNK3c105Error4whatEv") == "c10::Error::what() const");
  CHECK(demangled("aoti_torch_new") == "aoti_torch_new");
}

TEST_CASE("a library is lost if no version of it is left") {
  const auto user = package("user 1", {made("_C.so", {"libold.so", "libc.so.6"}, {}, {})});
  const auto before = package("torch 1", {made("libold.so", {}, {}, {})});
  const auto after = package("torch 2", {made("libc10.so", {}, {}, {})});
  const auto newer = package("torch 2", {made("libold.so.2", {}, {}, {})});
  const auto lost = [&](const PackageLibraries& one, const PackageLibraries& then,
                        const PackageLibraries& now, const PackageLibraries& other) {
    const std::array<const PackageLibraries*, 1> others{&other};
    const auto misfit = find_lost_library(one, then, now, others);
    return misfit ? misfit->render() : "";
  };
  CHECK(lost(user, before, after, after) == "_C.so needs libold.so, which torch 2 lacks");
  CHECK(lost(user, before, newer, newer).empty());
  CHECK(lost(user, before, after, before).empty());
  CHECK(lost(user, after, after, after).empty());
  const auto own =
      package("user 1", {made("_C.so", {"libold.so"}, {}, {}), made("libold.so", {}, {}, {})});
  CHECK(lost(own, before, after, after).empty());
}

TEST_CASE("what others lack is named, what is not known is not") {
  const auto torch =
      package("torch 2.10.0", {made("libc10.so", {}, {}, {"_ZN3c104kindEv", "aoti_torch_new"})});
  const std::array<const PackageLibraries*, 1> others{&torch};
  const auto missing = [&](const Strings& needed, const Strings& undefined) {
    const auto misfit = find_abi_misfit(package("flash 1", {made("_C.so", needed, undefined, {})}),
                                        others, unknown);
    return misfit ? misfit->render() : std::string();
  };
  CHECK(missing({"libc10.so"}, {"_ZN3c104kindEv"}).empty());
  CHECK(missing({"libc10.so"}, {"_ZN3c104goneEv", "aoti_torch_gone", "_ZN4mine1fEv"}) ==
        "_C.so needs c10::gone(), which torch 2.10.0 lacks (and 1 more)");
  // It is linked with nothing of torch, so the symbols are somebody else's.
  CHECK(missing({}, {"_ZN3c104goneEv"}).empty());
  CHECK(missing({"libc.so.6", "libcuda.so.1"}, {"_ZN3c104goneEv"}).empty());
}

TEST_CASE("a library that was not read leaves it open, one of another version does not") {
  auto torch = package("torch 2.10.0", {made("libc10.so", {}, {}, {"_ZN3c104kindEv"})});
  torch.names.emplace_back("libtorch_cpu.so");
  torch.names.emplace_back("libcudart.so.13");
  const std::array<const PackageLibraries*, 1> others{&torch};
  const auto flash = [&](const Strings& needed) {
    return package("flash 1", {made("_C.so", needed, {"_ZN3c104goneEv"}, {})});
  };
  CHECK_FALSE(
      find_abi_misfit(flash({"libc10.so", "libtorch_cpu.so"}), others, unknown).has_value());
  const auto other = find_abi_misfit(flash({"libc10.so", "libcudart.so.12"}), others, unknown);
  REQUIRE(other.has_value());
  CHECK(other->render() == "_C.so needs libcudart.so.12, which torch 2.10.0 lacks");
  CHECK(needed_names(flash({"libc10.so", "_C.so"})) == std::set<std::string>{"libc10.so"});
}

TEST_CASE("what its own libraries have is not asked of others") {
  const auto torch = package("torch 2.10.0", {made("libc10.so", {}, {}, {"_ZN3c104kindEv"})});
  const std::array<const PackageLibraries*, 1> others{&torch};
  const auto flash = package("flash 1", {made("_C.so", {"libc10.so"}, {"_ZN3c103ownEv"}, {}),
                                         made("libown.so", {}, {}, {"_ZN3c103ownEv"})});
  CHECK_FALSE(find_abi_misfit(flash, others, unknown).has_value());
}

/// Libraries that the compiler makes, and what the loader says of them.
class Made {
 public:
  /// With versions of `map`, a linker script; empty: none. `needed`: of those made before.
  void library(const std::string& name, const std::string& code, const std::string& map,
               const std::string& needed = "") const {
    scratch_.write(name + ".c", code);
    scratch_.write(name + ".map", map);
    output_of("cc -shared -fPIC -nostdlib -Wl,-soname," + name +
              (map.empty() ? "" : " -Wl,--version-script," + scratch_.at(name + ".map")) + " -o " +
              scratch_.at(name) + " " + scratch_.at(name + ".c") +
              (needed.empty() ? "" : " " + scratch_.at(needed)) + " 2>&1");
  }
  [[nodiscard]] LinkedLibrary read(const std::string& name) const {
    auto source = wheel::open_file_source(scratch_.at(name));
    REQUIRE(source.has_value());
    auto library = read_linked_library(**source, name);
    REQUIRE(library.has_value());
    return *std::move(library);
  }
  /// What dlopen(3) says of it with all symbols bound at once; empty: nothing.
  [[nodiscard]] std::string loader_says(const std::string& name) const {
    scratch_.write("load.c",
                   "#include <dlfcn.h>\n#include <stdio.h>\n"
                   "int main(int n, char** v) { if (n < 2 || !dlopen(v[1], RTLD_NOW))"
                   " puts(dlerror()); return 0; }");
    output_of("cc -o " + scratch_.at("load") + " " + scratch_.at("load.c") + " -ldl 2>&1");
    return output_of("LD_LIBRARY_PATH=" + scratch_.at("") + " " + scratch_.at("load") + " " +
                     scratch_.at(name));
  }

 private:
  Scratch scratch_;
};

TEST_CASE("versions and symbols that a library must define, as the loader sees them") {
  const Made made;
  const std::string both = "LIBA_1 { global: one; local: *; }; LIBA_2 { global: two; } LIBA_1;";
  made.library("liba.so.1", "void one(void) {} void two(void) {}", both);
  made.library("_C.so", "void one(void); void two(void); void go(void) { one(); two(); }", "",
               "liba.so.1");
  const auto user = package("flash 1", {made.read("_C.so")});
  const auto misfit = [&] {
    const auto provider = package("liba 1.0", {made.read("liba.so.1")});
    const std::array<const PackageLibraries*, 1> others{&provider};
    const auto found = find_abi_misfit(user, others, unknown);
    return found ? found->render() : std::string();
  };
  CHECK(misfit().empty());
  CHECK(made.loader_says("_C.so").empty());

  SUBCASE("an older library does not define the version") {
    made.library("liba.so.1", "void one(void) {}", "LIBA_1 { global: one; local: *; };");
    CHECK(misfit() == "_C.so needs LIBA_2 (two) of liba.so.1, which liba 1.0 lacks");
    CHECK(made.loader_says("_C.so").contains("version `LIBA_2' not found"));
  }
  SUBCASE("the version is there, the symbol is not") {
    made.library("liba.so.1", "void one(void) {} void three(void) {}",
                 "LIBA_1 { global: one; local: *; }; LIBA_2 { global: three; } LIBA_1;");
    CHECK(misfit() == "_C.so needs two of liba.so.1, which liba 1.0 lacks");
    CHECK(made.loader_says("_C.so").contains("undefined symbol: two, version LIBA_2"));
  }
  SUBCASE("of a library without versions none is asked, but its symbols are") {
    // dl-version.c accepts it; glibc with assertions ends the program at the first symbol.
    made.library("liba.so.1", "void one(void) {} void two(void) {}", "");
    CHECK(misfit().empty());
    made.library("liba.so.1", "void one(void) {}", "");
    CHECK(misfit() == "_C.so needs two of liba.so.1, which liba 1.0 lacks");
  }
}

TEST_CASE("what is weak may be missing, and what the package brings along is not asked of others") {
  const Made made;
  const std::string both = "LIBA_1 { global: one; local: *; }; LIBA_2 { global: two; } LIBA_1;";
  made.library("liba.so.1", "void one(void) {} void two(void) {}", both);
  made.library("_C.so",
               "void one(void); void two(void) __attribute__((weak));"
               "void go(void) { one(); if (two) two(); }",
               "", "liba.so.1");
  made.library("libold.so.1", "void one(void) {}", "LIBA_1 { global: one; local: *; };");
  LinkedLibrary old = made.read("libold.so.1");
  old.name = old.soname = "liba.so.1";
  const auto provider = package("liba 1.0", {old});
  const std::array<const PackageLibraries*, 1> others{&provider};
  LinkedLibrary module = made.read("_C.so");
  CHECK(module.versioned.size() == 1);
  for (elf::VersionNeed& need : module.version_needs) need.weak = need.version == "LIBA_2";
  CHECK_FALSE(find_abi_misfit(package("flash 1", {module}), others, unknown).has_value());
  for (elf::VersionNeed& need : module.version_needs) need.weak = false;
  CHECK(find_abi_misfit(package("flash 1", {module}), others, unknown)->render() ==
        "_C.so needs LIBA_2 of liba.so.1, which liba 1.0 lacks");
  const auto own = package("flash 1", {module, made.read("liba.so.1")});
  CHECK_FALSE(find_abi_misfit(own, others, unknown).has_value());
}

TEST_CASE("a newer C library than the machine's is named") {
  SystemRuntime glibc({"glibc", 2, 17, {}}, nullptr, {});
  LinkedLibrary module = made("_C.so", {"libc.so.6"}, {}, {});
  module.version_needs = {{"libc.so.6", "GLIBC_2.14", false, 2},
                          {"libc.so.6", "GLIBC_2.38", false, 3}};
  CHECK(find_abi_misfit(package("flash 1", {module}), {}, glibc)->render() ==
        "_C.so needs GLIBC_2.38, this machine has glibc 2.17");
  module.version_needs.back().weak = true;
  CHECK_FALSE(find_abi_misfit(package("flash 1", {module}), {}, glibc).has_value());
}

TEST_CASE("many libraries that need many others are compared in a moment") {
  std::vector<LinkedLibrary> users;
  std::vector<LinkedLibrary> providers;
  Strings names;
  for (unsigned i = 0; i < 2000; ++i) names.push_back("lib" + std::to_string(i) + ".so.1");
  Strings symbols;
  for (unsigned i = 0; i < 500; ++i) symbols.push_back("_ZN1a1fEv" + std::to_string(i));
  for (const std::string& name : names) {
    users.push_back(made("user_" + name, names, symbols, {}));
    providers.push_back(made(name, {}, {}, {"_ZN1b1gEv"}));
  }
  const auto other = package("other 1", std::move(providers));
  const std::array<const PackageLibraries*, 1> others{&other};
  CHECK_FALSE(find_abi_misfit(package("flash 1", std::move(users)), others, unknown).has_value());
}

}  // namespace
}  // namespace axle::binaries
