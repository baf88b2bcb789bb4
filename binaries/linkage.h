#pragma once
// What a finished library asks of the loader, of the system's libraries, of Python and of torch:
// the part of its tables that `binary_scan.h`, which is about code, does not read.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/elf/elf_symbols.h"
#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::binaries {

/// Undefined symbols of one kind.
struct SymbolUse {
  std::size_t count = 0;
  std::vector<std::string> examples;  ///< the first ones

  static constexpr std::size_t most_examples = 3;
  void add(std::string_view symbol);
};

struct Linkage {
  bool loadable = false;  ///< a shared library or program, not an object file
  std::vector<elf::VersionNeed> version_needs;
  bool executable_stack = false;     ///< PT_GNU_STACK asks for it, or is absent from code
  bool text_relocations = false;     ///< DT_TEXTREL, DF_TEXTREL
  bool writable_code = false;        ///< a segment that is written and run
  std::vector<std::string> modules;  ///< the N of each PyInit_N that it defines
  std::vector<std::string> python;   ///< undefined: Py… and _Py…, sorted
  SymbolUse torch_cxx;               ///< undefined: C++ of torch, at, c10
  SymbolUse torch_stable;            ///< undefined: the C interface aoti_torch_…, torch_…
};

/// A symbol of torch's C++ libraries: its names, or a type in its parameters, change with releases.
[[nodiscard]] bool is_torch_cxx(std::string_view symbol);
/// One of torch's stable C interface (torch/csrc/inductor/aoti_torch/c/shim.h, torch/csrc/stable).
[[nodiscard]] bool is_torch_stable(std::string_view symbol);

// The file name of an extension module: "fast.cpython-311-x86_64-linux-gnu.so". CPython imports
// names with its own suffix, of its own architecture, with ".abi3.so" and ".so" alone
// (importlib.machinery.EXTENSION_SUFFIXES).

/// "x86_64", "powerpc64le", as in the name; empty: it names none.
[[nodiscard]] std::string_view architecture_of_module(std::string_view file_name);

/// The same name for another architecture; `file_name` names one.
[[nodiscard]] std::string module_name_for(std::string_view file_name,
                                          std::string_view architecture);

/// Whether code of `architecture` ("x86_64", "aarch64"; others are not judged) under this name is
/// never imported.
[[nodiscard]] bool names_other_architecture(std::string_view file_name,
                                            std::string_view architecture);

/// Errors: as elf_error (binaries/elf_source.h).
[[nodiscard]] Result<Linkage> read_linkage(wheel::ByteSource& source, std::string_view where);

}  // namespace axle::binaries
