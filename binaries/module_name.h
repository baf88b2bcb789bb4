#pragma once
// What the file name of an extension module says: "fast.cpython-311-x86_64-linux-gnu.so". CPython
// imports names with its own suffix, of its own architecture, with ".abi3.so" and ".so" alone
// (importlib.machinery.EXTENSION_SUFFIXES).

#include <string>
#include <string_view>

namespace axle::binaries {

/// "x86_64", "powerpc64le", as in the name; empty: it names none.
[[nodiscard]] std::string_view architecture_of_module(std::string_view file_name);

/// The same name for another architecture; `file_name` names one.
[[nodiscard]] std::string module_name_for(std::string_view file_name,
                                          std::string_view architecture);

/// Whether code of `architecture` ("x86_64", "aarch64"; others are not judged) under this name is
/// never imported.
[[nodiscard]] bool names_other_architecture(std::string_view file_name,
                                            std::string_view architecture);

}  // namespace axle::binaries
