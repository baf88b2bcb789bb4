// A library of a wheel as --check-abi meets it, against itself.
#include "binaries/abi_match.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle;
  const auto source = wheel::memory_source({reinterpret_cast<const char*>(data), size});
  auto library = binaries::read_linked_library(*source, "fuzz.so");
  if (!library) return 0;
  for (const std::string& symbol : library->undefined) {
    (void)binaries::scope_of(symbol);
    (void)binaries::demangled(symbol);
  }
  const binaries::PackageLibraries package{"fuzz 1.0", {*library}, {"fuzz.so"}};
  binaries::PackageLibraries other{"other 1.0", {*library}, {"libother.so"}};
  other.libraries.front().name = "libother.so";
  const std::array others{static_cast<const binaries::PackageLibraries*>(&other)};
  binaries::SystemRuntime machine({"glibc", 2, 36, {}}, nullptr, {});
  if (const auto misfit = binaries::find_abi_misfit(package, others, machine))
    (void)misfit->render();
  return 0;
}
