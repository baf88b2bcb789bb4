#include "binaries/abi_match.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace axle::binaries {
namespace {

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

TEST_CASE("what others lack is named, what is not known is not") {
  const auto torch =
      package("torch 2.10.0", {made("libc10.so", {}, {}, {"_ZN3c104kindEv", "aoti_torch_new"})});
  const std::array<const PackageLibraries*, 1> others{&torch};
  const auto missing = [&](const Strings& needed, const Strings& undefined) {
    const auto misfit =
        find_abi_misfit(package("flash 1", {made("_C.so", needed, undefined, {})}), others);
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
  CHECK_FALSE(find_abi_misfit(flash({"libc10.so", "libtorch_cpu.so"}), others).has_value());
  const auto other = find_abi_misfit(flash({"libc10.so", "libcudart.so.12"}), others);
  REQUIRE(other.has_value());
  CHECK(other->render() == "_C.so needs libcudart.so.12, which torch 2.10.0 lacks");
  CHECK(needed_names(flash({"libc10.so", "_C.so"})) == std::set<std::string>{"libc10.so"});
}

TEST_CASE("what its own libraries have is not asked of others") {
  const auto torch = package("torch 2.10.0", {made("libc10.so", {}, {}, {"_ZN3c104kindEv"})});
  const std::array<const PackageLibraries*, 1> others{&torch};
  const auto flash = package("flash 1", {made("_C.so", {"libc10.so"}, {"_ZN3c103ownEv"}, {}),
                                         made("libown.so", {}, {}, {"_ZN3c103ownEv"})});
  CHECK_FALSE(find_abi_misfit(flash, others).has_value());
}

}  // namespace
}  // namespace axle::binaries
