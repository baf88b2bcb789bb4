#pragma once
// Whether the extension modules of one package find in the libraries of others what they need: the
// libraries by name, the versions of their symbols, and the symbols that no library has which is
// loaded with them.

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "binaries/system_runtime.h"
#include "foundation/elf/elf_symbols.h"
#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::binaries {

/// A symbol of another library, in the version that it had when this one was linked.
struct VersionedSymbol {
  std::string name;
  std::uint16_t version = 0;  ///< elf::VersionNeed::index
};

/// What a shared library takes part in linking with. Names of symbols are kept where they are
/// needed, else as hashes: libraries of torch define a million.
struct LinkedLibrary {
  std::string name;                             ///< of the file
  std::string soname;                           ///< empty: none
  std::uint16_t machine = 0;                    ///< EM_…
  std::vector<std::string> needed;              ///< DT_NEEDED
  std::vector<std::string> undefined;           ///< neither weak nor with a version
  std::vector<VersionedSymbol> versioned;       ///< undefined, not weak
  std::vector<elf::VersionNeed> version_needs;  ///< of those and of weak ones
  std::set<std::string, std::less<>>
      versions;                               ///< that it defines; empty: the loader asks for none
  std::unordered_set<std::size_t> defined;    ///< hashes
  std::set<std::string, std::less<>> scopes;  ///< scope_of what it defines

  /// "foo(int)" of the first symbol with that version; empty: none that must be there.
  [[nodiscard]] std::string user_of(const elf::VersionNeed& need) const;
};

/// DT_NEEDED alone. Errors: as below.
[[nodiscard]] Result<std::vector<std::string>> read_needed(wheel::ByteSource& source,
                                                           const std::string& name);

/// Errors: as elf_error, and unsupported for more symbols than memory is meant for.
[[nodiscard]] Result<LinkedLibrary> read_linked_library(wheel::ByteSource& source,
                                                        std::string name);

/// Whose a symbol is, by its name: the outermost namespace of C++ ("c10"), or what precedes the
/// second underscore ("aoti_torch"). Empty: nobody's in particular.
[[nodiscard]] std::string scope_of(std::string_view symbol);

/// "c10::Error::what() const"; the symbol itself if it is not one of C++.
[[nodiscard]] std::string demangled(const std::string& symbol);

struct PackageLibraries {
  std::string title;                     ///< "torch 2.10.0"
  std::vector<LinkedLibrary> libraries;  ///< those that were read
  std::vector<std::string> names;        ///< of all libraries that it has
};

struct AbiMisfit {
  std::string library;   ///< that needs it
  std::string missing;   ///< a library, a version of its symbols or a demangled symbol
  std::string why;       ///< "which torch 2.10.0 lacks", "this machine has glibc 2.36"
  std::size_t more = 0;  ///< symbols that are missing besides
  const PackageLibraries* lacks = nullptr;  ///< who lacks it; nullptr: the machine

  /// "_C.so needs c10::f(), which torch 2.10.0 lacks (and 3 more)"
  [[nodiscard]] std::string render() const;
};

/// "libcudart" of libcudart.so.12: what all its versions share.
[[nodiscard]] std::string_view library_stem(std::string_view name);

/// The libraries of others that `package` needs, by DT_NEEDED.
[[nodiscard]] std::set<std::string> needed_names(const PackageLibraries& package);

/// nullopt: nothing is known to be missing. What counts as missing: a library of which only another
/// major version is there; a version of symbols that the library which must define it does not, as
/// the loader sees it, in `others` or in `machine`; a symbol that no library which was read has,
/// while everything of `others` that its user needs was read, and one of those is to define its
/// version, or has others of its scope.
[[nodiscard]] std::optional<AbiMisfit> find_abi_misfit(
    const PackageLibraries& package, std::span<const PackageLibraries* const> others,
    SystemRuntime& machine);

/// A library that `package` needs, that `before` has, and of which `after`, the same package in
/// another version, has no version any more, nor have `others`.
[[nodiscard]] std::optional<AbiMisfit> find_lost_library(
    const PackageLibraries& package, const PackageLibraries& before, const PackageLibraries& after,
    std::span<const PackageLibraries* const> others);

}  // namespace axle::binaries
