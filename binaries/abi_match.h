#pragma once
// Whether the extension modules of one package find in the libraries of others what they need: the
// libraries by name, and the symbols that no library has which is loaded with them.

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::binaries {

/// What a shared library takes part in linking with. Names of symbols are kept where they are
/// needed, else as hashes: libraries of torch define a million.
struct LinkedLibrary {
  std::string name;                           ///< of the file
  std::string soname;                         ///< empty: none
  std::vector<std::string> needed;            ///< DT_NEEDED
  std::vector<std::string> undefined;         ///< neither weak nor with a symbol version
  std::unordered_set<std::size_t> defined;    ///< hashes
  std::set<std::string, std::less<>> scopes;  ///< scope_of what it defines

  [[nodiscard]] bool is_called(std::string_view wanted) const {
    return name == wanted || soname == wanted;
  }
};

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
  std::string missing;   ///< a library or a demangled symbol
  std::string lacking;   ///< "torch 2.10.0", whose it would be
  std::size_t more = 0;  ///< symbols that are missing besides

  /// "_C.so needs c10::f(), which torch 2.10.0 lacks (and 3 more)"
  [[nodiscard]] std::string render() const;
};

/// The libraries of `others` that `package` needs, by DT_NEEDED.
[[nodiscard]] std::set<std::string> needed_names(const PackageLibraries& package);

/// nullopt: nothing is known to be missing. A symbol counts as missing where no library that was
/// read has it, while one that its user needs has others of its scope, and everything of `others`
/// that is needed was read.
[[nodiscard]] std::optional<AbiMisfit> find_abi_misfit(
    const PackageLibraries& package, std::span<const PackageLibraries* const> others);

}  // namespace axle::binaries
